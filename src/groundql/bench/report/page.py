"""One self-contained page: tables, plots, and every task to look into; no network, no server, no library."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from typing import Any, Final

from groundql.bench.report.plots import COLOURS, cost_plot, outcome_plot, slice_plot
from groundql.bench.report.reading import Material
from groundql.bench.report.slice_table import FIRST
from groundql.bench.report.table import Figure, Kind, Table
from groundql.bench.report.tasks import task_body, task_heads
from groundql.bench.report.writing import cell
from groundql.bench.verdict import PROTOCOLS

PLOTTED_AXES: Final = 4
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""With the page's one script by its hash: nothing is fetched, and nothing that slipped in would run."""
CONTROLS: Final = """<div class="controls">
<input id="find" type="search" placeholder="words of a question, or a number" aria-label="find">
<select id="protocol" aria-label="protocol"><option value="0">tend-v1</option><option value="1">strict</option></select>
<select id="db" aria-label="database"><option value="">all databases</option></select>
<select id="slice" aria-label="slice"><option value="">all slices</option></select>
<select id="arm" aria-label="solver"><option value="-1">any solver</option></select>
<select id="bucket" aria-label="outcome"><option value="">any outcome</option><option value="wrong">not correct</option>
<option value="differ">solvers differ</option><option value="none">solved by none</option></select>
<select id="order" aria-label="order"><option value="">in the suite's order</option>
<option value="hard">hardest first</option><option value="easy">easiest first</option></select>
<span id="count" class="key"></span></div>"""
MARKED: Final = (
    "The first wrong stage of a program whose rows are wrong is the earliest that a blocking finding names; else the "
    "first whose operators, stored paths or constants are not those of the gold's stage at the same place. Where two "
    "ways lead to the same rows, a stage can depart without being at fault."
)


def write_page(material: Material, tables: Sequence[Table]) -> str:
    """Write the page. Everything that came from a run, a model or a database is escaped or set as text."""
    script, style = _asset("page.js"), _asset("page.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"{POLICY}; script-src 'sha256-{digest}'"
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{escape(_title(material))}</title><style>{style}</style></head><body>",
            *_body(material, tables),
            *_data(material),
            f"<script>{script}</script></body></html>\n",
        ]
    )


def _title(material: Material) -> str:
    return f"Solvers on {material.suite.name}"


def _body(material: Material, tables: Sequence[Table]) -> Iterator[str]:
    links = "".join(f'<a href="#t-{escape(t.key)}">{escape(_name(t))}</a>' for t in tables)
    yield f'<nav><a href="#top">Top</a>{links}<a href="#tasks">Tasks</a></nav><main id="top">'
    models = ", ".join(dict.fromkeys(arm.model for arm in material.arms))
    yield f"<h1>{escape(_title(material))}</h1>"
    yield f'<p class="lead">{len(material.cases):,} tasks, {len(material.arms)} solvers, {escape(models)}</p>'
    if material.notes:
        yield f'<ul class="notes">{"".join(f"<li>{escape(note)}</li>" for note in material.notes)}</ul>'
    for table in tables:
        yield _section(table, _plots(table, tables))
    yield f'<h2 id="tasks">Tasks</h2><p class="notes">{escape(MARKED)}</p>{CONTROLS}<div id="list"></div></main>'


def _name(table: Table) -> str:
    return f"{table.key} {table.title}" if table.key in ("I", "III", "IV", "V") else table.title


def _plots(table: Table, tables: Sequence[Table]) -> str:
    by_key = {one.key: one for one in tables}
    drawn: list[str] = []
    if table.key == "III-outcomes":
        drawn = [outcome_plot(table, protocol) for protocol in PROTOCOLS]
    if table.key == "IV":
        axes = list(dict.fromkeys(row["axis"] for row in table.rows))
        axes = [axis for axis in axes if axis in FIRST][:PLOTTED_AXES]
        arms = [column.key.removeprefix("arm ") for column in table.columns if column.key.startswith("arm ")]
        drawn = [slice_plot(table, axis, protocol, arms) for axis in axes for protocol in PROTOCOLS]
    if table.key == "costs" and "III" in by_key:
        drawn = [cost_plot(table, by_key["III"], protocol) for protocol in PROTOCOLS]
    return f'<div class="plots">{"".join(drawn)}</div>' if any(drawn) else ""


def _section(table: Table, plots: str) -> str:
    heads = "".join(f"<th{_class(c.kind)}>{escape(c.title)}</th>" for c in table.columns)
    rows = "".join(f"<tr>{''.join(_cell(row.get(c.key), c.kind) for c in table.columns)}</tr>" for row in table.rows)
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    title = f"Table {_name(table)}" if _name(table) != table.title else table.title
    shown = f'<table class="sortable"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    key = escape(table.key)
    return (
        f'<h2 id="t-{key}">{escape(title)}</h2>{plots}<div class="scroll">{shown}</div><ul class="notes">{notes}</ul>'
    )


def _class(kind: Kind) -> str:
    return "" if kind is Kind.TEXT else ' class="n"'


def _cell(value: Any, kind: Kind) -> str:
    text = escape(cell(value, kind))
    if isinstance(value, Figure):
        shown, _, bounds = text.partition(" ")
        return f'<td class="n" data-v="{value.value:.8g}">{shown}<small>{bounds}</small></td>'
    if kind is Kind.TEXT:
        return f"<td>{text}</td>"
    return f'<td class="n" data-v="{"" if value is None else format(value, ".8g")}">{text}</td>'


def _data(material: Material) -> Iterator[str]:
    """Write each task's data apart, so that a reader's machine parses only what is opened."""
    head = {"arms": [arm.name for arm in material.arms], "colours": COLOURS, "tasks": task_heads(material)}
    yield _script("head", head)
    for place, case in enumerate(material.cases):
        yield _script(f"task-{place}", task_body(material, case))


def _script(name: str, data: Any) -> str:
    return f'<script type="application/json" id="{name}">{inert(data)}</script>\n'


def inert(data: Any) -> str:
    """Write JSON that holds nothing a browser would take for markup."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text.encode("utf-8", "backslashreplace").decode()


def _asset(name: str) -> str:
    return resources.files("groundql.bench.report").joinpath(name).read_text(encoding="utf-8")
