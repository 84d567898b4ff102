from __future__ import annotations

import random
import string
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from groundql.core.catalog import Container, ContainerInfo
from groundql.core.path import ENTRIES, Path
from groundql.grounding.profile import Profiler

WORDS = [a + b + "ing" for a in "bcdfghklmnprstw" for b in ("a", "e", "i", "o", "u", "ai", "ou", "ea")]
SCALARS = (1, 2.5, "text", True, [1, 2], {"inner": 1, "other": "x"})


def container(documents: Sequence[Mapping[str, Any]]) -> Container:
    profiler = Profiler(ContainerInfo("things"))
    for document in documents:
        profiler.add(document)
    return profiler.finish().container


names = st.text("abcxyz01.$- _é", max_size=3)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text("ab1. é", max_size=4)
values = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(names, below, max_size=4),
    max_leaves=12,
)
documents = st.lists(st.dictionaries(names, values, max_size=4), max_size=8)


def concrete(value: Any, at: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """All concrete paths of a value by a walk of its own: names as texts, items as None."""
    found: set[tuple[Any, ...]] = set()
    if isinstance(value, dict):
        for key, below in value.items():
            found |= {(*at, key)} | concrete(below, (*at, key))
    if isinstance(value, list):
        for below in value:
            found |= {(*at, None)} | concrete(below, (*at, None))
    return found


def is_covered(path: tuple[Any, ...], known: set[tuple[Any, ...]]) -> bool:
    """Tell whether a concrete path lies on a known one, where an entries hop stands for any name."""
    prefixes: set[tuple[Any, ...]] = {()}
    for step in path:
        options = ("[]",) if step is None else (("n", step), "<*>")
        prefixes = {(*prefix, option) for prefix in prefixes for option in options} & known
    return bool(prefixes)


@settings(max_examples=80, deadline=None)
@given(documents)
def test_every_concrete_path_is_covered_and_no_other_is_claimed(found: list[dict[str, Any]]) -> None:
    catalog = container(found)
    steps = {tuple(("n", s) if isinstance(s, str) else s.value for s in f.path.steps) for f in catalog.fields}
    known = steps | {s[:n] for s in steps for n in range(len(s))}
    existing = set().union(*(concrete(d) for d in found)) if found else set()

    assert all(is_covered(path, known) for path in existing)
    for field in catalog.fields:
        assert field.count > 0 or not field.path.steps
        assert sum(count for _, count in field.kinds) == field.count
        assert 0 <= field.present_share <= 1
        assert field.documents <= len(found)


@settings(max_examples=60, deadline=None)
@given(documents, st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(found: list[dict[str, Any]], pool: random.Random) -> None:
    shuffled = list(found)
    pool.shuffle(shuffled)

    assert repr(container(found)) == repr(container(shuffled))


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Objects of fixed names, most of them there, of differing kinds."""
    names = draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=15, unique=True))
    pool = random.Random(draw(st.integers(0, 10_000)))
    kinds = [SCALARS[i % len(SCALARS)] for i in range(len(names))]
    shares = [pool.uniform(0.4, 1.0) for _ in names]
    return [
        {"_id": i, "r": {n: k for n, k, s in zip(names, kinds, shares, strict=True) if pool.random() < s}}
        for i in range(draw(st.integers(5, 60)))
    ]


KEYS = {
    "years": [str(y) for y in range(1990, 2025)],
    "days": [f"2020-{m:02}-{d:02}" for m in range(1, 13) for d in range(1, 29)],
    "numbers": [str(n) for n in range(500)],
    "codes": [a + b + c for a in "ABCD" for b in "XYZ" for c in "QRST"],
    "ids": [f"user:{n}" for n in range(1000, 1400)],
    "words": WORDS,
}


@st.composite
def maps(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Objects whose keys are drawn from a vocabulary and whose values have one shape."""
    form = draw(st.sampled_from(sorted(KEYS)))
    pool = random.Random(draw(st.integers(0, 10_000)))
    rich = {"count": 1, "label": "x", "share": 0.5}
    value: Any = rich if form == "words" else draw(st.sampled_from([1, "text", 2.5, rich, [rich]]))
    size = draw(st.integers(1, 6))
    return [
        {"_id": i, "title": "t", "r": dict.fromkeys(pool.sample(KEYS[form], size), value)}
        for i in range(draw(st.integers(5, 60)))
    ]


@settings(max_examples=80, deadline=None)
@given(records())
def test_records_with_optional_fields_stay_records(found: list[dict[str, Any]]) -> None:
    assert Path.of("r", ENTRIES) not in container(found).by_path


@settings(max_examples=80, deadline=None)
@given(maps())
def test_objects_whose_keys_are_data_become_maps(found: list[dict[str, Any]]) -> None:
    catalog = container(found)
    keys = {key for document in found for key in document["r"]}

    field = catalog.by_path[Path.of("r")]
    assert field.keys is not None
    assert field.keys.distinct == len(keys)
    assert Path.of("r", ENTRIES) in catalog.by_path


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=8), st.integers(1, 40))
def test_a_chain_of_different_names_is_never_folded(stem: str, depth: int) -> None:
    document: dict[str, Any] = {"leaf": 1}
    for level in range(depth):
        document = {f"{stem}_{chr(97 + level % 26)}{level}": document}
    found = container([document])

    assert any(f.path.last == "leaf" for f in found.fields)
