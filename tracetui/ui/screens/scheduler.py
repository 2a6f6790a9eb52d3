"""What the scheduler did: the threads of the trace, who had their cores in idle time, and the cores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.scheduler.summary import SchedulerSummary
from tracetui.arrays import Int64s
from tracetui.export.sentences.scheduler import clock_words, scheduler_notes
from tracetui.export.tables.column import Table
from tracetui.export.tables.scheduler import CORES, CULPRITS, THREADS, CoreRows, CulpritRows, ThreadTimeRows
from tracetui.export.trace.scheduler import explained_sentence
from tracetui.language import wording
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.columns import ViewColumn
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.widgets.lines import Lines

if TYPE_CHECKING:
    import pandas as pd

NO_RECORDING = "No scheduler is recorded: --sched FILE gives it; docs/scheduler.md tells how to record it."
_VIEWS = ("threads", "who had the cores", "cores")
_TIME = 7  # cells: "96.0 ms"


class SchedulerScreen(TableScreen):
    """The threads, who had their cores, or the cores."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("scheduler")]
    TITLE_OF = "Scheduler"

    @dataclass
    class Summarised(Message, bubble=False):
        """What the scheduler did in sum; None where it is not recorded."""

        analysis: Analysis
        summary: SchedulerSummary | None

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._view = 0
        self._known: SchedulerScreen.Summarised | None = None

    def body(self) -> Iterable[Widget]:
        yield Lines(self.viewer.glyphs, id="said")
        yield from super().body()

    def missing(self, sentence: str) -> None:
        super().missing(sentence)
        self.say_below([])

    def on_resize(self) -> None:
        if self._known is not None:
            self._say(self._known.analysis)

    @property
    def shown_view(self) -> str:
        return _VIEWS[self._view]

    def show_view(self, name: str) -> None:
        self._view = _VIEWS.index(name) if name in _VIEWS else self._view

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        following = _VIEWS[(self._view + 1) % len(_VIEWS)]
        return ("tab", following), ("< > =", "sort"), ("/", "filter"), ("e", "export"), ("T", "timeline")

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if analysis.scheduler is None:
            sentence = next(iter(scheduler_notes(analysis)), NO_RECORDING)
            self.nothing(sentence)
            self.say_below([wording(sentence)])  # whole, where the first line has no room
            self.table.empty = ""
        elif self._known is not None and self._known.analysis is analysis:
            self._show(self._known)
        else:
            self.table.empty = "Summing up."
            self.show_answer("summing up", self.place())
            self.in_background("scheduler", lambda: self.Summarised(analysis, analysis.scheduler_summary))

    @on(Summarised)
    def _show(self, message: Summarised) -> None:
        analysis, summary = message.analysis, message.summary
        if analysis is not self.session.analysis or summary is None or analysis.scheduler is None:
            return
        self._known = message
        columns, count = self._columns(summary)
        self.table.empty = "No thread waited for a core in idle time."
        self.table.show(columns, count)
        self.show_answer(explained_sentence(analysis), self.place())
        self._say(analysis)

    def _say(self, analysis: Analysis) -> None:
        """Say how well the clock is known, and what else must be known to read the numbers."""
        if analysis.scheduler is not None:
            self.say_below([clock_words(analysis.scheduler.clock), *scheduler_notes(analysis)])

    def _columns(self, summary: SchedulerSummary) -> tuple[list[ViewColumn], int]:
        """Return the columns of the view and how many rows it has."""
        number = self.style_of(Role.NUMBER)
        idle = ColumnLook("idle_ns", 0, _TIME, style=number)
        if self._view == 0:
            threads = ThreadTimeRows(summary)
            states = ("ready_ns", "blocked_ns", "running_ns", "disk_ns", "interrupted_ns", "unknown_ns")
            looks = [ColumnLook(key, rank, _TIME) for rank, key in enumerate(states)]
            looks.insert(3, ColumnLook("migrations", 2))
            places = [ColumnLook("thread", 0, 40, 14), idle, *looks, ..., ColumnLook("preemptors", 1, 60, 14)]
            return laid_out(THREADS, threads, places), len(threads.rows)
        if self._view == 1:
            culprits = CulpritRows(summary)
            places = [ColumnLook("task", 0, 40, 16), idle, ...]
            return laid_out(CULPRITS, culprits, places), len(culprits.rows)
        cores = CoreRows(summary)
        places = [ColumnLook("cpu", 0), ColumnLook("busy_ns", 0, _TIME, style=number), ...]
        return laid_out(CORES, cores, places), len(cores.rows)

    def action_next_view(self) -> None:
        self._view = (self._view + 1) % len(_VIEWS)
        self.show_keys()
        self.refresh_answer()

    @property
    def identified(self) -> tuple[Table[Any], Any] | None:
        summary = self._known.summary if self._known is not None else None
        if summary is None:
            return None
        if self._view == 0:
            return THREADS, ThreadTimeRows(summary)
        return (CULPRITS, CulpritRows(summary)) if self._view == 1 else (CORES, CoreRows(summary))

    def export_name(self) -> str:
        return ("threads", "culprits", "cores")[self._view]

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.trace.frames import cores_frame, culprits_frame, scheduler_threads_frame

        assert self._known is not None
        make = (scheduler_threads_frame, culprits_frame, cores_frame)[self._view]
        shown: pd.DataFrame = make(self._known.analysis).take(view)
        return shown
