"""What the scheduler did: the threads of the trace, who had their cores in idle time, and the cores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from textual import on
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.scheduler.summary import SchedulerSummary, longest_of_culprit
from tracetui.export.sentences.scheduler import clock_words, scheduler_notes
from tracetui.export.tables.column import Table
from tracetui.export.tables.scheduler import CORES, CULPRITS, THREADS, CoreRows, CulpritRows, ThreadTimeRows
from tracetui.export.trace.scheduler import explained_sentence
from tracetui.language import translate, wording
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration

NO_RECORDING = "No scheduler is recorded: --sched FILE gives it; docs/scheduler.md tells how to record it."
NO_IDLE_TIME = "This thread cost no idle time that the timeline could show."
NO_CORE_TIME = "A core has no one place: the timeline says who has it, in Cores of the host."
_VIEWS = ("threads", "who had the cores", "cores")
#: what of the time each table is of
_ANSWERS = (
    "threads over {time}; idle: the part that kept the device idle",
    "who had the cores that threads waited for in idle time",
    "cores over {time}",
)


class SchedulerScreen(TableScreen):
    """The threads, who had their cores, or the cores."""

    BINDINGS = bindings("scheduler")
    TITLE_OF = "Scheduler"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._view = 0
        self._known: tuple[Analysis, SchedulerSummary] | None = None  # summed up

    def body(self) -> Iterable[Widget]:
        yield Lines(id="said")
        yield from super().body()

    def clear(self, sentence: str) -> None:
        super().clear(sentence)
        self.say_below([])

    def on_resize(self) -> None:
        if self._known is not None:
            self._say(self._known[0])

    @property
    def shown_view(self) -> str:
        return _VIEWS[self._view]

    def show_view(self, name: str) -> None:
        self._view = _VIEWS.index(name) if name in _VIEWS else self._view

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        following = _VIEWS[(self._view + 1) % len(_VIEWS)]
        opens = (("enter", "open"),) if self.shown_view != "cores" else ()
        return (
            ("tab", following),
            *opens,
            ("< > =", "sort"),
            ("/", "filter"),
            ("e", "export"),
            ("T", "timeline"),
        )

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if analysis.scheduler is None:
            sentence = next(iter(scheduler_notes(analysis)), NO_RECORDING)
            self.show_nothing(sentence)
            self.say_below([wording(sentence)])  # whole, where the first line has no room
            self.table.empty = ""
        elif self._known is not None and self._known[0] is analysis:
            self._show(*self._known)
        else:
            self.table.empty = "Summing up."
            self.show_answer("summing up")
            self.in_background("scheduler", lambda: analysis.scheduler_summary, partial(self._show, analysis))

    def _show(self, analysis: Analysis, summary: SchedulerSummary | None) -> None:
        if analysis is not self.session.analysis or summary is None or analysis.scheduler is None:
            return
        self._known = analysis, summary
        table, rows = self._contents_of(summary)
        self.table.empty = "No thread waited for a core in idle time."
        self.table.show(laid_out(table, rows, self._column_places()), len(rows.rows))
        start, end = analysis.scheduler.window
        self.show_answer(translate(_ANSWERS[self._view], time=format_duration(end - start)))
        self._say(analysis)

    def _say(self, analysis: Analysis) -> None:
        """Say how much of the idle time is explained, and what must be known to read the numbers."""
        if analysis.scheduler is not None:
            clock = clock_words(analysis.scheduler.clock)
            self.say_below([explained_sentence(analysis), clock, *scheduler_notes(analysis)])

    def _column_places(self) -> list[ColumnPlace]:
        """Return the columns of the view, in their order."""
        number = self.style_of(Role.NUMBER)
        idle = ColumnLook("idle_ns", 0, style=number)
        if self._view == 0:
            states = ("ready_ns", "interrupted_ns", "disk_ns", "blocked_ns", "running_ns", "unknown_ns")
            looks = [ColumnLook(key, rank) for rank, key in enumerate((*states, "migrations"))]
            return [ColumnLook("thread", 0, 40, 14), idle, *looks, ..., ColumnLook("preemptors", 1, 60, 14)]
        if self._view == 1:
            return [ColumnLook("task", 0, 40, 16), idle, ...]
        return [ColumnLook("cpu", 0), ColumnLook("busy_ns", 0, style=number), ...]

    def action_next_view(self) -> None:
        self._view = (self._view + 1) % len(_VIEWS)
        self.show_keys()
        self.refresh_answer()

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        """Show the longest idle time of a thread in the timeline, or that in which a task had its core."""
        if self._known is None or (scheduler := self._known[0].scheduler) is None:
            return
        analysis, summary = self._known
        if self.shown_view == "threads":
            stretch = summary.threads[message.row].longest_idle
        elif self.shown_view == "cores":
            stretch = None
        else:
            stretch = longest_of_culprit(scheduler, analysis.causes, summary.culprits[message.row])
        if stretch is not None:
            self.viewer.show_interval(*stretch)
        else:
            self.viewer.show_status(NO_CORE_TIME if self.shown_view == "cores" else NO_IDLE_TIME)

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return None if self._known is None else self._contents_of(self._known[1])

    def _contents_of(self, summary: SchedulerSummary) -> tuple[Table[Any], Any]:
        if self._view == 0:
            return THREADS, ThreadTimeRows(summary)
        return (CULPRITS, CulpritRows(summary)) if self._view == 1 else (CORES, CoreRows(summary))

    def export_name(self) -> str:
        return ("threads", "culprits", "cores")[self._view]
