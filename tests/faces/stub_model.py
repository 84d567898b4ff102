"""An OpenAI-compatible server on loopback that says what a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Reply = str | tuple[int, Mapping[str, Any]] | bytes
"""The text of a reply, a status with an error body, or the body of a response as it is."""


class StubModel:
    """Serve chat completions from a list (the last one is repeated) or by a function of the request body."""

    def __init__(self, replies: Sequence[Reply] | Callable[[Mapping[str, Any]], Reply]) -> None:
        self.requests: list[Mapping[str, Any]] = []
        self.asked = threading.Event()
        self.released = threading.Event()
        self.released.set()
        self._replies = replies if callable(replies) else _reader(replies)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def variables(self) -> dict[str, str]:
        """What a command needs in its environment to use this server as `openai:NAME`."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "stub-key"}

    def hold(self) -> None:
        """Let requests wait until the server is stopped."""
        self.released.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                stub.requests.append(body)
                stub.asked.set()
                stub.released.wait()
                self._answer(*stub._told(body))

            def _answer(self, status: int, data: bytes) -> None:
                try:
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    return  # the client was interrupted, as some tests wish

            def log_message(self, format: str, *args: object) -> None:
                return

        return Handler

    def _told(self, body: Mapping[str, Any]) -> tuple[int, bytes]:
        reply = self._replies(body)
        if isinstance(reply, bytes):
            return 200, reply
        status, content = (200, completion(reply, str(body["model"]))) if isinstance(reply, str) else reply
        return status, json.dumps(content).encode()


def completion(text: str, model: str) -> dict[str, Any]:
    """Return a reply in the form of the chat completions interface."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def draft(collection: str, *stages: Mapping[str, Any], reading: str = "plain", assumptions: Sequence[str] = ()) -> str:
    """Return a drafted pipeline as a model would write it."""
    return json.dumps(
        {
            "reading": reading,
            "assumptions": list(assumptions),
            "collection": collection,
            "pipeline": list(stages),
        }
    )


def _reader(replies: Sequence[Reply]) -> Callable[[Mapping[str, Any]], Reply]:
    left = iter(replies)
    last = replies[-1]
    lock = threading.Lock()

    def read(_: Mapping[str, Any]) -> Reply:
        with lock:
            return next(left, last)

    return read
