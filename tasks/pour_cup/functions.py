def poured(s):
    return s.liquid_in_target
