"""A language model behind any endpoint that speaks OpenAI's chat completions, as a proposer.

One request per candidate (many endpoints ignore `n`), several at once. The key stays in this process: it is in no
prompt, reply, message or file.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eureka_lite.propose.prompt import Message, as_markdown, render
from eureka_lite.propose.proposer import ProposerError, Reply, Request

KEY = "OPENAI_API_KEY"
MEND = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


@dataclass(frozen=True)
class Answer:
    """What one request brought: a text or an error, and what it cost if the endpoint said so."""

    text: str | None
    error: str | None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class LanguageModel:
    """Writes rewards with a language model; see `Proposer`.

    Args:
        model: its name at the endpoint.
        base_url: of the endpoint; None is OpenAI's, or OPENAI_BASE_URL.
        prompts: folder of the templates.
        concurrency: most requests at once.
        temperature: of sampling; left out where the endpoint refuses it.
        max_tokens: of a reply; the name of the parameter follows what the endpoint knows.
        deadline_s: for one reply, all its tries together.
        tries: per reply, while the endpoint is overloaded or cannot be reached.
    """

    name = "llm"

    def __init__(
        self, model: str, base_url: str | None, prompts: Path, concurrency: int = 8, temperature: float = 1.0,
        max_tokens: int = 8192, deadline_s: float = 300.0, tries: int = 4,
    ) -> None:  # fmt: skip
        self.models = (model,)
        self._model, self._base_url, self._prompts = model, base_url or os.environ.get("OPENAI_BASE_URL"), prompts
        self._concurrency, self._deadline_s, self._tries = concurrency, deadline_s, tries
        self._options: dict[str, Any] = {"temperature": temperature, "max_completion_tokens": max_tokens}
        self._lock = threading.Lock()
        self._client: Any = None

    def probe(self) -> None:
        """Ask for one word; ProposerError says in one line why the model cannot be had."""
        answer = self._asked([{"role": "user", "content": "Say yes."}], min(60.0, self._deadline_s), tries=1)
        if answer.error and not answer.error.startswith("the reply"):
            raise ProposerError(f"{self._model} at {self._where()}: {answer.error}")

    def propose(self, request: Request) -> Iterator[Reply]:
        """Yield one reply per id as they arrive.

        Raises:
            ProposerError: the key, the model or the quota is refused, or a template is wrong.
        """
        messages = render(request, self._prompts)
        prompt = as_markdown(messages)
        parents = tuple(parent.id for parent in request.parents[:1])
        wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
        arrived: queue.SimpleQueue[tuple[str, Answer | ProposerError]] = queue.SimpleQueue()
        for id in request.ids:
            wanted.put(id)

        def work() -> None:
            while True:
                try:
                    id = wanted.get_nowait()
                except queue.Empty:
                    return
                try:
                    arrived.put((id, self._asked(messages, self._deadline_s, self._tries)))
                except ProposerError as error:
                    arrived.put((id, error))

        for _ in range(min(self._concurrency, len(request.ids))):
            threading.Thread(target=work, daemon=True).start()
        for _ in request.ids:
            id, answer = arrived.get()
            if isinstance(answer, ProposerError):
                raise answer
            yield Reply(id, prompt, answer.text, answer.error, self._model, parents, answer.prompt_tokens,
                        answer.completion_tokens)  # fmt: skip

    def _where(self) -> str:
        return self._base_url or "api.openai.com"

    def _connect(self) -> Any:
        with self._lock:
            if self._client is None:
                import openai

                key = os.environ.get(KEY) or ("none" if self._base_url else None)
                if key is None:
                    raise ProposerError(f"no key: set {KEY}, or name your own endpoint with --base-url")
                try:
                    self._client = openai.OpenAI(api_key=key, base_url=self._base_url, max_retries=0)
                except Exception as error:  # noqa: BLE001  a malformed URL comes as whatever the transport raises
                    raise ProposerError(f"the endpoint {self._where()} cannot be used: {_line(error)}") from None
            return self._client

    def _asked(self, messages: list[Message], deadline_s: float, tries: int) -> Answer:
        """One reply, tried again while that may help, within a deadline of our own."""
        ends, attempt, error = time.monotonic() + deadline_s, 0, "no answer"
        mended: set[str] = set()
        while True:
            outcome = self._within(messages, ends - time.monotonic())
            if isinstance(outcome, Answer):
                return outcome
            error, wait, refused = self._judged(outcome, attempt)
            if refused and refused not in mended:
                mended.add(refused)
                self._mend(refused)
                continue
            attempt += 1
            if wait is None or attempt >= tries or time.monotonic() + wait >= ends:
                return Answer(None, error)
            time.sleep(wait)

    def _within(self, messages: list[Message], seconds: float) -> Answer | Exception:
        """Make the request in a thread of its own: the client's timeout is per read and does not end a slow drip."""
        client, found = self._connect(), queue.SimpleQueue()
        with self._lock:
            options = dict(self._options)

        def call() -> None:
            try:
                reply = client.chat.completions.create(model=self._model, messages=messages, timeout=seconds, **options)
                found.put(_read(reply))
            except Exception as error:  # noqa: BLE001  judged by the caller
                found.put(error)

        threading.Thread(target=call, daemon=True).start()
        try:
            return found.get(timeout=max(0.01, seconds))
        except queue.Empty:
            return TimeoutError(f"no whole reply within {self._deadline_s:g} s")

    def _judged(self, error: Exception, attempt: int) -> tuple[str, float | None, str | None]:
        """What an exception means: words, seconds to wait before the next try (None: no use), the refused parameter.

        Raises:
            ProposerError: no other request will fare better.
        """
        import openai

        where = f"{self._model} at {self._where()}"
        backoff = min(20.0, 0.5 * 2.0**attempt)
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            raise ProposerError(f"{where}: the key in {KEY} is refused ({error.status_code})") from None
        if isinstance(error, openai.NotFoundError):
            raise ProposerError(f"{where}: not found (404); check --llm and --base-url: {_line(error)}") from None
        if isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
            said = f"{error.param or ''} {error}".lower()
            refused = next((name for name in self._options if name in said), None)
            return f"the request is refused: {_line(error)}", None, refused
        if isinstance(error, openai.RateLimitError):
            if "insufficient_quota" in f"{error.code} {error}":
                raise ProposerError(f"{where}: the quota of this key is used up") from None
            return f"rate limit: {_line(error)}", _retry_after(error) or backoff, None
        if isinstance(error, openai.APIStatusError):
            return f"the endpoint failed ({error.status_code}): {_line(error)}", backoff, None
        if isinstance(error, openai.APITimeoutError | TimeoutError):
            return f"no whole reply within {self._deadline_s:g} s", None, None
        if isinstance(error, openai.APIConnectionError):
            return f"the endpoint cannot be reached: {_line(error.__cause__ or error)}", backoff, None
        return f"the answer cannot be read: {_line(error)}", backoff, None

    def _mend(self, refused: str) -> None:
        """Swap or leave out a parameter that the endpoint refuses, for the rest of the run."""
        with self._lock:
            if refused in self._options:
                value = self._options.pop(refused)
                if refused in MEND:
                    self._options[MEND[refused]] = value


def _read(reply: Any) -> Answer:
    """The text of a chat completion, or why there is none; responses are not validated by the client."""
    choices = getattr(reply, "choices", None)
    usage = getattr(reply, "usage", None)
    spent = tuple(count if isinstance(count := getattr(usage, name, None), int) else None
                  for name in ("prompt_tokens", "completion_tokens"))  # fmt: skip
    if not choices:
        extra = getattr(reply, "model_extra", None) or {}
        what = extra.get("error") or ("it is not a chat completion" if isinstance(reply, str) else "it has no choices")
        return Answer(None, f"the answer is of no use: {_line(what)}", *spent)
    choice = choices[0]
    message = getattr(choice, "message", None)
    content, finish = getattr(message, "content", None), getattr(choice, "finish_reason", None)
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if finish == "length":
        return Answer(content or None, "the reply was cut off at the token limit", *spent)
    refusal = getattr(message, "refusal", None)
    if refusal:
        return Answer(None, f"the reply is a refusal: {_line(refusal)}", *spent)
    if finish == "content_filter":
        return Answer(None, "the reply was stopped by the content filter", *spent)
    if not isinstance(content, str) or not content.strip():
        return Answer(None, "the reply is empty", *spent)
    return Answer(content, None, *spent)


def _retry_after(error: Any) -> float | None:
    try:
        return min(120.0, float(error.response.headers.get("retry-after")))
    except (AttributeError, TypeError, ValueError):
        return None


def _line(error: object) -> str:
    """One line of at most 200 characters, without the key."""
    text = " ".join(str(error).split()) or type(error).__name__
    key = os.environ.get(KEY)
    return (text.replace(key, "***") if key else text)[:200]
