"""Lines of Python ranked by the idle time charged to them, the story of one, its stacks and its source.

Each piece of idle time is charged to the line that ran then, or that enqueued the task that the device waited
for; of an operator of the backward pass, to the line of its forward operator. What has no stack has a row of
its own. The same gaps are shown by signature too: cause, line and operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Union

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.lines import LineIdle
from tracetui.analysis.saves import LineKey, LineSaving
from tracetui.analysis.signatures import Signature
from tracetui.analysis.whatif import WhatIf
from tracetui.arrays import Int64s
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame, parse_call_stack
from tracetui.ui.actions import bindings
from tracetui.ui.hotspot_columns import (
    hotspots_answer,
    line_columns,
    line_name,
    line_of,
    signature_columns,
)
from tracetui.ui.line_story import LineStory, what_if_words
from tracetui.ui.messages import SelectionChanged
from tracetui.ui.palette import Role
from tracetui.ui.screens.hotspot_panes import HotspotPanes
from tracetui.ui.source_files import SourceFiles
from tracetui.ui.widgets.stack_tree import StackTree
from tracetui.ui.widgets.table import Table
from tracetui.units import format_duration, format_time

if TYPE_CHECKING:
    import pandas as pd

STORY = {True: 7, False: 9}  #: lines that the story takes, in a narrow terminal and in a wide one
NEXT_FACTOR = {1.0: 0.5, 0.5: 0.0, 0.0: 1.0}
CHARGED = "Charged to the line that ran, or that enqueued what the device waited for."

NO_FILE = "This is no line of a Python file."
NO_STACK = "No Python stack is recorded for these tasks. The profiler records them with with_stack=True."

Row = Union[LineIdle, Signature]


class HotspotsScreen(HotspotPanes):
    """A table of lines or signatures, the story of the line under the cursor, a tree of stacks, and the
    source of what is under the cursor of the last one used."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("hotspots"),
        Binding("o", "open_editor", show=False),
    ]
    TITLE_OF = "Hotspots"
    KEYS = (
        ("enter", "worst gap"),
        ("x", "next gap"),
        ("%", "try"),
        ("c", "signatures"),
        ("tab", "stacks"),
        ("o", "editor"),
        ("?", "keys"),
    )

    class Charged(Message):
        """The idle time is charged to lines and stacks, which may take a while."""

        def __init__(self, analysis: Analysis) -> None:
            super().__init__()
            self.analysis = analysis

    class Saved(Message):
        """What each line can save at most is known."""

        def __init__(self, analysis: Analysis, savings: Mapping[LineKey, LineSaving]) -> None:
            super().__init__()
            self.analysis, self.savings = analysis, savings

    class Tried(Message):
        """What follows if a line is faster."""

        def __init__(self, analysis: Analysis, what_if: WhatIf) -> None:
            super().__init__()
            self.analysis, self.what_if = analysis, what_if

    def __init__(self) -> None:
        super().__init__()
        self._shown: Analysis | None = None  # whose lines are in the table
        self._savings: Mapping[LineKey, LineSaving] | None = None  # None: not known yet
        self._trial: tuple[LineKey, float] | None = None  # the line that is tried, and its factor
        self._trying = False  # a thread is at it
        self._followed = (-1, -1)  # the slice and the gap that the cursor was last moved to
        self._gap = -1  # place in the gaps of the row walked
        self._walked = -1
        self._signatures = False  # signatures are in the table, not lines

    # -------------------------------------------------------------- contents

    def build(self) -> None:
        analysis = self.viewer.analysis
        assert analysis is not None
        if not any(device.idle_ns for device in analysis.devices):
            self.missing(no_idle(analysis))
            return
        self.missing("Charging the idle time to lines.")

        def charge() -> Message:
            _ = analysis.lines, analysis.stacks, analysis.syncs, analysis.signatures
            return self.Charged(analysis)

        self.in_background("charge", charge)

    @on(Charged)
    def _fill(self, message: Charged) -> None:
        message.stop()
        analysis = message.analysis
        if analysis is not self.viewer.analysis:
            return
        self._shown, self._savings = analysis, None
        viewer = self.viewer
        self.source.files = SourceFiles(viewer.path, viewer.options.sources, analysis.trace.end_ns)
        self.stacks.show(analysis.stacks, analysis.rules)
        self.say(hotspots_answer(analysis), self.place())
        self.note(CHARGED)
        self._fill_table(analysis)
        self._follow()
        self.in_background("savings", lambda: self.Saved(analysis, analysis.savings))

    @on(Saved)
    def _fill_savings(self, message: Saved) -> None:
        message.stop()
        if message.analysis is self._shown:
            self._savings = message.savings
            self._fill_table(message.analysis, None)
            self.tell_story()

    def _fill_table(self, analysis: Analysis, sort: int | None = 0) -> None:
        palette, glyphs = self.viewer.palette, self.viewer.glyphs
        if self._signatures:
            columns = signature_columns(analysis, palette, glyphs)
        else:
            columns = line_columns(analysis, self._savings, palette, glyphs)
        self.table.show(columns, len(self._rows(analysis)), sort=sort)

    def _rows(self, analysis: Analysis) -> Sequence[Row]:
        return analysis.signatures if self._signatures else analysis.lines

    def action_signatures(self) -> None:
        """Lines in the table, or signatures; the cursor stays on what belongs to the same line."""
        analysis, before = self._shown, self.row
        if analysis is None or before is None:
            return
        self._signatures, self._walked = not self._signatures, -1
        self._fill_table(analysis)
        self._go_to(line_of(before))
        self._focus(self.table)

    def missing(self, sentence: str) -> None:
        super().missing(sentence)
        self._shown = None
        self.note("")
        self.story.show([])

    # ----------------------------------------------------------- selection

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self._follow()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        self._follow()

    def _follow(self) -> None:
        """Put the cursors on the line and the stack of what is selected, if they have idle time."""
        analysis, state = self._shown, self.viewer.state
        if analysis is None or not self.is_current or self._followed == (state.row, state.gap):
            return
        self._followed = (state.row, state.gap)
        if 0 <= state.gap < len(analysis.gaps):
            for place, row in enumerate(self._rows(analysis)):
                if (row.gap_indices == state.gap).any():
                    self.table.move_to_row(place)
                    return
        elif state.row >= 0:
            stack = stack_of(analysis, state.row)
            charged = analysis.rules.line_of(stack)
            if charged is not None:
                self._go_to((*charged, False))
            self.stacks.reveal(stack)

    def _go_to(self, line: LineKey) -> None:
        """Put the cursor on the first row of a line, of its forward pass where both have one."""
        rows = self._rows(self._shown) if self._shown is not None else ()
        for wanted in (line, (*line[:3], True)):
            for place, row in enumerate(rows):
                if line_of(row) == wanted:
                    self.table.move_to_row(place)
                    return

    # ----------------------------------------------------------------- panes

    @on(Table.Moved)
    def _line_moved(self, message: Table.Moved) -> None:
        line = self.line
        tried_other = self._trial is not None and (line is None or line_of(line) != self._trial[0])
        if tried_other or (self._gap >= 0 and message.row != self._walked):
            self.note(CHARGED)
            self._gap, self._trial = -1, None
        self.tell_story()
        self.show_source()

    def tell_story(self) -> None:
        line, story, viewer, analysis = self.line, self.story, self.viewer, self._shown
        if line is None or analysis is None:
            story.show([])
            return
        width = max(self.table.size.width, 20)
        height = STORY[self.has_class("narrow")]
        teller = LineStory(viewer.palette, viewer.glyphs)
        story.show(teller.lines(analysis, line, self._savings, width, height))

    @on(StackTree.Moved)
    def _frame_moved(self, message: StackTree.Moved) -> None:
        self.show_source()

    def show_source(self) -> None:
        if self.left is self.stacks:
            branch = self.stacks.branch
            frame = branch.written if branch is not None else None
            unrecorded = branch is not None and bool(branch.nodes) and branch.frame is None
        else:
            line = self.line
            unrecorded = line is not None and line.file is None
            frame = Frame(line.file or "", line.line, line.function) if line is not None else None
        self.source.nothing = NO_STACK if unrecorded else NO_FILE
        if frame is None or not frame.file:
            self.source.show("", 0)
            self.source.refresh()
        else:
            self.source.show(*frame)

    @property
    def row(self) -> Row | None:
        """What is under the cursor of the table."""
        row = self.table.row
        return self._rows(self._shown)[row] if self._shown is not None and row >= 0 else None

    @property
    def line(self) -> LineIdle | None:
        """The line under the cursor of the table: that of the signature."""
        row, analysis = self.row, self._shown
        if not isinstance(row, Signature) or analysis is None:
            return row if isinstance(row, LineIdle) else None
        wanted = line_of(row)
        return next((line for line in analysis.lines if line_of(line) == wanted), None)

    # --------------------------------------------------------------- actions

    @on(Table.Activated)
    def _go_to_worst(self, message: Table.Activated) -> None:
        row = self.row
        if row is not None and len(row.gap_indices):
            walked = max(self._gap, 0) if self._walked == message.row else 0
            self.viewer.go_to_gap(int(row.gap_indices[walked]))
            self.viewer.action_go("timeline")

    def action_line_gap(self, step: int) -> None:
        """The next gap of the row (the worst first), selected on all screens; say where it is."""
        row, analysis = self.row, self._shown
        if row is None or analysis is None or not len(row.gap_indices):
            return
        if self._walked != self.table.row:
            self._gap, self._walked = -1, self.table.row
        count = len(row.gap_indices)
        self._gap = (self._gap + step) % count if self._gap >= 0 or step > 0 else count - 1
        gap = int(row.gap_indices[self._gap])
        self._followed = (-1, gap)
        self.viewer.go_to_gap(gap)
        idle = format_duration(int(analysis.gaps.idle[gap]))
        moment = format_time(int(analysis.gaps.start[gap]) - analysis.trace.start_ns)
        name = printable(line_name(row), 60)
        self.note(
            f"gap {self._gap + 1:,} of {count:,} of {name}: idle {idle} at {moment}; enter goes there",
            Role.TEXT,
        )

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.frames import hotspots_frame

        assert self._shown is not None
        lines: pd.DataFrame = hotspots_frame(self._shown).take(view)
        return lines

    def action_export_table(self) -> None:
        if self._signatures:
            self.note("Lines are exported, not signatures: c shows them.", Role.WARNING)
        else:
            super().action_export_table()

    # --------------------------------------------------------------- what if

    def action_what_if(self) -> None:
        """Try the line at half of its host time, then at none of it, then as it is."""
        line = self.line
        if line is None or self._shown is None:
            return
        key = line_of(line)
        factor = self._trial[1] if self._trial is not None and self._trial[0] == key else 1.0
        self._trial = (key, NEXT_FACTOR[factor])
        self._gap = -1
        if self._trial[1] == 1.0:
            self._trial = None
            self.note(CHARGED)
            return
        self.note("Working out the steps.")
        self._try()

    def _try(self) -> None:
        """One trial at a time: the run of a large trace is worked out again for each."""
        analysis, trial = self._shown, self._trial
        if self._trying or analysis is None or trial is None:
            return
        self._trying = True
        self.in_background("what-if", lambda: self.Tried(analysis, analysis.what_ifs.faster(*trial)))

    @on(Tried)
    def _tell_trial(self, message: Tried) -> None:
        message.stop()
        self._trying = False
        if message.analysis is self._shown and (message.what_if.key, message.what_if.factor) == self._trial:
            self.note(what_if_words(message.what_if, self.size.width, self.viewer.glyphs), Role.TEXT)
        else:
            self._try()

    def failed(self, group: str, sentence: str) -> None:
        self._trying = False
        if group == "charge":
            self.missing(sentence)
        else:
            self.note(sentence, Role.WARNING)

    def action_open_editor(self) -> None:
        problem = self.source.edit()
        if problem:
            self.note(problem, Role.WARNING)


def stack_of(analysis: Analysis, row: int) -> tuple[Frame, ...]:
    """The Python stack behind a slice, leaf first: of a device task that of its operator; () without one."""
    chain = analysis.links.chain(row)
    if chain is not None:
        return chain.stack
    return parse_call_stack(analysis.trace.string(int(analysis.trace.slices.stack[row])) or "")


def no_idle(analysis: Analysis) -> str:
    """Why there is no line to show."""
    if not analysis.devices:
        return "No device in this trace: there is no idle time to charge."
    return "The device was never idle."
