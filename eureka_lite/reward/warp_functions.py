"""Functions of the language that Warp has with another answer to NaN: ours let it through."""

import warp as wp


@wp.func
def minimum(a: float, b: float) -> float:
    """The smaller; NaN if one is."""
    if wp.isnan(a):
        return a
    if wp.isnan(b):
        return b
    return wp.min(a, b)


@wp.func
def maximum(a: float, b: float) -> float:
    """The larger; NaN if one is."""
    if wp.isnan(a):
        return a
    if wp.isnan(b):
        return b
    return wp.max(a, b)


@wp.func
def signum(x: float) -> float:
    """-1, 0 or 1; NaN of NaN."""
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return x


@wp.func
def arccosine(x: float) -> float:
    """Inverse cosine of x clamped to [-1, 1]."""
    if wp.isnan(x):
        return x
    return wp.acos(wp.clamp(x, -1.0, 1.0))


@wp.func
def arcsine(x: float) -> float:
    """Inverse sine of x clamped to [-1, 1]."""
    if wp.isnan(x):
        return x
    return wp.asin(wp.clamp(x, -1.0, 1.0))
