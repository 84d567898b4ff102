"""Whether a server that was reached once is still there, so that a call on a lost one ends in seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

LOST_S: Final = 3.0
"""How long a server may be out of sight: a process that is started anew by its supervisor is back by then."""
AGAIN_S: Final = 0.5
"""How long a call waits for a server that was lost before: the driver looks anew at once, which takes far less."""
_LOOK_S: Final = 0.1


class Sight:
    """Watch whether any server is in sight, and end the time-outs of calls under way when none is for too long.

    `is_seen` tells whether the driver knows of a server that answers. One that is left of a replica set counts: the
    others may be electing, and the driver's own patience is right for that.
    Units: `lost_s` and `again_s` are seconds.
    """

    def __init__(self, is_seen: Callable[[], bool], *, lost_s: float = LOST_S, again_s: float = AGAIN_S) -> None:
        self._is_seen = is_seen
        self._lost_s = lost_s
        self._again_s = again_s
        self._unseen_since: float | None = None

    @contextmanager
    def kept(self, bound: asyncio.Timeout) -> Iterator[None]:
        """Let `bound` run out early when the server is lost while the block runs."""
        loop = asyncio.get_running_loop()
        began = loop.time()

        def look() -> None:
            nonlocal timer
            if self._is_lost(began, loop.time()) and not bound.expired():
                bound.reschedule(loop.time())
            else:
                timer = loop.call_later(_LOOK_S, look)

        timer = loop.call_later(_LOOK_S, look)
        try:
            yield
        finally:
            timer.cancel()

    def _is_lost(self, began: float, now: float) -> bool:
        if self._is_seen():
            self._unseen_since = None
            return False
        if self._unseen_since is None:
            self._unseen_since = now
        return now - began >= self._again_s and now - self._unseen_since >= self._lost_s
