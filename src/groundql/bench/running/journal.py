"""The predictions of a run on disk: one line per finished task, on the disk before it counts.

A process that is killed loses at most the tasks in flight. Lines that were torn are taken out when the file is opened
again, and their tasks are done again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from groundql.bench.prediction import Prediction, from_record, to_record
from groundql.bench.running.files import hold, release, replace_file, sync_folder
from groundql.bench.running.plan import Key, key_of
from groundql.errors import LoadError

PREDICTIONS: Final = "predictions.jsonl"


class Journal:
    """Append predictions to a run's folder, and know which are there.

    `done` maps each finished task to its prediction; `repaired` counts the lines that could not be read and were taken
    out.
    Raises (when opened): InputError when another process has the folder, LoadError when the file cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = hold(folder)
        try:
            path = self.path = folder / PREDICTIONS
            predictions, lines, self.repaired = _read(path)
            if self.repaired or (lines and not path.read_bytes().endswith(b"\n")):
                replace_file(path, b"".join(line + b"\n" for line in lines))
            self.done = _by_key(predictions)
            self._file = path.open("ab")
            sync_folder(folder)
        except BaseException:
            release(self._lock)
            raise

    def append(self, prediction: Prediction) -> None:
        """Add one line and have it on the disk before returning; a task that is there already is left as it is."""
        key = key_of(prediction)
        if key in self.done:
            return
        self._file.write(_line(prediction))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done[key] = prediction

    def close(self) -> None:
        """Let the folder go."""
        self._file.close()
        release(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_predictions(folder: Path) -> dict[Key, Prediction]:
    """Read a run's predictions by task, the first for each; lines that cannot be read are passed over.

    Raises: LoadError when the file cannot be read.
    """
    return _by_key(_read(folder / PREDICTIONS)[0])


def write_predictions(folder: Path, predictions: Iterable[Prediction]) -> None:
    """Write a run's predictions anew, in one step."""
    replace_file(folder / PREDICTIONS, b"".join(_line(p) for p in predictions))


def _line(prediction: Prediction) -> bytes:
    return (json.dumps(to_record(prediction), ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _read(path: Path) -> tuple[list[Prediction], list[bytes], int]:
    """Read what can be read: predictions, the lines that hold them, and how many lines could not be read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], [], 0
    except OSError as error:
        raise LoadError(f"{path}: cannot be read ({error.strerror or error})") from None
    predictions, lines, damaged = list[Prediction](), list[bytes](), 0
    for line in content.split(b"\n"):
        found = _prediction(line)
        if found is not None:
            predictions.append(found)
            lines.append(line)
        elif line.strip():
            damaged += 1
    return predictions, lines, damaged


def _prediction(line: bytes) -> Prediction | None:
    try:
        record: Any = json.loads(line)
        return from_record(cast("dict[str, Any]", record)) if isinstance(record, dict) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _by_key(predictions: Iterable[Prediction]) -> dict[Key, Prediction]:
    found: dict[Key, Prediction] = {}
    for prediction in predictions:
        found.setdefault(key_of(prediction), prediction)
    return found
