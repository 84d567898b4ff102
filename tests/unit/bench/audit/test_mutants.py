from __future__ import annotations

import pytest

from groundql.bench.audit.constants import Role, constants_of
from groundql.bench.audit.mutants import Slip, mutants_of
from groundql.core.catalog import Catalog
from groundql.core.program import MqlProgram
from groundql.languages.read import claims_of, parse
from tiny_catalog import container_of

DOCUMENTS = [
    {
        "_id": n,
        "kind": "a" if n % 2 else "b",
        "size": n,
        "width": n * 2,
        "by_year": {"2020": {"n": n}, "2021": {"n": 1}},
    }
    for n in range(6)
]
CATALOG = Catalog("tiny", (container_of("things", DOCUMENTS, ["by_year"]),))


def program(pipeline: str) -> MqlProgram:
    found = parse(f"db.things.aggregate({pipeline})", "mongodb").program
    assert isinstance(found, MqlProgram)
    return found


def slips(pipeline: str) -> set[Slip]:
    gold = program(pipeline)
    return {mutant.slip for mutant in mutants_of(gold, claims_of(gold, CATALOG), CATALOG)}


@pytest.mark.parametrize(
    ("pipeline", "slip"),
    [
        ('[{"$match":{"kind":"a","size":{"$gte":3}}}]', Slip.CONDITION_DROPPED),
        ('[{"$match":{"size":{"$gte":3}}}]', Slip.THRESHOLD_SHIFTED),
        ('[{"$match":{"size":{"$gte":3}}}]', Slip.BOUND_SWAPPED),
        ('[{"$match":{"size":{"$gte":3}}}]', Slip.FIELD),
        ('[{"$sort":{"size":-1}}]', Slip.ORDER_REVERSED),
        ('[{"$unwind":{"path":"$tags","preserveNullAndEmptyArrays":true}}]', Slip.EMPTY_KEPT),
        ('[{"$unwind":"$tags"},{"$group":{"_id":"$kind","n":{"$sum":1}}}]', Slip.COUNTED_APART),
        ('[{"$group":{"_id":"$kind","n":{"$avg":"$size"}}}]', Slip.ACCUMULATOR),
        ('[{"$match":{"by_year.2020.n":3}}]', Slip.KEY),
        ('[{"$project":{"n":{"$ifNull":["$size",0]}}}]', Slip.DEFAULT_DROPPED),
        ('[{"$limit":3}]', Slip.LIMIT),
    ],
)
def test_each_kind_of_slip_is_made_where_it_can_happen(pipeline: str, slip: Slip) -> None:
    assert slip in slips(pipeline)


def test_no_mutant_is_the_gold_or_another_mutant() -> None:
    gold = program('[{"$match":{"kind":"a","size":{"$gte":3}}},{"$sort":{"size":-1}},{"$limit":3}]')
    made = [repr(mutant.stages) for mutant in mutants_of(gold, claims_of(gold, CATALOG), CATALOG)]
    assert len(set(made)) == len(made)
    assert repr(gold.stages) not in made


def test_constants_are_told_apart_by_what_they_do() -> None:
    gold = program(
        '[{"$match":{"kind":"a","size":{"$gte":3}}},'
        '{"$project":{"x":{"$cond":[{"$eq":["$kind","b"]},"yes","no"]},"y":{"$multiply":["$size",7]},'
        '"z":{"$round":["$size",2]}}},{"$limit":5}]'
    )
    found = {(constant.value, constant.role) for constant in constants_of(gold.stages)}
    assert found == {
        ("a", Role.CONDITION), (3, Role.CONDITION), ("b", Role.COMPARED), ("yes", Role.SHOWN), ("no", Role.SHOWN),
        (7, Role.FACTOR), (2, Role.DIGITS), (5, Role.LIMIT),
    }  # fmt: skip
