from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import query_cases
from groundql.core.finding import Finding
from groundql.core.path import ENTRIES, ITEMS, Path
from groundql.core.program import MqlProgram, ReadStatus
from groundql.errors import InputError
from groundql.languages.flow import analyse
from groundql.languages.mongosh import parse_pipeline
from groundql.languages.read import write
from groundql.languages.safety import admit
from groundql.semantic.query import parse_query, query_schema
from groundql.semantic.ref import KEY, Ref, parse_ref
from groundql.semantic.to_mql import compile_query
from tiny_catalog import catalog_of, container_of

CATALOG = catalog_of(container_of("c", [{"_id": 1, **query_cases.WHOLE}], query_cases.MAPS))
MANY = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
STEPS = st.one_of(st.sampled_from([ITEMS, ENTRIES, KEY, "a", "a.b", "$x", "", "<*>"]), st.text(max_size=4))


def compiled(data: dict[str, Any]) -> MqlProgram | str:
    """The program, or the message of the refusal."""
    try:
        return compile_query(parse_query(data, CATALOG), CATALOG)
    except InputError as error:
        return str(error)


@given(data=query_cases.query("c"))
@MANY
def test_a_query_compiles_to_what_the_safety_check_admits_or_is_refused_in_one_line(data: dict[str, Any]):
    made = compiled(data)
    assert not isinstance(admit(made), Finding) if isinstance(made, MqlProgram) else made and "\n" not in made


@given(data=query_cases.query("c"))
@MANY
def test_every_read_of_a_compiled_program_is_known_to_the_flow_analysis(data: dict[str, Any]):
    program = compiled(data)
    if isinstance(program, str):
        return
    lost = {ReadStatus.ABSENT, ReadStatus.DROPPED, ReadStatus.EARLY, ReadStatus.FIELD_AS_MAP}
    assert [r for r in analyse(program, CATALOG).reads if r.status in lost] == []


@given(data=query_cases.query("c"))
@MANY
def test_a_compiled_program_survives_being_written_and_read(data: dict[str, Any]):
    program = compiled(data)
    if isinstance(program, str):
        return
    assert [dict(s) for s in parse_pipeline(_pipeline_text(write(program, "ejson")))] == [
        dict(s) for s in program.stages
    ]


def _pipeline_text(text: str) -> str:
    return text[text.index("[") : text.rindex("]") + 1]


@given(data=query_cases.query("c"))
@MANY
def test_the_same_query_compiles_to_the_same_program(data: dict[str, Any]):
    assert str(compiled(data)) == str(compiled(data))


@given(steps=st.lists(STEPS, min_size=1, max_size=5), is_key=st.booleans())
@example(steps=[KEY], is_key=False)
@example(steps=["m", KEY], is_key=False)
@MANY
def test_a_reference_reads_back_from_its_text(steps: list[Any], is_key: bool):
    path = Path(tuple(steps))
    ref = Ref(path / ENTRIES, is_key=True) if is_key else Ref(path)
    assert parse_ref(str(ref)) == ref


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["path", "op", "any", "$x"]), inner),
    max_leaves=5,
)
PARTS = ("filters", "group_by", "metrics", "select", "having", "order_by", "limit", "distinct")


@given(data=st.dictionaries(st.sampled_from(PARTS), JSON))
@MANY
def test_whatever_is_no_query_is_refused_with_one_line(data: dict[str, Any]):
    made = compiled({"container": "c", **data})
    assert isinstance(made, MqlProgram) or (made and "\n" not in made)


def test_every_path_of_the_schema_can_be_queried():
    enumerated = query_schema(CATALOG)["properties"]["select"]["items"]["enum"]
    assert len(enumerated) > 20
    for text in enumerated:
        query = parse_query({"container": "c", "group_by": [text], "metrics": [{"op": "count"}]}, CATALOG)
        assert str(query.group_by[0].ref) == text
        assert compile_query(query, CATALOG).stages
