"""Options that several verbs share."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from groundql.bench.worlds import list_worlds
from groundql.errors import InputError
from groundql.faces.show import Format
from groundql.languages.read import Form

SAMPLE = "sample:"

Db: TypeAlias = Annotated[
    str,
    typer.Option(
        "--db",
        help="mongodb://HOST/NAME, a folder or file of documents (.json .jsonl .bson, also .gz), or sample:NAME.",
        show_default=False,
    ),
]
Model: TypeAlias = Annotated[
    str, typer.Option("--model", help="provider:model, such as openai:gpt-5; or local.", show_default=False)
]
Output: TypeAlias = Annotated[Format, typer.Option("--format", "-f", help="How data is written to standard output.")]
As: TypeAlias = Annotated[Form, typer.Option("--as", help="How the query is written.")]
Rows: TypeAlias = Annotated[int | None, typer.Option("--rows", help="The most rows to return.", min=1)]
Seconds: TypeAlias = Annotated[float | None, typer.Option("--seconds", help="The longest a query may run.", min=0.1)]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


def resolve_db(text: str) -> str:
    """Turn `sample:NAME` into the path of that sample world's documents; leave everything else as it is.

    Raises: InputError naming the sample worlds.
    """
    if not text.startswith(SAMPLE):
        return text
    name = text.removeprefix(SAMPLE)
    if name not in {w.name for w in list_worlds()}:
        known = ", ".join(w.name for w in list_worlds())
        raise InputError(f"there is no sample world {name!r}", hint=f"choose one of: {known}")
    place = resources.files("groundql.bench.worlds").joinpath("data", name, f"{name}.json.gz")
    return str(Path(str(place)))
