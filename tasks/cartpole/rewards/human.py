def reward(s):
    upright = cos(s.pole_angle)
    center = -0.1 * s.cart_pos**2
    calm = -0.01 * s.pole_rate**2
    return {"alive": 1.0, "upright": upright, "center": center, "calm": calm}
