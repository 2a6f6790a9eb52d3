"""The memory of a device over time, who holds it, and what every step leaves behind."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Optional

import numpy as np
from textual import events, on
from textual.containers import Container, Vertical
from textual.timer import Timer
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.memory.model import Curve
from tracetui.analysis.memory.neighbours import Neighbours, neighbours_of
from tracetui.export.sentences.memory import NO_TIMES, NOTHING
from tracetui.export.tables.column import Table
from tracetui.language import wording
from tracetui.ui.actions import bindings
from tracetui.ui.messages import SelectionChanged, ViewChanged
from tracetui.ui.screens.charged import NO_FILE
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.state import Viewport
from tracetui.ui.stories.memory_story import MemoryAnswer, MemoryStory
from tracetui.ui.tables.columns import ViewColumn
from tracetui.ui.tables.memory_views import (
    GROWING,
    LINES,
    VIEWS,
    MemoryView,
    ShownMemory,
    memory_view_after,
    shown_memory,
    span_of_curves,
)
from tracetui.ui.widgets.curve import CurveView
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.source import WIDE, SourcePane
from tracetui.ui.widgets.table import TableWidget

TALL = 32  #: lines of a terminal from which a narrow one has room for the source
_STORY = {True: 5, False: 6}  #: lines that the story takes, in a narrow terminal and in a wide one
_SETTLED_S = 0.15  #: a held cursor key asks for neighbours faster than they are found
_BESIDE_NS = 50_000  #: shown on either side of a block of which no operator is known
#: what is recorded of the memory, and the columns of its tables; None for nothing
MemoryRead = Optional[tuple[ShownMemory, dict[MemoryView, list[ViewColumn]]]]


class MemoryScreen(TableScreen):
    """A curve, a table, the story of the row under its cursor, and the source of that."""

    DEFAULT_CSS = """
    MemoryScreen #answer { height: 2; }
    MemoryScreen #panes { height: 1fr; layout: horizontal; }
    MemoryScreen #left { width: 3fr; }
    MemoryScreen #story { height: 6; }
    MemoryScreen SourcePane { width: 2fr; margin-left: 2; }
    MemoryScreen.narrow #panes { layout: vertical; }
    MemoryScreen.narrow #story { height: 5; }
    MemoryScreen.narrow #left { width: 1fr; height: 2fr; }
    MemoryScreen.narrow SourcePane { width: 1fr; height: 1fr; margin-left: 0; }
    """
    BINDINGS = bindings("memory")
    TITLE_OF = "Memory"
    NUMBERS = ("memory",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._missing = ""  # why nothing is shown
        self._view: MemoryView | None = None  # None: not chosen yet
        self._shown: ShownMemory | None = None
        self._columns: dict[MemoryView, list[ViewColumn]] = {}  # of its tables
        self._curve = 0  # place in the curves
        self._window: tuple[int, int] | None = None
        self._time_ns = -1  # where the other screens were last seen to be
        self._neighbours: tuple[int, Neighbours] | None = None  # of a block
        self._asking: Timer | None = None

    def body(self) -> Iterable[Widget]:
        table, *filter_field = super().body()
        yield CurveView()
        with Container(id="panes"):
            with Vertical(id="left"):
                yield table
                yield Lines(id="story")
            yield SourcePane()
        yield from filter_field

    @property
    def curve(self) -> CurveView:
        """The curve of allocated memory above the table."""
        return self.query_one(CurveView)

    @property
    def source(self) -> SourcePane:
        """The pane that shows the line of source."""
        return self.query_one(SourcePane)

    @property
    def view(self) -> MemoryView:
        """The table that is shown."""
        return self._view or LINES

    @property
    def shown_view(self) -> str:
        return self.view.name

    def show_view(self, name: str) -> None:
        self._view = next((view for view in VIEWS if view.name == name), self._view)

    @property
    def heading(self) -> str:
        return self.view.title if self._shown is not None else self.TITLE_OF

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        timed = self._shown is None or self._shown.memory.recorded.timed
        return (
            ("tab", memory_view_after(self.view).name),
            *((("enter", "operator"), ("← →", "time")) if timed else (("← →", "events"),)),
            ("c", "curve"),
            ("/", "filter"),
            ("o", "edit"),
        )

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width < WIDE, "narrow")
        self.source.display = width >= WIDE or height >= TALL
        self.curve.styles.height = min(max((height // 3 - 1) | 1, 5), 23)  # of an even number of rows
        self.query_one("#story").display = height >= 20
        self._show_answers()
        self.call_after_refresh(self._tell)

    # -------------------------------------------------------------- contents

    @property
    def unanswered(self) -> str:
        return "" if self.session.tells_memory else self.session.unanswered

    def build(self) -> None:
        session = self.session
        analysis, window = session.analysis, session.state.window
        self._window = window
        if self._shown is None:
            self.clear("Reading what is recorded of the memory.")

        def read() -> MemoryRead:
            memory = session.read_memory()
            if memory is None:
                return None
            of_trace = window if memory.recorded.timed or session.trace is None else None
            origin = session.trace.start_ns if session.trace is not None else 0
            shown = shown_memory(memory, of_trace, origin, session.sources.line)
            looks = self.palette, self.glyphs
            # Of a million blocks they take 0.2 s.
            return shown, {view: view.columns(shown, *looks) for view in VIEWS}

        self.in_background("memory", read, partial(self._show_read, analysis, window))

    def _show_read(self, analysis: Analysis | None, window: tuple[int, int] | None, read: MemoryRead) -> None:
        if analysis is not self.session.analysis or window != self._window:
            return
        if read is None:
            self.show_nothing(NOTHING)
            return
        shown, columns = read
        if self._shown is None and shown.part.peak is not None:
            of_peak = shown.part.peak.device, shown.part.peak.component
            keys = [(curve.device, curve.component) for curve in shown.memory.curves]
            self._curve = keys.index(of_peak)
        self._shown, self._columns = shown, columns
        self._view = self._view or (GROWING if shown.memory.growing else LINES)
        self.source.files = self.session.sources
        self._show_curve()
        self._show_view()
        self.show_keys()

    def clear(self, sentence: str) -> None:
        self._shown = self._neighbours = None
        self._missing = wording(sentence)
        self.table.empty = ""
        self.table.show((), 0)
        self._show_answers()
        self.curve.show(None, Viewport(0, 1), 0, ())
        self.query_one("#story", Lines).show([])
        self.source.show()

    def on_view_changed(self, message: ViewChanged) -> None:
        if self._window != self.session.state.window:
            self.refresh_answer()
        self._follow()

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self._follow()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        if self._window != self.session.state.window and not self._stale:
            self.refresh_answer()
        self._follow()

    def _follow(self) -> None:
        """Put the cursor where the other screens are, if that has changed."""
        time_ns = self.session.state.place.time_ns
        if time_ns != self._time_ns and self._shown is not None and not self._is_apart:
            self._time_ns = time_ns
            self.curve.point(time_ns)

    @property
    def _is_apart(self) -> bool:
        """Whether a trace has times, and what is shown has none."""
        shown = self._shown
        return shown is not None and self.session.trace is not None and not shown.memory.recorded.timed

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The curves of all devices; none before memory is read."""
        return self._shown.memory.curves if self._shown is not None else ()

    def _show_curve(self) -> None:
        shown = self._shown
        assert shown is not None
        if not self.curves:
            self.curve.show(None, Viewport(0, 1), 0, ())
            return
        curve = self.curves[self._curve % len(self.curves)]
        recorded = shown.memory.recorded
        origin = shown.origin_ns if recorded.timed else None
        window = None if self._is_apart else self._window
        span = span_of_curves(self.curves, window, self.session.state.bounds)
        self.curve.show(curve, span, origin, () if curve.device in recorded.stepless else recorded.steps)
        self._time_ns = self.session.state.place.time_ns
        if not span.start_ns <= self.curve.time_ns < span.end_ns:
            self.curve.point(min(max(self._time_ns, span.start_ns), span.end_ns - 1))

    def _show_view(self, first: bool = False) -> None:
        shown = self._shown
        assert shown is not None
        view = self.view
        is_said_above = view is GROWING and len(shown.memory.recorded.steps) < 2
        self.table.empty = "" if is_said_above else view.empty
        self.table.show(self._columns[view], view.count(shown), sort=view.sort, first=first)
        self._show_answers()
        self.show_keys()

    def _show_answers(self) -> None:
        """Say the peak, what grows, and where there is room what else the peak is made of."""
        width = max(self.size.width, 20)
        answering = MemoryAnswer(self.palette, self.glyphs, wording(self.heading), width)
        if self._shown is None:
            lines = answering.words(self._missing)
        else:
            lines = answering.lines(self._shown, self.size.height >= TALL)
        self.query_one("#answer", Lines).show_whole(lines, self.beside_answer())

    # ------------------------------------------------------------------- rows

    @property
    def block(self) -> int:
        """The block that describes the row under the cursor, as its place in `part.blocks`; -1 for none."""
        shown, row = self._shown, self.table.cursor_row
        if shown is None or not 0 <= row < self.view.count(shown):
            return -1
        return self.view.block(shown, row)

    @on(TableWidget.Moved)
    def _row_moved(self) -> None:
        shown, block = self._shown, self.block
        if shown is not None and block >= 0:
            self.curve.point(int(shown.part.blocks.start[block]))
        self._tell()

    def _tell(self) -> None:
        """Tell of the row under the cursor, show its source, and ask for what ran beside it."""
        shown, block = self._shown, self.block
        story = self.query_one("#story", Lines)
        if self._asking is not None:
            self._asking.stop()
        if shown is None or block < 0:
            story.show([])
            self.source.show()
            return
        known = self._neighbours
        neighbours = known[1] if known is not None and known[0] == block else None
        width, height = max(self.table.size.width, 20), _STORY[self.has_class("narrow")]
        telling = MemoryStory(self.palette, self.glyphs)
        story.show(telling.lines(shown, self.view, self.table.cursor_row, block, neighbours, width, height))
        line = int(shown.part.blocks.line[block])
        frame = shown.memory.recorded.lines[line] if line >= 0 else None
        self.source.nothing = "No Python stack is recorded for this operator." if frame is None else NO_FILE
        self.source.show(*(frame or ("", 0, "")))
        if neighbours is None and shown.memory.launch_chains is not None:
            self._asking = self.set_timer(_SETTLED_S, lambda: self._ask(shown, block))

    def _ask(self, shown: ShownMemory, block: int) -> None:
        chains, blocks = shown.memory.launch_chains, shown.part.blocks
        assert chains is not None
        place = np.array([block])

        self.in_background(
            "neighbours",
            lambda: neighbours_of(chains, blocks.row[place], blocks.start[place]),
            lambda found: self._show_neighbours(shown, block, *found),
        )

    def failed(self, group: str, sentence: str) -> None:
        if group != "neighbours":  # without them the screen is of use
            super().failed(group, sentence)

    def _show_neighbours(self, shown: ShownMemory, block: int, neighbours: Neighbours) -> None:
        if shown is self._shown:
            self._neighbours = block, neighbours
            if self.block == block:
                self._tell()

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return None if self._shown is None else self.view.contents(self._shown)

    def export_name(self) -> str:
        return self.view.export

    # ---------------------------------------------------------------- actions

    @on(TableWidget.Activated)
    def _go_to_operator(self) -> None:
        """Show the operator that allocated the block; without one, its moment."""
        shown, block, trace = self._shown, self.block, self.session.trace
        if shown is None or block < 0:
            return
        if trace is None or not shown.memory.recorded.timed:
            self.viewer.show_status(NO_TIMES)
            return
        row, start = int(shown.part.blocks.row[block]), int(shown.part.blocks.start[block])
        if row >= 0:
            self.viewer.show_slice(row)
        else:
            self.viewer.show_interval(start - _BESIDE_NS, start + _BESIDE_NS)
            self.viewer.show_status("The operator that allocated it is not in the trace: this is its moment.")

    @on(CurveView.Moved)
    def _time_moved(self, message: CurveView.Moved) -> None:
        """Move the other screens to the same moment."""
        if self._is_apart:
            return
        self._time_ns = message.time_ns
        self.session.move_to(message.time_ns)
        self.viewer.view_changed()

    def action_curve_cursor(self, columns: int) -> None:
        self.curve.move(columns)

    def action_next_curve(self) -> None:
        """Show the curve of the next device or component."""
        if self.curves:
            self._curve = (self._curve + 1) % len(self.curves)
            self._show_curve()

    def action_next_view(self) -> None:
        """Show the table that follows."""
        if self._shown is not None:
            self._view = memory_view_after(self.view)
            self._show_view(first=True)
