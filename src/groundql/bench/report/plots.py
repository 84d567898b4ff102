"""Plots as SVG text: outcomes, slices with intervals, cost against accuracy. Drawn by hand; no library is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import log10
from typing import Any, Final

from groundql.bench.report.table import Figure, Table

WIDTH: Final = 760
LEFT: Final = 190
ROW: Final = 22
COLOURS: Final = {
    "correct": "#2e7d4f", "order_only": "#b9a13a", "row_subset": "#d08a2e", "row_superset": "#e0b06a",
    "value_mismatch": "#c4553b", "empty": "#8d6e9e", "exec_error": "#5b6f9a", "invalid": "#41505f",
    "no_submission": "#b6b8bc", "row_count_exceeded": "#9c3f63",
}  # fmt: skip
SERIES: Final = ("#1f5f99", "#c4553b", "#2e7d4f", "#8d6e9e", "#b07a1a", "#4a9aa5", "#9c3f63", "#5d6670")


def outcome_plot(table: Table, protocol: str) -> str:
    """Draw a bar per arm, divided by outcomes."""
    rows = [row for row in table.rows if row["protocol"] == protocol]
    parts = [_bar(row, ROW * place) for place, row in enumerate(rows)]
    used = [name for name in COLOURS if any(row.get(name) for row in rows)]
    for place, name in enumerate(used):
        x, y = LEFT + 140 * (place % 4), ROW * len(rows) + 18 + 18 * (place // 4)
        parts.append(f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{COLOURS[name]}"/>')
        parts.append(_text(x + 16, y, name.replace("_", " ")))
    height = ROW * len(rows) + 28 + 18 * ((len(used) + 3) // 4)
    return _svg(height, parts, f"Outcomes by {protocol}")


def _bar(row: Mapping[str, Any], y: int) -> str:
    x, parts, width = float(LEFT), [_label(row["arm"], y + 14)], WIDTH - LEFT - 10
    for name, colour in COLOURS.items():
        share = row.get(name) or 0.0
        if share:
            title = f"<title>{escape(name.replace('_', ' '))}: {100 * share:.1f} %</title>"
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 3}" width="{width * share:.1f}" height="15" fill="{colour}">{title}</rect>'
            )
            x += width * share
    return "".join(parts)


def slice_plot(table: Table, axis: str, protocol: str, arms: Sequence[str]) -> str:
    """Draw the accuracy of each arm within each slice of an axis, with its interval."""
    rows = [row for row in table.rows if row["axis"] == axis and row["protocol"] == protocol]
    parts, y = list[str](), 26
    for row in rows:
        parts.append(_label(f"{row['slice']} ({row['tasks']})", y + 7 * len(arms[: len(SERIES)]) // 2 + 6))
        for place, arm in enumerate(arms[: len(SERIES)]):
            parts.append(_whisker(row.get(f"arm {arm}"), y + 7 * place + 4, SERIES[place], arm))
        y += 7 * len(arms[: len(SERIES)]) + 14
    legend = _legend(arms, y + 14)
    return _svg(y + 20 + 18 * ((len(arms) + 2) // 3), [*_grid(y), *parts, *legend], f"EXC by {axis}, {protocol}")


def _whisker(figure: Figure | None, y: int, colour: str, arm: str) -> str:
    if figure is None:
        return ""
    low, value, high = (_across(number) for number in (figure.low, figure.value, figure.high))
    title = (
        f"<title>{escape(arm)}: {100 * figure.value:.1f} % ({100 * figure.low:.0f} to {100 * figure.high:.0f})</title>"
    )
    line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="1.5"/>'
    return f'<g>{line}<circle cx="{value:.1f}" cy="{y}" r="3.2" fill="{colour}"/>{title}</g>'


def cost_plot(costs: Table, main: Table, protocol: str) -> str:
    """Draw what a task costs against how many are right: dollars where all prices are known, tokens otherwise."""
    spent = {row["arm"]: row for row in costs.rows if row["per"] == "task"}
    priced = bool(spent) and all(row["cost_usd"] for row in spent.values())
    points = [
        (row["arm"], _spent(spent[row["arm"]], priced=priced), row[f"exc {protocol}"])
        for row in main.rows
        if row["arm"] in spent and row.get(f"exc {protocol}")
    ]
    points = [point for point in points if point[1] > 0]
    if not points:
        return ""
    unit = "US dollars per task" if priced else "tokens per task"
    return _svg(340, list(_scatter(points, unit)), f"Accuracy against cost, {protocol}")


def _spent(row: Mapping[str, Any], *, priced: bool) -> float:
    return row["cost_usd"] if priced else row["prompt_tokens"] + row["completion_tokens"]


def _scatter(points: Sequence[tuple[str, float, Figure]], unit: str) -> Iterable[str]:
    low, high = min(cost for _, cost, _ in points), max(cost for _, cost, _ in points)
    span, written = max(log10(high / low), 0.3), list[tuple[float, float]]()
    yield _line(60, 60, 20, 290, "#999") + _line(60, 740, 290, 290, "#999")
    for tenth in range(0, 11, 2):
        y = 290 - 27 * tenth
        yield f'<line x1="60" x2="740" y1="{y}" y2="{y}" stroke="#e3e3e0"/>' + _text(
            52, y + 4, f"{10 * tenth} %", "end"
        )
    yield _text(400, 330, f"{unit} (logarithmic)", "middle")
    for cost in dict.fromkeys((low, high)):
        x = 110 + 480 * log10(cost / low) / span
        yield _text(x, 308, f"{cost:,.4g}", "middle")
    for place, (arm, cost, figure) in enumerate(sorted(points, key=lambda point: -point[2].value)):
        x, y = 110 + 480 * log10(cost / low) / span, 290 - 270 * figure.value
        top, bottom, colour = 290 - 270 * figure.high, 290 - 270 * figure.low, SERIES[place % len(SERIES)]
        written.append((x, _free(x, y + 4, written)))
        yield _line(x, x, top, bottom, f"{colour}73")
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>' + _text(x + 8, written[-1][1], arm)


def _grid(bottom: int) -> Iterable[str]:
    for tenth in range(0, 11, 2):
        x = _across(tenth / 10)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{bottom}" stroke="#e3e3e0"/>'
        yield _text(x, 14, f"{10 * tenth} %", "middle")


def _legend(arms: Sequence[str], y: int) -> Iterable[str]:
    for place, arm in enumerate(arms[: len(SERIES)]):
        x, row = LEFT + 190 * (place % 3), y + 18 * (place // 3)
        yield f'<circle cx="{x + 5}" cy="{row - 4}" r="4" fill="{SERIES[place]}"/>' + _text(x + 14, row, arm)


def _across(share: float) -> float:
    return LEFT + (WIDTH - LEFT - 30) * share


def _free(x: float, y: float, written: Sequence[tuple[float, float]]) -> float:
    """Move a name down until it stands on no other."""
    while any(abs(x - other) < 130 and abs(y - above) < 13 for other, above in written):
        y += 3
    return y


def _line(left: float, right: float, top: float, bottom: float, colour: str) -> str:
    return f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>'


def _label(text: str, y: int) -> str:
    short = text if len(text) <= 27 else f"{text[:26]}…"
    return _text(LEFT - 8, y, short, "end")


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(height: int, parts: Iterable[str], title: str) -> str:
    drawn = "".join(parts)
    svg = f'<svg viewBox="0 0 {WIDTH} {height}" role="img">{drawn}</svg>'
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>"
