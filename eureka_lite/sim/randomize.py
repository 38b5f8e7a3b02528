"""How a drawn value is written into an engine's per-world model arrays; the fields themselves are in `task.fields`."""

from __future__ import annotations

import numpy as np


def apply(
    target: np.ndarray, nominal: np.ndarray, ids: np.ndarray, values: np.ndarray, operation: str, place: Place
) -> None:
    """Write `values` [n] into rows of a per-world array `target` [W, ...], relative to the `nominal` array [...].

    Scaling by 1 and adding 0 are bitwise neutral.
    """
    view = nominal[place.index]
    spread = values.reshape((-1,) + (1,) * view.ndim)
    if operation == "scale":
        new = view * spread
    elif operation == "add":
        new = view + spread
    else:
        new = np.broadcast_to(spread, (len(ids), *view.shape))
    target[(ids[:, None], *place.world_index)] = new.reshape(len(ids), -1)


class Place:
    """Elements of a model array, given by rows and columns.

    Attributes:
        index: picks them out of the model's own array, flattened.
        world_index: picks the same ones, behind a column of world ids, out of a per-world array.
    """

    def __init__(self, shape: tuple[int, ...], rows: list[int] | None, columns: tuple[int, ...] | None) -> None:
        if rows is None:
            grid = np.meshgrid(*[list(columns) if columns is not None else range(shape[0])], indexing="ij")
        elif len(shape) == 1:
            grid = np.meshgrid(rows, indexing="ij")
        else:
            grid = np.meshgrid(rows, list(columns) if columns is not None else range(shape[1]), indexing="ij")
        self.index = tuple(axis.ravel() for axis in grid)
        self.world_index = tuple(axis.ravel()[None, :] for axis in grid)
