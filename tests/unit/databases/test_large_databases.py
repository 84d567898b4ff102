from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from groundql.databases.files import LONGEST_DOCUMENT, find_files, read_documents
from groundql.errors import LoadError

LONGEST = 200_000
"""Characters; more than are read at a time, so that a shorter object is seen whole."""
PADDING = "x" * 1000


def shop(size: int) -> dict[str, Any]:
    return {"orders": [{"_id": n, "text": PADDING} for n in range(size)], "empty": [], "people": [{"_id": 1}]}


def read(tmp_path: Path, text: str, longest: int = LONGEST) -> list[tuple[str, Any, str]]:
    path = tmp_path / "shop.json"
    path.write_text(text, encoding="utf-8")
    (file,) = find_files(path)
    places = [
        (d.container, d.document, d.place.removeprefix(f"{path}, ")) for d in read_documents(file, longest=longest)
    ]
    return places


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("size", [1, 1000])
def test_a_database_is_read_alike_whether_it_is_taken_whole_or_in_parts(
    tmp_path: Path, size: int, indent: int | None
) -> None:
    text = json.dumps(shop(size), indent=indent)
    assert read(tmp_path, text) == read(tmp_path, text, LONGEST_DOCUMENT)
    assert read(tmp_path, text)[-1] == ("people", {"_id": 1}, "document 1 of 'people'")


def test_a_large_database_is_never_in_memory_whole(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(shop(20_000)), encoding="utf-8")
    (file,) = find_files(path)
    tracemalloc.start()
    count = sum(1 for _ in read_documents(file, longest=LONGEST))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_001
    assert peak_bytes < file.size_bytes / 4


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        (', "orders": [{}]}', "the key 'orders' occurs twice"),
        (', "total": 3}', "'total' is no collection"),
        (', "more": [1]}', "a document is due, found a value of type int"),
        ("} {}", "something follows the database"),
        (', "more": [{}]', "expected '}', found the end of the file"),
        (", 3: [{}]}", "a name is due"),
    ],
)
def test_what_is_no_database_is_refused_with_its_place(tmp_path: Path, tail: str, said: str) -> None:
    text = json.dumps({"orders": shop(1000)["orders"]}, indent=1).removesuffix("}").rstrip() + tail
    with pytest.raises(LoadError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert "line 40" in str(caught.value)


def test_a_long_object_that_is_no_database_is_too_long_for_a_document(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="too long for a document, and 'text' is no collection"):
        read(tmp_path, json.dumps({"text": PADDING * 1000}))
