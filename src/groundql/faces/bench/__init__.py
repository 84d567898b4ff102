"""The verbs of `groundql bench`: measure solvers on suites of questions."""

from __future__ import annotations

import typer

from groundql.faces.bench.audit import audit
from groundql.faces.bench.build import build
from groundql.faces.bench.compare import compare
from groundql.faces.bench.importing import import_
from groundql.faces.bench.merge import merge
from groundql.faces.bench.report import report
from groundql.faces.bench.run import run
from groundql.faces.bench.score import score
from groundql.faces.bench.stats import stats
from groundql.faces.bench.studies import studies
from groundql.faces.bench.validate import validate_

app = typer.Typer(help="Measure solvers: import, run, score, report.", no_args_is_help=True)
app.command("audit")(audit)
app.command("build")(build)
app.command("import")(import_)
app.command("run")(run)
app.command("merge")(merge)
app.command("score")(score)
app.command("report")(report)
app.command("stats")(stats)
app.command("validate")(validate_)
app.command("compare")(compare)
app.add_typer(studies, name="study")
