"""Who writes reward functions: a language model, the offline grammar, or an earlier run's replies."""

from __future__ import annotations

from pathlib import Path

from eureka_lite.propose.proposer import Proposer


def make_proposer(llm: str | None, base_url: str | None, prompts: Path, concurrency: int) -> Proposer:
    """The proposer that `--llm` names: a model, `replay:FOLDER`, or `offline`, which is also what None means.

    Raises:
        ProposerError: the model cannot be had, or there is nothing to replay.
    """
    if llm is None or llm == "offline":
        from eureka_lite.propose.offline import Offline

        return Offline()
    if llm.startswith("replay:"):
        from eureka_lite.propose.replay import Replay

        return Replay(Path(llm.removeprefix("replay:")))
    from eureka_lite.propose.llm import LanguageModel

    model = LanguageModel(llm, base_url, prompts, concurrency)
    model.probe()
    return model
