"""The verbs of `groundql bench`: measure solvers on suites of questions."""

from __future__ import annotations

import typer

from groundql.faces.bench.audit import audit
from groundql.faces.bench.build import build
from groundql.faces.bench.merge import merge
from groundql.faces.bench.report import report
from groundql.faces.bench.run import run
from groundql.faces.bench.score import score

app = typer.Typer(help="Measure solvers: import, run, score, report.", no_args_is_help=True)
app.command("audit")(audit)
app.command("build")(build)
app.command("run")(run)
app.command("merge")(merge)
app.command("score")(score)
app.command("report")(report)
