from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "groundql"
WRITES = re.compile(
    r"\.(insert_one|insert_many|update_one|update_many|replace_one|delete_one|delete_many|bulk_write|drop|drop_collection"
    r"|drop_database|create_index|rename|find_one_and_\w+)\("
)
LOADER = "databases/load.py"


def modules() -> Iterator[tuple[str, str]]:
    return ((p.relative_to(SOURCE).as_posix(), p.read_text(encoding="utf-8")) for p in sorted(SOURCE.rglob("*.py")))


def calls_of(text: str, name: str) -> int:
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(ast.parse(text))
    )


def test_only_the_safety_check_seals_a_program() -> None:
    makers = [name for name, text in modules() if calls_of(text, "Admitted")]
    assert makers == ["languages/safety.py"]


def test_only_the_databases_room_imports_a_driver() -> None:
    users = [name for name, text in modules() if re.search(r"^\s*(from|import) pymongo", text, re.MULTILINE)]
    assert all(name.startswith("databases/") for name in users)
    assert "databases/mongodb.py" in users


def test_only_the_loader_calls_a_writing_method_of_a_driver() -> None:
    writers = [name for name, text in modules() if WRITES.search(text) and name.startswith("databases/")]
    assert writers == [LOADER]


def test_the_core_needs_the_standard_library_alone() -> None:
    allowed = {"groundql", "__future__"}
    for name, text in modules():
        if name.startswith("core/") or name == "errors.py":
            for node in ast.walk(ast.parse(text)):
                roots = [a.name.split(".")[0] for a in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.module:
                    roots = [node.module.split(".")[0]]
                assert all(r in allowed or r in STANDARD for r in roots), (name, roots)


STANDARD = __import__("sys").stdlib_module_names


def test_nothing_evaluates_text_as_code() -> None:
    for name, text in modules():
        assert not calls_of(text, "eval"), name
        assert not calls_of(text, "exec"), name


def test_no_module_knows_the_embedded_server_from_inside() -> None:
    foreign = re.compile(r"^\s*(from|import) (secantus|groundql_embedded)", re.MULTILINE)
    assert not [name for name, text in modules() if foreign.search(text)]
