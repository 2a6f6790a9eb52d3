"""The tables of the scheduler: what threads did, who had their cores, and what the cores did."""

from __future__ import annotations

from tracetui.analysis.scheduler.scheduler import Culprit
from tracetui.analysis.scheduler.states import State
from tracetui.analysis.scheduler.summary import SchedulerSummary, ThreadTime
from tracetui.export.sentences.scheduler import thread_name
from tracetui.export.tables.column import Column, Form, Table, Values, count, data, duration
from tracetui.export.tables.common import (
    FirstRows,
    named,
    numbers_by,
    objects_by,
    optional_numbers,
    share_column,
    texts_by,
    values_of,
)
from tracetui.language import names, translate
from tracetui.units import format_percent

_STATES = (
    ("running_ns", "running", State.RUNNING),
    ("interrupted_ns", "interrupted", State.INTERRUPTED),
    ("ready_ns", "ready", State.READY),
    ("blocked_ns", "blocked", State.BLOCKED),
    ("disk_ns", "disk", State.DISK),
    ("unknown_ns", "unknown", State.UNKNOWN),
)
_TASKS = 3  # that are told of a core


class ThreadTimeRows(FirstRows):
    """Threads, those to blame for the most idle time first; at most `top`, 0 for all."""

    def __init__(self, summary: SchedulerSummary, top: int = 0) -> None:
        super().__init__(summary.threads, top)


class CulpritRows(FirstRows):
    """Who had the cores that threads waited for, most idle time first; at most `top`, 0 for all."""

    def __init__(self, summary: SchedulerSummary, top: int = 0) -> None:
        super().__init__(summary.culprits, top)
        self.idle_ns = sum(culprit.idle_ns for culprit in summary.culprits)


class CoreRows(FirstRows):
    """Cores, those of the threads of the trace first; at most `top`, 0 for all."""

    def __init__(self, summary: SchedulerSummary, top: int = 0) -> None:
        super().__init__(summary.cores, top)


def _state_column(key: str, title: str, state: State) -> Column[ThreadTimeRows]:
    shown = state is not State.UNKNOWN
    return duration(
        key,
        title,
        numbers_by(lambda thread: thread.ns[state]),
        stacked="inter-\nrupted" if state is State.INTERRUPTED else "",
        when=lambda rows, _: shown or any(thread.ns[state] for thread in rows.rows),
    )


def _preemptors(thread: ThreadTime) -> str | None:
    return names(thread_name(culprit.task) for culprit in thread.preemptors) or None


def _whose(culprit: Culprit) -> str:
    if not culprit.task.pid or culprit.own_process is None:
        return ""
    return translate("this process") if culprit.own_process else translate("another process")


def _per_second(rows: ThreadTimeRows) -> Values:
    return optional_numbers([round(thread.migrations_per_s) for thread in rows.rows])


THREADS: Table[ThreadTimeRows] = Table(
    columns=(
        named("thread", "thread", lambda thread: thread_name(thread.task), least=14),
        data("pid", values_of("pid")),
        data("tid", numbers_by(lambda thread: thread.task.pid)),
        data("name", texts_by(lambda thread: thread.task.comm)),
        data("host_tid", numbers_by(lambda thread: thread.task.host_pid), optional=True),
        *(_state_column(key, title, state) for key, title, state in _STATES),
        count("migrations", "migrations", values_of("migrations"), stacked="mi-\ngrations"),
        count("migrations_per_s", "migrations/s", _per_second, forms=Form.SHOWN & ~Form.TEXT),
        count(
            "node_migrations",
            "to other nodes",
            values_of("node_migrations"),
            optional=True,
            forms=Form.ALL & ~Form.TEXT,
            when=lambda rows, _: any(thread.node_migrations is not None for thread in rows.rows),
        ),
        duration("idle_ns", "idle", values_of("idle_ns")),
        named("preemptors", "had its core", _preemptors, unknown="", forms=Form.SHOWN & ~Form.TEXT),
    ),
    order=("idle_ns", "ready_ns", "interrupted_ns", "disk_ns", "blocked_ns", "running_ns", ..., "thread"),
    markdown=("thread", "idle_ns", "ready_ns", ...),
    kind="thread",
    identity=("pid", "tid"),
)
CULPRITS: Table[CulpritRows] = Table(
    columns=(
        named("task", "had the core", lambda culprit: thread_name(culprit.task)),
        data("comm", texts_by(lambda culprit: culprit.task.comm)),
        data("pid", numbers_by(lambda culprit: culprit.task.pid), optional=True),
        data("host_pid", numbers_by(lambda culprit: culprit.task.host_pid), optional=True),
        data("own_process", objects_by(lambda culprit: culprit.own_process)),
        duration("idle_ns", "idle", values_of("idle_ns")),
        share_column(values_of("idle_ns"), lambda rows: rows.idle_ns),
        named("whose", "process", _whose, trusted=True, unknown=""),
    ),
    order=("idle_ns", "share", ..., "task"),
    markdown=("task", "idle_ns", "share", ...),
    kind="culprit",
    identity=("pid", "host_pid", "comm"),
)
CORES: Table[CoreRows] = Table(
    columns=(
        Column("cpu", "core", values_of("cpu")),
        Column(
            "node",
            "node",
            values_of("node"),
            optional=True,
            when=lambda rows, _: any(core.node is not None for core in rows.rows),
        ),
        duration("busy_ns", "busy", values_of("busy_ns")),
        Column(
            "busy_share",
            "share",
            values_of("busy_ns"),
            lambda ns, rows: format_percent(ns, rows.rows[0].wall_ns),
            forms=Form.SHOWN,
        ),
        duration("interrupted_ns", "interrupts", values_of("interrupted_ns")),
        named(
            "threads",
            "threads of the trace",
            lambda core: names(map(thread_name, core.threads[:_TASKS])) or None,
            unknown="",
        ),
    ),
    kind="core",
    identity=("cpu",),
)
