"""Lines of Python ranked by the idle time charged to them, the story of one, its stacks and its source.

Each piece of idle time is charged to the line that ran then, or that enqueued the task that the device waited
for; of an operator of the backward pass, to the line of its forward operator. What has no stack has a row of
its own. The same gaps are shown by signature too: cause, line and operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Union

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.lines import LineIdle
from tracetui.analysis.signatures import Signature
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame, parse_call_stack
from tracetui.ui.actions import bindings
from tracetui.ui.hotspot_columns import (
    LineKey,
    hotspots_answer,
    line_columns,
    line_name,
    line_of,
    signature_columns,
)
from tracetui.ui.line_story import LineStory
from tracetui.ui.messages import SelectionChanged
from tracetui.ui.palette import Role
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.source_files import SourceFiles
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.source import SourcePane
from tracetui.ui.widgets.stack_tree import StackTree
from tracetui.ui.widgets.table import Table
from tracetui.units import format_duration, format_time

WIDE = 120  #: cells from which the source stands beside the table and the stacks
STORY = {True: 6, False: 9}  #: lines that the story takes, in a narrow terminal and in a wide one
SHORT = 20  #: lines of a terminal that has none for the story
CHARGED = "Charged to the line that ran, or that enqueued what the device waited for."

NO_FILE = "This is no line of a Python file."
NO_STACK = "No Python stack is recorded for these tasks. The profiler records them with with_stack=True."

Row = Union[LineIdle, Signature]


class HotspotsScreen(TableScreen):
    """A table of lines or signatures, the story of the line under the cursor, a tree of stacks, and the
    source of what is under the cursor of the last one used."""

    DEFAULT_CSS = """
    HotspotsScreen #panes { height: 1fr; }
    HotspotsScreen #left { width: 3fr; }
    HotspotsScreen #story { height: 9; }
    HotspotsScreen SourcePane { width: 2fr; margin-left: 2; }
    HotspotsScreen.narrow #panes { layout: vertical; }
    HotspotsScreen.narrow #story { height: 6; }
    HotspotsScreen.narrow #left { width: 1fr; height: 2fr; }
    HotspotsScreen.narrow SourcePane { width: 1fr; height: 1fr; margin-left: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("hotspots"),
        Binding("o", "open_editor", show=False),
    ]
    TITLE_OF = "Hotspots"
    KEYS = (
        ("enter", "worst gap"),
        ("x", "next gap"),
        ("c", "signatures"),
        ("tab", "stacks"),
        ("o", "editor"),
        ("/", "filter"),
        ("?", "keys"),
    )

    class Charged(Message):
        """The idle time is charged to lines and stacks, which may take a while."""

        def __init__(self, analysis: Analysis) -> None:
            super().__init__()
            self.analysis = analysis

    def __init__(self) -> None:
        super().__init__()
        self._shown: Analysis | None = None  # whose lines are in the table
        self._followed = (-1, -1)  # the slice and the gap that the cursor was last moved to
        self._gap = -1  # place in the gaps of the row
        self._signatures = False  # signatures are in the table, not lines

    def body(self) -> Iterable[Widget]:
        viewer = self.viewer
        table, *filter_field = super().body()
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield table
                yield Lines(viewer.glyphs, id="story")
                yield StackTree(viewer.palette, viewer.glyphs)
            yield SourcePane(viewer.palette, viewer.glyphs)
        yield Lines(viewer.glyphs, id="note")
        yield from filter_field

    @property
    def stacks(self) -> StackTree:
        return self.query_one(StackTree)

    @property
    def source(self) -> SourcePane:
        return self.query_one(SourcePane)

    # -------------------------------------------------------------- contents

    def build(self) -> None:
        analysis = self.viewer.analysis
        assert analysis is not None
        if not any(device.idle_ns for device in analysis.devices):
            self.missing(no_idle(analysis))
            return
        self.missing("Charging the idle time to lines.")

        def charge() -> None:
            _ = analysis.lines, analysis.stacks, analysis.syncs, analysis.signatures
            self.post_message(self.Charged(analysis))

        self.run_worker(charge, thread=True, exclusive=True, group="charge")

    @on(Charged)
    def _fill(self, message: Charged) -> None:
        message.stop()
        analysis = message.analysis
        if analysis is not self.viewer.analysis:
            return
        self._shown = analysis
        viewer = self.viewer
        self.source.files = SourceFiles(viewer.path, viewer.options.sources, analysis.trace.end_ns)
        self.stacks.show(analysis.stacks, analysis.rules)
        self.say(hotspots_answer(analysis), self.place())
        self._note(CHARGED)
        self._fill_table(analysis)
        self._follow()

    def _fill_table(self, analysis: Analysis) -> None:
        make = signature_columns if self._signatures else line_columns
        columns = make(analysis, self.viewer.palette, self.viewer.glyphs)
        self.table.show(columns, len(self._rows(analysis)), sort=0)

    def _rows(self, analysis: Analysis) -> Sequence[Row]:
        return analysis.signatures if self._signatures else analysis.lines

    def action_signatures(self) -> None:
        """Lines in the table, or signatures; the cursor stays on what belongs to the same line."""
        analysis, before = self._shown, self.row
        if analysis is None or before is None:
            return
        self._signatures = not self._signatures
        self._fill_table(analysis)
        self._go_to(line_of(before))
        self._focus(self.table)

    def missing(self, sentence: str) -> None:
        super().missing(sentence)
        self._shown = None
        self._note("")
        self._story.show([])

    @property
    def _story(self) -> Lines:
        return self.query_one("#story", Lines)

    def _note(self, said: str, role: Role = Role.DIM) -> None:
        self.query_one("#note", Lines).show([[(said, self.style_of(role))]])

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

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < WIDE, "narrow")
        self._arrange()
        self.call_after_refresh(self._tell_story)

    def _arrange(self) -> None:
        """In a narrow terminal the table, with the story, and the stacks take turns."""
        narrow = self.has_class("narrow")
        on_stacks = self._left is self.stacks
        self.table.display = not (narrow and on_stacks)
        self._story.display = self.table.display and self.size.height >= SHORT
        self.stacks.display = not narrow or on_stacks

    @property
    def _left(self) -> Table | StackTree:
        """The pane that says what the source shows."""
        return self.stacks if self.has_class("on-stacks") else self.table

    @property
    def _pane(self) -> Table | StackTree | SourcePane:
        """The pane that keys go to."""
        return self.source if self.source.has_focus else self._left

    def _focus(self, pane: Table | StackTree | SourcePane) -> None:
        if pane is not self.source:
            self.set_class(pane is self.stacks, "on-stacks")
            self._arrange()
        pane.focus()
        self._show_source()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click may focus a pane too."""
        if event.widget in (self.table, self.stacks) and event.widget is not self._left:
            self.set_class(event.widget is self.stacks, "on-stacks")
            self._arrange()
            self._show_source()

    @on(Table.Moved)
    def _line_moved(self, message: Table.Moved) -> None:
        if self._gap >= 0:
            self._note(CHARGED)
        self._gap = -1
        self._tell_story()
        self._show_source()

    def _tell_story(self) -> None:
        line, story, viewer = self.line, self._story, self.viewer
        if line is None or self._shown is None:
            story.show([])
            return
        width = max(self.table.size.width, 20)
        height = STORY[self.has_class("narrow")]
        story.show(LineStory(viewer.palette, viewer.glyphs).lines(self._shown, line, width, height))

    @on(StackTree.Moved)
    def _frame_moved(self, message: StackTree.Moved) -> None:
        self._show_source()

    def _show_source(self) -> None:
        if self._left is self.stacks:
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

    def action_next_pane(self, step: int) -> None:
        panes = (self.table, self.stacks, self.source)
        self._focus(panes[(panes.index(self._pane) + step) % len(panes)])

    def action_cursor(self, rows: int) -> None:
        self._pane.action_cursor(rows)

    def action_page(self, pages: int) -> None:
        self._pane.action_page(pages)

    def action_first(self) -> None:
        self._pane.action_first()

    def action_last(self) -> None:
        self._pane.action_last()

    def action_activate(self) -> None:
        self._pane.action_activate()

    def action_toggle_frame(self) -> None:
        if self._pane is self.stacks:
            self.stacks.action_activate()

    def action_longest(self) -> None:
        self._focus(self.stacks)
        self.stacks.action_longest()

    def action_parent(self) -> None:
        if self._left is self.stacks:
            self.stacks.action_parent()

    def action_threshold(self, steps: int) -> None:
        self.stacks.action_threshold(steps)

    def action_fold_frames(self) -> None:
        self.stacks.action_folds()

    @on(Table.Activated)
    def _go_to_worst(self, message: Table.Activated) -> None:
        row = self.row
        if row is not None and len(row.gap_indices):
            self.viewer.go_to_gap(int(row.gap_indices[max(self._gap, 0)]))
            self.viewer.action_go("timeline")

    def action_line_gap(self, step: int) -> None:
        """The next gap of the row (the worst first), selected on all screens; say where it is."""
        row, analysis = self.row, self._shown
        if row is None or analysis is None or not len(row.gap_indices):
            return
        count = len(row.gap_indices)
        self._gap = (self._gap + step) % count if self._gap >= 0 or step > 0 else count - 1
        gap = int(row.gap_indices[self._gap])
        self._followed = (-1, gap)
        self.viewer.go_to_gap(gap)
        idle = format_duration(int(analysis.gaps.idle[gap]))
        moment = format_time(int(analysis.gaps.start[gap]) - analysis.trace.start_ns)
        name = printable(line_name(row), 60)
        self._note(
            f"gap {self._gap + 1:,} of {count:,} of {name}: idle {idle} at {moment}; enter goes there",
            Role.TEXT,
        )

    def action_open_editor(self) -> None:
        problem = self.source.edit()
        if problem:
            self._note(problem, Role.WARNING)


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
