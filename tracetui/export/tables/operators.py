"""The table of operators: time per name, or per type, and activity."""

from __future__ import annotations

from collections.abc import Callable

from tracetui.analysis.operators import OperatorTable
from tracetui.export.tables.column import Column, Form, Table, Texts, Values, count, duration, texts_at
from tracetui.trace.model import Activity
from tracetui.units import format_percent


def activity_name(activity: int) -> str | None:
    """Return what a task does: "aicore"; None of what is no task."""
    return Activity(activity).name.lower() if activity else None


def _of(name: str) -> Callable[[OperatorTable], Values]:
    return lambda table: getattr(table, name)


def _share(share: float, table: OperatorTable) -> str:
    whole_ns = int(table.self_ns.sum())
    return format_percent(round(share * whole_ns), whole_ns)


#: Its rows are an OperatorTable.
OPERATORS: Table[OperatorTable] = Table(
    columns=(
        Column("name", "name", lambda table: texts_at(table.name, table.strings)),
        Column("activity", "activity", lambda table: Texts(table.activity, activity_name), own=True),
        count("names", "names", _of("names"), forms=Form.SHOWN),
        count("count", "count", _of("count")),
        duration("total_ns", "total", _of("total_ns")),
        duration("self_ns", "self", _of("self_ns")),
        duration("mean_ns", "mean", _of("mean_ns")),
        duration("p50_ns", "p50", _of("p50_ns")),
        duration("p95_ns", "p95", _of("p95_ns")),
        duration("min_ns", "min", _of("min_ns")),
        duration("max_ns", "max", _of("max_ns")),
        Column("share", "share", _of("share"), _share),
    )
)
