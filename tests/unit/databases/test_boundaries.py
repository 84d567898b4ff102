"""Who may reach a driver, and who may write."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import groundql

PACKAGE = Path(groundql.__file__).parent
# sqlite3 is left out: the model's replies are kept in one.
DRIVERS = frozenset(
    {"pymongo", "motor", "duckdb", "psycopg", "snowflake", "secantus", "groundql_embedded", "mongomock"}
)
WRITES = frozenset(
    {
        "insert_one", "insert_many", "update_one", "update_many", "replace_one", "delete_one", "delete_many",
        "bulk_write", "find_one_and_update", "find_one_and_replace", "find_one_and_delete", "drop_database",
        "drop_collection", "drop", "create_collection", "create_index", "drop_index", "rename", "map_reduce", "eval",
    }
)  # fmt: skip
RUNS = frozenset({"aggregate", "find", "find_one", "command", "distinct", "count_documents", "aggregate_raw_batches"})


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text())


def imported(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def called(tree: ast.Module) -> set[str]:
    """Names of methods called on anything."""
    return {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def test_only_the_databases_reach_a_driver() -> None:
    outside = {
        name: drivers
        for name, tree in modules()
        if not name.startswith("databases/") and (drivers := imported(tree) & DRIVERS)
    }
    assert outside == {}


def test_only_loading_writes() -> None:
    drivers = {name: tree for name, tree in modules() if imported(tree) & DRIVERS}
    assert "databases/mongodb.py" in drivers
    writing = {name: writes for name, tree in drivers.items() if (writes := called(tree) & WRITES)}
    assert writing == {"databases/load.py": {"insert_many", "drop"}}


def test_only_three_modules_send_anything_to_a_server() -> None:
    drivers = {name: tree for name, tree in modules() if imported(tree) & DRIVERS}
    running = {name for name, tree in drivers.items() if called(tree) & RUNS}
    assert running == {"databases/mongodb.py", "databases/describe.py", "databases/load.py"}


def test_the_engine_under_the_gpl_is_never_imported() -> None:
    assert [name for name, tree in modules() if imported(tree) & {"secantus", "groundql_embedded"}] == []
