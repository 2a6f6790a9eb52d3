"""What the screen of two stacked traces is made of, and how it follows what is looked at.

Where one looks is kept on the axis of both, and handed to each trace as it changes: to its timeline, its
exports and tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from rich.style import Style
from textual import events, on
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from tracetui.export.tables.comparison import WATERFALL
from tracetui.ui.compare_app import CompareApp, PairChanged
from tracetui.ui.comparing import tables
from tracetui.ui.comparing.absence import absence_lines, next_pair
from tracetui.ui.comparing.bands import Kind
from tracetui.ui.comparing.pair import Pair
from tracetui.ui.comparing.stack import NAMES, Chosen, Lanes, Stack
from tracetui.ui.comparing.stack_words import chosen_lines, step_words
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.strips import ruled
from tracetui.ui.screens.table_screen import AnswerScreen
from tracetui.ui.session import Session
from tracetui.ui.state import Place, Viewport, ViewState
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.stacked import Stacked, View, lines_of
from tracetui.ui.widgets.table import Table

REST_S = 0.05  #: without a key after which the counterpart of what is selected is looked for
CHOSEN = 4  #: lines that tell what is selected
MARGIN = 20  #: one of so many parts of a step stays free at both its ends


class StackedView(AnswerScreen):
    """The step in words, the lines of both, what is selected in each, and the parts of the step."""

    DEFAULT_CSS = """
    StackedView #parts { height: 1fr; }
    """
    AUTO_FOCUS = "Stacked"
    TITLE_OF = "Both"
    KEYS = (
        ("a d w s", "move"),
        ("[ ]", "step"),
        ("arrows", "slices"),
        ("\\", "flip"),
        ("enter", "open"),
        ("x", "worst gap"),
        ("?", "keys"),
    )

    @dataclass
    class Made(Message, bubble=False):
        """Two traces are ready to be drawn on one axis."""

        pair: Pair
        stack: Stack | None  #: None where there is nothing to draw
        sentence: str = ""  #: why

    @dataclass
    class Found(Message, bubble=False):
        """The counterpart of what was selected in a run."""

        side: int
        chosen: Chosen
        counterpart: Chosen

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.state = ViewState(Viewport(0, 1))  #: on the axis of both
        self._pair: Pair | None = None  # the one that is made ready, or shown
        self._stack: Stack | None = None
        self._failure = ""  # why there is none
        self._device = 0
        self._matched: tuple[int, Chosen, Chosen] | None = (
            None  # side, what is selected there, its counterpart
        )
        self._resting: Timer | None = None
        self._told: tuple[int, int] | None = None  # the step and device whose parts are shown
        self._left: list[Place] = []  # where both were looked at when this was left

    @property
    def comparing(self) -> CompareApp:
        return cast(CompareApp, self.app)

    @property
    def unanswered(self) -> str:
        app = self.comparing
        return "" if app.pair is None else app.pair.waits_for(app.sessions)

    def body(self) -> Iterable[Widget]:
        glyphs = self.viewer.glyphs
        yield Stacked(self.viewer.palette, glyphs)
        yield Lines(glyphs, id="chosen")
        header = self.style_of(Role.TITLE)
        parts = Table(id="parts", cursor_style=Style.null(), header_style=header, glyphs=glyphs)
        parts.empty = "No step of both runs is here, whose parts could be compared."
        parts.can_focus = False
        yield parts

    @property
    def lanes(self) -> Stacked:
        return self.query_one(Stacked)

    # What there is to show

    def on_pair_changed(self, message: PairChanged) -> None:
        self.refresh_answer()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def missing(self, sentence: str) -> None:
        self._stack = None
        self.lanes.show(None, None)
        self.query_one("#chosen", Lines).show([])
        self.query_one("#parts", Table).display = False
        self.show_answer(sentence)

    def nothing(self, sentence: str) -> None:
        super().nothing(sentence)
        app, pair = self.comparing, self.comparing.pair
        told = [] if pair is None else absence_lines(app.sessions, pair, self.size.width, app.palette)
        self.lanes.styles.height = 0
        chosen = self.query_one("#chosen", Lines)
        chosen.styles.height, chosen.display = len(told), bool(told)
        chosen.show(told)

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        return (*next_pair(self.viewer), *super().ways_out)

    def build(self) -> None:
        app, pair = self.comparing, self.comparing.pair
        assert pair is not None
        if pair is self._pair and self._stack is not None and self._is_of_sessions(self._stack):
            self._show()
            return
        if pair is self._pair and self._failure:
            self.nothing(self._failure)
            return
        self.missing("Aligning the steps of both.")
        self._pair, self._failure = pair, ""
        sessions = [*app.sessions]

        def make() -> Message:
            sides: list[Lanes] = []
            for place in (pair.base, pair.other):
                analysis = sessions[place].analysis
                assert analysis is not None
                run = app.runs.of(place, analysis)
                if not len(run.wall_ns):
                    return self.Made(pair, None, f"{NAMES[len(sides)]} has no work of a device.")
                sides.append(Lanes.of(sessions[place].name, analysis, run))
            return self.Made(pair, Stack.of(*sides))

        self.in_background("stack", make)

    def _is_of_sessions(self, stack: Stack) -> bool:
        """Whether the traces that are open are those that it was made of."""
        app, pair = self.comparing, self._pair
        assert pair is not None
        places = (pair.base, pair.other)
        return all(app.sessions[at].analysis is side.analysis for at, side in zip(places, stack.sides))

    @on(Made)
    def _take(self, made: Made) -> None:
        if made.pair is not self.comparing.pair:
            return
        if made.stack is None:
            self.failed("stack", made.sentence)
            return
        self._stack, self._device, self._matched = made.stack, 0, None
        self.state = ViewState(Viewport(0, max(made.stack.axis.end, 1)))
        self._look_first()
        self.refresh_answer()

    def failed(self, group: str, sentence: str) -> None:
        if group == "stack":
            self._failure = sentence
            self.nothing(sentence)

    # Where one looks

    @property
    def side(self) -> int:
        """The run that the cursor is in."""
        return int(self.state.place.cursor[0]) if self.state.place.cursor else 1

    @property
    def kind(self) -> Kind:
        """The line that the cursor is on."""
        return Kind(self.state.place.cursor[1]) if self.state.place.cursor else Kind.IDLE

    @property
    def chosen(self) -> tuple[Chosen, Chosen]:
        """What is marked in both."""
        own = Chosen(self.state.row, self.state.gap)
        other = Chosen()
        if self._matched is not None and self._matched[:2] == (self.side, own):
            other = self._matched[2]
        return (own, other) if self.side == 0 else (other, own)

    def session_of(self, side: int) -> Session:
        """The open trace of BASE (0) or OTHER (1)."""
        app, pair = self.comparing, self._pair
        assert pair is not None
        return app.sessions[(pair.base, pair.other)[side]]

    def _look_first(self) -> None:
        """Look at where one looked in the run one came from; where that is all of it, at a step of both."""
        stack, app = self._stack, self.comparing
        assert stack is not None and self._pair is not None
        side = int(app.sessions.index(app.session) == self._pair.other)
        state, place = app.session.state, stack.axis.place
        chosen = Chosen(state.row, state.gap)
        if state.viewport != state.bounds and state.undo_stack:
            viewport = _spanning(*(place(side, time) for time in _edges(state.viewport)))
            time = place(side, state.place.time_ns)
        else:
            viewport, time = self._step_of_most(stack)
        if chosen:
            time, _ = stack.span(side, chosen)
            viewport = viewport.showing(time, time + 1, self.state.bounds)
        cursor = (str(side), self._kind_of(side, chosen).value)
        self.state.place = Place(viewport, chosen.row, chosen.gap, cursor, time)
        self._selected()

    def _step_of_most(self, stack: Stack) -> tuple[Viewport, int]:
        """The step that differs most, and when it begins; the whole axis where there are none."""
        rows = [(step, stack.step_rows(step, 0)) for step in range(min(stack.axis.steps))]
        told = [(abs(found[0].delta_ns), -step) for step, found in rows if found is not None]
        if not told:
            return self.state.bounds, stack.axis.step_start(0)
        step = -max(told)[1]
        return self._step_viewport(stack, step), stack.axis.step_start(step)

    def _step_viewport(self, stack: Stack, step: int) -> Viewport:
        start, end = stack.axis.at[1 + 2 * step : 3 + 2 * step].tolist()
        margin = max((end - start) // MARGIN, 1)
        return Viewport(start - margin, end + margin).within(self.state.bounds)

    def _kind_of(self, side: int, chosen: Chosen) -> Kind:
        """The line that shows something; that of idle time where none does."""
        assert self._stack is not None
        if chosen.row >= 0:
            for kind in self._stack.kinds(self._device):
                if kind is not Kind.IDLE and chosen.row in self._stack.sides[side].band(self._device, kind):
                    return kind
        return Kind.IDLE

    # Drawing

    def _lay_out(self, stack: Stack) -> None:
        """Share the lines of the screen out: the lines of both, what is selected, the parts of the step."""
        room = max(self.size.height - 2, 1)  # the answer and the keys
        lanes = min(lines_of(stack, self._device), room)
        told = min(CHOSEN, room - lanes)
        self.lanes.styles.height = lanes
        chosen, parts = self.query_one("#chosen", Lines), self.query_one("#parts", Table)
        chosen.styles.height = told
        chosen.display, parts.display = told > 0, room - lanes - told > 2

    def _show(self) -> None:
        """Draw again what has changed."""
        stack = self._stack
        if stack is None or not self.is_current:
            return
        self._lay_out(stack)
        self.state.columns = self.lanes.columns
        place = self.state.place
        self.lanes.show(
            stack, View(place.viewport, place.time_ns, self.side, self.kind, self._device, self.chosen)
        )
        self._tell()

    def _tell(self) -> None:
        stack, palette, glyphs = self._stack, self.viewer.palette, self.viewer.glyphs
        assert stack is not None
        step = stack.axis.step_at(self._moment)
        if (step, self._device) != self._told or not self.query_one("#answer", Lines).lines:
            self._told = (step, self._device)
            self.show_answer(step_words(stack, step, self._device, glyphs), self._devices())
            found = stack.step_rows(step, self._device)
            rows = () if found is None else found[1]
            columns = tables.columns(rows, WATERFALL, palette, glyphs, self.size.width)
            told = [column for column in columns if column.key != "changed"]  # one step cannot tell
            self.query_one("#parts", Table).show(told, len(rows))
        pen = Pen(palette, glyphs)
        own = self.chosen[self.side]
        waiting = bool(own) and (self._matched is None or self._matched[:2] != (self.side, own))
        title = (ruled("selected in both", glyphs.rule, self.size.width), self.style_of(Role.RULE))
        lines = chosen_lines(stack, self.chosen, self.side, waiting, pen)
        self.query_one("#chosen", Lines).show([[title], *lines])

    @property
    def _moment(self) -> int:
        """The time whose step is spoken of: the cursor's, or the middle where that is off screen."""
        viewport, time = self.state.viewport, self.state.place.time_ns
        return time if viewport.start_ns <= time < viewport.end_ns else viewport.centre_ns

    def _devices(self) -> list[tuple[str, Style]]:
        count = self._stack.devices if self._stack is not None else 1
        return [(f"{self._device + 1}/{count} tab", self.style_of(Role.DIM))] if count > 1 else []

    def _moved(self) -> None:
        """Draw, and hand on where one looks to both traces."""
        stack, state = self._stack, self.state
        assert stack is not None
        for side in (0, 1):
            span = (stack.axis.moment(side, time) for time in _edges(state.viewport))
            self.session_of(side).state.look(_spanning(*span), "stacked")
        self._show()

    def _selected(self) -> None:
        """What is selected has changed: look for its counterpart once nothing more changes for a while."""
        own = Chosen(self.state.row, self.state.gap)
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        if own and (self._matched is None or self._matched[:2] != (self.side, own)):
            self._resting = self.set_timer(REST_S, self._match)
        self._moved()

    def _match(self) -> None:
        stack, side, own = self._stack, self.side, Chosen(self.state.row, self.state.gap)
        if stack is not None and own:
            self.in_background("match", lambda: self.Found(side, own, stack.counterpart(side, own)))

    @on(Found)
    def _take_counterpart(self, message: Found) -> None:
        self._matched = (message.side, message.chosen, message.counterpart)
        self._show()


def _spanning(start_ns: int, end_ns: int) -> Viewport:
    """A viewport of two moments, a nanosecond at least."""
    return Viewport(start_ns, max(end_ns, start_ns + 1))


def _edges(viewport: Viewport) -> tuple[int, int]:
    return viewport.start_ns, viewport.end_ns
