from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundql.core.finding import Finding
from groundql.core.program import Admitted, MqlProgram
from groundql.errors import ProgramSyntaxError
from groundql.languages.mongosh import parse_pipeline, parse_program
from groundql.languages.safety import admit
from groundql.languages.writing import to_ejson, to_javascript, to_python, to_shell
from program_cases import KEYS, LEAVES, RELAXED_LEAVES, TEXTS, programs, stored, values

RUNS = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@RUNS
@given(programs())
def test_shell_text_reads_back_as_the_same_program(program: MqlProgram) -> None:
    assert stored(parse_program(to_shell(program))) == stored(program)


@RUNS
@given(programs())
def test_python_text_reads_back_as_the_same_program(program: MqlProgram) -> None:
    assert stored(parse_program(to_python(program))) == stored(program)


@RUNS
@given(programs())
def test_javascript_text_reads_back_as_the_same_program(program: MqlProgram) -> None:
    assert stored(parse_program(to_javascript(program))) == stored(program)


@RUNS
@given(programs())
def test_canonical_ejson_reads_back_as_the_same_program(program: MqlProgram) -> None:
    assert stored(parse_program(to_ejson(program, canonical=True))) == stored(program)


@RUNS
@given(programs(RELAXED_LEAVES))
def test_relaxed_ejson_reads_back_as_the_same_program_but_for_the_width_of_integers(program: MqlProgram) -> None:
    assert stored(parse_program(to_ejson(program))) == stored(program)


WORDS = tuple(
    r"""
    db . c find aggregate ( ) [ ] { } $match : , ' " ` / \ = const_a ... => ${ 0x 1e999 - ** -1 ObjectId NumberDecimal
    True lambda * # // /* 9**9**9 new_Date ISODate use_x import_re ``` db.c.find( db.c.aggregate([ ]) }) .sort( .limit(
    """.replace(" ", "\n").split()
)
FRAGMENTS = st.lists(
    st.sampled_from([*(word.replace("_", " ") for word in WORDS), "\n", "\ud800", "\0"]) | st.text(max_size=3),
    max_size=14,
).map("".join)


@settings(RUNS, max_examples=300)
@given(FRAGMENTS)
def test_any_text_gives_a_program_or_a_syntax_error(text: str) -> None:
    with suppress(ProgramSyntaxError):
        assert isinstance(parse_program(text, container="c"), MqlProgram)


@RUNS
@given(
    st.recursive(
        st.none() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=9,
    )
)
def test_any_decoded_json_gives_a_pipeline_or_a_syntax_error(value: object) -> None:
    with suppress(ProgramSyntaxError):
        assert isinstance(parse_pipeline(value), tuple)


@RUNS
@given(programs())
def test_any_program_is_admitted_or_refused_with_a_finding(program: MqlProgram) -> None:
    assert isinstance(admit(program), Admitted | Finding)


@RUNS
@given(values(LEAVES), TEXTS)
def test_whatever_a_literal_or_an_equality_holds_is_data(value: object, text: str) -> None:
    program = MqlProgram(
        "c", ({"$project": {"x": {"$literal": value}}}, {"$match": {"a": {"$eq": value, "$ne": text}}})
    )
    assert isinstance(admit(program), Admitted)
