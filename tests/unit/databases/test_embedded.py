from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pymongo import MongoClient
from pymongo.errors import ConnectionFailure

from groundql.databases.embedded import COMMAND, EmbeddedServer, find_command, missing
from groundql.errors import EmbeddedUnavailable

PARENT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell sets it aside for commands in the background
from groundql.databases.embedded import EmbeddedServer
server = EmbeddedServer().start()
print(server.pid, flush=True)
time.sleep(600)
"""


def script(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "server.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state != "Z"
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return not Path("/proc").is_dir()


def ends(pid: int, within_s: float = 20) -> bool:
    deadline = time.monotonic() + within_s
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(pid)


def test_it_serves_inside_with_and_is_gone_afterwards() -> None:
    with EmbeddedServer() as server:
        pid = server.pid
        with MongoClient(server.uri) as client:
            client["d"]["c"].insert_one({"_id": 1})
            assert client["d"]["c"].count_documents({}) == 1
    assert pid is not None
    assert not is_alive(pid)
    with pytest.raises(EmbeddedUnavailable, match="not running"):
        _ = server.uri


@pytest.mark.anyio
async def test_it_serves_inside_async_with() -> None:
    async with EmbeddedServer() as server:
        pid = server.pid
        assert server.uri.startswith("mongodb://127.0.0.1:")
    assert pid is not None
    assert not is_alive(pid)


def test_what_is_written_to_a_directory_survives_a_kill(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "data") as server, MongoClient(server.uri) as client:
        for n in range(20):
            client["d"]["c"].insert_one({"_id": n})
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
    with EmbeddedServer(tmp_path / "data") as server, MongoClient(server.uri) as client:
        assert client["d"]["c"].count_documents({}) == 20


def test_a_directory_in_use_is_said_to_be_in_use(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "data"), pytest.raises(EmbeddedUnavailable, match="another process uses it"):
        EmbeddedServer(tmp_path / "data").start()


def test_it_starts_again_after_it_was_killed() -> None:
    with EmbeddedServer() as server:
        first = server.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert ends(first)
        deadline = time.monotonic() + 20
        while server.pid is not None and time.monotonic() < deadline:  # its last threads may outlive its first one
            time.sleep(0.05)
        assert server.pid is None
        server.start()
        with MongoClient(server.uri) as client:
            assert client.admin.command("ping")["ok"] == 1


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_its_parent(how: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent:
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.send_signal(how)
        parent.wait()
    assert ends(pid)


def test_the_server_listens_on_loopback_only() -> None:
    with EmbeddedServer() as server:
        other = server.uri.replace("127.0.0.1", "127.0.0.2")
        with MongoClient(other, serverSelectionTimeoutMS=500) as client, pytest.raises(ConnectionFailure):
            client.admin.command("ping")


def test_a_server_that_ends_at_once_reports_its_last_line(tmp_path: Path) -> None:
    command = script(tmp_path, "import sys; sys.exit('no room on the disk')")
    with pytest.raises(EmbeddedUnavailable, match="ended with code 1: no room on the disk"):
        EmbeddedServer(command=command).start()


def test_a_server_that_never_listens_is_given_up_and_ended(tmp_path: Path) -> None:
    command = script(tmp_path, "import time; time.sleep(600)")
    server = EmbeddedServer(command=command, start_s=0.5)
    with pytest.raises(EmbeddedUnavailable, match=r"did not listen within 0\.5 s: it wrote nothing"):
        server.start()
    assert server.pid is None


def test_a_server_deaf_to_the_signal_is_killed(tmp_path: Path) -> None:
    command = script(
        tmp_path,
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('secantus listening on 127.0.0.1:1', file=sys.stderr, flush=True)\n"
        "time.sleep(600)",
    )
    server = EmbeddedServer(command=command, stop_s=0.5).start()
    pid = server.pid
    server.stop()
    assert pid is not None
    assert not is_alive(pid)


def test_a_server_that_need_not_end_in_good_order_is_not_waited_for(tmp_path: Path) -> None:
    command = script(
        tmp_path,
        "import os, signal, sys, tempfile, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(tempfile.mkdtemp(), file=sys.stderr, flush=True)\n"
        "print('secantus listening on 127.0.0.1:1', file=sys.stderr, flush=True)\n"
        "time.sleep(600)",
    )
    server = EmbeddedServer(command=command, stop_s=600).start()
    pid, log = server.pid, server._log
    assert pid is not None
    assert log is not None
    left = Path(log._lines[0])
    assert left.is_dir()
    server.stop(hurry=True)
    assert not is_alive(pid)
    assert not left.exists()


def test_a_chatty_server_does_not_block(tmp_path: Path) -> None:
    command = script(
        tmp_path,
        "import sys\n"
        "print('secantus listening on 127.0.0.1:1', file=sys.stderr, flush=True)\n"
        "for _ in range(20_000): print('x' * 100, file=sys.stderr)\n"
        "sys.exit(3)",
    )
    server = EmbeddedServer(command=command).start()
    pid = server.pid
    assert pid is None or ends(pid)
    server.stop()


def test_a_command_that_is_not_there_says_how_to_install_it() -> None:
    with pytest.raises(EmbeddedUnavailable, match="cannot be started") as caught:
        EmbeddedServer(command=["/nowhere/at/all"]).start()
    assert "pip install 'groundql[embedded]'" in caught.value.hint


def test_the_command_beside_this_python_comes_first(tmp_path: Path) -> None:
    for where in ("beside", "path"):
        (tmp_path / where).mkdir()
        (tmp_path / where / COMMAND).write_text("#!/bin/sh\n")
    (tmp_path / "path" / COMMAND).chmod(0o755)
    search = str(tmp_path / "path")
    assert find_command(tmp_path / "beside", search) == (str(tmp_path / "path" / COMMAND),)
    (tmp_path / "beside" / COMMAND).chmod(0o755)
    assert find_command(tmp_path / "beside", search) == (str(tmp_path / "beside" / COMMAND),)
    with pytest.raises(EmbeddedUnavailable):
        find_command(tmp_path, str(tmp_path))


@pytest.mark.parametrize(
    ("python", "system", "machine", "message", "hint"),
    [
        ((3, 12), "Linux", "x86_64", "not installed", "pip install 'groundql[embedded]'"),
        ((3, 14), "Linux", "x86_64", "no build for Python 3.14", "mongodb://localhost"),
        ((3, 12), "Darwin", "x86_64", "Intel", "mongodb://localhost"),
        ((3, 13), "Darwin", "arm64", "not installed", "pip install"),
    ],
)
def test_a_missing_server_says_what_to_do_here(
    python: tuple[int, int], system: str, machine: str, message: str, hint: str
) -> None:
    error = missing(python, system, machine)
    assert message in str(error)
    assert hint in error.hint
