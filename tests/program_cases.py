"""Programs with hostile names and every kind of value, for property tests; and equality down to the stored types."""

from __future__ import annotations

import datetime as dt
from typing import Any

import bson
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from hypothesis import strategies as st

from groundql.core.program import MqlProgram

KEYS = st.one_of(
    st.sampled_from(
        ["a", "$match",
         "$expr", "a.b", "x y", "__proto__", "constructor", "class", "get", "new", "1", "", "'", '"', "\\",
         "$", "a\u2028b", "\u202egnirts", "if", "async", "static", "null", "NaN", "`", "${x}", "//", "/*", "é", "名前"]
    ),
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(
        ["$a.b", "$$ROOT", "*/", "//", "`${1}`", "');drop", "\\", '"""', "\r\n", "\u2029", "\x00", "😀", "\\u0041"]
    ),
    st.text(max_size=8),
)
DATES = st.datetimes(min_value=dt.datetime(1, 1, 1), max_value=dt.datetime(9999, 12, 31)).map(
    lambda d: d.replace(microsecond=d.microsecond // 1000 * 1000)
)
REGEXES = st.builds(
    Regex,
    st.one_of(
        st.sampled_from(
            ["^a", "a/b", "a\\/b", "[/]", "*", "", "\\", "a\nb", "\\d+(?=x)", "[", "/", "a\\", "(?i)x", "#"]
        ),
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
    ),
    st.sampled_from(["", "i", "m", "is", "x", "imsx"]),
)
RELAXED_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.just(float("nan")),
    TEXTS, DATES, REGEXES,
    st.binary(min_size=12, max_size=12).map(ObjectId),
    st.decimals(allow_nan=False, places=3, min_value=-10**9, max_value=10**9).map(lambda d: Decimal128(str(d))),
    st.binary(max_size=6),
    st.builds(Binary, st.binary(min_size=16, max_size=16), st.sampled_from([3, 4, 5, 128])),
    st.builds(Timestamp, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)),
    st.sampled_from([MinKey(), MaxKey(), Decimal128("1E+3"), Decimal128("NaN"), Decimal128("1.10")]),
)  # fmt: skip
LEAVES = st.one_of(RELAXED_LEAVES, st.integers(-(2**63), 2**63 - 1).map(Int64))


def values(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    )


def programs(leaves: st.SearchStrategy[Any] = LEAVES) -> st.SearchStrategy[MqlProgram]:
    stages = st.lists(st.dictionaries(KEYS, values(leaves), max_size=3), max_size=3)
    names = st.one_of(
        st.sampled_from(
            ["heroes", "my.coll", "x y", "stats", "getCollection", "_id", "a'b", "1", "$x", "find", "drop"]
        ),
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6),
    )
    return st.builds(lambda name, found: MqlProgram(name, tuple(found)), names, stages)


def stored(program: MqlProgram) -> tuple[str, bytes]:
    """What the server would be sent: equal only where every value and its type are."""
    return program.container, bson.encode({"pipeline": list(program.stages)})
