"""Random small documents that hold every combination of hops, and random queries over them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NUMBER = st.one_of(st.integers(-2, 4), st.sampled_from([0.5, 1.25]), st.just(None))
ODD_NUMBER = st.one_of(NUMBER, st.sampled_from([float("nan"), "2"]))
WORD = st.sampled_from(["a", "b", "Ab", "", "$c", "a.b", None])
KEY = st.sampled_from(["k1", "k2", "k.3", "$k"])


def record(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def items(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(value, max_size=3), st.just([]), st.just(None))


def entries(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.dictionaries(KEY, value, max_size=3), st.just(None))


PART = record(
    x=WORD,
    y=ODD_NUMBER,
    b=items(record(z=NUMBER, w=WORD)),
    m=entries(record(v=NUMBER)),
    l=items(items(NUMBER)),
)
ENTRY = record(v=ODD_NUMBER, w=WORD, list=items(NUMBER), sub=entries(NUMBER))
DOCUMENT = record(
    r=WORD,
    n=ODD_NUMBER,
    tags=st.one_of(st.lists(WORD, max_size=3), WORD),
    a=st.one_of(items(PART), PART),
    m=entries(ENTRY),
    s=entries(NUMBER),
    mm=entries(entries(NUMBER)),
    ml=entries(items(record(q=NUMBER, s=WORD))),
    g=items(items(NUMBER)),
    o=st.fixed_dictionaries({"d.t": record(**{"$e": items(record(q=NUMBER))})}),
)
WHOLE: dict[str, Any] = {
    "r": "a",
    "n": 1,
    "tags": ["a"],
    "a": [{"x": "a", "y": 1, "b": [{"z": 1, "w": "a"}], "m": {"k1": {"v": 1}}, "l": [[1]]}],
    "m": {"k1": {"v": 1, "w": "a", "list": [1], "sub": {"k1": 1}}},
    "s": {"k1": 1},
    "mm": {"k1": {"k1": 1}},
    "ml": {"k1": [{"q": 1, "s": "a"}]},
    "g": [[1]],
    "o": {"d.t": {"$e": [{"q": 1}]}},
}
"""One document that has every path, so that a catalog knows them all."""
MAPS = ("m", "m.<*>.sub", "s", "mm", "mm.<*>", "ml", "a[].m", "a.m")
REFS = (
    "r", "n", "tags[]", "a[].x", "a[].y", "a[].b[].z", "a[].b[].w", "a[].m.<key>", "a[].m.<*>.v", "a[].l[][]",
    "m.<key>", "m.<*>.v", "m.<*>.w", "m.<*>.list[]", "m.<*>.sub.<key>", "m.<*>.sub.<*>", "m.k1.v",
    "s.<key>", "s.<*>", "s.k1", "mm.<key>", "mm.<*>.<key>", "mm.<*>.<*>", "ml.<key>", "ml.<*>[].q", "ml.<*>[].s",
    "g[][]", 'o["d.t"]["$e"][].q',
)  # fmt: skip
NUMERIC = (
    "n", "a[].y", "a[].b[].z", "a[].m.<*>.v", "a[].l[][]", "m.<*>.v", "m.<*>.list[]", "m.<*>.sub.<*>", "s.<*>", "s.k1",
    "mm.<*>.<*>", "ml.<*>[].q", "g[][]", 'o["d.t"]["$e"][].q', "m.k1.v",
)  # fmt: skip
OPS = ("count", "count_distinct", "sum", "avg", "min", "max", "list_distinct")


def leaf() -> st.SearchStrategy[dict[str, Any]]:
    numeric = st.fixed_dictionaries(
        {
            "path": st.sampled_from(NUMERIC),
            "op": st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte"]),
            "value": st.integers(-1, 3),
        }
    )
    textual = st.fixed_dictionaries(
        {
            "path": st.sampled_from([r for r in REFS if r not in NUMERIC]),
            "op": st.sampled_from(["eq", "ne", "contains", "starts_with"]),
            "value": st.sampled_from(["a", "b", "k1", "$k", "$c", "a.b"]),
        }
    )
    listed = st.fixed_dictionaries(
        {
            "path": st.sampled_from(NUMERIC),
            "op": st.sampled_from(["in", "not_in", "between"]),
            "value": st.sampled_from([[0, 1], [1, 2], [-1, 3]]),
        }
    )
    bare = st.fixed_dictionaries(
        {"path": st.sampled_from(REFS), "op": st.sampled_from(["exists", "missing", "is_null"])}
    )
    return st.one_of(numeric, textual, listed, bare)


def condition() -> st.SearchStrategy[dict[str, Any]]:
    groups = st.one_of(
        st.fixed_dictionaries({"any": st.lists(leaf(), min_size=1, max_size=2)}),
        st.fixed_dictionaries({"all": st.lists(leaf(), min_size=1, max_size=2)}),
        st.fixed_dictionaries({"not": leaf()}),
    )
    return st.one_of(leaf(), leaf(), groups)


def metric() -> st.SearchStrategy[dict[str, Any]]:
    of_path = st.fixed_dictionaries(
        {"op": st.sampled_from(OPS), "path": st.sampled_from(NUMERIC)},
        optional={"filters": st.lists(condition(), min_size=1, max_size=2)},
    )
    counted = st.fixed_dictionaries({"op": st.just("count"), "path": st.sampled_from(REFS)})
    return st.one_of(st.just({"op": "count"}), of_path, counted)


def query(container: str) -> st.SearchStrategy[dict[str, Any]]:
    filters = st.lists(condition(), max_size=2)
    grouped = st.fixed_dictionaries(
        {
            "container": st.just(container),
            "filters": filters,
            "group_by": st.lists(st.sampled_from(REFS), max_size=2, unique=True),
            "metrics": st.lists(metric(), min_size=1, max_size=3),
        }
    )
    listed = st.fixed_dictionaries(
        {
            "container": st.just(container),
            "filters": filters,
            "select": st.lists(st.sampled_from(REFS), min_size=1, max_size=3, unique=True),
            "distinct": st.booleans(),
        }
    )
    return st.one_of(grouped, grouped, listed)
