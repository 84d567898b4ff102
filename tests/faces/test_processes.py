"""The command as a process of its own: pipes, terminals, interruption, and what is left behind."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest

from faces.command import ANSI, COMMAND, CommandLine
from faces.stub_model import StubModel, draft

COLOUR = re.compile(r"\x1b\[(?:[0-9]*;)*(?:3[0-7]|38|4[0-7]|48|9[0-7]|10[0-7])[;m]")
PATIENCE_S = 60.0
ASK = ("ask", "how many items are there?", "--model", "openai:stub", "--solver", "value-bisect")


def test_the_installed_command_writes_plain_data_into_a_pipe(command: CommandLine) -> None:
    script = shutil.which("groundql", path=str(Path(COMMAND[0]).parent))
    assert script, "the package is not installed"
    done = subprocess.run(
        [script, "samples", "list", "--format", "csv"], capture_output=True, text=True, check=True,
        env=command.process_environment(),
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.startswith("name,title,licence\n")


def test_exit_codes_and_streams_hold_outside_of_this_process(shop: CommandLine) -> None:
    fine = shop.process("run", "db.people.countDocuments({})", "--format", "jsonl")
    assert (fine.code, len(fine.out.splitlines())) == (0, 1)
    wrong = shop.process("run", "db.people.find({agee: 1})")
    assert (wrong.code, wrong.out) == (1, "")
    broken = shop.process("run", "db.people.find({", stdin="")
    assert (broken.code, broken.out) == (2, "")
    assert not ANSI.search(fine.err + wrong.err + broken.err)


def test_a_reader_that_has_seen_enough_is_no_error(shop: CommandLine) -> None:
    query = "db.people.aggregate([{$project: {many: {$range: [0, 30000]}}}])"
    process = subprocess.Popen(
        [*COMMAND, "run", query, "--format", "jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=shop.process_environment(),
    )  # fmt: skip
    assert process.stdout
    assert process.stderr
    process.stdout.read(1000)
    process.stdout.close()
    complaint = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(PATIENCE_S) == 0, complaint
    assert "Traceback" not in complaint
    assert "Broken pipe" not in complaint


@pytest.mark.parametrize("no_color", [False, True])
def test_colours_appear_on_a_terminal_unless_they_are_unwanted(shop: CommandLine, no_color: bool) -> None:
    seen = on_terminal(shop, "run", "db.people.find({agee: 1})", **({"NO_COLOR": "1"} if no_color else {}))
    assert "unknown_path" in seen
    assert bool(COLOUR.search(seen)) is not no_color


def on_terminal(command: CommandLine, *arguments: str, **variables: str) -> str:
    """Run a command on a terminal of its own and return what appears there."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
            env=command.process_environment(**variables),
        )  # fmt: skip
        os.close(theirs)
        seen = b""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and select.select([screen], [], [], PATIENCE_S)[0]:
            try:
                part = screen.read(65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            seen += part
        process.wait(PATIENCE_S)
    return seen.decode()


def test_an_interrupted_question_leaves_no_process_behind(command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"_id": 1}\n{"_id": 2}\n')
    with StubModel([draft("items", {"$count": "n"})]) as model:
        model.hold()
        with started(command, *ASK, "--db", str(tmp_path), **model.variables) as process:
            assert model.asked.wait(PATIENCE_S)
            children = descendants(process.pid)
            assert any("groundql-embedded" in text or "groundql_embedded" in text for text in children.values())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert out == b""
    assert err.decode().splitlines()[-1] == "interrupted"
    assert b"Traceback" not in err
    wait_until(lambda: not alive(children))


def test_an_interrupted_grounding_exits_with_130(command: CommandLine, tmp_path: Path) -> None:
    with started(command, "ground", "--db", "sample:brands", GROUNDQL_CACHE_DIR=str(tmp_path)) as process:
        wait_until(lambda: bool(descendants(process.pid)) or process.poll() is not None)
        children = descendants(process.pid)
        time.sleep(1.0)  # somewhere within loading or reading: both have to end well
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    wait_until(lambda: not alive(children))


@pytest.mark.integration
def test_an_interrupted_local_model_leaves_no_server_behind(shop: CommandLine, tmp_path: Path) -> None:
    models = Path(platformdirs.user_cache_dir("groundql", appauthor=False)) / "models"
    if not list(models.glob("*0.5b*.gguf")):
        pytest.skip("needs the small local model: groundql model pull 0.5b")
    (tmp_path / "models").symlink_to(models)
    ask = ("ask", "how many items are there?", "--model", "local:0.5b", "--solver", "value-bisect")
    with started(shop, *ask, GROUNDQL_CACHE_DIR=str(tmp_path)) as process:
        wait_until(lambda: is_serving(process.pid) or process.poll() is not None)
        children = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert any("groundql.llm.serve" in text for text in children.values())
    wait_until(lambda: not alive(children))


def is_serving(pid: int) -> bool:
    return any("groundql.llm.serve" in text for text in descendants(pid).values())


def heed_interrupts() -> None:
    """Undo what a shell does to commands in the background: they ignore Ctrl-C, and so would their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(command: CommandLine, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command in a session of its own, and end what is left of it."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=command.home, env=command.process_environment(**variables), start_new_session=True,
        preexec_fn=heed_interrupts,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def descendants(pid: int) -> dict[int, str]:
    """The processes that a process started, and those they started, with their command lines."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines() if len(line.split(None, 2)) == 3]
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for child, its_parent, text in rows:
            if int(its_parent) == parent:
                found[int(child)] = text
                waiting.append(int(child))
    return found


def alive(processes: dict[int, str]) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(r[0]) for r in rows if int(r[0]) in processes and not r[1].startswith("Z")]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.05)


@pytest.mark.parametrize("database", ["mongodb://127.0.0.1:1/x", "sample:emoji"])
def test_a_script_that_never_closes_its_client_ends_and_leaves_nothing(shop: CommandLine, database: str) -> None:
    text = f"import groundql\nclient = groundql.connect({database!r})\nprint('connected', flush=True)\ninput()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=shop.process_environment(),
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == b"connected\n"
    children = descendants(process.pid)
    assert bool(children) is database.startswith("sample:")
    _, complaint = process.communicate(b"\n", timeout=PATIENCE_S)
    assert (process.returncode, complaint) == (0, b"")
    wait_until(lambda: not alive(children))
