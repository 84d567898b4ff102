from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from groundql.bench.construct import load_spec, materialise
from groundql.bench.construct.archive import pack
from groundql.errors import LoadError

SPEC = """\
world: shop
title: A shop
licence: CC0-1.0
sources:
  orders: { csv: orders.csv }
  lines: { sqlite: shop.db, table: lines }
  products: { json: products.json, pointer: /items, entries: true }
  labels: { folder: "labels/{name}.json", names: [de, fr], entries: true }
collections:
  orders:
    from: orders
    where: { id: { exists: true } }
    sort: [id]
    fields:
      _id: { take: id, type: int }
      note: note
      day: { take: day, type: date, missing: "null" }
      total: { take: total, type: decimal }
      lines: { array: lines, match: { order_id: id }, sort: [position], fields: { product: product } }
      line_count: { count: lines, match: { order_id: id } }
    variants:
      - { when: { kind: gift }, fields: { card: card } }
  products:
    from: products
    fields:
      _id: key
      name: /value/name
      labels: { map: labels, key: file, match: { key: key }, pick: value, empty: omit }
      sizes: { entries: /value/sizes, fields: { cm: { take: cm, type: number } } }
      tags: { take: /value/tags, split: " " }
      origin: { fields: { code: { text: "{key}-x" } } }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(SPEC, encoding="utf-8")
    rows = "id,day,note,total,kind,card\n10,2024-02-29,,1.50,gift,roses\n9,,hello,2,plain,none\n,2020-01-01,,,,\n"
    (tmp_path / "orders.csv").write_text(rows, encoding="utf-8")
    products = (
        '{"items": {"a": {"name": "Lamp", "sizes": {"big": {"cm": "7.0"}}, "tags": "x y"}, "b": {"name": "Desk"}}}'
    )
    (tmp_path / "products.json").write_text(products, encoding="utf-8")
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "de.json").write_text('{"a": "Lampe"}', encoding="utf-8")
    (tmp_path / "labels" / "fr.json").write_text('{"a": "lampe"}', encoding="utf-8")
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.execute("CREATE TABLE lines (order_id TEXT, position INTEGER, product TEXT)")
    connection.executemany("INSERT INTO lines VALUES (?, ?, ?)", [("10", 2, "b"), ("10", 1, "a"), ("9", 1, "a")])
    connection.commit()
    connection.close()
    return tmp_path


def test_tables_become_documents_with_arrays_types_and_variants(folder: Path) -> None:
    documents = materialise(load_spec(folder / "shop.yaml"), folder, folder)
    assert documents["orders"] == [
        {"_id": 9, "note": "hello", "day": None, "total": {"$numberDecimal": "2"}, "lines": [{"product": "a"}],
         "line_count": 1},
        {"_id": 10, "day": {"$date": "2024-02-29T00:00:00Z"}, "total": {"$numberDecimal": "1.50"},
         "lines": [{"product": "a"}, {"product": "b"}], "line_count": 2, "card": "roses"},
    ]  # fmt: skip


def test_objects_become_maps_and_what_is_not_there_is_left_out(folder: Path) -> None:
    documents = materialise(load_spec(folder / "shop.yaml"), folder, folder)
    assert documents["products"] == [
        {"_id": "a", "name": "Lamp", "labels": {"de": "Lampe", "fr": "lampe"}, "sizes": {"big": {"cm": 7}},
         "tags": ["x", "y"], "origin": {"code": "a-x"}},
        {"_id": "b", "name": "Desk", "origin": {"code": "b-x"}},
    ]  # fmt: skip


def test_two_builds_give_the_same_bytes(folder: Path) -> None:
    builds = [pack(materialise(load_spec(folder / "shop.yaml"), folder, folder)) for _ in range(2)]
    assert builds[0] == builds[1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("note: note", "note: { tke: note }", r"line 16: .*there is no such key"),
        ("array: lines", "array: linse", r"line 19: there is no source 'linse'"),
        ("from: products", "from: product", r"line 24: there is no source 'product'"),
        ("csv: orders.csv", "csv: orders.csv, tsv: orders.tsv", r"line 5: .*one of csv"),
        ("title: A shop\n", "", r"line 1: title: is missing"),
        ("type: int", "type: integer", r"line 15: "),
    ],
)
def test_a_fault_is_told_with_its_line(folder: Path, old: str, new: str, said: str) -> None:
    path = folder / "shop.yaml"
    path.write_text(SPEC.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LoadError, match=said):
        load_spec(path)


def test_a_name_that_is_nearly_right_is_suggested(folder: Path) -> None:
    path = folder / "shop.yaml"
    path.write_text(SPEC.replace("array: lines", "array: linse"), encoding="utf-8")
    with pytest.raises(LoadError) as caught:
        load_spec(path)
    assert caught.value.hint == "did you mean lines?"


def test_a_repeated_id_is_refused(folder: Path) -> None:
    with (folder / "orders.csv").open("a", encoding="utf-8") as file:
        file.write("9,,again,1,plain,\n")
    with pytest.raises(LoadError, match="occurs before"):
        materialise(load_spec(folder / "shop.yaml"), folder, folder)


def test_a_value_that_is_not_of_its_type_is_told_with_its_place(folder: Path) -> None:
    (folder / "orders.csv").write_text("id,day\n9,soon\n", encoding="utf-8")
    with pytest.raises(LoadError, match="orders, row 1, day: 'soon' is no date"):
        materialise(load_spec(folder / "shop.yaml"), folder, folder)
