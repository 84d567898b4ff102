"""Count the stored documents of a suite's databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from groundql.bench.case import Suite
from groundql.databases.files import find_files, read_documents
from groundql.databases.load import LoadProgress

_EVERY = 1000


def sizes_of(suite: Suite, on_load: Callable[[LoadProgress], None] | None = None) -> dict[str, dict[str, int]]:
    """Read a suite's files and count the documents of each collection; a database without files is left out.

    Raises: LoadError for files of the wrong form.
    """
    return {name: _sizes(suite, name, on_load) for name in suite.databases if name in suite.sources}


def _sizes(suite: Suite, name: str, on_load: Callable[[LoadProgress], None] | None) -> dict[str, int]:
    counts = Counter[str]()
    for file in find_files(suite.sources[name]):
        for located in read_documents(file):
            counts[located.container] += 1
            if on_load and counts.total() % _EVERY == 0:
                container = f"{name}.{located.container}"
                on_load(LoadProgress(file.path, container, counts.total(), located.read_bytes, file.size_bytes))
    return dict(counts)
