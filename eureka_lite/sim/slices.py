"""Work on all worlds, cut into slices that run on a thread each.

A Warp launch on the CPU runs on one thread and releases the GIL, so two slices on two threads run side by side. Worlds
do not see each other: results do not depend on the number of slices.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Slices:
    """Contiguous slices of `worlds` worlds for `threads` threads.

    Attributes:
        ranges: (first world, number of worlds) of each slice.
    """

    def __init__(self, worlds: int, threads: int) -> None:
        count = max(1, min(threads, worlds))
        bounds = [worlds * i // count for i in range(count + 1)]
        self.ranges = [(a, b - a) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        self._pool = ThreadPoolExecutor(count - 1, "slice") if count > 1 else None

    def run(self, jobs: list[Callable[[], object]]) -> None:
        """Run one job per slice side by side and wait for all; the last one runs on the calling thread."""
        if self._pool is None:
            for job in jobs:
                job()
            return
        others = [self._pool.submit(job) for job in jobs[:-1]]
        jobs[-1]()
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
