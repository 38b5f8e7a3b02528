"""Replies of an earlier run as a proposer: the same replies again, without paying for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eureka_lite.propose.proposer import ProposerError, Reply, Request


class Replay:
    """Hands out the replies of a run folder, in the order of their ids; see `Proposer`."""

    models: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.name = f"replay:{folder}"
        self._replies = sorted(folder.glob("candidates/*/reply.md"))
        if not self._replies:
            raise ProposerError(f"{folder} has no replies to replay; give a run's folder")

    def propose(self, request: Request) -> Iterator[Reply]:
        """Yield the next replies; an error where there are no more."""
        for id in request.ids:
            if not self._replies:
                yield Reply(id, "replayed", None, "the replayed run has no more replies", "replay")
                continue
            path = self._replies.pop(0)
            yield Reply(id, f"replayed from {path.parent.name}\n", path.read_text(encoding="utf-8"), None, "replay")
