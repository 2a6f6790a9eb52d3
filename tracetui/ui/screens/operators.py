"""Time per name: tasks of the devices or operators of the host; of all, of the window, or of one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from textual import on
from textual.binding import BindingType
from textual.message import Message

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operators import OperatorTable, host_operators
from tracetui.arrays import Int64s
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity, Trace
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.messages import ViewChanged
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.tables.operator_columns import name_count, operator_columns
from tracetui.ui.widgets.table import Table
from tracetui.units import format_duration, format_time

if TYPE_CHECKING:
    import pandas as pd


#: slices from which a thread sums them up: 10 million take seconds
MANY_SLICES = 200_000


class Wanted(NamedTuple):
    """Which slices are summed up."""

    analysis: Analysis
    host: bool
    step: int  #: index into the steps, -1 for all
    window: tuple[int, int] | None


class OperatorsScreen(TableScreen):
    """One row per name, and per activity on a device."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("operators")]
    TITLE_OF = "Operators"
    KEYS = (
        ("enter", "longest"),
        (", .", "instances"),
        ("tab", "device/host"),
        ("[ ]", "step"),
        ("/", "filter"),
    )

    @dataclass
    class Summed(Message, bubble=False):
        """Time per name of what was wanted."""

        wanted: Wanted
        names: OperatorTable

    def __init__(self) -> None:
        super().__init__()
        self._host = False
        self._step = -1  # index into analysis.steps
        self._window: tuple[int, int] | None = None
        self._wanted: Wanted | None = None
        self._names: OperatorTable | None = None
        self._instances: tuple[Trace, tuple[int, int], Int64s] | None = None  # that were gone through last

    def build(self) -> None:
        analysis = self.viewer.analysis
        assert analysis is not None
        if self._step >= len(analysis.steps):
            self._step = -1
        self._window = self.viewer.state.window
        wanted = self._wanted = Wanted(analysis, self._host, self._step, self._window)
        if len(analysis.trace.slices) < MANY_SLICES:
            self._show_summed(self.Summed(wanted, operators(wanted)))
        else:
            self.table.empty = "Summing up."
            self.say("summing up", self.place())
            self.in_background("operators", lambda: self.Summed(wanted, operators(wanted)))

    @on(Summed)
    def _show_summed(self, message: Summed) -> None:
        if message.wanted is not self._wanted:
            return
        analysis, names = message.wanted.analysis, message.names
        self._names = names
        if not len(names):
            self.table.empty = self._nothing(analysis)
        palette, glyphs = self.viewer.palette, self.viewer.glyphs
        columns = operator_columns(names, palette, glyphs, host=self._host)
        total = next(place for place, column in enumerate(columns) if column.key == "total_ns")
        first = not self.table.rows.columns
        self.table.show(columns, len(names), sort=total if first else None)
        self.say(self._answer(analysis, names), self.place())

    def _answer(self, analysis: Analysis, names: OperatorTable) -> str:
        """ "Host, step 51: 214 names, 12,345 times, 91.2 ms" """
        where = "of the whole trace"
        if self._step >= 0:
            step = analysis.steps[self._step]
            where = f"of step {step.number} on {printable(step.device, 20)}"
        elif self._window is not None:
            start, end = (time - analysis.trace.start_ns for time in self._window)
            where = f"in the window {format_time(start)} .. {format_time(end)}"
        side = "host operators" if self._host else "device tasks"
        count, total = int(names.count.sum()), format_duration(int(names.total_ns.sum()))
        nested = ", nested ones counted twice" if self._host else ""
        return f"{name_count(len(names))} of {count:,} {side} {where}: {total}{nested}"

    def _nothing(self, analysis: Analysis) -> str:
        if not analysis.devices and not self._host:
            return "No device in this trace: tab shows the operators of the host."
        return f"No {'operator ran' if self._host else 'task ran'} there."

    def on_view_changed(self, message: ViewChanged) -> None:
        if self._window != self.viewer.state.window:
            self.refresh_answer()

    def action_next_view(self) -> None:
        self._host = not self._host
        self.refresh_answer()

    def action_beside_step(self, by: int) -> None:
        """One step after the other, and then all of them again."""
        analysis = self.viewer.analysis
        if analysis is not None and analysis.steps:
            self._step = (self._step + 1 + by) % (len(analysis.steps) + 1) - 1
            self.refresh_answer()

    def export_name(self) -> str:
        return "host_operators" if self._host else "device_operators"

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.frames import operators_frame

        assert self._names is not None
        shown: pd.DataFrame = operators_frame(self._names).take(view)
        return shown

    # ------------------------------------------------------------ instances

    @on(Table.Activated)
    def _open(self, message: Table.Activated) -> None:
        analysis = self.viewer.analysis
        if analysis is not None and self._names is not None:
            row = int(self._names.longest[message.row])
            slices = analysis.trace.slices
            self.viewer.show_interval(int(slices.start[row]), int(slices.end[row]), row)

    def action_instance(self, by: int) -> None:
        """Select the next slice of that name, in time; says which one it is."""
        analysis, names, place = self.viewer.analysis, self._names, self.table.row
        if analysis is None or names is None or place < 0:
            return
        trace = analysis.trace
        which_name = int(names.name[place]), int(names.activity[place])
        if self._instances is None or self._instances[:2] != (trace, which_name):
            self._instances = trace, which_name, instances(trace, *which_name)
        rows = self._limited(analysis, self._instances[2])
        if not len(rows):
            return
        here = np.flatnonzero(rows == self.viewer.state.row)
        at = int(here[0]) + by if len(here) else (0 if by > 0 else len(rows) - 1)
        row = int(rows[at % len(rows)])
        self.viewer.select(row)
        start, dur = int(trace.slices.start[row]) - trace.start_ns, int(trace.slices.dur[row])
        which = f"instance {at % len(rows) + 1:,} of {len(rows):,}"
        words = f"{which}: {format_duration(dur)} at {format_time(start)}"
        self.say(words, [("T shows it ", self.style_of(Role.DIM)), *self.place()])

    def _limited(self, analysis: Analysis, rows: Int64s) -> Int64s:
        slices = analysis.trace.slices
        if self._step >= 0:
            step = analysis.steps[self._step]
            host = (step.host_start_ns, step.host_end_ns)
            start, end = host if self._host else (step.start_ns, step.end_ns)
            return rows[(slices.start[rows] >= start) & (slices.start[rows] < end)]
        if self._window is not None:
            start, end = self._window
            return rows[(slices.start[rows] < end) & (slices.end[rows] > start)]
        return rows


def operators(wanted: Wanted) -> OperatorTable:
    """Time per name of what is wanted."""
    analysis, host, step, window = wanted
    if step >= 0:
        return analysis.operators_in_step(step, host=host)
    if window is not None:
        return analysis.operators_in_window(*window, host=host)
    return analysis.host_operators if host else analysis.device_operators


def instances(trace: Trace, name: int, activity: int) -> Int64s:
    """int64[k]: the slice rows of a name and activity, in order of time."""
    rows = np.flatnonzero((trace.slices.name == name) & (trace.slices.activity == activity)).astype(np.int64)
    if activity == Activity.NONE:
        rows = rows[np.isin(rows, host_operators(trace))]
    return rows[np.argsort(trace.slices.start[rows], kind="stable")]
