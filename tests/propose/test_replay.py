"""An earlier run's replies as a proposer, and which proposer `--llm` means."""

import pytest

from eureka_lite.propose import make_proposer
from eureka_lite.propose.proposer import ProposerError
from eureka_lite.propose.replay import Replay
from eureka_lite.resources import prompts_folder
from tests.propose.asking import request


def test_replies_come_back_in_their_order(tmp_path):
    for id in ("g01c02", "g01c01"):
        (tmp_path / "candidates" / id).mkdir(parents=True)
        (tmp_path / "candidates" / id / "reply.md").write_text(f"reply of {id}")
    replies = list(Replay(tmp_path).propose(request("cartpole", count=3)))
    assert [reply.text for reply in replies] == ["reply of g01c01", "reply of g01c02", None]
    assert "no more replies" in replies[2].error


def test_a_folder_without_replies_is_refused(tmp_path):
    with pytest.raises(ProposerError, match="no replies"):
        make_proposer(f"replay:{tmp_path}", None, prompts_folder(), 1)


def test_without_a_model_the_offline_grammar_writes():
    assert make_proposer(None, None, prompts_folder(), 1).name == "offline"
    assert make_proposer("offline", None, prompts_folder(), 1).name == "offline"
