"""Groundings kept on disk under a data fingerprint: reused, refreshed on demand, safe under several processes.

A file is written whole beside its name and then moved there, so that a reader sees the old one or the new one. A lock
of the operating system keeps two processes from building the same grounding at once; it falls with its process, so no
stale lock is left. A file that is damaged or of another format is built anew, with a note, never an error.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO, Final

import anyio

from groundql.errors import GroundingError
from groundql.grounding.codec import StoredGrounding, from_data, to_data

DEFAULT_KEPT: Final = 12
"""Groundings kept of one database name; the oldest beyond that are removed."""
_WAIT_S: Final = 600.0
_POLL_S: Final = 0.1


@dataclass(frozen=True)
class GroundingStore:
    """A folder of groundings.

    Units: `wait_s` seconds to wait for another process that builds the same grounding, before building it too.
    """

    folder: FilePath
    kept: int = DEFAULT_KEPT
    wait_s: float = _WAIT_S

    def load(self, fingerprint: str) -> StoredGrounding | None:
        """Return the grounding of a fingerprint, or None when none is kept.

        Raises: GroundingError when the file is damaged, unreadable or of another format.
        """
        path = self._path(fingerprint)
        if path is None:
            return None
        try:
            data = json.loads(gzip.decompress(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, EOFError, ValueError, zlib.error, RecursionError) as error:
            raise GroundingError(f"the stored grounding cannot be read: {type(error).__name__}") from error
        found = from_data(data)
        if found.catalog.fingerprint != fingerprint:
            raise GroundingError("the stored grounding belongs to other data")
        return found

    def save(self, grounding: StoredGrounding) -> FilePath:
        """Keep a grounding under its catalog's fingerprint, and return its file.

        Raises: GroundingError when the folder cannot be written.
        """
        catalog = grounding.catalog
        text = json.dumps(to_data(grounding), ensure_ascii=False, separators=(",", ":"))
        packed = gzip.compress(text.encode("utf-8", "surrogatepass"), compresslevel=4, mtime=0)
        path = self.folder / f"{_slug(catalog.database)}-{_checked(catalog.fingerprint)}.json.gz"
        try:
            self._make_folder()
            _replace(path, packed)
        except OSError as error:
            raise GroundingError(
                f"the grounding cannot be kept in {self.folder}: {error.strerror or error}",
                hint="choose another cache folder",
            ) from error
        self._prune(path)
        return path

    @contextlib.asynccontextmanager
    async def hold(self, fingerprint: str) -> AsyncGenerator[bool]:
        """Hold the right to build a grounding; yield False when waiting for another process was given up.

        A folder that cannot be written yields False as well: building is then worth doing, if only for this once.
        """
        try:
            self._make_folder()
            handle: IO[bytes] | None = (self.folder / f"{_checked(fingerprint)}.lock").open("ab")
        except OSError:
            handle = None
        if handle is None:
            yield False
            return
        with handle:
            held = await _wait_for(handle, self.wait_s)
            try:
                yield held
            finally:
                if held:
                    unlock_file(handle)

    def _path(self, fingerprint: str) -> FilePath | None:
        found = sorted(self.folder.glob(f"*-{_checked(fingerprint)}.json.gz")) if self.folder.is_dir() else []
        return found[-1] if found else None

    def _make_folder(self) -> None:
        """Groundings hold stored values: the folder is for its owner alone."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _prune(self, newest: FilePath) -> None:
        name = newest.name[: -len("-" + "0" * 32 + ".json.gz")]
        others = [p for p in self.folder.glob(f"{name}-*.json.gz") if len(p.name) == len(newest.name) and p != newest]
        with contextlib.suppress(OSError):
            for old in sorted(others, key=lambda p: (-p.stat().st_mtime, p.name))[max(self.kept - 1, 0) :]:
                old.unlink(missing_ok=True)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40] or "database"


def _checked(fingerprint: str) -> str:
    """A fingerprint becomes part of a file's name, so it must not be able to leave the folder."""
    if not re.fullmatch(r"[0-9a-f]{32}", fingerprint):
        raise GroundingError(f"{fingerprint!r} is no fingerprint", hint="32 hexadecimal digits are expected")
    return fingerprint


def _replace(path: FilePath, content: bytes) -> None:
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


async def _wait_for(handle: IO[bytes], wait_s: float) -> bool:
    deadline = time.monotonic() + wait_s
    while not lock_file(handle):
        if time.monotonic() >= deadline:
            return False
        await anyio.sleep(_POLL_S)
    return True


if sys.platform == "win32":
    import msvcrt

    def lock_file(handle: IO[bytes]) -> bool:
        """Take an open file's lock for this process, or say that another one has it."""
        try:
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock_file(handle: IO[bytes]) -> None:
        """Give an open file's lock free."""
        handle.seek(0)
        msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def lock_file(handle: IO[bytes]) -> bool:
        """Take an open file's lock for this process, or say that another one has it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def unlock_file(handle: IO[bytes]) -> None:
        """Give an open file's lock free."""
        fcntl.flock(handle, fcntl.LOCK_UN)
