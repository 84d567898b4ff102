"""`groundql bench build`: from a specification and its sources to a release folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import anyio
import typer

from groundql.bench.construct import load_spec, materialise
from groundql.bench.construct.archive import pack
from groundql.bench.construct.build import Build
from groundql.config import Settings, load_settings
from groundql.core.budget import Meter
from groundql.core.trace import Trace
from groundql.faces.options import Model, Quiet
from groundql.faces.progress import Live
from groundql.faces.show import console, safe
from groundql.wiring import ModelOpener

err = console()


def build(
    spec: Annotated[Path, typer.Argument(help="The world's specification, a YAML file.")],
    sources: Annotated[
        Path, typer.Option(help="The folder with the unpacked sources; else the specification's own.")
    ] = Path(),
    out: Annotated[Path | None, typer.Option(help="The release folder.")] = None,
    archive: Annotated[Path | None, typer.Option(help="Also write the documents as one .json.gz file.")] = None,
    draft: Annotated[int, typer.Option(help="Draft so many tasks more.", min=0)] = 0,
    model: Model = "",
    quiet: Quiet = False,
) -> int:
    """Build a world: its documents, its tasks with audits, and drafts by templates or, with --model, by a model."""
    world = load_spec(spec)
    folder = sources if sources != Path() else spec.parent
    documents = materialise(world, folder, spec.parent)
    if archive is not None:
        data = pack(documents)
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.write_bytes(data)
        print(f"{archive}\t{len(data)} bytes\tsha256 {hashlib.sha256(data).hexdigest()}")
    for name, found in documents.items():
        err.print(f"[dim]{safe(name)}: {len(found):,} documents[/]")
    if out is None:
        return 0
    settings = load_settings({"model": model or None}).settings
    with Live(err, quiet=quiet) as live:
        built = Build(world, documents, out, settings, live.say)
        tasks = spec.parent / world.tasks if world.tasks else None
        anyio.run(_run, built, tasks, draft, settings if model else None)
    _summarise(built, draft)
    print(out)
    return 0 if all(a.is_sound for a in built.audits) else 1


async def _run(built: Build, tasks: Path | None, draft: int, asked: Settings | None) -> None:
    if asked is None:
        await built.run(tasks, draft)
        return
    opener = ModelOpener(asked)
    try:
        await built.run(tasks, draft, opener(Meter(), Trace()))
    finally:
        await opener.close()


def _summarise(built: Build, wanted: int) -> None:
    decidable = sum(bool(a.is_decidable) for a in built.audits)
    err.print(f"[dim]{len(built.golds)} tasks, {decidable} decidable[/]")
    drafted = sum("template" in gold.labels for gold in built.golds)
    if built.refused:
        reasons = ", ".join(f"{check} {n}" for check, n in sorted(built.refused.items(), key=lambda item: -item[1]))
        err.print(f"[dim]drafts left out: {safe(reasons)}[/]")
    if drafted < wanted:
        err.print(f"[yellow]note[/]     {drafted} of {wanted} drafts stand; no more could be drawn from this data")
