from __future__ import annotations

import datetime as dt
import gzip
import json
import shlex
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bson
import pytest
from bson import Decimal128, Int64, ObjectId
from bson.raw_bson import RawBSONDocument
from hypothesis import given, settings
from hypothesis import strategies as st

from groundql.databases.files import find_files, read_documents
from groundql.errors import LoadError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to(name: str, data: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return to


def read(path: Path) -> list[tuple[str, Any]]:
    return [
        (d.container, bson.decode(d.document.raw) if isinstance(d.document, RawBSONDocument) else d.document)
        for file in find_files(path)
        for d in read_documents(file)
    ]


def test_json_lines_become_documents_of_a_collection_named_for_the_file(write: Write) -> None:
    path = write("heroes.jsonl", '{"n": 1}\n\n  {"n": 2}\n')
    assert read(path) == [("heroes", {"n": 1}), ("heroes", {"n": 2})]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "a.bson", "a.json.gz", "A.JSONL.GZ", "a.bson.gz"])
def test_every_form_is_read_compressed_or_not(write: Write, name: str) -> None:
    data = bson.encode({"n": 1}) if "bson" in name else b'{"n": 1}'
    path = write(name, gzip.compress(data) if name.lower().endswith(".gz") else data)
    assert [d for _, d in read(path)] == [{"n": 1}]


def test_compressed_data_without_the_ending_is_read_all_the_same(write: Write) -> None:
    assert read(write("a.jsonl", gzip.compress(b'{"n": 1}'))) == [("a", {"n": 1})]


def test_an_array_is_its_documents(write: Write) -> None:
    assert read(write("a.json", ' [ {"n": 1} ,\n{"n": [2, {"x": []}]} ]\n')) == [
        ("a", {"n": 1}),
        ("a", {"n": [2, {"x": []}]}),
    ]


def test_objects_one_after_another_are_documents(write: Write) -> None:
    assert read(write("a.json", '{"n": 1}{"n": 2}\n\n{"n": 3}')) == [("a", {"n": n}) for n in (1, 2, 3)]


def test_an_object_of_arrays_of_objects_is_a_database(write: Write) -> None:
    text = '{"heroes": [{"n": 1}, {"n": 2}], "empty": [], "films": [{"t": "x"}]}'
    assert read(write("world.json", text)) == [("heroes", {"n": 1}), ("heroes", {"n": 2}), ("films", {"t": "x"})]


@pytest.mark.parametrize("text", ['{"tags": ["a", "b"]}', '{"tags": []}', '{"n": 1, "of": [{"x": 1}]}', "{}"])
def test_an_object_that_is_no_database_is_one_document(write: Write, text: str) -> None:
    assert read(write("a.json", text)) == [("a", json.loads(text))]


def test_extended_json_becomes_stored_types(write: Write) -> None:
    text = (
        '{"_id": {"$oid": "0123456789abcdef01234567"}, "at": {"$date": "2024-02-29T12:30:00Z"},'
        ' "d": {"$numberDecimal": "0.10"}, "l": {"$numberLong": "5"}, "x": {"$numberDouble": "NaN"},'
        ' "far": {"$date": {"$numberLong": "253402300800000"}}}'
    )
    document = read(write("a.jsonl", text))[0][1]
    assert document["_id"] == ObjectId("0123456789abcdef01234567")
    assert document["at"] == dt.datetime(2024, 2, 29, 12, 30)
    assert document["d"] == Decimal128("0.10")
    assert isinstance(document["l"], Int64)
    assert document["x"] != document["x"]
    assert bson.decode(bson.encode(document), bson.CodecOptions(datetime_conversion=3))["far"] is not None


def test_field_names_with_dollars_and_dots_stay_names(write: Write) -> None:
    text = '{"$price": 5, "a.b": {"$weird": {"c.d": 1}}, "x": {"y": 1, "$oid": "not first"}}'
    assert read(write("a.jsonl", text)) == [("a", json.loads(text))]


def test_a_byte_order_mark_is_no_part_of_the_data(write: Write) -> None:
    for name in ("a.json", "a.jsonl"):
        assert read(write(name, b"\xef\xbb\xbf" + b'{"n": 1}')) == [("a", {"n": 1})]


def test_a_folder_is_a_collection_a_file_and_what_mongodump_adds_is_left_out(write: Write, tmp_path: Path) -> None:
    write("dump/heroes.bson.gz", gzip.compress(bson.encode({"n": 1}) + bson.encode({"n": 2})))
    write("dump/heroes.metadata.json.gz", gzip.compress(b'{"indexes": []}'))
    write("dump/prelude.json", "{}")
    write("dump/films.jsonl", '{"t": "x"}')
    write("dump/.hidden.json", "{}")
    write("dump/README.md", "# read me")
    assert read(tmp_path / "dump") == [("films", {"t": "x"}), ("heroes", {"n": 1}), ("heroes", {"n": 2})]


BIG = '{"n": ' + "9" * 30 + "}"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", "", "a.jsonl: holds no documents"),
        ("a.json", "  \n ", "a.json: holds no documents"),
        ("a.json", "[]", "a.json: holds no documents"),
        ("a.bson", b"", "a.bson: holds no documents"),
        ("a.json.gz", b"", "a.json.gz: holds no documents"),
        ("a.jsonl", '{"n": 1}\n{"n": }\n', "a.jsonl, line 2, column 7: not JSON: Expecting value"),
        ("a.jsonl", '{"n": 1}\n[1]\n', "a.jsonl, line 2: a document is due, found an array"),
        ("a.jsonl", "[\n{}\n]", "a.jsonl, line 1, column 2: not JSON"),
        ("a.json", '[{"n": 1},\n {"n": 2},\n 5]', "a.json, line 3: a document is due, found a value of type int"),
        ("a.json", '[{"n": 1},\n {"n" 2}]', "a.json, line 2: not JSON: Expecting ':' delimiter"),
        ("a.json", '[{"n": 1}\n {"n": 2}]', "a.json, line 2: not JSON: expected ']', found {"),
        ("a.json", '[{"n": 1}', "a.json, line 1: not JSON: expected ']', found the end of the file"),
        ("a.json", '[{"n": 1}] x', "a.json, line 1: something follows the array"),
        ("a.json", '"text"', "a.json, line 1: a document is due, found a string"),
        ("a.json", "null", "a.json, line 1: a document is due, found null"),
        ("a.json", '{"a": "unfinished', "a.json, line 1: not JSON: Unterminated string"),
        ("a.json", '{"d": {"$date": "yesterday"}}', "a.json, line 1: not extended JSON"),
        ("a.jsonl", '{"d": {"$oid": "xyz"}}', "a.jsonl, line 1: not extended JSON"),
        ("a.jsonl", b'{"n": "\xff"}', "a.jsonl: not UTF-8 text (byte 0xff)"),
        ("a.json", b'{"n": "\xff"}', "a.json: not UTF-8 text (byte 0xff)"),
        ("a.json", "[" * 100_000, "a.json, line 1: not extended JSON: nested too deep"),
        ("a.bson", b"\x05\x00", "a.bson, document 1: not BSON: the length is impossible"),
        ("a.bson", bson.encode({"n": 1}) + bson.encode({"n": 2})[:-3], "document 2: the file is cut off here"),
        ("a.bson", b"\x08\x00\x00\x00\x99xx\x00", "a.bson, document 1: not BSON"),
        ("a.jsonl.gz", b'{"n": 1}', "a.jsonl.gz: not gzip data, in spite of its name"),
        (
            "a.jsonl.gz",
            gzip.compress(b'{"n": 1}\n' * 9999)[:-9],
            "the compressed data is damaged or cut off after line",
        ),
        ("a.bson.gz", gzip.compress(bson.encode({"n": 1}) * 9)[:12], "the compressed data is damaged or cut off"),
        ("a.csv", "a,b\n", "a.csv: not a data file"),
        ("$a.json", "{}", "cannot name a collection"),
        ("system.users.json", "{}", "cannot name a collection"),
    ],
)
def test_what_cannot_be_read_gives_one_line_with_the_place(
    write: Write, name: str, data: str | bytes, message: str
) -> None:
    with pytest.raises(LoadError) as caught:
        read(write(name, data))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damage_in_the_middle_of_compressed_data_is_found(write: Write) -> None:
    data = bytearray(gzip.compress("".join(f'{{"n": {n * n}}}\n' for n in range(20_000)).encode()))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(LoadError, match=r"damaged|not JSON|not UTF-8"):
        read(write("a.jsonl.gz", bytes(data)))


def test_a_missing_path_an_empty_folder_and_a_folder_of_folders_are_told_apart(write: Write, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such file or folder"):
        find_files(tmp_path / "nothing.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LoadError, match="no data files") as caught:
        find_files(tmp_path / "empty")
    assert ".jsonl" in caught.value.hint
    write("dump/comics/heroes.bson", bson.encode({}))
    with pytest.raises(LoadError, match="no data files") as caught:
        find_files(tmp_path / "dump")
    assert str(tmp_path / "dump" / "comics") in caught.value.hint


def test_two_files_for_one_collection_are_refused(write: Write, tmp_path: Path) -> None:
    write("d/a.json", "{}")
    write("d/a.jsonl.gz", gzip.compress(b"{}"))
    with pytest.raises(LoadError, match="would both become the collection 'a'"):
        find_files(tmp_path / "d")


def test_the_error_in_a_large_array_is_found_without_reading_it_all(write: Write) -> None:
    good = [json.dumps({"n": n, "pad": "x" * 90}) for n in range(3000)]
    path = write("a.json", "[" + ",\n".join([*good, '{"n" 1}', *good]) + "]")
    with pytest.raises(LoadError, match="line 3001: not JSON: Expecting ':' delimiter"):
        read(path)


def test_a_document_larger_than_any_chunk_is_read(write: Write) -> None:
    large = {"n": "é" * 3_000_000, "k": list(range(1000))}
    assert read(write("a.json", json.dumps([{"n": 1}, large, {"n": 2}]))) == [
        ("a", {"n": 1}),
        ("a", large),
        ("a", {"n": 2}),
    ]


@pytest.mark.parametrize("form", ["jsonl", "json", "bson"])
def test_reading_takes_no_more_memory_for_a_larger_file(write: Write, form: str) -> None:
    documents = [{"n": n, "pad": "x" * 500} for n in range(20_000)]
    match form:
        case "jsonl":
            data = "\n".join(map(json.dumps, documents)).encode()
        case "json":
            data = json.dumps(documents).encode()
        case _:
            data = b"".join(map(bson.encode, documents))
    path = write(f"a.{form}", data)
    del documents
    (file,) = find_files(path)
    tracemalloc.start()
    count = sum(1 for _ in read_documents(file))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak_bytes < len(data) / 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text().filter(lambda k: k[:1] != "$"), inner, max_size=4)
    ),
    max_leaves=12,
)
DOCUMENTS = st.lists(
    st.dictionaries(st.text().filter(lambda k: k[:1] != "$"), JSON, max_size=4), min_size=2, max_size=6
)


@settings(max_examples=60)
@given(DOCUMENTS, st.sampled_from([None, 2]), st.booleans())
def test_any_json_documents_are_read_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, documents: list[Any], indent: int | None, is_ascii: bool
) -> None:
    folder = tmp_path_factory.mktemp("any")
    written = [json.dumps(d, ensure_ascii=is_ascii, indent=indent) for d in documents]
    (folder / "array.json").write_text("[" + ",".join(written) + "]", "utf-8", "surrogatepass")
    (folder / "objects.json").write_text("\n".join(written), "utf-8", "surrogatepass")
    (folder / "lines.jsonl").write_text("\n".join(json.dumps(d) for d in documents), "utf-8")
    for name in ("array.json", "objects.json", "lines.jsonl"):
        assert [d for _, d in read(folder / name)] == documents


def int32(name: str, value: int) -> bytes:
    return b"\x10" + name.encode() + b"\0" + value.to_bytes(4, "little")


def bson_of(*elements: bytes) -> bytes:
    body = b"".join(elements) + b"\0"
    return (len(body) + 4).to_bytes(4, "little") + body


@pytest.mark.parametrize(
    ("name", "data", "place"),
    [
        ("a.jsonl", '{"n": 1}\n{"a": 1, "b": 2, "a": 3}\n', "a.jsonl, line 2"),
        ("a.json", '[{"n": 1},\n {"m": {"a": 1, "a": 1}}]', "a.json, line 2"),
        ("a.json", '{"d": {"a": {"$numberLong": "1"}, "a": null}}', "a.json, line 1"),
        ("a.json", '{"d": {"$oid": "507f1f77bcf86cd799439011", "a": 1, "a": 2}}', "a.json, line 1"),
        ("a.json", '{"a": [{"n": 1}], "a": [{"n": 2}]}', "a.json, line 1"),
        ("a.bson", bson.encode({"n": 1}) + bson_of(int32("a", 1), int32("a", 2)), "a.bson, document 2"),
        ("a.bson", bson_of(b"\x03m\0" + bson_of(int32("a", 1), int32("a", 1))), "a.bson, document 1"),
    ],
    ids=["line", "nested", "extended", "marker", "collections", "bson", "bson nested"],
)
def test_a_key_that_occurs_twice_is_refused_with_its_place(
    write: Write, name: str, data: str | bytes, place: str
) -> None:
    with pytest.raises(LoadError) as caught:
        read(write(name, data))
    assert f"{place}: the key 'a' occurs twice in one object" in str(caught.value)
    assert "one array" in caught.value.hint


def test_bson_that_cannot_be_written_again_as_it_was_is_no_repetition(write: Write) -> None:
    odd = b"\x02s\0\x02\0\0\0\xff\0"  # text that is not UTF-8
    (file,) = find_files(write("a.bson", bson_of(odd)))
    assert [d.place for d in read_documents(file)] == [f"{file.path}, document 1"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_how_a_table_becomes_json_lines_is_said_and_works(write: Write, tmp_path: Path, ending: str) -> None:
    tab = "," if ending == "csv" else "\t"
    path = write(f"my data.{ending}", f"a{tab}b\n1{tab}x\n")
    with pytest.raises(LoadError) as caught:
        find_files(path)
    command = caught.value.hint[caught.value.hint.index("python3 -c") :].replace("python3", shlex.quote(sys.executable))
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert read(tmp_path / "my data.jsonl") == [("my data", {"a": "1", "b": "x"})]


def test_a_folder_of_tables_is_told_how_to_convert_them(write: Write, tmp_path: Path) -> None:
    write("tables/t.csv", "a\n1\n")
    with pytest.raises(LoadError) as caught:
        find_files(tmp_path / "tables")
    assert "t.jsonl" in caught.value.hint
