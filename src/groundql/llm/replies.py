"""Replies kept on disk, so that the same question to the same model is paid for once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path

from groundql.core.budget import Usage
from groundql.core.chat import Finish, ModelReply, ModelRequest

MOST_REPLIES = 20_000
PRUNE_SHARE = 0.1
BUSY_S = 10.0
VERSION = 1


class ReplyStore:
    """Keep replies in one SQLite file. Safe under several threads and processes.

    A file that cannot be read or written is as good as an empty one: a cache never fails a question.
    """

    def __init__(self, path: Path, *, most: int = MOST_REPLIES) -> None:
        self._path = path
        self._most = most

    def key(self, model: str, scope: str, request: ModelRequest) -> str:
        """Return the name under which the reply to a request is kept: a hash of all that decides it."""
        decides = [
            VERSION,
            model,
            scope,
            [(message.role, message.text) for message in request.messages],
            request.schema,
            request.temperature,
            request.seed,
            request.max_tokens,
        ]
        return hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()

    def get(self, key: str) -> ModelReply | None:
        """Return a kept reply, or None."""
        try:
            with self._open() as database:
                row = database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            return _read(row[0]) if row else None
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: ModelReply) -> None:
        """Keep a reply; the oldest go when there are too many."""
        try:
            with self._open() as database:
                row = (key, json.dumps(asdict(reply)), time.time())
                database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", row)
                (count,) = database.execute("SELECT count(*) FROM replies").fetchone()
                if count > self._most:
                    oldest = "SELECT key FROM replies ORDER BY kept_at LIMIT ?"
                    surplus = count - self._most + int(self._most * PRUNE_SHARE)
                    database.execute(f"DELETE FROM replies WHERE key IN ({oldest})", (surplus,))
        except (sqlite3.Error, OSError):
            return

    def clear(self) -> None:
        """Forget every reply."""
        self._path.unlink(missing_ok=True)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one short transaction; only its owner may read it, since replies quote data."""
        if not self._path.exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=BUSY_S)) as database, database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, kept_at REAL NOT NULL)"
            )
            yield database


def _read(text: str) -> ModelReply:
    data = json.loads(text)
    return ModelReply(data["text"], Finish(data["finish"]), Usage(**data["usage"]), data["model"])
