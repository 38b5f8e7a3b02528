"""What a program has to compute: float64 values of its operations, with a bound of the float32 error of each.

The bound lets every operation be wrong by 8 units in the last place (sums, products, quotients and roots by one, as
IEEE 754 has them) and carries errors on to first order and beyond.
Rows in which a branch, a rounding or a jump hangs on less than the bound are marked: there either side is right.
"""

from __future__ import annotations

import numpy as np

from eureka_lite.reward import Program
from eureka_lite.reward.graph import Operation

ULP = 2.0**-23
LARGEST = float(np.finfo(np.float32).max)
TINY = 1e-37


def bounded(program: Program, now: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values [rows, results], bounds [rows, results], and [rows, results] True where one hangs on its bound."""
    values: list[np.ndarray] = []
    errors: list[np.ndarray] = []
    hangs: list[np.ndarray] = []
    positive: set[int] = set()
    with np.errstate(all="ignore"):
        for operation in program.operations:
            a = [values[i] for i in operation.arguments]
            e = [errors[i] for i in operation.arguments]
            h = [hangs[i] for i in operation.arguments]
            number = operation.value or 0
            error = unsure = np.zeros(len(now), bool)
            if operation.name in ("signal", "prev"):
                value = (now if operation.name == "signal" else before)[:, int(number)].astype(float)
            elif operation.name in ("constant", "literal"):
                text = program.constants[int(number)] if operation.name == "constant" else number
                value = np.full(len(now), float(np.float32(text)))
            else:
                value, error, unsure = _operation(operation.name, a, e)
                if value.dtype == bool and len(set(operation.arguments)) == 1:
                    unsure = np.zeros(len(now), bool)  # x < x is false, x != x asks for NaN
                if operation.name == "sqrt" and operation.arguments[0] in positive:
                    unsure = np.zeros(len(now), bool)
                if value.dtype != bool:
                    value, error, over = _rounded(operation.name, value, error)
                    unsure = unsure | over
                chosen = h[0] | np.where(a[0], h[1], h[2]) if operation.name == "where" else np.any(h, axis=0)
                unsure = unsure | chosen
            if _is_positive(operation, values, positive, value):
                positive.add(len(values))
            values.append(value)
            errors.append(error.astype(float))
            hangs.append(unsure)
    pick = list(program.results)
    return tuple(np.stack([part[i] for i in pick], 1) for part in (values, errors, hangs))  # type: ignore[return-value]


def _is_positive(operation: Operation, values: list[np.ndarray], positive: set[int], value: np.ndarray) -> bool:
    """Whether an operation is at least 0 whatever its errors, as a sum of squares."""
    known = [i in positive for i in operation.arguments]
    if operation.name in ("constant", "literal"):
        return bool((value >= 0).all())
    if operation.name == "mul" and len(set(operation.arguments)) == 1:
        return True
    if operation.name == "max":
        return any(known)
    if operation.name == "where":
        return all(known[1:])
    return operation.name in ("abs", "exp", "sqrt", "float") or (
        operation.name in ("add", "mul", "div", "min") and all(known)
    )


def _rounded(name: str, value: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add the operation's own error; overflow becomes infinite; True where it may or may not."""
    exact = name in ("neg", "abs", "min", "max", "where", "float", "floor", "ceil", "round", "sign")
    size = np.abs(value)
    if not exact:
        ieee = name in ("add", "sub", "mul", "div", "sqrt")  # a result that float32 has is the result
        own = (1.0 if ieee else 8.0) * ULP * size + np.where((size > 0) & (size < 1e-30), TINY, 0.0)
        error = error + np.where(ieee & (error == 0.0) & (value.astype(np.float32) == value), 0.0, own)
    over = np.isfinite(value) & (size + error >= LARGEST) & (size - error <= 1.01 * LARGEST)
    value = np.where(size > LARGEST, np.sign(value) * np.inf, value)
    return value, np.where(np.isfinite(value), error, 0.0), over | (np.isfinite(value) & ~np.isfinite(error))


def _operation(name: str, a: list[np.ndarray], e: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, carried error, and where the value could jump."""
    x, ex = a[0], e[0]
    y, ey = (a[1], e[1]) if len(a) > 1 else (x, ex)
    sure = np.zeros(len(x), bool)
    match name:
        case "add" | "sub":
            return (x + y if name == "add" else x - y), ex + ey, sure
        case "mul":
            return x * y, np.abs(x) * ey + np.abs(y) * ex + ex * ey, sure
        case "div":
            near = (ey > 0) & (np.abs(y) <= ey)
            q = x / y
            return q, np.where(ex + ey > 0, (ex + np.abs(q) * ey) / np.maximum(np.abs(y) - ey, 1e-300), 0.0), near
        case "neg" | "abs":
            return (-x if name == "neg" else np.abs(x)), ex, sure
        case "min" | "max":
            value = np.minimum(x, y) if name == "min" else np.maximum(x, y)
            first = x + ex < y - ey if name == "min" else x - ex > y + ey
            second = y + ey < x - ex if name == "min" else y - ey > x + ex
            return value, np.where(first, ex, np.where(second, ey, np.maximum(ex, ey))), sure
        case "sqrt":
            near = (ex > 0) & (x - ex < 0) & (x + ex >= 0)
            return np.sqrt(x), np.sqrt(np.maximum(x + ex, 0)) - np.sqrt(np.maximum(x - ex, 0)), near
        case "exp":
            return np.exp(x), np.exp(np.minimum(x, 700)) * np.expm1(np.minimum(ex, 700)), sure
        case "log":
            return np.log(x), np.where(ex > 0, ex / np.maximum(x - ex, 1e-300), 0.0), (ex > 0) & (np.abs(x) <= 2 * ex)
        case "sin" | "cos":
            return getattr(np, name)(x), np.minimum(ex, 2.0) + np.abs(x) * ULP * 0.0, sure
        case "tan":
            value, off = np.tan(x), np.abs(np.cos(x))
            return value, ex / np.maximum(off - ex, 1e-300) ** 2, off <= 2 * ex + 1e-7 * np.abs(x)
        case "asin" | "acos":
            clipped = np.clip(x, -1.0, 1.0)
            slope = 1.0 / np.sqrt(np.maximum(1.0 - np.minimum(np.abs(clipped) + ex, 1.0) ** 2, 1e-300))
            value = np.arcsin(clipped) if name == "asin" else np.arccos(clipped)
            return np.where(np.isnan(x), x, value), np.minimum(ex * slope, np.sqrt(2.0 * ex) * 1.6 + ex), sure
        case "atan":
            return np.arctan(x), ex, sure
        case "tanh":
            return np.tanh(x), np.minimum(ex, 2.0), sure
        case "atan2":  # (y, x)
            r = np.hypot(x, y)
            cut = (y - ey <= 0) & (np.abs(x) <= ex) & (ex > 0)
            return np.arctan2(x, y), np.where(ex + ey > 0, (ex + ey) / np.maximum(r - ex - ey, 1e-300), 0.0), cut | (
                (ex + ey > 0) & (r <= 4 * (ex + ey)))  # fmt: skip
        case "floor" | "ceil":
            f = np.floor if name == "floor" else np.ceil
            return f(x), np.zeros(len(x)), (f(x - ex) != f(x + ex)) & ~np.isnan(x)
        case "round":
            return np.rint(x), np.zeros(len(x)), (np.rint(x - ex) != np.rint(x + ex)) & ~np.isnan(x)
        case "sign":
            return np.sign(x), np.zeros(len(x)), (ex > 0) & (np.abs(x) <= ex)
        case "pow":
            value = np.power(x, y)
            near = (ex > 0) & (np.abs(x) <= 2 * ex) | (ey > 0) & (x < 0) & (np.abs(y - np.rint(y)) <= ey)
            near |= (ey > 0) & (np.abs(y) <= ey) & ((x == 0) | np.isinf(x))  # 0 ** 0 is 1
            relative = np.abs(y) * ex / np.maximum(np.abs(x) - ex, 1e-300) + np.abs(np.log(np.abs(x) + 1e-300)) * (
                ey + 8 * ULP * np.abs(y)
            )
            exact = (ex == 0) & ((x == 0) | (x == 1)) | (ey == 0) & (y == 0) | np.isinf(x) | np.isinf(y)
            return value, np.where(exact, 0.0, np.abs(value) * np.expm1(np.minimum(relative, 700))), near
        case "lt" | "le" | "gt" | "ge" | "eq" | "ne":
            f = {
                "lt": np.less,
                "le": np.less_equal,
                "gt": np.greater,
                "ge": np.greater_equal,
                "eq": np.equal,
                "ne": np.not_equal,
            }[name]
            return f(x, y), np.zeros(len(x)), (ex + ey > 0) & (np.abs(x - y) <= ex + ey)
        case "and" | "or":
            return (x & y if name == "and" else x | y), np.zeros(len(x)), sure
        case "not":
            return ~x, np.zeros(len(x)), sure
        case "where":
            return np.where(x, y, a[2]), np.where(x, ey, e[2]), sure
        case "float":
            return x.astype(float), np.zeros(len(x)), sure
    raise AssertionError(name)
