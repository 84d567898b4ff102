"""Gold pipelines read only what is there; the same pipelines, broken on purpose, are caught where they broke."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from groundql.bench.worlds import list_worlds
from groundql.checking.gates import RULES
from groundql.core.answer import Grounding, Question
from groundql.core.catalog import Catalog, ContainerInfo
from groundql.core.kind import NUMBERS, Kind
from groundql.core.path import ENTRIES
from groundql.core.program import Claims, MqlProgram, Read, ReadStatus
from groundql.grounding.profile import Profiler
from groundql.languages.flow import analyse
from groundql.languages.flow.literals import kind_of
from groundql.languages.mongosh import parse_program

SUPERHERO = Path(__file__).parents[2].parent / "shared" / "data" / "superhero"
FINE = frozenset({ReadStatus.STORED, ReadStatus.COMPUTED})
WRONG = frozenset({ReadStatus.ABSENT, ReadStatus.DROPPED, ReadStatus.EARLY, ReadStatus.KEY_AS_FIELD})
WORLDS = (*(world.name for world in list_worlds()), "superhero")


@dataclass(frozen=True)
class Gold:
    """A pipeline that answers a question, with its rows."""

    id: int
    program: MqlProgram
    rows: list[dict[str, Any]]


def catalog_from(name: str, documents: Mapping[str, list[dict[str, Any]]]) -> Catalog:
    containers = []
    for container, given in documents.items():
        profiler = Profiler(ContainerInfo(container, documents=len(given)))
        for document in given:
            profiler.add(document)
        containers.append(profiler.finish().container)
    return Catalog(name, tuple(containers))


@cache
def world(name: str) -> tuple[Catalog, tuple[Gold, ...]]:
    if name == "superhero":
        if not SUPERHERO.exists():
            pytest.skip(f"the superhero world is not at {SUPERHERO}")
        documents = json.loads(gzip.decompress((SUPERHERO / "superhero.json.gz").read_bytes()))
        tasks = [json.loads(line) for line in (SUPERHERO / "tasks.jsonl").read_text().splitlines()]
        rows = {r["record_id"]: r["rows"] for r in map(json.loads, (SUPERHERO / "gold.jsonl").read_text().splitlines())}
        golds = tuple(Gold(t["record_id"], parse_program(t["MQL"]), rows[t["record_id"]]) for t in tasks)
        return catalog_from(name, documents), golds
    found = next(w for w in list_worlds() if w.name == name)
    rows = found.gold()
    golds = tuple(Gold(t.record_id, parse_program(t.mql), list(rows[t.record_id])) for t in found.tasks())
    return catalog_from(name, found.documents()), golds


def followed(name: str) -> Iterator[tuple[Gold, Claims, Catalog]]:
    catalog, golds = world(name)
    assert golds
    for gold in golds:
        yield gold, analyse(gold.program, catalog), catalog


@pytest.mark.parametrize("name", WORLDS)
def test_every_read_of_a_gold_is_stored_or_computed(name: str) -> None:
    for gold, claims, _ in followed(name):
        assert claims.reads
        wrong = [r for r in claims.reads if r.status not in FINE | {ReadStatus.FIELD_AS_MAP}]
        assert not wrong, (gold.id, wrong)
        assert not claims.unknown_operators


@pytest.mark.parametrize("name", WORLDS)
def test_no_rule_blocks_a_gold(name: str) -> None:
    catalog, golds = world(name)
    blocked = {
        gold.id: str(finding)
        for gold in golds
        for rule in RULES
        for finding in rule(analyse(gold.program, catalog), Grounding(Question(""), catalog))
        if finding.blocking
    }
    assert not blocked


@pytest.mark.parametrize("name", WORLDS)
def test_the_rows_of_a_gold_have_the_columns_and_kinds_foreseen(name: str) -> None:
    for gold, claims, _ in followed(name):
        assert claims.output_kinds is not None
        for row in gold.rows:
            assert set(row) <= set(claims.outputs or ()), gold.id
            for column, kinds in claims.output_kinds.items():
                kind = kind_of(row[column]) if column in row else Kind.MISSING
                assert kind in kinds or (kind in NUMBERS and kinds & NUMBERS), (gold.id, column, kind, kinds)


def references(value: Any, rebuild: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    """Yield each `$name` in an expression, with what is to be put in its place rebuilt into the whole."""
    if isinstance(value, str) and value.startswith("$") and not value.startswith("$$"):
        yield value, rebuild
    elif isinstance(value, dict) and "$literal" not in value:
        for key, part in value.items():
            yield from references(part, lambda new, key=key, value=value: rebuild({**value, key: new}))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from references(part, lambda new, i=i, value=value: rebuild([*value[:i], new, *value[i + 1 :]]))


def keys(stage: Mapping[str, Any], operator: str) -> Iterator[tuple[str, Any]]:
    """Yield each field that a `$match`, `$sort` or inclusion names at its top."""
    spec = stage.get(operator)
    for name in spec if isinstance(spec, dict) else ():
        if name.startswith("$") or (operator == "$project" and spec[name] not in (1, True)):
            continue
        renamed = lambda new, name=name: {operator: {new if k == name else k: v for k, v in spec.items()}}  # noqa: E731
        yield name, renamed


def misspelt(stage: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield a stage with one name in it misspelt, and the misspelt name as written."""
    for text, rebuild in references(dict(stage), lambda new: new):
        yield f"{text}qz", rebuild(f"{text}qz")
    for operator in ("$match", "$sort", "$project"):
        for name, rebuild in keys(stage, operator):
            yield f"{name}qz", rebuild(f"{name}qz")


def with_stage(program: MqlProgram, index: int, stage: Any) -> MqlProgram:
    stages = program.stages
    return MqlProgram(program.container, (*stages[:index], stage, *stages[index + 1 :]))


@pytest.mark.parametrize("name", WORLDS)
def test_a_misspelt_name_is_found_at_its_stage_with_the_right_one(name: str) -> None:
    broken = recovered = 0
    for gold, _, catalog in followed(name):
        for index, stage in enumerate(gold.program.stages):
            if set(stage) & {"$lookup", "$facet", "$unionWith"}:
                continue
            for text, spoilt in misspelt(stage):
                reads = [r for r in analyse(with_stage(gold.program, index, spoilt), catalog).reads if r.text == text]
                assert reads, (gold.id, text)
                assert {r.place.stage for r in reads} == {index}
                # A key that is named is not a field: a long list of keys need not hold it.
                lost = [r for r in reads if r.status in WRONG]
                assert lost or all(r.note == "key not among those seen" for r in reads), (gold.id, text, reads)
                broken += bool(lost)
                recovered += any(is_right(r, text.removesuffix("qz").lstrip("$")) for r in lost)
    assert broken > 20
    assert recovered > 0.9 * broken, (recovered, broken)


def is_right(read: Read, right: str) -> bool:
    """Tell whether the right name, as a program writes it, is among the nearest; of a map's key, the key."""
    wanted = right.rsplit(".", 1)[-1] if read.status is ReadStatus.KEY_AS_FIELD else right
    return wanted in {name.replace("[]", "") for name in read.nearest}


@pytest.mark.parametrize("name", WORLDS)
def test_a_column_that_is_no_longer_kept_is_missed_where_it_is_used(name: str) -> None:
    dropped = 0
    for gold, _, catalog in followed(name):
        stages = gold.program.stages
        for index, stage in enumerate(stages[:-1]):
            spec = stage.get("$project") or stage.get("$group")
            if not isinstance(spec, dict):
                continue
            operator = next(iter(stage))
            following = analyse(gold.program, catalog).reads
            used = {r.text.lstrip("$").split(".")[0] for r in following if r.place.stage == index + 1}
            for column in used & (set(spec) - {"_id"}):
                if spec[column] in (0, False) or len(spec) == 1:
                    continue
                poorer = {operator: {k: v for k, v in spec.items() if k != column}}
                reads = analyse(with_stage(gold.program, index, poorer), catalog).reads
                lost = [r for r in reads if r.status in WRONG]
                assert lost, (gold.id, column)
                assert lost[0].place.stage == index + 1, (gold.id, column, lost)
                assert lost[0].text.lstrip("$").split(".")[0] == column
                dropped += 1
    assert dropped > 3


@pytest.mark.parametrize("name", WORLDS)
def test_a_filter_or_sort_before_the_stage_that_computes_its_field_is_early(name: str) -> None:
    moved = 0
    for gold, claims, catalog in followed(name):
        stages = gold.program.stages
        for index, stage in enumerate(stages):
            spec = stage.get("$group")
            there = {
                name
                for earlier in stages[:index]
                for made in earlier.values()
                if isinstance(made, dict)
                for name in made
            }
            # a name that an earlier stage makes too is there already
            names = set(spec) - {"_id"} - there if isinstance(spec, dict) else set[str]()
            for later in range(index + 1, len(stages)):
                if not set(stages[later]) & {"$match", "$sort"}:
                    continue
                texts = {r.text for r in claims.reads if r.place.stage == later and r.text in names}
                order = [*stages[:index], stages[later], *stages[index:later], *stages[later + 1 :]]
                reads = analyse(MqlProgram(gold.program.container, tuple(order)), catalog).reads
                found = {r.text: r.status for r in reads if r.place.stage == index and r.text in texts}
                stored = {c.path.name for k in catalog.containers for c in k.fields if len(c.path) == 1}
                for text in texts - stored:
                    assert found[text] is ReadStatus.EARLY, (gold.id, text, found)
                    moved += 1
    assert moved > 3


@pytest.mark.parametrize("name", WORLDS)
def test_an_entry_s_field_without_its_key_is_pointed_to_the_entries(name: str) -> None:
    catalog, _ = world(name)
    asked = 0
    for container, field in catalog.fields():
        if not field.is_map or field.path.hops or field.keys is None:
            continue
        for below in container.children(field.path / ENTRIES):
            step = below.path.last
            if not isinstance(step, str) or "." in step or step in field.keys.examples:
                continue
            asked += 1
            program = MqlProgram(container.name, ({"$match": {f"{field.path.dotted}.{step}": 1}},))
            read = analyse(program, catalog).reads[0]
            assert read.status is ReadStatus.KEY_AS_FIELD, (field.path, step)
            assert str(below.path) in read.nearest, (field.path, step, read.nearest)
    assert asked or name in ("brands", "emoji", "atlas", "webcompat")
