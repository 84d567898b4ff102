"""`groundql bench run`: ask solvers a suite's questions, and go on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import anyio
import typer
from pydantic import ValidationError

from groundql.bench.case import Suite
from groundql.bench.datasets import open_suite
from groundql.bench.hosts import Host
from groundql.bench.running.batch import BatchFolder
from groundql.bench.running.calls import OpenModel, limited_calls, seeded_calls
from groundql.bench.running.journal import read_predictions
from groundql.bench.running.manifest import Manifest, read_manifest
from groundql.bench.running.plan import Plan, Terms, differences
from groundql.bench.running.progress import Board
from groundql.bench.running.runner import Halt, Reason, solve_plainly
from groundql.bench.running.script import SCRIPTED, read_script
from groundql.bench.running.shard import cases_of, read_shard
from groundql.bench.running.stint import Ended, Parts, work_on
from groundql.bench.running.suspending import BatchDesk
from groundql.config import Settings, load_settings
from groundql.databases.uri import HIDDEN
from groundql.errors import GroundQLError, InputError
from groundql.faces.options import Output, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import Format, console, safe, show_rows
from groundql.llm.wrap import metered
from groundql.solvers.recipes import SOLVERS
from groundql.wiring import ModelOpener, solver_name

BOUNDS: Final = ("limits", "budget", "sampling")
CONCURRENCY: Final = 4
"""How many tasks run side by side against a provider, unless told otherwise."""
TENTHS: Final = 10
err = console()


def run(
    out: Annotated[Path, typer.Option(help="The run's folder; when it holds a run, that one goes on.")],
    suite: Annotated[
        str, typer.Option(help="worlds, worlds:NAME, folder:PATH, tend or tend:PATH.", show_default=False)
    ] = "",
    solvers: Annotated[str, typer.Option(help="The recipes, separated by commas.", show_default=False)] = "",
    model: Annotated[str, typer.Option(help="provider:model, local, or scripted:FILE.jsonl.", show_default=False)] = "",
    databases: Annotated[str, typer.Option(help="Only these databases, separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option(help="Only the first so many tasks.", min=1)] = None,
    phrasing: Annotated[
        str, typer.Option(help="Which wording of the questions: canonical (the default) or colloquial.")
    ] = "",
    repeat: Annotated[int | None, typer.Option(help="Ask everything so many times.", min=1)] = None,
    concurrency: Annotated[int | None, typer.Option(help="The most tasks and calls at a time.", min=1)] = None,
    task_timeout: Annotated[
        float | None, typer.Option(help="The longest a task may take, in seconds.", min=0.1)
    ] = None,
    budget_usd: Annotated[float | None, typer.Option(help="The most the run may cost, in US dollars.", min=0)] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="The most tokens the run may take.", min=1)] = None,
    shard: Annotated[str, typer.Option(help="One part of the tasks, as 1/2; the others run elsewhere.")] = "",
    seed: Annotated[int | None, typer.Option(help="Give each request a seed made from this one.")] = None,
    llm_batch: Annotated[
        str, typer.Option(help="A folder for request files of a batch API; replies put there are read.")
    ] = "",
    db: Annotated[str, typer.Option("--db", help="A server that holds the suite's databases, as mongodb://HOST.")] = "",
    output: Output = Format.TABLE,
    quiet: Quiet = False,
) -> int:
    """Ask solvers the questions of a suite; what they hand in is kept in a folder, to be scored."""
    given = _given(
        suite=suite, solvers=_names(solvers), model=model, databases=_names(databases), limit=limit, phrasing=phrasing,
        repeats=repeat, seed=seed, shard=str(read_shard(shard)) if shard else "", task_timeout_s=task_timeout,
        llm_batch=llm_batch,
    )  # fmt: skip
    stored = read_manifest(out)
    settings = load_settings().settings
    # nothing was handed in yet: whoever mistyped the model may begin anew
    goes_on = stored is not None and ("suite" not in given or bool(read_predictions(out)))
    plan = _resumed(stored, given, out) if stored and goes_on else _new_plan(given, settings)
    terms = _terms(stored, plan, concurrency, budget_usd, budget_tokens, db)
    with Live(err, quiet=quiet) as live:
        ended = anyio.run(partial(_work, out, plan, terms, _bounded(settings, plan), live, quiet))
    _show(ended, output)
    return _finish(ended, out)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value not in (None, "", ())}


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _new_plan(given: Mapping[str, Any], settings: Settings) -> Plan:
    """Plan a new run from what was given, with the settings' bounds.

    Raises: InputError.
    """
    if "suite" not in given:
        raise InputError(
            "no suite is named, and the folder holds no run to go on with", hint="give --suite, such as worlds"
        )
    chosen: dict[str, Any] = {"model": settings.model, "solvers": (solver_name(settings),), **given}
    unknown = [name for name in chosen["solvers"] if name not in SOLVERS]
    if unknown:
        raise InputError(f"there is no solver {unknown[0]!r}", hint=f"choose of: {', '.join(sorted(SOLVERS))}")
    if chosen.get("phrasing", "canonical") not in ("canonical", "colloquial"):
        raise InputError(f"there is no phrasing {chosen['phrasing']!r}", hint="canonical or colloquial")
    if chosen["model"].startswith(f"{SCRIPTED}:") and "llm_batch" in chosen:
        raise InputError("a scripted model needs no batch API", hint="leave --llm-batch away")
    return Plan(**chosen, bounds=settings.model_dump(mode="json", include=set(BOUNDS)))


def _resumed(stored: Manifest, given: Mapping[str, Any], out: Path) -> Plan:
    """Take the plan that was begun.

    Raises: InputError when something else is asked for now.
    """
    changed = differences(stored.plan.to_record(), given)
    if changed:
        raise InputError(
            f"{out} was begun differently: {'; '.join(changed)}",
            hint="leave these options away to go on with it, or choose another folder for a new run",
        )
    return stored.plan


def _terms(
    stored: Manifest | None,
    plan: Plan,
    concurrency: int | None,
    budget_usd: float | None,
    budget_tokens: int | None,
    db: str,
) -> Terms:
    """Take what was given, else what the run's last stint had.

    Raises: InputError when the server's password is needed and not given.
    """
    last = stored.stints[-1] if stored and stored.stints else None
    server = db or (last.server if last else "")
    if not db and HIDDEN in server:
        raise InputError(f"the password for {server} is not kept", hint="give the connection string again, with --db")
    suiting = 1 if plan.model.partition(":")[0] == "local" else CONCURRENCY
    return Terms(
        concurrency=concurrency or (last.concurrency if last else suiting),
        budget_usd=last.budget_usd if last and budget_usd is None else budget_usd,
        budget_tokens=last.budget_tokens if last and budget_tokens is None else budget_tokens,
        server=server,
    )


def _bounded(settings: Settings, plan: Plan) -> Settings:
    """Put the run's own bounds in place of today's, without the cache of replies, so that each reply is measured."""
    try:
        return Settings.model_validate(
            {**settings.model_dump(), **plan.bounds, **_model_of(plan), "cache_replies": False}
        )
    except ValidationError as error:
        raise InputError(f"the run's settings cannot be used: {error.errors()[0]['msg']}") from None


def _model_of(plan: Plan) -> dict[str, str]:
    return {} if plan.model.startswith(f"{SCRIPTED}:") else {"model": plan.model}


async def _work(out: Path, plan: Plan, terms: Terms, settings: Settings, live: Live, quiet: bool) -> Ended:
    suite = _open(plan)
    cases = cases_of(suite.cases, read_shard(plan.shard)) if plan.shard else suite.cases
    async with AsyncExitStack() as stack:
        desk = _desk(plan)
        open_model = await _opener(plan, terms, settings, desk, stack)
        host = await stack.enter_async_context(
            Host(suite, settings, terms.server, on_load=live.loading, listen=live.grounding)
        )
        parts = Parts(
            hosts=host,
            solvers=SOLVERS,
            open_model=seeded_calls(open_model, plan.seed) if plan.seed is not None else open_model,
            solve=desk.solve if desk else solve_plainly,
            listen=_listener(live, quiet),
            remark=lambda text: err.print(f"[yellow]note[/]     {safe(text)}"),
        )
        ended = await work_on(out, plan, suite.fingerprint, cases, terms, parts)
    live.stop()
    if desk:
        _tell_batch(desk.folder, ended)
    return ended


def _open(plan: Plan) -> Suite:
    phrasing = "colloquial" if plan.phrasing == "colloquial" else "canonical"
    whole = open_suite(plan.suite, phrasing=phrasing)
    strangers = [name for name in plan.databases if name not in whole.databases]
    if strangers:
        known = ", ".join(whole.databases)
        raise InputError(f"{plan.suite} has no database {strangers[0]!r}", hint=f"its databases: {known}")
    return whole.narrowed(databases=plan.databases, limit=plan.limit)


def _desk(plan: Plan) -> BatchDesk | None:
    """Open the folder of a batch API, if the run goes through one."""
    if not plan.llm_batch:
        return None
    provider, _, name = plan.model.partition(":")
    folder = BatchFolder(Path(plan.llm_batch).expanduser(), provider, name or provider)
    folder.read()
    return BatchDesk(folder)


async def _opener(
    plan: Plan, terms: Terms, settings: Settings, desk: BatchDesk | None, stack: AsyncExitStack
) -> OpenModel:
    if desk:
        return desk.open_model
    if plan.model.startswith(f"{SCRIPTED}:"):
        script = read_script(Path(plan.model.partition(":")[2]))
        return limited_calls(partial(metered, script), plan.model, terms.concurrency)
    opener = ModelOpener(settings)
    stack.push_async_callback(opener.close)
    return limited_calls(opener, plan.model, terms.concurrency)


def _listener(live: Live, quiet: bool) -> Callable[[Board], None]:
    """Show a live line on a terminal; elsewhere a line for each tenth of the run."""
    shown = -1

    def listen(board: Board) -> None:
        nonlocal shown
        live.say(board.line())
        tenth = board.done * TENTHS // max(1, board.total)
        if not err.is_terminal and not quiet and tenth != shown:
            shown = tenth
            live.finish(board.line())

    return listen


def _tell_batch(folder: BatchFolder, ended: Ended) -> None:
    if ended.halt is None or ended.halt.reason is not Reason.REPLIES:
        return
    files = folder.write()
    for file in files:
        err.print(f"send     {safe(str(file))}")
    for file in folder.awaited():
        if file not in files:
            err.print(f"awaited  {safe(str(file))}")


def _show(ended: Ended, output: Format) -> None:
    rows = ended.board.rows()
    is_told = output in (Format.JSON, Format.JSONL) or any(row["failures"] for row in rows)
    columns = [name for name in rows[0] if name != "failures" or is_told] if rows else []
    show_rows(rows, columns, output)


def _finish(ended: Ended, out: Path) -> int:
    """Say what is to be done next. Returns the exit code: 0 when every task is finished."""
    halt: Halt | None = ended.halt
    if halt is None:
        err.print(f"[dim]next: groundql bench score {safe(str(out))}[/]")
        return 0
    hints = {
        Reason.BUDGET: "to go on, give a higher --budget-usd or --budget-tokens",
        Reason.REPLIES: "put the replies into that folder, then",
        Reason.TROUBLE: "to go on",
    }
    if halt.error is not None:
        raise _stopped(halt.error, out)
    err.print(f"[yellow]stopped[/]  {safe(halt.message)}")
    err.print(f"[dim]  {hints[halt.reason]}: groundql bench run --out {safe(str(out))}[/]")
    return 1


def _stopped(error: GroundQLError, out: Path) -> GroundQLError:
    """Tell how to go on as well, after what the error says is to be done first."""
    lead = f"{error.hint}; then" if error.hint else "go on with"
    error.hint = f"{lead}: groundql bench run --out {out}"
    return error
