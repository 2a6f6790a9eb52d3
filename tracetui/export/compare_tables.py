"""The tables of a comparison by the names that `--by`, JSON and sheets have, and their rows as values."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, BinaryIO

from tracetui.compare.comparison import ApiRow, Comparison, ModuleRow
from tracetui.compare.job_part import RankRow, RootRow
from tracetui.compare.line_rows import LineRow
from tracetui.compare.memory_rows import MemoryRow
from tracetui.compare.rows import Row
from tracetui.export.cells import encodable, text_cell
from tracetui.trace.stack import Frame

_SIDES = (
    "name",
    "status",
    "base_ns",
    "base_count",
    "other_ns",
    "other_count",
    "delta_ns",
    "ratio",
    "changed",
)
_BYTES = tuple(column.replace("_ns", "_bytes") for column in _SIDES)
_PLACE = ("file", "line", "function", "base_line")
_OWN = ("base_self_ns", "other_self_ns")
_MEAN = ("base_mean_ns", "other_mean_ns")


@dataclass(frozen=True)
class Table:
    """One table of a comparison."""

    by: str  #: as `--by` asks for it
    key: str  #: as JSON calls it
    title: str
    rows: Callable[[Comparison], Sequence[Row]]
    columns: tuple[str, ...] = _SIDES  #: of csv
    unit: str = "ms a step"


def _ranks(comparison: Comparison) -> Sequence[Row]:
    return comparison.job.ranks if comparison.job is not None else ()


def _roots(comparison: Comparison) -> Sequence[Row]:
    return comparison.job.roots if comparison.job is not None else ()


#: What single traces have, times of device and host.
TABLES = (
    Table("class", "classes", "Classes of operators, by device time", lambda compared: compared.classes),
    Table(
        "operator", "operators", "Operators of level 1, by device time", lambda compared: compared.operators
    ),
    Table(
        "module",
        "modules",
        "Modules, by device time with what is inside",
        lambda compared: compared.modules,
        (*_SIDES, *_OWN),
    ),
    Table("kernel", "kernels", "Kernels", lambda compared: compared.kernels),
    Table(
        "line",
        "lines",
        "Lines of Python, by idle time",
        lambda compared: compared.lines,
        (*_SIDES, *_PLACE),
    ),
    Table("cause", "causes", "Causes of idle time, preparing included", lambda compared: compared.causes),
    Table("communication", "communication", "Collectives", lambda compared: compared.communication),
    Table(
        "api",
        "api",
        "Operators of the host, by their time there",
        lambda compared: compared.api,
        (*_SIDES, *_OWN, *_MEAN),
    ),
)
ADVICE = Table("advice", "advice", "Advice, by the time that it explains", lambda compared: compared.advice)
MEMORY = Table(
    "memory",
    "memory",
    "Memory",
    lambda compared: compared.memory,
    (*_BYTES, "what", "component", "operator", *_PLACE),
    "bytes",
)
#: What jobs have besides.
RANKS = Table(
    "rank", "ranks", "Ranks, by their mean step, and what changed most in it", _ranks, (*_SIDES, "rank")
)
ROOTS = Table(
    "root",
    "roots",
    "Why ranks waited for each other, of all that waited",
    _roots,
    (*_SIDES, "rank", "kind", "cause", *_PLACE),
    "rank-ms a step",
)
#: All, in the order in which they are told.
EVERY = (RANKS, ROOTS, *TABLES, ADVICE, MEMORY)
#: The table that is first, and the one of csv where none is asked for.
WATERFALL = Table(
    "term", "waterfall", "A step, by what its time went into", lambda compared: compared.waterfall
)
BY = {table.by: table for table in EVERY}


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
    if isinstance(row, MemoryRow):
        told = {key.replace("_ns", "_bytes"): value for key, value in told.items()}
        told["what"], told["component"] = row.what, encodable(row.component) or None
        told["operator"] = encodable(row.holder.operator) if row.holder is not None else None
        told.update(_place(row.holder.frame if row.holder is not None else None, row.base_line))
    elif isinstance(row, LineRow):
        told.update(_place(row.frame, row.base_line))
    elif isinstance(row, (ModuleRow, ApiRow)):
        told["base_self_ns"], told["other_self_ns"] = round(row.own.base_ns), round(row.own.other_ns)
        if isinstance(row, ApiRow):
            told["base_mean_ns"], told["other_mean_ns"] = (
                None if mean is None else round(mean) for mean in row.means
            )
    elif isinstance(row, RankRow):
        told["rank"] = row.rank
        told["waterfall"] = [term_document(term) for term in row.waterfall]
    elif isinstance(row, RootRow):
        told["rank"], told["kind"] = row.rank, row.kind
        told["cause"] = encodable(row.reason) or None
        told.update(_place(row.frame, row.base_line))
    return told


def term_document(term: Row) -> dict[str, Any]:
    """A part of a step as JSON has it."""
    return {
        "term": term.name,
        "base_ns": round(term.base_ns),
        "other_ns": round(term.other_ns),
        "delta_ns": round(term.delta_ns),
        "changed": term.changed,
    }


def _place(frame: Frame | None, base_line: int | None) -> dict[str, Any]:
    """Where a line is: in OTHER, and its number in BASE."""
    told = frame is not None and frame.file
    return {
        "file": encodable(frame.file) if frame is not None and told else None,
        "line": frame.line if frame is not None and told else None,
        "function": encodable(frame.function) if frame is not None else None,
        "base_line": base_line if told else None,
    }


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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    yield text.getvalue()
    for row in rows:
        text.seek(0)
        text.truncate()
        told = row_document(row)
        writer.writerow([_cell(told[column]) for column in table.columns])
        yield text.getvalue()


def _cell(value: Any) -> Any:
    """A value as a cell that no spreadsheet computes."""
    return text_cell(value) if isinstance(value, str) else "" if value is None else value
