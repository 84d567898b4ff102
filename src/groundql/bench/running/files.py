"""Files that survive a crash: written whole and moved into place, and a folder that one process holds at a time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Final

from groundql.errors import InputError
from groundql.grounding.store import lock_file, unlock_file

LOCK: Final = ".lock"


def replace_file(path: Path, content: bytes) -> None:
    """Write a file beside its name and move it there, so that a reader sees the old one or the new one."""
    new = path.with_name(path.name + ".new")
    with new.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have a new name on the disk too, where the system can do that."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def hold(folder: Path) -> IO[bytes]:
    """Take a run's folder for this process; the lock falls with the process.

    Raises: InputError when another one has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = (folder / LOCK).open("ab")
    if not lock_file(handle):
        handle.close()
        raise InputError(f"another process is at work in {folder}", hint="wait for it, or choose another folder")
    return handle


def release(handle: IO[bytes]) -> None:
    """Give a run's folder free."""
    unlock_file(handle)
    handle.close()
