"""What a program has to compute: float64 values of its operations, with a bound of the float32 error of each.

The bound lets every operation be wrong by 8 units in the last place and carries errors on to first order and beyond.
Rows in which a branch, a rounding or a jump hangs on less than the bound are marked: there either side is right.
"""

from __future__ import annotations

import numpy as np

from eureka_lite.reward import Program

ULP = 2.0**-23
LARGEST = float(np.finfo(np.float32).max)
TINY = 1e-37


def bounded(program: Program, now: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values [rows, results], bounds [rows, results], and [rows] True where the row hangs on its bounds."""
    hangs = np.zeros(len(now), bool)
    values: list[np.ndarray] = []
    errors: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        for operation in program.operations:
            a = [values[i] for i in operation.arguments]
            e = [errors[i] for i in operation.arguments]
            number = operation.value or 0
            if operation.name in ("signal", "prev"):
                value = (now if operation.name == "signal" else before)[:, int(number)].astype(float)
                error = np.zeros(len(now))
            elif operation.name in ("constant", "literal"):
                text = program.constants[int(number)] if operation.name == "constant" else number
                value, error = np.full(len(now), float(np.float32(text))), np.zeros(len(now))
            else:
                value, error, unsure = _operation(operation.name, a, e)
                hangs |= unsure
                if value.dtype != bool:
                    exact = operation.name in (
                        "neg",
                        "abs",
                        "min",
                        "max",
                        "where",
                        "float",
                        "floor",
                        "ceil",
                        "round",
                        "sign",
                    )
                    error = error + (0.0 if exact else 8.0 * ULP * np.abs(value) + TINY)
                    hangs |= (np.abs(value) < LARGEST) & (np.abs(value) + error >= LARGEST)
                    hangs |= (np.abs(value) >= LARGEST) & np.isfinite(value) & (np.abs(value) - error < 1.01 * LARGEST)
                    value = np.where(np.abs(value) > LARGEST, np.sign(value) * np.inf, value)
                    error = np.where(np.isfinite(value), error, 0.0)
                    hangs |= ~np.isfinite(error)
            values.append(value)
            errors.append(error)
    pick = list(program.results)
    return np.stack([values[i] for i in pick], 1), np.stack([errors[i] for i in pick], 1), hangs


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
            near = (ey > 0) & (np.abs(y) <= 2 * ey)
            q = x / y
            return q, np.where(ex + ey > 0, (ex + np.abs(q) * ey) / np.maximum(np.abs(y) - ey, 1e-300), 0.0), near
        case "neg" | "abs":
            return (-x if name == "neg" else np.abs(x)), ex, sure
        case "min" | "max":
            value = np.minimum(x, y) if name == "min" else np.maximum(x, y)
            return value, np.maximum(ex, ey), sure
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
            return f(x), np.zeros(len(x)), f(x - ex) != f(x + ex)
        case "round":
            return np.rint(x), np.zeros(len(x)), np.rint(x - ex) != np.rint(x + ex)
        case "sign":
            return np.sign(x), np.zeros(len(x)), (ex > 0) & (np.abs(x) <= ex)
        case "pow":
            value = np.power(x, y)
            near = (ex > 0) & (np.abs(x) <= 2 * ex) | (ey > 0) & (x < 0)
            relative = np.abs(y) * ex / np.maximum(np.abs(x) - ex, 1e-300) + np.abs(np.log(np.abs(x) + 1e-300)) * (
                ey + 8 * ULP * np.abs(y)
            )
            exact = (x == 0) | (x == 1) | (y == 0) | np.isinf(x) | np.isinf(y)
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
