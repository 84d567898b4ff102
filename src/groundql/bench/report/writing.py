"""Write tables for people and for programs: text, Markdown, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from groundql.bench.report.table import Column, Figure, Kind, Table, plain


def cell(value: Any, kind: Kind) -> str:
    """Write one cell for people."""
    if value is None:
        return ""
    if isinstance(value, Figure):
        return _figure(value, kind)
    match kind:
        case Kind.SHARE:
            return f"{100 * value:.1f}"
        case Kind.COUNT:
            return f"{value:,}"
        case Kind.P:
            return p_text(value)
        case Kind.USD:
            return f"{value:.4f}"
        case Kind.NUMBER:
            return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
        case Kind.SECONDS:
            return f"{value:.1f}" if value >= 1 else f"{value:.3f}"
        case Kind.POINTS:
            return f"{100 * value:+.1f}"
        case _:
            return str(value)


def p_text(p: float) -> str:
    """Write a p-value with two significant places."""
    return "1" if p >= 0.995 else f"{p:.2f}" if p >= 0.1 else f"{p:.2g}"


def _figure(figure: Figure, kind: Kind) -> str:
    sign = "+" if kind is Kind.POINTS else ""
    value, low, high = (format(100 * number, f"{sign}.1f") for number in (figure.value, figure.low, figure.high))
    return f"{value} ({low} to {high})"


def to_markdown(table: Table) -> str:
    """Write a table as Markdown, its title and notes with it."""
    lines = [f"### Table {table.key}: {table.title}", ""] if _is_numbered(table) else [f"### {table.title}", ""]
    lines.append(_line(_escaped(column.title) for column in table.columns))
    lines.append(_line("---" if column.kind is Kind.TEXT else "---:" for column in table.columns))
    lines += [_line(_escaped(cell(row.get(c.key), c.kind)) for c in table.columns) for row in table.rows]
    return "\n".join([*lines, "", *(f"- {_escaped(note)}" for note in table.notes), ""])


def _is_numbered(table: Table) -> bool:
    return table.key in ("I", "III", "IV", "V")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def to_csv(tables: Iterable[Table]) -> str:
    """Write tables as one list of figures: table, row, column, value, its bounds, and how many tasks it is over."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "row", "column", "value", "low", "high", "of"])
    for table in tables:
        for row in table.rows:
            named = " / ".join(str(row.get(c.key) or "") for c in table.columns if c.kind is Kind.TEXT)
            for column in table.columns:
                writer.writerows(_csv_rows(table, named, column, row))
    return out.getvalue()


def _csv_rows(table: Table, named: str, column: Column, row: Mapping[str, Any]) -> Iterable[list[Any]]:
    value = row.get(column.key)
    if (column.kind is Kind.TEXT and table.key != "I") or value is None:
        return
    if isinstance(value, Figure):
        told = value.to_record()
        yield [table.key, named, column.title, told["value"], told["low"], told["high"], told["of"]]
    elif column.key != "statistic":
        yield [table.key, str(row["statistic"]) if table.key == "I" else named, column.title, plain(value), "", "", ""]
