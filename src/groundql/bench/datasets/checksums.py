"""Hold files against published sizes and SHA-256."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Final, cast

from groundql.errors import LoadError

_CHUNK: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
Hashed = Callable[[int], None]
"""Told, from time to time, how many bytes of the file on disk are read."""


class Match(StrEnum):
    """What a comparison with the published figures came to."""

    MATCHES = "matches the published"
    DIFFERS = "differs from the published"
    PARTLY = "part of the published"
    MISSING = "missing"
    UNCHECKED = "not checked"
    UNPUBLISHED = "no published figures"


@dataclass(frozen=True, slots=True)
class Published:
    """The published figures of one file. Shape: SHA-256 in hex. Units: `size_bytes` unpacked"""

    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Checked:
    """One file held against its published figures; `detail` says what differs."""

    name: str
    match: Match
    path: Path | None = None
    detail: str = ""


def check(
    name: str,
    path: Path | None,
    published: Published | None,
    on_progress: Hashed | None = None,
    *,
    unpack: bool = True,
) -> Checked:
    """Hold one file against its figures; a gzip file is unpacked on the way, and never kept in memory whole.

    Raises: LoadError for a file that cannot be read.
    """
    if path is None:
        return Checked(name, Match.MISSING)
    if published is None:
        return Checked(name, Match.UNPUBLISHED, path)
    if not path.is_file():
        return Checked(name, Match.UNCHECKED, path, "a folder of files, not the one that was published")
    with _reported(path), path.open("rb") as raw:
        is_packed = unpack and raw.read(2) == _GZIP
        size_bytes = path.stat().st_size
        if not is_packed and size_bytes != published.size_bytes:
            return _differs(name, path, size_bytes, published)
        raw.seek(0)
        size_bytes, digest = _digest(raw, is_packed, on_progress)
    if size_bytes != published.size_bytes:
        return _differs(name, path, size_bytes, published)
    if digest != published.sha256:
        return Checked(name, Match.DIFFERS, path, f"the same size, but SHA-256 {digest}")
    return Checked(name, Match.MATCHES, path)


def digest_of(path: Path) -> str:
    """Hash a file as it lies on disk. Shape: SHA-256 in hex"""
    with _reported(path), path.open("rb") as raw:
        return _digest(raw, is_packed=False, on_progress=None)[1]


def _differs(name: str, path: Path, size_bytes: int, published: Published) -> Checked:
    return Checked(name, Match.DIFFERS, path, f"{size_bytes:,} bytes, {published.size_bytes:,} published")


def _digest(raw: IO[bytes], is_packed: bool, on_progress: Hashed | None) -> tuple[int, str]:
    digest, size_bytes = hashlib.sha256(), 0
    stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if is_packed else raw
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
        size_bytes += len(chunk)
        if on_progress:
            on_progress(raw.tell())
    return size_bytes, digest.hexdigest()


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise LoadError(f"{path}: the compressed data is damaged or cut off ({error})") from None
    except OSError as error:
        raise LoadError(f"{path}: {error.strerror or error}") from None
