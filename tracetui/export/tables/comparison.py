"""The tables of a comparison by the names that `--by`, JSON and sheets have, and their columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from tracetui.analysis.health.finding import Severity
from tracetui.comparison.compared_row import ComparedRow, ranked
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.memory_rows import ALIVE
from tracetui.export.sentences.advice import english_title
from tracetui.export.sentences.comparison import (
    advice_name,
    changed_words,
    collective_name,
    count_words,
    mean_count,
    ratio_words,
    row_name,
    signed_ms,
    signed_size,
)
from tracetui.export.sentences.health import MARKS
from tracetui.export.tables.column import Column, Form, Table, Values, data, json_only, records, worded
from tracetui.export.tables.common import named, numbers_by, objects_by, texts_by, texts_of, values_of
from tracetui.trace.stack import Frame
from tracetui.units import format_bytes, format_ms

_PRINTED = Form.TEXT | Form.MARKDOWN
_NOT_VIEWER = _PRINTED | Form.DATA  #: all but the viewer
#: How an amount and a change are written.
_WRITTEN: dict[str, tuple[Callable[[int], str], Callable[[Fraction], str]]] = {
    "ns": (format_ms, signed_ms),
    "bytes": (format_bytes, signed_size),
}


class ComparedRows:
    """Rows of a table of a comparison."""

    def __init__(
        self,
        rows: Sequence[Any],
        roomy: bool = True,
        severities: Sequence[Severity] | None = None,
        unknown: Set[str] = frozenset(),
    ) -> None:
        """Take the rows, and what their changes are worth; None: not known.

        Without `roomy`, text has no column whose room the names need more. `unknown` are the keys of columns
        that nothing is known of, as a side has no step.
        """
        self.rows, self.roomy, self.severities, self.unknown = rows, roomy, severities, unknown

    def marks(self) -> list[str]:
        """Return what stands beside each change: "", "(?)" or "(!)"."""
        return [MARKS[severity].strip() for severity in self.severities or ()]


AnyColumn = Column[ComparedRows]


@dataclass(frozen=True)
class ComparedTable:
    """A table of a comparison, most of them by how much their rows changed."""

    by: str  #: as `--by` asks for it
    key: str  #: as JSON, and a comparison, calls it
    title: str
    table: Table[ComparedRows]
    unit: str = "ms a step"
    of_jobs: bool = False
    name_of: Callable[[Any], str] = row_name  #: what people are shown a row as
    title_of: Callable[[Any], str] | None = None  #: what documents call a row; None: by its name
    #: What of a recording each row stands on, as health calls it.
    stands_on: Callable[[Any], tuple[str, ...]] = lambda _: ("operators",)

    def judged(
        self, comparison: Comparison, rows: Sequence[Any] | None = None, roomy: bool = True
    ) -> ComparedRows:
        """Return some rows, or all, with what their changes are worth: as much as the worse of both sides."""
        rows = self.rows(comparison) if rows is None else rows
        severities = [comparison.severity_of(self.stands_on(row)) for row in rows]
        return ComparedRows(rows, roomy, severities, _unknown(comparison))

    def rows(self, comparison: Comparison) -> Sequence[ComparedRow]:
        """Return the rows; none of what a single trace lacks."""
        rows: Sequence[ComparedRow] = getattr(comparison.job if self.of_jobs else comparison, self.key, ())
        return rows if self.title_of is None else ranked(rows, self.title_of)

    def documents(self, comparison: Comparison) -> list[dict[str, Any]]:
        """Return the rows as JSON has them: means per step, times rounded to the ns."""
        return records(self.table, self.judged(comparison))


def _unknown(comparison: Comparison) -> Set[str]:
    """Return the keys of columns that nothing is known of: those of a side without steps, and changes."""
    sides = (("base", comparison.base), ("other", comparison.other))
    missing = [side for side, run in sides if not len(run.wall_ns)]
    keys = {f"{side}_{what}" for side in missing for what in ("ns", "count", "self_ns")}
    return keys | {"delta_ns", "ratio", "changed"} if missing else frozenset()


def _where_known(column: AnyColumn) -> AnyColumn:
    """Return a column that has nothing but None where it is unknown."""

    def get(rows: ComparedRows) -> Values:
        return np.full(len(rows.rows), None) if column.key in rows.unknown else column.get(rows)

    return replace(column, get=get)


def _amount(
    key: str,
    title: str,
    amount_of: Callable[[Any], Fraction | None],
    write: Callable[[int], str] = format_ms,
    **more: Any,
) -> AnyColumn:
    """Return an exact mean, rounded; unknown where it is None."""

    def rounded(row: Any) -> int | None:
        amount = amount_of(row)
        return None if amount is None else round(amount)

    return Column(key, title, numbers_by(rounded), lambda amount, _: write(amount), **more)


def _roomy(rows: ComparedRows, form: Form) -> bool:
    return form is not Form.TEXT or rows.roomy


def _counts(side: str, **more: Any) -> tuple[AnyColumn, ...]:
    """Return how often a step has each row."""
    key = f"{side}_count"
    counts = objects_by(lambda row: mean_count(getattr(row, key)))
    return (Column(key, "count", counts, lambda mean, _: count_words(mean), **more),)


def _blocks(side: str) -> tuple[AnyColumn, ...]:
    """Return how many blocks each row is; unknown of a peak, which has none."""
    (counts,) = _counts(side, when=_roomy)
    alive = objects_by(lambda row: mean_count(getattr(row, counts.key)) if row.what == ALIVE else None)
    printed = replace(counts, title="blocks", get=alive, unknown="", forms=_PRINTED)
    return counts.of(Form.DATA, Form.VIEWER), printed


def _table(
    kind: str,
    *more: AnyColumn,
    unit: str = "ns",
    name_of: Callable[[Any], str] = row_name,
    title_of: Callable[[Any], str] = attrgetter("name"),
    counts: Callable[[str], tuple[AnyColumn, ...]] = _counts,
    paths: bool = False,
    identity: tuple[str, ...] = ("name",),
) -> Table[ComparedRows]:
    """Return the columns of all tables, and `more`; names may be `paths`, whose ends tell more.

    `kind` and `identity` are those of a `Table`.
    """
    write, signed = _WRITTEN[unit]
    marks = {True: "*"}
    columns = (
        data("name", texts_by(title_of)),
        named("name", "", name_of, forms=_PRINTED, path=paths),
        data("status", texts_of("status")),
        _amount(f"base_{unit}", "base", lambda row: row.base_ns, write),
        *counts("base"),
        _amount(f"other_{unit}", "other", lambda row: row.other_ns, write),
        *counts("other"),
        _amount(f"delta_{unit}", "delta", lambda row: row.delta_ns, lambda amount: signed(Fraction(amount))),
        json_only("trust", _verdicts),
        worded("trust", "", ComparedRows.marks, forms=_PRINTED, when=lambda rows, _: any(rows.marks())),
        data("ratio", objects_by(lambda row: row.ratio)),
        Column("ratio", "ratio", objects_by(ratio_words), forms=_PRINTED),
        data("changed", objects_by(lambda row: row.changed)),
        named("changed", "", lambda row: marks.get(row.changed, ""), forms=Form.TEXT, trusted=True),
        named("changed", "changed", changed_words, forms=Form.MARKDOWN, trusted=True),
        *(_of_steps() if unit == "ns" else ()),
        *more,
    )
    sides = (f"{side}_{what}" for side in ("base", "other") for what in (unit, "self_ns", "count", "mean_ns"))
    order = ("name", *sides, ..., f"delta_{unit}", "trust", "ratio", "changed")
    return Table(tuple(map(_where_known, columns)), order, kind=kind, identity=identity, apart="status")


def _verdicts(rows: ComparedRows) -> list[str | None]:
    """Return what each change is worth as JSON has it; None where that is not known."""
    if rows.severities is None:
        return [None] * len(rows.rows)
    return [severity.verdict for severity in rows.severities]


def _of_steps() -> tuple[AnyColumn, ...]:
    """Return what the steps tell of a change; unknown of fewer than three."""

    def shift(key: str) -> AnyColumn:
        def rounded(row: Any) -> int | None:
            return None if row.test is None else round(getattr(row.test, key))

        return data(key if key == "shift_ns" else f"shift_{key}", objects_by(rounded))

    return (
        shift("shift_ns"),
        shift("low_ns"),
        shift("high_ns"),
        data("steps_slower", objects_by(lambda row: row.test and row.test.slower)),
        data("steps_faster", objects_by(lambda row: row.test and row.test.faster)),
        data("p", objects_by(lambda row: row.test and row.test.p)),
    )


def _line_place(frame_of: Callable[[Any], Frame | None] = lambda row: row.frame) -> tuple[AnyColumn, ...]:
    """Return where a line is: in OTHER, and its number in BASE."""

    def file_of(row: Any) -> str | None:
        frame = frame_of(row)
        return frame.file or None if frame is not None else None

    def line_of(row: Any) -> int | None:
        frame = frame_of(row)
        return frame.line if frame is not None and frame.file else None

    return (
        data("file", texts_by(file_of)),
        data("line", numbers_by(line_of), optional=True),
        data("function", texts_by(lambda row: getattr(frame_of(row), "function", None))),
        data("base_line", numbers_by(lambda row: row.base_line if file_of(row) else None), optional=True),
    )


def _held_by(row: Any) -> Frame | None:
    return None if row.holder is None else row.holder.frame


def _terms(rows: ComparedRows) -> list[list[dict[str, Any]]]:
    """Return the parts of each rank's step, without ids, which are those of the mean step."""
    parts = (records(WATERFALL.table, ComparedRows(row.waterfall)) for row in rows.rows)
    return [[{**part, "id": None} for part in rank] for rank in parts]


def _part_stands_on(row: Any) -> tuple[str, ...]:
    """Return what a part of a step stands on; of the step itself its length."""
    kind = row.name.partition(".")[0]
    if kind in ("idle", "preparing"):
        return "idle", "causes"
    return ({"step": "steps", "communication": "communication"}.get(kind, "operators"),)


def _json_parts() -> Table[ComparedRows]:
    """Return the columns of the parts of a step: JSON has fewer than csv."""
    table, kept = (
        _table("term", counts=partial(_counts, forms=_NOT_VIEWER)),
        ("base_ns", "other_ns", "delta_ns", "trust", "changed", *(column.key for column in _of_steps())),
    )
    columns = [
        column if column.key in kept else replace(column, forms=column.forms & ~Form.JSON)
        for column in table.columns
    ]
    return replace(table, columns=(Column("term", "", texts_of("name"), forms=Form.JSON), *columns))


_WHERE_ROOMY = partial(_counts, when=_roomy)
#: Without what is inside.
_SELF_TIMES = (
    _amount("base_self_ns", "self", lambda row: row.self_row.base_ns, forms=_NOT_VIEWER, when=_roomy),
    _amount("other_self_ns", "self", lambda row: row.self_row.other_ns, forms=_NOT_VIEWER, when=_roomy),
)
#: Of a call.
_MEANS = (
    _amount("base_mean_ns", "mean", lambda row: row.means[0], forms=_NOT_VIEWER, when=_roomy, optional=True),
    _amount("other_mean_ns", "mean", lambda row: row.means[1], forms=_NOT_VIEWER, when=_roomy, optional=True),
)
_RANK: AnyColumn = data("rank", values_of("rank"), optional=True)

#: What single traces have, times of device and host.
TABLES = (
    ComparedTable("class", "classes", "Classes of operators, by device time", _table("class")),
    ComparedTable("operator", "operators", "Operators of level 1, by device time", _table("operator")),
    ComparedTable(
        "module",
        "modules",
        "Modules, by device time with what is inside",
        _table("module", *_SELF_TIMES, paths=True),
    ),
    ComparedTable("phase", "phases", "Phases: marked ranges, by time of the device", _table("phase")),
    ComparedTable("kernel", "kernels", "Kernels", _table("kernel")),
    ComparedTable(
        "line",
        "lines",
        "Lines of Python, by idle time",
        _table("line", *_line_place(), paths=True),
        stands_on=lambda _: ("idle", "causes", "lines"),
    ),
    ComparedTable(
        "cause",
        "causes",
        "Causes of idle time, preparing included",
        _table("cause"),
        stands_on=lambda _: ("idle", "causes"),
    ),
    ComparedTable(
        "communication",
        "communication",
        "Collectives",
        _table("communication", counts=_WHERE_ROOMY, name_of=collective_name),
        name_of=collective_name,
        stands_on=lambda _: ("communication",),
    ),
    ComparedTable(
        "api", "api", "Operators of the host, by their time there", _table("api", *_SELF_TIMES, *_MEANS)
    ),
)


def _advice_title(row: ComparedRow) -> str:
    return english_title(row.name)


ADVICE = ComparedTable(
    "advice",
    "advice",
    "Advice on all steps, by the time that it explains",
    _table("advice", name_of=advice_name, title_of=_advice_title),
    name_of=advice_name,
    title_of=_advice_title,
    stands_on=lambda _: ("idle", "causes"),
)
MEMORY = ComparedTable(
    "memory",
    "memory",
    "Memory",
    _table(
        "memory",
        data("what", texts_of("what")),
        data("component", texts_by(lambda row: row.component or None)),
        data("operator", texts_by(lambda row: row.holder.operator if row.holder else None)),
        *_line_place(_held_by),
        unit="bytes",
        counts=_blocks,
        identity=("what", "component", "name"),
    ),
    "bytes",
    stands_on=lambda _: ("memory",),
)
#: What jobs have besides.
RANKS = ComparedTable(
    "rank",
    "ranks",
    "Ranks, by their mean step, and what changed most in it",
    _table("rank", _RANK, json_only("waterfall", _terms), counts=partial(_counts, forms=Form.DATA)),
    of_jobs=True,
    stands_on=lambda _: ("steps", "ranks"),
)
ROOTS = ComparedTable(
    "root",
    "roots",
    "Why ranks waited for each other, of all that waited",
    _table(
        "root",
        _RANK,
        data("kind", texts_of("kind")),
        data("cause", texts_by(lambda row: row.reason or None)),
        *_line_place(),
        counts=_WHERE_ROOMY,
        identity=("rank", "kind", "cause", "name"),
    ),
    "rank-ms a step",
    of_jobs=True,
    stands_on=lambda _: ("causes", "communication", "ranks"),
)
#: All, in the order in which they are told.
EVERY = (RANKS, ROOTS, *TABLES, ADVICE, MEMORY)
#: The table that is first, and the one of csv where none is asked for.
WATERFALL = ComparedTable(
    "term", "waterfall", "A step, by what its time went into", _json_parts(), stands_on=_part_stands_on
)
BY = {table.by: table for table in EVERY}


def tables_of(comparison: Comparison) -> tuple[ComparedTable, ...]:
    """Return the tables of a comparison besides the waterfall, in the order in which they are shown."""
    return tuple(table for table in EVERY if comparison.job or not table.of_jobs)
