def upright(s):
    return 1.0


def fallen(s):
    return abs(s.pole_angle) > 0.5 or abs(s.cart_pos) > 2.3
