"""Time per type of operator, and per name: tasks of the devices or operators of the host.

Of all, of the window, or of one step.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from textual import on

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operators import OperatorSlices, OperatorTable, main_lines
from tracetui.export.tables.column import Table
from tracetui.export.tables.operators import OPERATORS
from tracetui.language import clauses, translate
from tracetui.places import SharedPlace
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.first_view import is_busy
from tracetui.ui.messages import ViewChanged
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.columns import place_of
from tracetui.ui.tables.operator_columns import frame_names, operator_columns, operators_answer
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_percent, format_time

#: slices from which a thread sums them up: 10 million take seconds
MANY_SLICES = 200_000


class Wanted(NamedTuple):
    """Which slices are summed up, and by what."""

    analysis: Analysis
    host: bool
    step: int  #: index into the steps, -1 for all
    window: tuple[int, int] | None
    by_name: bool
    type: tuple[str, Activity] | None  #: only the names of this one


class Summed(NamedTuple):
    """Time per type or name of what was wanted."""

    wanted: Wanted
    operators: OperatorSlices
    table: OperatorTable
    lines: list[str] | None  #: that launched most of each row of the table; None: not known of any


class OperatorsScreen(TableScreen):
    """One row per type, and per activity on a device; the names of one type, or all names."""

    BINDINGS = bindings("operators")
    TITLE_OF = "Operators"
    NUMBERS = ("operators",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._host = False
        self._step = -1  # index into analysis.steps
        self._window: tuple[int, int] | None = None
        self._by_name = False
        self._type: tuple[str, Activity] | None = None  # whose names are shown
        self._wanted: Wanted | None = None
        self._summed: Summed | None = None  # what is in the table

    @property
    def heading(self) -> str:
        return "Operators" if self._type is None else printable(self._type[0], 40)

    @property
    def shown_view(self) -> str:
        side = "host" if self._host else "device"
        if self._type is not None:
            return f"{side} {self._type[1].name.lower()} {self._type[0]}"
        return f"{side} names" if self._by_name else side

    def show_view(self, name: str) -> None:
        side, _, chosen = name.partition(" ")
        activity, _, kind = chosen.partition(" ")
        known = {member.name.lower(): member for member in Activity}
        self._host, self._by_name = side == "host", chosen == "names"
        self._type = (kind, known[activity]) if activity in known and kind else None

    def place_with(self, place: SharedPlace) -> SharedPlace:
        place, analysis = super().place_with(place), self.session.analysis
        if analysis is None or self._step < 0:
            return place
        step = analysis.steps[self._step]
        return replace(place, step=step.number, device=step.device)

    def take_place(self, place: SharedPlace) -> None:
        super().take_place(place)
        steps = self.session.analysis.steps if self.session.analysis is not None else ()
        wanted = place.step, place.device
        same = (index for index, step in enumerate(steps) if (step.number, step.device) == wanted)
        self._step = next(same, -1)

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return None if self._summed is None else (OPERATORS, self._summed.table)

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        inside = ("esc", "all types") if self._type else ("space", "names")
        return (
            *(() if self._by_name else (inside,)),
            ("z", "types" if self._by_name else "all"),
            ("enter", "longest"),
            (", .", "each"),
            ("tab", "device" if self._host else "host"),
            ("[ ]", "step"),
            ("/", "filter"),
        )

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if self._step >= len(analysis.steps):
            self._step = -1
        self._window = self.session.state.window
        wanted = self._wanted = Wanted(
            analysis, self._host, self._step, self._window, self._by_name, self._type
        )
        self.show_keys()
        if len(analysis.trace.slices) < MANY_SLICES:
            self._show_summed(sum_operators(wanted))
        else:
            self.table.empty = "Summing up."
            self.show_answer("summing up")
            self.in_background("operators", lambda: sum_operators(wanted), self._show_summed)

    def _show_summed(self, summed: Summed) -> None:
        if summed.wanted is not self._wanted:
            return
        analysis, table = summed.wanted.analysis, summed.table
        before, self._summed = self._summed, summed
        if not len(table):
            self.table.empty = self._nothing(analysis)
        palette, glyphs = self.palette, self.glyphs
        columns = operator_columns(
            table, analysis.trace, palette, glyphs, host=self._host, types=self._of_types, lines=summed.lines
        )
        kept = before is not None and _kind(before.wanted) == _kind(summed.wanted)
        ranked = place_of(columns, "self_ns" if self._host else "total_ns")
        self.table.show(columns, len(table), sort=None if kept else ranked)
        self.show_answer(self._answer(summed))

    def _answer(self, summed: Summed) -> str:
        """Say what the table sums up: how many of what, where, and the time of all together."""
        analysis = summed.wanted.analysis
        where = ""
        if self._step >= 0:
            step = analysis.steps[self._step]
            where = translate(
                " of step {number} on {device}", number=step.number, device=printable(step.device, 20)
            )
        elif self._window is not None:
            start, end = (time - analysis.trace.start_ns for time in self._window)
            where = translate(
                " in the window {start} .. {end}", start=format_time(start), end=format_time(end)
            )
        whole = not where and not self._host and self._type is None
        tasks = sum(len(device.tasks) for device in analysis.devices) if whole else None
        answer = operators_answer(summed.table, summed.operators, self._host, self._of_types, where, tasks)
        return f"{_busy_words(analysis)}; {answer}" if whole and is_busy(analysis) else answer

    @property
    def _of_types(self) -> bool:
        return self._type is None and not self._by_name

    def _nothing(self, analysis: Analysis) -> str:
        if not analysis.devices and not self._host:
            return "No known device in this trace: tab shows the operators of the host."
        return "No operator is recorded there." if self._host else "No task ran there."

    def on_view_changed(self, message: ViewChanged) -> None:
        if self._window != self.session.state.window:
            self.refresh_answer()

    def export_name(self) -> str:
        what = "operator_types" if self._of_types else "operators"
        return f"host_{what}" if self._host else f"device_{what}"

    # --------------------------------------------------------- what is shown

    def action_next_view(self) -> None:
        self._host, self._type = not self._host, None
        self.refresh_answer()

    def action_beside_step(self, by: int) -> None:
        """Limit the table to one step after the other, and then to all of them again."""
        analysis = self.session.analysis
        if analysis is not None:
            self._step = (self._step + 1 + by) % (len(analysis.steps) + 1) - 1
            self.refresh_answer()

    def action_fold_types(self) -> None:
        """Show all names, or types."""
        self._by_name, self._type = not self._by_name, None
        self.refresh_answer()

    def action_open_type(self) -> None:
        """Show the names of the type under the cursor; from there go back to the types."""
        summed, place = self._summed, self.table.cursor_row
        if self._type is not None:
            self._close_type()
        elif summed is not None and summed.wanted is self._wanted and place >= 0 and self._of_types:
            row = summed.table[place]
            self._type = row.name, row.activity
            self.refresh_answer()
            self.table.action_first()

    async def action_leave(self) -> None:
        if self._type is not None and not self.session.state.filter:
            self._close_type()
        else:
            await super().action_leave()

    def _close_type(self) -> None:
        shut, self._type = self._type, None
        self.refresh_answer()
        table = self._summed.table if self._summed is not None and self._summed.wanted is self._wanted else ()
        for place in range(len(table)):
            row = table[place]
            if (row.name, row.activity) == shut:
                self.table.move_to_row(place)

    # ------------------------------------------------------------ instances

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        if self.session.analysis is not None and self._summed is not None:
            self.viewer.show_slice(int(self._summed.table.longest[message.row]))

    def action_instance(self, by: int) -> None:
        """Select the next slice of the row, in time; says which one it is."""
        summed, place = self._summed, self.table.cursor_row
        if summed is None or place < 0:
            return
        rows = summed.operators.instances(summed.table, place)
        here = np.flatnonzero(rows == self.session.state.row)
        at = int(here[0]) + by if len(here) else (0 if by > 0 else len(rows) - 1)
        row = int(rows[at % len(rows)])
        self.viewer.select(row)
        trace = summed.operators.trace
        start, dur = int(trace.slices.start[row]) - trace.start_ns, int(trace.slices.dur[row])
        which = translate(
            "instance {place} of {count}", place=f"{at % len(rows) + 1:,}", count=f"{len(rows):,}"
        )
        if self._of_types:
            which = clauses((which, printable(trace.name(row), 40)))
        words = translate(
            "{what}: {duration} at {time}", what=which, duration=format_duration(dur), time=format_time(start)
        )
        self.show_answer(words, hint=[(f"{translate('T shows it')} ", self.style_of(Role.DIM))])


def _busy_words(analysis: Analysis) -> str:
    """Return how busy the devices are: "GPU 2 computes 99.8 % of 156 ms"."""
    splits = [split for split in analysis.communication.splits if split.window_ns]
    window = sum(split.window_ns for split in splits)
    share = format_percent(sum(split.computing_ns for split in splits), window)
    if len(splits) == 1:
        device, time = printable(splits[0].device, 20), format_duration(window)
        return translate("{device} computes {share} of {time}", device=device, share=share, time=time)
    return translate("the devices compute {share} of their time", share=share)


def sum_operators(wanted: Wanted) -> Summed:
    """Return the operators that are wanted, and their table."""
    analysis, host, step, window, by_name, of_type = wanted
    if step >= 0:
        operators = analysis.operators_in_step(step, host)
    elif window is not None:
        operators = analysis.operators_in_window(*window, host)
    else:
        operators = analysis.operators(host)
    if of_type is not None:
        operators = operators.of_type(*of_type)
    table = operators.by_type() if of_type is None and not by_name else operators.by_name()
    lines = None
    if not host and analysis.has_python:
        lines = frame_names(main_lines(operators, table, analysis.launch_chains, analysis.rules))
    return Summed(wanted, operators, table, lines)


def _kind(wanted: Wanted) -> tuple[bool, bool, bool]:
    """Return what tells whether two tables have the same columns."""
    return wanted.host, wanted.by_name, wanted.type is not None
