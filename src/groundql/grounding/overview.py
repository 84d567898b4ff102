"""A shallow view of a whole catalog: every container, and of each its upper paths, fairly shared."""

from __future__ import annotations

from typing import Final

from groundql.core.catalog import Catalog, Container, Field
from groundql.core.kind import Kind
from groundql.core.path import Path
from groundql.grounding.fence import fence_name
from groundql.grounding.lines import path_text
from groundql.grounding.tokens import count_tokens

_LEAST_SHARE: Final = 14
"""Tokens below which a container gets its name and size alone."""


def overview_text(catalog: Catalog, budget_tokens: int) -> str:
    """Return one line a container with its upper paths; containers that do not fit are counted."""
    lines: list[str] = []
    left = budget_tokens - 8
    waiting = list(catalog.containers)
    while waiting:
        container = waiting.pop(0)
        share = left // (len(waiting) + 1)
        line = container_line(container, max(share, _LEAST_SHARE))
        cost = count_tokens(line) + 1
        if cost > left:
            lines.append(f"and {len(waiting) + 1} more collections")
            break
        lines.append(line)
        left -= cost
    return "\n".join(lines)


def container_line(container: Container, budget_tokens: int) -> str:
    """Return a container's name, size and as many of its upper paths as a budget holds."""
    name = fence_name(container.name)
    size = "unknown" if container.error else _size(container)
    head = f"{name} ({size})"
    left = budget_tokens - count_tokens(head) - 6
    texts: list[str] = []
    paths = sorted((f for f in container.fields if _is_shown(f, container)), key=lambda f: (len(f.path.fields), f.path))
    for field in paths:
        text = _path(field, container)
        left -= count_tokens(text) + 1
        if left < 0:
            break
        texts.append(text)
    rest = len(paths) - len(texts)
    shown = ", ".join(texts)
    more = f", +{rest} paths" if rest and texts else ""
    return f"{head}: {shown}{more}" if shown else head


def _size(container: Container) -> str:
    documents = container.info.documents
    return f"{container.sampling.documents if documents is None else documents:,} documents"


def _is_shown(field: Field, container: Container) -> bool:
    """Names only: hops are shown with the name before them, a plain record through its fields."""
    return isinstance(field.path.last, str)


def _path(field: Field, container: Container) -> str:
    hop = "[]" if any(k is Kind.ARRAY for k, _ in field.kinds) else ".<*>" if field.is_map else ""
    record = "{}" if not hop and any(isinstance(c.path.last, str) for c in container.children(field.path)) else ""
    return f"{path_text(Path(field.path.steps))}{hop}{record}"
