"""Stored values to and from JSON-ready data, every BSON kind kept exactly."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from collections.abc import Mapping
from typing import Any, Final, cast

from bson import json_util
from bson.json_util import CANONICAL_JSON_OPTIONS

_MOMENT: Final = "$moment"
"""Dates are kept as ISO text with or without an offset: canonical EJSON would lose which of the two it was."""
_DECIMAL: Final = "$decimal"
"""Decimals that are no Decimal128, of any precision."""


def to_ejson(value: object) -> Any:
    """Return JSON-ready data: plain JSON where that is exact, canonical EJSON for every other kind."""
    if value is None or isinstance(value, str | bool) or type(value) is int:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, dt.datetime):
        return {_MOMENT: value.isoformat()}
    if isinstance(value, decimal.Decimal):
        return {_DECIMAL: str(value)}
    return json.loads(json_util.dumps(value, json_options=CANONICAL_JSON_OPTIONS))


def from_ejson(data: Any) -> object:
    """Return the stored value that `to_ejson` wrote.

    Raises: ValueError or TypeError on data of another form.
    """
    if isinstance(data, Mapping):
        found = cast("Mapping[str, Any]", data)
        if _MOMENT in found:
            return dt.datetime.fromisoformat(found[_MOMENT])
        if _DECIMAL in found:
            return decimal.Decimal(found[_DECIMAL])
        return cast("object", json_util.loads(json.dumps(found), json_options=CANONICAL_JSON_OPTIONS))
    if isinstance(data, list):
        return [from_ejson(item) for item in cast("list[Any]", data)]
    return data
