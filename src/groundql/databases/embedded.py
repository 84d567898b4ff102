"""Start and stop the embedded document server: a child process, spoken to by wire like any other server."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

import anyio.to_thread

from groundql.errors import EmbeddedUnavailable

COMMAND: Final = "groundql-embedded"
START_S: Final = 30.0
STOP_S: Final = 15.0
HURRY_S: Final = 0.5
"""How long a server is waited for that need not end in good order: what it acknowledged is on disk as it is."""
_END_S: Final = 5.0
_POLL_S: Final = 0.1

_LISTENING: Final = re.compile(r"secantus listening on (?P<host>\S+):(?P<port>\d+)")
_INSTALL: Final = "pip install 'groundql[embedded]', or point --db at a MongoDB server"
_REAL_SERVER: Final = "point --db at a MongoDB server, such as mongodb://localhost:27017/NAME"


class EmbeddedServer:
    """The embedded document server, running between `start` and `stop` (or inside `with` / `async with`).

    Without `storage` the data lives in memory and ends with the server; with a directory it survives, and every
    acknowledged write is on disk. The server ends with this process, however this process ends.

    `options` are further arguments of the server.
    Raises: EmbeddedUnavailable when it is not installed, cannot be installed here, or does not come up.
    Units: `start_s` and `stop_s` are seconds to wait for it to listen and to end.
    """

    def __init__(
        self,
        storage: Path | None = None,
        *,
        command: Sequence[str] | None = None,
        options: Sequence[str] = (),
        start_s: float = START_S,
        stop_s: float = STOP_S,
    ) -> None:
        self.storage = storage
        self._command = command
        self._options = options
        self._start_s = start_s
        self._stop_s = stop_s
        self._process: subprocess.Popen[bytes] | None = None
        self._log: _Log | None = None
        self._address = ""
        self._scratch: Path | None = None

    @property
    def uri(self) -> str:
        """The connection string of the running server."""
        if not self._address:
            raise EmbeddedUnavailable("the embedded server is not running; call start() first")
        return f"mongodb://{self._address}/"

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> Self:
        """Start the server and wait until it listens; nothing happens when it already runs."""
        if self.pid is not None:
            return self
        self.stop()
        arguments = [*(self._command or find_command()), *_arguments(self.storage), *self._options]
        self._scratch = Path(tempfile.mkdtemp(prefix="groundql-embedded-")) if self.storage is None else None
        try:
            self._process = _spawn(arguments, self._scratch or Path(tempfile.gettempdir()))
        except BaseException:
            self.stop()
            raise
        self._log = _Log(self._process)
        address = self._log.wait_for_address(self._start_s)
        if address is None:
            raise self._failure()
        self._address = address
        return self

    def stop(self, *, hurry: bool = False) -> None:
        """End the server in good order; nothing happens when it does not run.

        `hurry` does not wait for a query that still runs there.
        """
        process, log, address, scratch = self._process, self._log, self._address, self._scratch
        self._process, self._log, self._address, self._scratch = None, None, "", None
        if process is not None:
            _end(process, address, min(HURRY_S, self._stop_s) if hurry else self._stop_s)
        if log:
            log.close()
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)  # one that was killed leaves its files there

    def _failure(self) -> EmbeddedUnavailable:
        process, log = self._process, self._log
        assert process is not None
        assert log is not None
        if log.is_complete:  # its last words came: give it the moment that it takes to end
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
        ended = process.poll() is not None
        self.stop()
        last = log.last_line or "it wrote nothing"
        what = f"ended with code {process.returncode}" if ended else f"did not listen within {self._start_s:g} s"
        if self.storage is not None and "busy" in last.lower():
            return EmbeddedUnavailable(
                f"the embedded server cannot open {self.storage}: another process uses it",
                hint="stop that process, or choose another directory",
            )
        return EmbeddedUnavailable(f"the embedded server {what}: {last}", hint=_REAL_SERVER)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await anyio.to_thread.run_sync(self.start)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.stop)


def find_command(directory: Path | None = None, search: str | None = None) -> tuple[str, ...]:
    """Find the server's executable: beside the running Python (or in `directory`), then on the PATH (or `search`).

    Raises: EmbeddedUnavailable saying how to get one, or why there is none for this machine.
    """
    beside = (directory or Path(sys.executable).parent) / COMMAND
    found = shutil.which(str(beside)) or shutil.which(COMMAND, path=search)
    if found:
        return (found,)
    raise missing(sys.version_info[:2], platform.system(), platform.machine())


def missing(python: tuple[int, int], system: str, machine: str) -> EmbeddedUnavailable:
    """Say why there is no embedded server: not installed, or nothing to install on this platform."""
    version = ".".join(map(str, python))
    if python >= (3, 14):
        reason = f"the embedded server has no build for Python {version} (3.11 to 3.13 have one)"
    elif system == "Darwin" and machine == "x86_64":
        reason = "the embedded server has no build for Macs with Intel processors"
    else:
        return EmbeddedUnavailable("the embedded server is not installed", hint=_INSTALL)
    return EmbeddedUnavailable(reason, hint=_REAL_SERVER)


def _arguments(storage: Path | None) -> list[str]:
    kept = [":memory:"] if storage is None else [str(storage), "--sync-on-commit"]
    return ["--host", "127.0.0.1", "--port", "0", "--end-with-parent", "--storage-path", *kept]


def _spawn(arguments: Sequence[str], scratch: Path) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # its standard input stays open as long as this process lives: see --end-with-parent
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(scratch)},
            cwd=scratch,
            start_new_session=True,  # Ctrl-C reaches us alone; we then end it in good order
        )
    except OSError as error:
        raise EmbeddedUnavailable(f"the embedded server cannot be started: {error}", hint=_INSTALL) from error


def _end(process: subprocess.Popen[bytes], address: str, stop_s: float) -> None:
    process.terminate()
    deadline = time.monotonic() + stop_s
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            break
        if time.monotonic() >= deadline:
            process.kill()
        _wake(address)
    if process.stdin:
        process.stdin.close()


def _wake(address: str) -> None:
    """Knock: the engine's thread that waits for callers notices only then, or after seconds, that it is to end."""
    host, _, port = address.rpartition(":")
    if host:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=_POLL_S):
            pass


class _Log:
    """Read the server's stderr to its end, so that it never blocks on a full pipe; keep the last lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        self._stream: IO[bytes] = process.stderr
        self._lines: deque[str] = deque(maxlen=50)
        self._address: str | None = None
        self._known = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True, name="embedded-server-log")
        self._thread.start()

    def _read(self) -> None:
        for raw in self._stream:
            line = raw.decode(errors="replace").rstrip()
            self._lines.append(line)
            match = _LISTENING.search(line)
            if match:
                self._address = f"{match['host']}:{match['port']}"
                self._known.set()
        self._known.set()

    @property
    def last_line(self) -> str:
        return next((line for line in reversed(self._lines) if line.strip()), "")

    @property
    def is_complete(self) -> bool:
        return not self._thread.is_alive() or (self._known.is_set() and self._address is None)

    def wait_for_address(self, timeout_s: float) -> str | None:
        self._known.wait(timeout_s)
        return self._address

    def close(self) -> None:
        self._thread.join()
        self._stream.close()
