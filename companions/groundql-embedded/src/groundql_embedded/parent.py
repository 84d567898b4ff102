"""End this process when the one that started it ends, however that happens.

Two signs are watched, because each misses a case: end of file on standard input (seen at once, also after
``kill -9``, on every platform, but late when the parent had forked with the pipe open) and a change of the
parent's process id (seen within a second). The kernel's parent-death signal is not used: it fires when the
*thread* that started the child ends, which is not the end of the parent.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

POLL_S = 0.5
GRACE_S = 10.0


def end_with_parent() -> None:
    """Start watching; returns at once."""
    parent = os.getppid()
    for watch in (_wait_for_end_of_input, lambda: _wait_for_other_parent(parent)):
        threading.Thread(target=_watch, args=(watch,), daemon=True, name="parent-watch").start()


def _watch(wait) -> None:
    wait()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(1)  # the orderly stop hangs; a server without a parent must not stay


def _wait_for_end_of_input() -> None:
    if sys.stdin is None:  # started with standard input closed: only the other sign is left
        threading.Event().wait()
    descriptor = sys.stdin.fileno()
    while os.read(descriptor, 4096):
        pass


def _wait_for_other_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_S)
