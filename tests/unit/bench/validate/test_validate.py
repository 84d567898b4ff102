from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from groundql.bench.scoring.judging import read_gold
from groundql.bench.shape.signature import signature
from groundql.bench.validate import Rule, Rules, Severity, validate
from groundql.bench.validate.records import FULL_FIELDS, wrong_fields
from groundql.errors import LoadError

MQL = 'db.orders.aggregate([{"$match":{"n":%d}},{"$limit":%d}])'


def record(number: int, **more: Any) -> dict[str, Any]:
    question = f"Which orders have the number {number}?"
    lean = {"record_id": number, "db_id": "shop", "NLQ": question, "NLQ_colloquial": f"Orders with {number}?"}
    return lean | {"MQL": MQL % (number, number + 1)} | more


def release(folder: Path, *records: dict[str, Any], name: str = "TEND_lean.json") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(list(records)), encoding="utf-8")
    return folder


def broken(path: Path, rules: Rules | None = None) -> list[tuple[Rule, str]]:
    found = validate(path, rules or Rules())
    return [(each.rule, each.place) for each in found if each.severity is Severity.ERROR]


def test_a_release_that_keeps_the_rules_has_no_violations(tmp_path: Path) -> None:
    assert validate(release(tmp_path, record(1), record(2)), Rules()) == []


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"extra": 1}, Rule.FIELDS),
        ({"MQL": "select 1"}, Rule.PARSE),
        ({"MQL": MQL % (1, 2)}, Rule.SIGNATURE),
        ({"NLQ": "which orders have the number 1"}, Rule.QUESTION),
        ({"NLQ": "\u4f60\u597d\u5417"}, Rule.LANGUAGE),
        ({"MQL": 'db.orders.aggregate([{"$sample":{"size":1}}])'}, Rule.FORBIDDEN),
        ({"MQL": 'db.orders.aggregate([{"$match":{},"$limit":1}])'}, Rule.PARSE),
    ],
)
def test_each_rule_for_records_is_told_at_the_record_that_breaks_it(
    tmp_path: Path, more: dict[str, Any], rule: Rule
) -> None:
    assert broken(release(tmp_path, record(1), record(2, **more))) == [(rule, "shop/2")]


def test_a_record_number_names_one_record_of_the_whole_release(tmp_path: Path) -> None:
    assert (Rule.RECORD_ID, "zoo/1") in broken(release(tmp_path, record(1), record(1, db_id="zoo")))


def test_a_record_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    found = broken(release(tmp_path, record(1, NLQ=None), record(2, extra=1)))
    assert found == [(Rule.FIELDS, "TEND_lean.json"), (Rule.FIELDS, "shop/2")]


def test_more_than_sixteen_tasks_of_one_form_are_too_many(tmp_path: Path) -> None:
    assert broken(release(tmp_path / "a", *map(record, range(1, 17)))) == []
    assert [rule for rule, _ in broken(release(tmp_path / "b", *map(record, range(1, 18))))] == [Rule.SKELETON] * 17


def test_numbers_are_errors_where_they_are_expected_and_warned_of_where_they_are_unequal(tmp_path: Path) -> None:
    folder = release(tmp_path, record(1), record(2), record(3, db_id="zoo"))
    assert broken(folder, Rules(per_database=2, databases=3)) == [(Rule.COUNT, ""), (Rule.COUNT, "zoo")]
    assert [(v.rule, v.severity) for v in validate(folder, Rules())] == [(Rule.COUNT, Severity.WARNING)]


def test_the_order_of_fields_is_part_of_the_form() -> None:
    right = record(1)
    assert wrong_fields(right, is_lean=True) == ""
    assert "in another order" in wrong_fields(dict(reversed(right.items())), is_lean=True)
    assert "without MQL" in wrong_fields({k: v for k, v in right.items() if k != "MQL"}, is_lean=True)


def test_labels_may_follow_outside_a_lean_file() -> None:
    assert wrong_fields(record(1, labels={}), is_lean=False) == ""
    assert wrong_fields(record(1, labels={}), is_lean=True) == "its fields are with labels"
    full = dict.fromkeys(FULL_FIELDS)
    assert wrong_fields(full, is_lean=False) == ""
    assert "without MQL" in wrong_fields({k: v for k, v in full.items() if k != "MQL"}, is_lean=False)


def test_the_files_of_one_release_hold_the_same_records(tmp_path: Path) -> None:
    release(tmp_path, record(1), name="data/TEND.json")
    release(tmp_path, record(1), name="data/TEND_lean.json")
    assert broken(tmp_path) == []
    release(tmp_path, record(2), name="data/TEND_lean.json")
    assert broken(tmp_path) == [(Rule.FILE, "TEND_lean.json")]


def test_a_folder_without_records_cannot_be_validated(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="holds no records"):
        validate(tmp_path, Rules())


# --- full -------------------------------------------------------------------------------------------------------------
FULL = Rules(is_full=True)
LABELS = {"difficulty": "L4", "schema_flex": "dynamic_key", "sql_infeasibility_class": "structural_schema_flex"}


def full_release(folder: Path, *records: dict[str, Any]) -> Path:
    release(folder, *records, name="data/TEND.json")
    (folder / "mongodb_data").mkdir()
    (folder / "mongodb_data" / "shop.json").write_text('{"orders": [{"_id": 1}]}', encoding="utf-8")
    return folder


def test_a_full_release_that_keeps_the_rules_has_no_violations(tmp_path: Path) -> None:
    assert validate(full_release(tmp_path, record(1, **LABELS)), FULL) == []


def test_missing_documents_and_metadata_are_told(tmp_path: Path) -> None:
    folder = full_release(tmp_path, record(1, **LABELS), record(2, **LABELS | {"db_id": "zoo"}))
    (folder / "metadata" / "provenance").mkdir(parents=True)
    (folder / "metadata" / "provenance" / "shop.json").write_text("{}", encoding="utf-8")
    assert broken(folder, FULL) == [(Rule.FILE, "zoo"), (Rule.FILE, "zoo")]


@pytest.mark.parametrize(
    ("label", "value"),
    [("difficulty", "L0"), ("schema_flex", "none"), ("sql_infeasibility_class", "expressible")],
)
def test_shares_out_of_bounds_are_told(tmp_path: Path, label: str, value: str) -> None:
    folder = full_release(tmp_path, record(1, **LABELS | {label: value}))
    assert {rule for rule, _ in broken(folder, FULL)} == {Rule.SHARE}


def test_a_label_that_no_record_has_is_only_warned_of(tmp_path: Path) -> None:
    found = validate(full_release(tmp_path, record(1)), FULL)
    assert {(each.rule, each.severity) for each in found} == {(Rule.SHARE, Severity.WARNING)}


def test_provenance_is_looked_up_in_the_database_s_file(tmp_path: Path) -> None:
    folder = full_release(tmp_path, record(1, **LABELS, provenance_refs=["orders", "orders.n", "orders.lost"]))
    told = {"entries": {"f": {"source_tables": ["orders"], "provenance_refs": ["orders.n"]}}}
    (folder / "metadata" / "provenance").mkdir(parents=True)
    (folder / "metadata" / "provenance" / "shop.json").write_text(json.dumps(told), encoding="utf-8")
    (found,) = validate(folder, FULL)
    assert (found.rule, found.message) == (Rule.PROVENANCE, "not in its provenance: orders.lost")


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        ({"mongo_native_constructs": ["$match", "$unwind"]}, Rule.CONSTRUCT),
        ({"native_metadata": {"required_native_constructs": ["$group"]}}, Rule.CONSTRUCT),
        ({"canonical_form_set": {"must_not_contain": ["$limit"]}}, Rule.CONSTRUCT),
        ({"canonical_form_set": {"must_contain_at_root": ["$group"]}}, Rule.CONSTRUCT),
        ({"mql_signature": "sha256:0"}, Rule.STALE),
        ({"mql_skeleton_summary": "$limit"}, Rule.STALE),
    ],
)
def test_what_a_record_claims_of_its_program_must_hold(tmp_path: Path, claim: dict[str, Any], rule: Rule) -> None:
    right = {
        "mongo_native_constructs": ["$match", "$limit"],
        "canonical_form_set": {"must_contain": ["$match"], "must_not_contain": ["$out"]},
        "mql_signature": f"sha256:{signature(read_gold(MQL % (1, 2)))}",
        "mql_skeleton_summary": "$match>$limit",
    }
    assert broken(full_release(tmp_path / "a", record(1, **LABELS, **right)), FULL) == []
    assert broken(full_release(tmp_path / "b", record(1, **LABELS, **right | claim)), FULL) == [(rule, "shop/1")]


def test_files_are_held_against_the_release_s_own_checksums(tmp_path: Path) -> None:
    folder = full_release(tmp_path, record(1, **LABELS))
    digest = hashlib.sha256((folder / "mongodb_data" / "shop.json").read_bytes()).hexdigest()
    sums = folder / "SHA256SUMS.txt"
    sums.write_text(f"{digest}  mongodb_data/shop.json\n", encoding="utf-8")
    assert broken(folder, FULL) == []
    sums.write_text(f"0  mongodb_data/shop.json\n0  gone.json\n0  ../{tmp_path.name}/../x\n", encoding="utf-8")
    assert [rule for rule, _ in broken(folder, FULL)] == [Rule.CHECKSUM] * 3
