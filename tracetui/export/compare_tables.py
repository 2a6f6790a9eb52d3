"""The tables of a comparison by the names that `--by`, JSON and sheets have, and their rows as values."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, BinaryIO

from tracetui.compare.comparison import Comparison, LineRow
from tracetui.compare.rows import Row
from tracetui.export.cells import encodable, text_cell


@dataclass(frozen=True)
class Table:
    """One table of a comparison."""

    by: str  #: as `--by` asks for it
    key: str  #: as JSON calls it
    title: str
    rows: Callable[[Comparison], Sequence[Row]]


TABLES = (
    Table("class", "classes", "Classes of operators, by device time", lambda compared: compared.classes),
    Table(
        "operator", "operators", "Operators of level 1, by device time", lambda compared: compared.operators
    ),
    Table(
        "module", "modules", "Modules, by device time with what is inside", lambda compared: compared.modules
    ),
    Table("kernel", "kernels", "Kernels", lambda compared: compared.kernels),
    Table("line", "lines", "Lines of Python, by idle time", lambda compared: compared.lines),
    Table("cause", "causes", "Causes of idle time, preparing included", lambda compared: compared.causes),
    Table("communication", "communication", "Collectives", lambda compared: compared.communication),
    Table("api", "api", "Operators of the host, by their time there", lambda compared: compared.api),
)
#: The table that is first, and the one of csv where none is asked for.
WATERFALL = Table(
    "term", "waterfall", "A step, by what its time went into", lambda compared: compared.waterfall
)
BY = {table.by: table for table in TABLES}


def row_document(row: Row) -> dict[str, Any]:
    """A row as JSON has it: means per step, times rounded to the ns."""
    told: dict[str, Any] = {
        "name": encodable(row.name),
        "status": row.status,
        "base_ns": round(row.base_ns),
        "base_count": count(row.base_count),
        "other_ns": round(row.other_ns),
        "other_count": count(row.other_count),
        "delta_ns": round(row.delta_ns),
        "ratio": row.ratio,
        "changed": row.changed,
    }
    if isinstance(row, LineRow):
        frame = row.frame
        told["file"] = encodable(frame.file) if frame and frame.file else None
        told["line"] = frame.line if frame and frame.file else None
        told["function"] = encodable(frame.function) if frame else None
        told["base_line"] = row.base_line if frame and frame.file else None
    return told


def count(mean: Fraction) -> int | float:
    """A mean number of times, whole where it is."""
    return mean.numerator if mean.denominator == 1 else float(mean)


def write_table(stream: BinaryIO, comparison: Comparison, table: Table, top: int = 0) -> int:
    """Write a table as csv, with the columns of JSON; at most `top` rows, 0 for all; returns their number."""
    rows = table.rows(comparison)
    chosen = rows[:top] if top else rows
    for line in _lines(chosen, table):
        stream.write(line.encode())
    return len(chosen)


def _lines(rows: Sequence[Row], table: Table) -> Iterator[str]:
    """The title and the rows as lines of csv."""
    columns = ["name", "status", "base_ns", "base_count", "other_ns", "other_count", "delta_ns", "ratio"]
    columns += ["changed", *(["file", "line", "function", "base_line"] if table.by == "line" else [])]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    yield text.getvalue()
    for row in rows:
        text.seek(0)
        text.truncate()
        told = row_document(row)
        writer.writerow([_cell(told[column]) for column in columns])
        yield text.getvalue()


def _cell(value: Any) -> Any:
    """A value as a cell that no spreadsheet computes."""
    return text_cell(value) if isinstance(value, str) else "" if value is None else value
