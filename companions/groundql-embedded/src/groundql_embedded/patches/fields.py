"""Reading, writing and removing dotted paths the way MongoDB does, through arrays."""

from __future__ import annotations

from collections.abc import Mapping

import secantus.expressions as E

MISSING = E.MISSING


def walk(value, parts, i=0):
    """Read a path of an expression: an array on the way yields the array of what its items hold."""
    n = len(parts)
    while i < n:
        if isinstance(value, Mapping):
            if parts[i] not in value:
                return MISSING
            value = value[parts[i]]
            i += 1
        elif isinstance(value, list):
            found = (walk(item, parts, i) for item in value)
            return [x for x in found if x is not MISSING]
        else:
            return MISSING
    return value


def read(doc, path, default=None):
    """Read a dotted path of a document, or the default."""
    if "." not in path:
        return doc.get(path, default)
    value = walk(doc, path.split("."))
    return default if value is MISSING else value


def put(node, parts, make):
    """Write ``make(old)`` at a path, through arrays; a scalar in the way becomes an object."""
    head, rest = parts[0], parts[1:]
    if not isinstance(node, dict):
        node = {}
    if not rest:
        node[head] = make(node.get(head, MISSING))
        return node
    child = node.get(head, MISSING)
    if isinstance(child, list):
        node[head] = [_put_item(item, rest, make) for item in child]
    else:
        node[head] = put(child, rest, make)
    return node


def _put_item(item, parts, make):
    if isinstance(item, list):
        return [_put_item(x, parts, make) for x in item]
    return put(item, parts, make)


def drop(node, parts):
    """Remove a path, through arrays."""
    if isinstance(node, list):
        for item in node:
            drop(item, parts)
    elif isinstance(node, dict):
        if len(parts) == 1:
            node.pop(parts[0], None)
        elif parts[0] in node:
            drop(node[parts[0]], parts[1:])
