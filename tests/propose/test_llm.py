"""The language-model proposer against a real server on the loopback interface."""

import time

import pytest

from eureka_lite.propose.llm import LanguageModel
from eureka_lite.propose.proposer import ProposerError
from eureka_lite.resources import prompts_folder
from tests.chat_server import Sent, completion, error, serving
from tests.propose.asking import request

CODE = "Here:\n```python\ndef reward(s):\n    return {'a': s.time}\n```\n"
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def model(server, **options) -> LanguageModel:
    return LanguageModel("m", server.url, prompts_folder(), **{"concurrency": 4, "deadline_s": 20.0, **options})


def asked(answer, count=1, **options):
    with serving(answer) as server:
        replies = list(model(server, **options).propose(request("cartpole", count=count)))
    return sorted(replies, key=lambda reply: reply.id), server.asked


def test_one_reply_per_id_with_its_spend():
    replies, requests = asked(lambda a: completion(CODE + str(a.number)), count=6)
    assert [reply.id for reply in replies] == [f"g01c0{i}" for i in range(1, 7)]
    assert {reply.text for reply in replies} == {CODE + str(i) for i in range(6)}
    assert all((r.error, r.prompt_tokens, r.completion_tokens) == (None, 100, 20) for r in replies)
    assert len(requests) == 6
    assert requests[0].headers["authorization"] == f"Bearer {KEY}"
    roles = [message["role"] for message in requests[0].body["messages"]]
    assert roles == ["system", "user"]
    assert "do it well" in requests[0].body["messages"][1]["content"]


def test_requests_run_side_by_side():
    began = time.monotonic()
    asked(lambda a: (time.sleep(0.5), completion(CODE))[1], count=4)
    assert time.monotonic() - began < 1.9


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (completion("", usage=False), "empty"),
        (completion(None), "empty"),
        (completion(CODE, "length"), "cut off at the token limit"),
        (completion(None, "content_filter"), "content filter"),
        (completion(None, refusal="I won't."), "refusal: I won't."),
        (Sent(body={"choices": []}), "of no use"),
        (Sent(body={"error": {"message": "no model loaded"}}), "no model loaded"),
        (error(400, "the context is too long"), "context is too long"),
    ],
)
def test_a_reply_that_is_of_no_use_says_why(sent, said):
    replies, requests = asked(lambda a: sent)
    assert said in replies[0].error
    assert len(requests) == 1


def test_content_in_parts_is_put_together():
    replies, _ = asked(lambda a: completion([{"type": "text", "text": CODE[:9]}, {"type": "text", "text": CODE[9:]}]))
    assert replies[0].text == CODE


@pytest.mark.parametrize("fault", [
    error(429, "slow down", {"retry-after": "0.1"}), error(500, "oops"), error(503, "busy"), Sent(200, "<html>gateway</html>"),
])  # fmt: skip
def test_what_may_pass_is_tried_again(fault):
    replies, requests = asked(lambda a: fault if a.number == 0 else completion(CODE))
    if isinstance(fault.body, str) and replies[0].error:
        assert "completion" in replies[0].error  # a page instead of an answer
    else:
        assert replies[0].text == CODE
        assert len(requests) == 2


def test_it_gives_up_after_some_tries():
    replies, requests = asked(lambda a: error(500, "oops"), tries=2)
    assert "500" in replies[0].error
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (error(401, "bad key " + KEY), "key in OPENAI_API_KEY is refused"),
        (error(403, "not for you"), "refused (403)"),
        (error(404, "no such model"), "not found (404)"),
        (error(429, "quota", code="insufficient_quota"), "quota"),
    ],
)
def test_what_will_never_pass_ends_it_at_once(sent, said):
    with serving(lambda a: sent) as server, pytest.raises(ProposerError, match="m at http") as caught:
        list(model(server).propose(request("cartpole", count=1)))
    assert said in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(server.asked) == 1


def test_a_refused_parameter_is_left_out_for_the_rest_of_the_run():
    def answer(a):
        if "temperature" in a.body:
            return error(400, "Unsupported value: temperature", param="temperature")
        if "max_completion_tokens" in a.body:
            return error(400, "Unrecognized request argument supplied: max_completion_tokens")
        return completion(CODE)

    replies, requests = asked(answer, count=3, concurrency=1)
    assert [reply.text for reply in replies] == [CODE] * 3
    assert len(requests) == 5
    assert requests[-1].body["max_tokens"] > 0


def test_a_slow_drip_ends_at_the_deadline():
    began = time.monotonic()
    replies, _ = asked(lambda a: Sent(200, completion(CODE).body, drip_s=0.2), deadline_s=1.5)
    assert "within 1.5 s" in replies[0].error
    assert time.monotonic() - began < 6.0


def test_the_probe_tells_the_cause_in_one_line(monkeypatch):
    with serving(lambda a: error(401, "no")) as server, pytest.raises(ProposerError, match="is refused"):
        model(server).probe()
    with serving(lambda a: completion("yes")) as server:
        model(server).probe()
        assert len(server.asked) == 1
    with pytest.raises(ProposerError, match="cannot be reached"):
        LanguageModel("m", server.url, prompts_folder()).probe()
    with pytest.raises(ProposerError, match="m at nonsense"):
        LanguageModel("m", "nonsense", prompts_folder()).probe()
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ProposerError, match="set OPENAI_API_KEY"):
        LanguageModel("m", None, prompts_folder()).probe()
