"""The studies: churn between repeats, and data with values exchanged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from groundql.bench.case import CaseId
from groundql.bench.report.reading import open_run
from groundql.bench.studies.churn import churn
from groundql.bench.studies.counterfactual import Probed, probed_rows
from groundql.bench.studies.mutating import mutate
from unit.bench.report.runs import make_run, make_suite

DOCUMENTS = [
    {"_id": n, "city": f"c{n % 7}", "size": n, "by_year": {"2019": {"v": n}, "2020": {"v": -n}}, "tags": ["x", f"t{n}"]}
    for n in range(60)
]


def test_churn_counts_what_changed_between_repeats(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", make_suite(tmp_path / "s"), {"sag": "ccvv"}, {"sag": "cvvn"})
    row = churn(open_run(run).scores)[0]
    assert (row["pairs"], row["flipped_share"], row["bucket_changed_share"]) == (4, 0.25, 0.5)
    assert (row["lowest_exc"], row["highest_exc"]) == (0.25, 0.5)


def test_a_single_repeat_has_no_churn(tmp_path: Path) -> None:
    assert churn(open_run(make_run(tmp_path / "a", make_suite(tmp_path / "s"), {"sag": "cccc"})).scores) == []


def test_exchanged_data_holds_the_same_values_in_other_documents() -> None:
    made = mutate(DOCUMENTS, [("by_year",)], seed=1)
    for name in ("city", "size"):
        assert Counter(d[name] for d in made) == Counter(d[name] for d in DOCUMENTS)
        assert [d[name] for d in made] != [d[name] for d in DOCUMENTS]
    assert [d["_id"] for d in made] == [d["_id"] for d in DOCUMENTS]
    assert made == mutate(DOCUMENTS, [("by_year",)], seed=1)


def test_values_change_places_between_the_keys_of_a_map_but_not_of_a_record() -> None:
    as_map = mutate(DOCUMENTS, [("by_year",)], seed=1)
    as_record = mutate(DOCUMENTS, [], seed=1)
    assert any(d["by_year"]["2019"]["v"] < 0 for d in as_map)
    assert all(d["by_year"]["2019"]["v"] >= 0 for d in as_record)


def test_what_is_right_only_on_the_stored_data_is_flagged_where_the_test_can_tell() -> None:
    right, wrong = {"tend-v1": True, "strict": True}, {"tend-v1": False, "strict": False}
    case = CaseId("x", 1)
    told = [
        Probed(case, "s", True, right, wrong),
        Probed(case, "s", False, right, wrong),
        Probed(case, "s", True, right, right),
    ]
    strict = probed_rows(told)[1]
    assert (strict["correct"], strict["told"], strict["flagged"]) == (3, 2, 1)
