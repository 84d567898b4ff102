"""Progress on standard error: a live line on a terminal, a line for each finished part elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from groundql.core.counted import counted
from groundql.core.trace import Event
from groundql.databases.load import LoadProgress
from groundql.grounding.fence import clean
from groundql.grounding.sample import Progress
from groundql.llm.pull import PullProgress

LINE_CHARS = 400


class Live:
    """Show what is going on while it goes on; nothing is left behind but finished parts."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._status: Status | None = None
        self._done: set[str] = set()

    def say(self, text: str) -> None:
        """Show one line in place of the last."""
        if self._quiet or not self._console.is_terminal:
            return
        if self._status is None:
            self._status = self._console.status("")
            self._status.start()
        self._status.update(f"[dim]{escape(clean(text, LINE_CHARS))}[/]")

    def finish(self, text: str) -> None:
        """Leave one line about a finished part, once."""
        if not self._quiet and text not in self._done:
            self._done.add(text)
            self._console.print(f"[dim]{escape(clean(text, LINE_CHARS))}[/]")

    def loading(self, progress: LoadProgress) -> None:
        """Show how far a data file is loaded."""
        share = progress.read_bytes / progress.size_bytes if progress.size_bytes else 1.0
        self.say(f"loading {progress.container}: {counted(progress.documents, 'document')} ({min(share, 1.0):.0%})")

    def grounding(self, progress: Progress) -> None:
        """Show how far a container is read."""
        text = progress_text(progress)
        if progress.done:
            self.finish(text)
        else:
            self.say(text)

    def tracing(self, event: Event) -> None:
        """Show what a solver is doing."""
        text = event_text(event)
        if text:
            self.say(text)

    def stop(self) -> None:
        """Clear the live line."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def progress_text(progress: Progress) -> str:
    """Say in one line how far a container is read."""
    total = counted(progress.documents if progress.total is None else progress.total, "document")
    read = total if progress.total is None else f"{progress.documents:,} of {total}"
    line = f"reading {progress.container}: {read}, {counted(progress.paths, 'path')}"
    return f"{line} ({progress.stop.value})" if progress.done and progress.stop else line


def pull_text(progress: PullProgress) -> str:
    """Say in one line how far a download is."""
    return f"{progress.done_bytes / 1e6:,.0f} of {progress.total_bytes / 1e6:,.0f} MB"


def event_text(event: Event) -> str:
    """Say in a few words what an event means; nothing for those that a person need not see."""
    teller: Callable[[Event], str] | None = _TELLERS.get(event.name)
    return teller(event) if teller else ""


def _candidate(event: Event) -> str:
    data = event.data
    rows = "not run" if data["rows"] is None else counted(data["rows"], "row")
    found = counted(len(data["findings"]), "finding")
    return f"attempt {data['attempt'] + 1}, round {data['round'] + 1}: {rows}, {found}"


_TELLERS: dict[str, Callable[[Event], str]] = {
    "grounded": lambda e: f"grounded: {counted(len(e.data['witnesses']), 'term')} found in the data; asking the model",
    "candidate": _candidate,
    "arbitrated": lambda e: "the attempts disagreed; one was chosen",
}
