"""The verbs of `groundql bench`: measure solvers on suites of questions."""

from __future__ import annotations

import typer

from groundql.faces.bench.score import score

app = typer.Typer(help="Measure solvers: import, run, score, report.", no_args_is_help=True)
app.command("score")(score)
