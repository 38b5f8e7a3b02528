def reward(s, prev):
    above = s.target_pos + vec3(0.0, 0.0, 0.13)
    far = norm(s.lip_pos - above)
    tilt = 1.0 - s.cup_up[2]
    gain = s.liquid_in_target - prev.liquid_in_target
    lost = s.liquid_spilled - prev.liquid_spilled
    return {
        "reach": 0.2 * exp(-far / 0.2),
        "tilt": 0.2 * tilt * exp(-far / 0.06),
        "gain": 10.0 * gain,
        "spill": -2.0 * lost,
        "hold": 0.2 * s.liquid_in_target,
    }
