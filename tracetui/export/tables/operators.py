"""The table of operators: time per name, or per type, and activity."""

from __future__ import annotations

from collections.abc import Callable

from tracetui.analysis.operators import OperatorTable
from tracetui.export.tables.column import (
    CodedTexts,
    Column,
    Form,
    Table,
    Values,
    count,
    data,
    duration,
    texts_at,
)
from tracetui.language import wording
from tracetui.trace.model import Activity, TraceKind
from tracetui.units import format_percent

#: What people are shown as the activity of a task, but that of kernels.
ACTIVITY_WORDS = {
    Activity.NONE: "host",
    Activity.AICPU: "other compute",
    Activity.COMMUNICATION: "communication",
    Activity.COPY: "copy",
    Activity.COMMUNICATION_TASK: "comm task",
    Activity.WAIT: "wait",
    Activity.EVENT: "event",
    Activity.OTHER: "other",
}


def activity_name(activity: int) -> str | None:
    """Return what JSON and csv call what a task does: "aicore", also on GPUs; None of what is no task."""
    if activity == Activity.COMPUTE:
        return "aicore"
    return Activity(activity).name.lower() if activity else None


def activity_words(activity: int, kind: TraceKind) -> str:
    """Return what people are shown as the activity of a task, in the words of its device's vendor."""
    if activity == Activity.COMPUTE:
        return wording("kernel" if kind is TraceKind.GPU else "AI core")
    return wording(ACTIVITY_WORDS[Activity(activity)])


def _of(name: str) -> Callable[[OperatorTable], Values]:
    return lambda table: getattr(table, name)


def _share(share: float, table: OperatorTable) -> str:
    whole_ns = int(table.self_ns.sum())
    return format_percent(round(share * whole_ns), whole_ns)


def _on_host(table: OperatorTable) -> bool:
    return not table.activity.any()


def _is_told_apart(table: OperatorTable, form: Form) -> bool:
    """Return whether people are to see own time: what runs on a device holds nothing else."""
    return form is Form.VIEWER or _on_host(table)


#: Its rows are an OperatorTable.
OPERATORS: Table[OperatorTable] = Table(
    columns=(
        Column("name", "name", lambda table: texts_at(table.name, table.strings)),
        data("activity", lambda table: CodedTexts(table.activity, activity_name)),
        Column(
            "activity",
            "activity",
            lambda table: CodedTexts(table.activity, lambda activity: activity_words(activity, table.kind)),
            forms=Form.SHOWN,
            trusted=True,
            when=lambda table, _: not _on_host(table),
        ),
        count(
            "names",
            "names",
            _of("names"),
            forms=Form.VIEWER | Form.MARKDOWN,
            when=lambda table, _: bool((table.names > 1).any()),
        ),
        count("count", "count", _of("count")),
        duration("total_ns", "total", _of("total_ns")),
        duration("self_ns", "self", _of("self_ns"), when=_is_told_apart),
        duration("mean_ns", "mean", _of("mean_ns")),
        duration("p50_ns", "p50", _of("p50_ns"), forms=Form.ALL & ~Form.TEXT),
        duration("p95_ns", "p95", _of("p95_ns"), forms=Form.ALL & ~Form.TEXT),
        duration("min_ns", "min", _of("min_ns"), forms=Form.ALL & ~Form.TEXT),
        duration("max_ns", "max", _of("max_ns")),
        Column("share", "share", _of("share"), _share),
    ),
    order=("share", "self_ns", "total_ns", "count", "mean_ns", "min_ns", "max_ns", ..., "name"),
    markdown=("name", ...),
    kind="operator",
    identity=("activity", "name"),
)
