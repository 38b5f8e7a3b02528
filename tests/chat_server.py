"""A local HTTP server that speaks the chat-completions protocol, with faults on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Asked"], "Sent"]


@dataclass
class Asked:
    """One request: its number from 0, headers and body."""

    number: int
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Sent:
    """One response; `drip_s` sends it byte by byte with pauses."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    drip_s: float = 0.0


def completion(content: Any, finish: str = "stop", usage: bool = True, **message: Any) -> Sent:
    """A chat completion."""
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "finish_reason": finish,
                         "message": {"role": "assistant", "content": content, **message}}]}  # fmt: skip
    if usage:
        body["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return Sent(body=body)


def error(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> Sent:
    """An error body as OpenAI sends it."""
    return Sent(status, {"error": {"message": message, "type": "error", **more}}, headers or {})


class Server(ThreadingHTTPServer):
    """Answers with `answer`; keeps what it was asked."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.asked, self.lock = answer, [], threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            asked = Asked(len(self.server.asked), {name.lower(): value for name, value in self.headers.items()}, body)
            self.server.asked.append(asked)
        sent = self.server.answer(asked) if self.path.endswith("/chat/completions") else Sent(404, {"error": "no"})
        data = sent.body.encode() if isinstance(sent.body, str) else json.dumps(sent.body).encode()
        try:
            self.send_response(sent.status)
            self.send_header("Content-Type", "text/html" if isinstance(sent.body, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in sent.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for i in range(len(data) if sent.drip_s else 0):
                self.wfile.write(data[i : i + 1])
                time.sleep(sent.drip_s)
            if not sent.drip_s:
                self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    """A server on a free port of the loopback interface."""
    server = Server(answer)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
