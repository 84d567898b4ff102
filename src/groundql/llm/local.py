"""The local model's server: started for the user in a child process, and ended with this one.

It speaks the same protocol as any OpenAI-compatible provider, so `groundql.llm.models` treats it as one.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import queue
import re
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import httpx

from groundql.errors import ModelUnavailable
from groundql.llm.pull import MODEL_FILES, ModelFile, find_model_file, is_present, model_path
from groundql.llm.serve import KEY_VARIABLE

CONTEXT_TOKENS = 8192
START_S = 180.0
STOP_S = 5.0
WARM_S = 300.0
MAX_THREADS = 8


@dataclass(frozen=True, slots=True)
class LocalModelStatus:
    """Say what `doctor` shows about one local model file and the library that serves it."""

    name: str
    title: str
    path: Path
    size_bytes: int
    present: bool
    server_installed: bool

    @property
    def advice(self) -> str | None:
        """Return the one thing to do next, or nothing when the model can be used."""
        if not self.server_installed:
            return "pip install 'groundql[local]'"
        return None if self.present else f"groundql model pull {self.name}"


def model_status(folder: Path | None = None) -> tuple[LocalModelStatus, ...]:
    """Return the state of each local model without starting or downloading anything."""
    installed = importlib.util.find_spec("xllamacpp") is not None
    return tuple(
        LocalModelStatus(
            file.name, file.title, model_path(file, folder), file.size_bytes, is_present(file, folder), installed
        )
        for file in MODEL_FILES.values()
    )


class LocalServer:
    """Hold one running model server: its address, its key, and its end.

    Raises: ModelUnavailable from `start` when the server library or the file is missing, or it does not come up.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes], address: str, api_key: str, load_s: float):
        self._process = process
        self._log = log
        self.base_url = f"{address}/v1"
        self.api_key = api_key
        self.load_s = load_s

    def __repr__(self) -> str:
        return f"LocalServer({self.base_url!r}, running={self.running})"

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.stop()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    def start(
        cls,
        file: ModelFile,
        *,
        folder: Path | None = None,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int | None = None,
        start_s: float = START_S,
    ) -> LocalServer:
        """Start a server for a model file on a free loopback port and wait until it answers."""
        path = _usable_file(file, folder)
        key = secrets.token_urlsafe(24)
        # Without this the worker threads spin while they wait, and collapse beside any other work.
        environment = {**os.environ, KEY_VARIABLE: key, "OMP_WAIT_POLICY": "passive"}
        flags = ["--context-tokens", str(context_tokens), "--threads", str(threads or _threads())]
        command = [sys.executable, "-m", "groundql.llm.serve", str(path), *flags]
        log = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the server)
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True
        )
        try:
            ready = json.loads(_first_line(process, log, start_s))
        except BaseException:
            process.kill()
            _end(process, log)
            raise
        return cls(process, log, ready["listening"], key, ready["load_s"])

    def stop(self) -> None:
        """End the server; closing its input asks it to go, and it is killed if it does not."""
        _end(self._process, self._log)

    def warm(self, messages: Sequence[Mapping[str, str]], *, timeout_s: float = WARM_S) -> int:
        """Read a prompt's fixed beginning into the server's cache, so that later questions start after it.

        Returns: the number of prompt tokens held.
        Raises: ModelUnavailable when the server does not take it.
        """
        body: dict[str, Any] = {"messages": list(messages), "max_tokens": 1, "temperature": 0, "cache_prompt": True}
        headers = {"authorization": f"Bearer {self.api_key}"}
        try:
            reply = httpx.post(f"{self.base_url}/chat/completions", json=body, headers=headers, timeout=timeout_s)
            reply.raise_for_status()
            return int(reply.json()["usage"]["prompt_tokens"])
        except (httpx.HTTPError, KeyError, ValueError) as error:
            raise ModelUnavailable(f"the local model did not take the warm-up prompt: {error}") from error


class LocalServers:
    """Share one server per model file within this process, and end them all when it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[Path, LocalServer] = {}

    def get(self, name: str, folder: Path | None = None) -> LocalServer:
        """Return the running server of a model, starting it when there is none or it died.

        `folder` is the cache folder that holds its file.
        """
        file = find_model_file(name)
        path = model_path(file, folder)
        with self._lock:
            server = self._servers.get(path)
            if server is None or not server.running:
                if server is not None:
                    server.stop()
                server = self._servers[path] = LocalServer.start(file, folder=folder)
            return server

    def stop(self) -> None:
        """End every server that was started here."""
        with self._lock:
            for server in self._servers.values():
                server.stop()
            self._servers.clear()


SHARED_SERVERS = LocalServers()
atexit.register(SHARED_SERVERS.stop)


def _end(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    if process.stdin and not process.stdin.closed:
        process.stdin.close()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout and not process.stdout.closed:
        process.stdout.close()
    log.close()


def _usable_file(file: ModelFile, folder: Path | None) -> Path:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelUnavailable("the local model needs its server library", hint="pip install 'groundql[local]'")
    if not is_present(file, folder):
        size = f"{file.size_bytes / 1e6:,.0f} MB"
        raise ModelUnavailable(
            f"the local model {file.name} ({size}) is not downloaded", hint=f"groundql model pull {file.name}"
        )
    return model_path(file, folder)


def _threads() -> int:
    """Count the cores that this process may use; on larger machines half of them are usually hyper-threads."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(1, min(MAX_THREADS, cores if cores <= 4 else cores // 2))


def _first_line(process: subprocess.Popen[bytes], log: IO[bytes], start_s: float) -> bytes:
    """Wait for the line that says the server is ready."""
    lines: queue.Queue[bytes] = queue.Queue()
    stdout = process.stdout
    assert stdout is not None
    threading.Thread(target=lambda: lines.put(stdout.readline()), daemon=True).start()
    try:
        line = lines.get(timeout=start_s)
    except queue.Empty:
        raise ModelUnavailable(f"the local model did not start within {start_s:.0f} s") from None
    if not line:
        log.seek(0)
        tail = log.read()[-2000:].decode(errors="replace").strip().splitlines()
        reason = re.sub(r"^[\d.]+ [A-Z] +(?:\w+ +)*\w*: ", "", tail[-1]) if tail else "its server ended at once"
        raise ModelUnavailable(
            f"the local model did not start: {reason}",
            hint="if its file is damaged, delete it and run `groundql model pull` again",
        )
    return line
