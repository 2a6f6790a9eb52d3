"""Two of the open traces one above the other, their steps aligned; moving moves both.

Where one looks is kept on the axis of both, and handed to each trace as it changes: to its timeline, its
exports and tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget

from tracetui.export.tables.comparison import WATERFALL, ComparedRows
from tracetui.language import translate
from tracetui.ui.actions import bindings
from tracetui.ui.comparing import tables
from tracetui.ui.comparing.comparing import STACKED, Comparing
from tracetui.ui.comparing.joint_view import JointView
from tracetui.ui.comparing.pair import ComparedPair, absence_lines, next_pair
from tracetui.ui.comparing.stack_words import chosen_lines, compared_step_words
from tracetui.ui.comparing.stacked_runs import NAMES, BandKind, Chosen, StackedRun, StackedRuns
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.strips import ruled
from tracetui.ui.messages import SelectionChanged
from tracetui.ui.screens.table_screen import AnswerScreen
from tracetui.ui.session import Session
from tracetui.ui.state import UndoPoint
from tracetui.ui.viewer import FIRST
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.ui.widgets.stacked import Stacked, StackedLook, full_height
from tracetui.ui.widgets.table import TableWidget

REST_S = 0.05  #: without a key after which the counterpart of what is selected is looked for
CHOSEN = 4  #: lines that tell what is selected


class StackedScreen(AnswerScreen):
    """The step in words, the lines of both, what is selected in each, and the parts of the step."""

    DEFAULT_CSS = "StackedScreen #parts { height: 1fr; }"
    AUTO_FOCUS = "Stacked"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("stacked"), Binding("escape", "leave", show=False)]
    TITLE_OF = "Both"
    KEYS = (
        ("a d w s", "move"),
        ("[ ]", "step"),
        ("arrows", "slices"),
        ("\\", "flip"),
        ("enter", "open"),
        ("x", "worst gap"),
    )

    def __init__(self, session: Session, comparing: Comparing) -> None:
        super().__init__(session)
        self.comparing = comparing  #: which two traces are compared
        self.look: JointView | None = None  #: where one looks at both; None before they are aligned
        self._pair: ComparedPair | None = None  # the one that is aligned, or shown
        self._failure = ""  # why there is no view of it
        self._resting: Timer | None = None
        self._shown_step: tuple[int, int] | None = None  # the step and device whose parts are shown
        self._left: list[UndoPoint] = []  # where both were looked at when this was left

    @property
    def unanswered(self) -> str:
        pair = self.comparing.pair
        return "" if pair is None else pair.waits_for(self.viewer.sessions)

    def body(self) -> Iterable[Widget]:
        yield Stacked()
        yield Lines(id="chosen")
        parts = TableWidget(id="parts", has_cursor=False)
        parts.empty = "No step of both runs is here, whose parts could be compared."
        yield parts

    @property
    def lanes(self) -> Stacked:
        return self.query_one(Stacked)

    # What there is to show

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def clear(self, sentence: str) -> None:
        self.look = None
        self.lanes.show(None, None)
        self.query_one("#chosen", Lines).show([])
        self.query_one("#parts", TableWidget).display = False
        self.show_answer(sentence)

    def show_nothing(self, sentence: str) -> None:
        super().show_nothing(sentence)
        viewer, pair = self.viewer, self.comparing.pair
        lines = [] if pair is None else absence_lines(viewer.sessions, pair, self.size.width, self.palette)
        self.lanes.styles.height = 0
        chosen = self.query_one("#chosen", Lines)
        chosen.display = bool(lines)
        chosen.show_whole(lines)

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        return (*next_pair(self.viewer.sessions), *super().ways_out)

    def build(self) -> None:
        viewer, pair = self.viewer, self.comparing.pair
        assert pair is not None
        if pair is self._pair and self.look is not None and self._is_of_sessions(self.look.stack):
            self._show()
            return
        if pair is self._pair and self._failure:
            self.show_nothing(self._failure)
            return
        self.clear("Aligning the steps of both.")
        self._pair, self._failure = pair, ""
        sessions = [*viewer.sessions]

        def align() -> StackedRuns | str:
            sides: list[StackedRun] = []
            for place in (pair.base, pair.other):
                analysis = sessions[place].analysis
                assert analysis is not None
                run = self.comparing.runs.of(place, analysis)
                if not len(run.wall_ns):
                    return translate("{run} has no work of a device.", run=NAMES[len(sides)])
                sides.append(StackedRun.of(sessions[place].name, analysis, run))
            return StackedRuns.of(*sides)

        self.in_background("stack", align, partial(self._take, pair))

    def _is_of_sessions(self, stack: StackedRuns) -> bool:
        """Return whether the traces that are open are those that it was made of."""
        viewer, pair = self.viewer, self._pair
        assert pair is not None
        places = (pair.base, pair.other)
        return all(viewer.sessions[at].analysis is side.analysis for at, side in zip(places, stack.sides))

    def _take(self, pair: ComparedPair, stack: StackedRuns | str) -> None:
        """Take two runs on one axis, or why there is nothing to draw."""
        if pair is not self.comparing.pair:
            return
        if isinstance(stack, str):
            self.failed("stack", stack)
            return
        self.look = JointView(stack)
        self._look_first(self.look)
        self.refresh_answer()

    def failed(self, group: str, sentence: str) -> None:
        if group == "stack":
            self._failure = sentence
            self.show_nothing(sentence)

    def session_of(self, side: int) -> Session:
        """Return the open trace of BASE (0) or OTHER (1)."""
        viewer, pair = self.viewer, self._pair
        assert pair is not None
        return viewer.sessions[(pair.base, pair.other)[side]]

    def _look_first(self, look: JointView) -> None:
        """Look where one looked in the run one came from."""
        session = self.viewer.session
        assert self._pair is not None
        look.look_as(int(self.viewer.sessions.index(session) == self._pair.other), session.state)
        self._selected()

    # Drawing

    def _lay_out(self, look: JointView) -> None:
        """Share the lines of the screen out: the lines of both, what is selected, the parts of the step."""
        room = max(self.size.height - 2, 1)  # the answer and the keys
        lanes = min(full_height(look.stack, look.device), room)
        lines = min(CHOSEN, room - lanes)
        self.lanes.styles.height = lanes
        chosen, parts = self.query_one("#chosen", Lines), self.query_one("#parts", TableWidget)
        chosen.styles.height = lines
        chosen.display, parts.display = lines > 0, room - lanes - lines > 2

    def _show(self) -> None:
        """Draw again what has changed."""
        look = self.look
        if look is None or not self.is_current:
            return
        self._lay_out(look)
        look.state.columns = self.lanes.columns
        place = look.state.place
        view = StackedLook(place.viewport, place.time_ns, look.side, look.kind, look.device, look.chosen)
        self.lanes.show(look.stack, view)
        self._show_words(look)

    def _show_words(self, look: JointView) -> None:
        stack, palette, glyphs = look.stack, self.palette, self.glyphs
        step = look.step
        if (step, look.device) != self._shown_step or not self.query_one("#answer", Lines).lines:
            self._shown_step = (step, look.device)
            self.show_answer(compared_step_words(stack, step, look.device, glyphs))
            compared = stack.step_rows(step, look.device)
            rows = () if compared is None else compared[1]
            columns = tables.columns(ComparedRows(rows), WATERFALL, palette, glyphs, self.size.width)
            shown = [column for column in columns if column.key != "changed"]  # one step cannot tell
            self.query_one("#parts", TableWidget).show(shown, len(rows))
        title = (ruled(translate("selected in both"), glyphs.rule, self.size.width), self.style_of(Role.RULE))
        lines = chosen_lines(stack, look.chosen, look.side, look.awaits_counterpart, Pen(palette, glyphs))
        self.query_one("#chosen", Lines).show([[title], *lines])

    def beside_answer(self) -> Pieces:
        """Return which of several devices is shown."""
        if self.look is None or self.look.stack.devices < 2:
            return ()
        return [(f"{self.look.device + 1}/{self.look.stack.devices} tab", self.style_of(Role.DIM))]

    def _moved(self) -> None:
        """Draw, and hand on where one looks to both traces."""
        assert self.look is not None
        for side in (0, 1):
            self.session_of(side).state.look(self.look.viewport_of(side), "stacked")
        self._show()

    def _selected(self) -> None:
        """Look for the counterpart of what is selected once nothing more changes for a while."""
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        if self.look is not None and self.look.awaits_counterpart:
            self._resting = self.set_timer(REST_S, self._match)
        self._moved()

    def _match(self) -> None:
        look = self.look
        if look is not None and look.selected:
            side, selected, stack = look.side, look.selected, look.stack
            self.in_background(
                "match",
                lambda: stack.counterpart(side, selected),
                partial(self._take_counterpart, side, selected),
            )

    def _take_counterpart(self, side: int, chosen: Chosen, counterpart: Chosen) -> None:
        if self.look is not None:
            self.look.take_counterpart(side, chosen, counterpart)
            self._show()

    # What keys do

    def action_pan(self, by: int) -> None:
        if self.look is not None and self.look.state.pan_parts(by):
            self._moved()

    def action_to_end(self, way: int) -> None:
        """Show the start (way -1) or the end (1) of the steps; the span stays."""
        if self.look is not None and self.look.state.pan_to_end(way):
            self._moved()

    def action_zoom(self, by: int) -> None:
        if self.look is not None:
            self._zoom(by, self.look.moment)

    def _zoom(self, by: int, anchor_ns: int) -> None:
        if self.look is not None and self.look.state.zoom_levels(by, anchor_ns):
            self._moved()

    def action_show_all(self) -> None:
        if self.look is not None and self.look.state.look(self.look.state.bounds):
            self._moved()

    def action_fit_selection(self) -> None:
        """Fill the screen with what is selected, its counterpart too; without one with the step."""
        if self.look is not None and self.look.fit_selection():
            self._moved()

    def undo(self) -> None:
        if self.look is not None and self.look.state.undo():
            self._selected()

    def redo(self) -> None:
        if self.look is not None and self.look.state.redo():
            self._selected()

    def action_beside_step(self, by: int) -> None:
        """Show the next step as this one is shown."""
        look = self.look
        if look is None:
            return
        if look.go_beside_step(by):
            self._selected()
        else:
            have_steps = len(look.stack.axis.steps[0]) > 0
            self.viewer.show_status("There are no more steps." if have_steps else "There are no steps.")

    def action_event(self, by: int) -> None:
        if self.look is not None and self.look.go_beside(by):
            self._selected()

    def action_track(self, by: int) -> None:
        """Go to the line above or below, at the same time; from one run to the other."""
        look = self.look
        if look is None:
            return
        lines = [(place.side, place.part) for place in self.lanes.places if isinstance(place.part, BandKind)]
        here = (look.side, look.kind)
        at = lines.index(here) if here in lines else 0
        if lines:
            side, kind = lines[min(max(at + by, 0), len(lines) - 1)]
            look.go_to_line(side, kind, look.state.place.time_ns, 1)
            self._selected()

    def action_flip(self) -> None:
        """Make the other run the one that the cursor is in, at the counterpart of what is selected."""
        if self.look is not None:
            self.look.flip()
            self._selected()
            self.viewer.look_at(self.session_of(self.look.side))

    def action_next_view(self, by: int = 1) -> None:
        """Show the next device of both."""
        if self.look is not None and self.look.go_to_next_device(by):
            self._selected()
        else:
            self.viewer.show_status("There is one device.")

    def action_nth_gap(self, rank: int) -> None:
        self.viewer.action_nth_gap(rank)

    def on_selection_changed(self, message: SelectionChanged) -> None:
        """Select a gap that was gone to in the run that the cursor is in."""
        look = self.look
        if look is None or not self.is_current:  # a panel lies over it
            return
        gap = self.session_of(look.side).state.gap
        if gap >= 0 and look.choose_gap(look.side, gap):
            self._selected()

    # The way out

    def action_activate(self) -> None:
        """Open what is selected in its own timeline."""
        if self.look is not None:
            self._hand_on(self.look, self.look.side)
            self.viewer.show_session(self.session_of(self.look.side), FIRST)

    def _hand_on(self, look: JointView, side: int) -> None:
        """Select in a trace what is selected of it here."""
        session, chosen = self.session_of(side), look.chosen[side]
        state = session.state
        viewport = state.viewport
        if chosen.gap >= 0:
            session.go_to_gap(chosen.gap)
            state.look(viewport, state.burst)
        elif chosen.row >= 0:
            session.select(chosen.row)
        else:
            time = look.stack.axis.moment(side, look.state.place.time_ns)
            state.go(replace(state.place, row=-1, gap=-1, time_ns=time), "stacked")

    def on_screen_suspend(self) -> None:
        viewer = self.viewer
        if self.look is not None and self._pair is self.comparing.pair and viewer.shown != STACKED:
            for side in (0, 1):
                self._hand_on(self.look, side)
                viewer.broadcast(self.session_of(side), SelectionChanged)
            self._left = [self.session_of(side).state.place for side in (0, 1)]

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        super().on_screen_resume(event)
        if self.look is None or self._pair is not self.comparing.pair:
            return
        session = self.viewer.session
        sessions = [self.session_of(side) for side in (0, 1)]
        if session in sessions:
            if [of_side.state.place for of_side in sessions] != self._left:
                self._look_first(self.look)  # somebody has looked elsewhere meanwhile
            elif session is not sessions[self.look.side]:
                self.action_flip()
            self._show()

    def copy_text(self) -> str:
        """Return what is said of what is selected in both."""
        chosen = self.look is not None and any(self.look.chosen)
        return self.query_one("#chosen", Lines).text if chosen else ""

    def action_leave(self) -> None:
        self.comparing.leave_stacked()

    # The mouse

    @on(Stacked.Pressed)
    def _pressed(self, message: Stacked.Pressed) -> None:
        message.stop()
        part = message.place.part
        if self.look is not None:
            kind = part if isinstance(part, BandKind) else self.look.kind
            self.look.go_to_line(message.place.side, kind, message.time_ns, message.column_ns)
            self._selected()

    @on(Stacked.Wheeled)
    def _wheeled(self, message: Stacked.Wheeled) -> None:
        message.stop()
        if message.sideways:
            self.action_pan(message.turn)
        else:
            self._zoom(-message.turn, message.time_ns)
