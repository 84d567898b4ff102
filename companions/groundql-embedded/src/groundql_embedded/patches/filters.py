"""The query language."""

from __future__ import annotations

from collections.abc import Mapping

import secantus.query as Q
from secantus import paths

from groundql_embedded.patches.registry import patch

_elem_match_stock = Q._op_elem_match
_LOGICAL = frozenset({"$or", "$and", "$nor", "$expr"})


@patch("match_elemMatch_or")
def elem_match_with_logical_operators():
    def op(values, condition):
        if isinstance(condition, Mapping) and condition and _LOGICAL & set(condition):
            return any(
                isinstance(e, Mapping) and Q.matches(e, condition) for v in values if isinstance(v, list) for e in v
            )
        return _elem_match_stock(values, condition)

    Q._op_elem_match = op


@patch()
def distinct_reads_through_arrays():
    def read(doc, path, default=None):  # the distinct command imports get_path when it runs
        values, descended = paths.get_path_values(doc, path)
        if not values:
            return default
        if not descended:
            return values[0]
        return [x for v in values for x in (v if isinstance(v, list) else [v])]

    paths.get_path = read
