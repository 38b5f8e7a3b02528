def reward(s, prev):
    above = s.target_pos + vec3(0.0, 0.0, 0.14)
    near = exp(-norm(s.lip_pos - above) / 0.06)
    tilt = 1.0 - s.cup_up[2]
    gain = s.liquid_in_target - prev.liquid_in_target
    lost = s.liquid_spilled - prev.liquid_spilled
    return {
        "reach": 0.1 * near,
        "tilt": 0.1 * near * tilt,
        "gain": 10.0 * gain,
        "spill": -5.0 * lost,
        "hold": 0.1 * s.liquid_in_target,
    }
