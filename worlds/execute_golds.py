"""Execute the questions' pipelines again and write their rows.

python worlds/execute_golds.py mongodb://127.0.0.1:PORT [WORLD ...]
"""

from __future__ import annotations

import json
import sys
from datetime import UTC
from pathlib import Path
from typing import Any

from bson import json_util
from pymongo import MongoClient

from groundql.bench.worlds import World, list_worlds

DATA = Path(__file__).parents[1] / "src" / "groundql" / "bench" / "worlds" / "data"


def main(uri: str, names: set[str]) -> None:
    """Load the named worlds, or all, into the server and rewrite each gold.jsonl."""
    with MongoClient[dict[str, Any]](uri, tz_aware=True, tzinfo=UTC) as client:
        for world in list_worlds():
            if not names or world.name in names:
                execute(client, world)


def execute(client: MongoClient[dict[str, Any]], world: World) -> None:
    """Write the rows of one world's questions."""
    database = client[f"gold_{world.name}"]
    client.drop_database(database.name)
    for name, documents in world.documents().items():
        database[name].insert_many(documents)
    lines: list[str] = []
    for task in world.tasks():
        collection, _, pipeline = task.mql.removeprefix("db.").removesuffix(")").partition(".aggregate(")
        rows = list(database[collection].aggregate(json.loads(pipeline)))
        record = {"record_id": task.record_id, "rows": rows}
        lines.append(json_util.dumps(record, json_options=json_util.RELAXED_JSON_OPTIONS, ensure_ascii=False))
    (DATA / world.name / "gold.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    client.drop_database(database.name)
    print(f"{world.name}: {len(lines)} questions")


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
