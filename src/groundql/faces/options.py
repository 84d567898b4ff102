"""Options that several verbs share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from groundql.faces.show import Format
from groundql.languages.read import Form

Db: TypeAlias = Annotated[
    str,
    typer.Option(
        "--db",
        help="mongodb://HOST/NAME, a folder or file (.json .jsonl .ndjson .bson, also .gz), or sample:NAME.",
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
Refresh: TypeAlias = Annotated[
    bool, typer.Option("--refresh", help="Read the database anew instead of using the stored grounding.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
