"""Secondary indexes: never let one hide a matching document."""

from __future__ import annotations

from collections.abc import Mapping

import secantus.storage as S
from bson import Regex

from groundql_embedded.patches.registry import patch

_try_index_id_keys_stock = S.Storage._try_index_id_keys
_BOUNDS = frozenset({"$gt", "$gte", "$lt", "$lte"})


@patch("match_range_across_elements", "match_regex_case_insensitive", "match_regex_object", "match_in_regex")
def no_index_for_regexes_and_multikey_ranges():
    def try_index_id_keys(self, db, coll, filter, *, collation=None):
        if filter and set(filter) != {"_id"}:
            for value in filter.values():
                if _has_regex(value):
                    return None
                bounds = isinstance(value, Mapping) and len(_BOUNDS & set(value)) > 1
                if bounds and self._multikey_index_names(db, coll):
                    return None
        return _try_index_id_keys_stock(self, db, coll, filter, collation=collation)

    S.Storage._try_index_id_keys = try_index_id_keys


def _has_regex(value):
    if isinstance(value, Regex) or hasattr(value, "pattern"):
        return True
    if isinstance(value, Mapping):
        return any(map(_has_regex, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_has_regex, value))
