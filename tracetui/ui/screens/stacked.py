"""Two of the open traces one above the other, their steps aligned: what keys and the mouse do."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType

from tracetui.ui.actions import bindings
from tracetui.ui.compare_app import STACKED
from tracetui.ui.comparing.bands import Kind
from tracetui.ui.comparing.stack import Chosen
from tracetui.ui.messages import SelectionChanged
from tracetui.ui.neighbours import gap_beside
from tracetui.ui.screens.stacked_view import StackedView
from tracetui.ui.state import Place, Viewport
from tracetui.ui.viewer import FIRST
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.stacked import Stacked

REST_S = 0.05  #: without a key after which the counterpart of what is selected is looked for
CHOSEN = 4  #: lines that tell what is selected
MARGIN = 20  #: one of so many parts of a step stays free at both its ends


class StackedScreen(StackedView):
    """Moving moves both."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("stacked"),
        Binding("escape", "leave", show=False),
    ]

    # What keys do

    def action_pan(self, by: int) -> None:
        if self._stack is not None and self.state.pan_parts(by):
            self._moved()

    def action_to_end(self, way: int) -> None:
        """Show the start (way -1) or the end (1) of the steps; the span stays."""
        if self._stack is not None and self.state.pan_to_end(way):
            self._moved()

    def action_zoom(self, by: int) -> None:
        self._zoom(by, self._moment)

    def _zoom(self, by: int, anchor_ns: int) -> None:
        if self._stack is not None and self.state.zoom_levels(by, anchor_ns):
            self._moved()

    def action_show_all(self) -> None:
        if self._stack is not None and self.state.look(self.state.bounds):
            self._moved()

    def action_fit_selection(self) -> None:
        """Fill the screen with what is selected, its counterpart too; without one with the step."""
        stack = self._stack
        if stack is None:
            return
        chosen = [(side, each) for side, each in enumerate(self.chosen) if each]
        if not chosen:
            step = stack.axis.step_at(self._moment)
            if step >= 0:
                self.state.look(self._step_viewport(stack, step))
                self._moved()
            return
        starts, ends = zip(*(stack.span(side, each) for side, each in chosen))
        margin = max((max(ends) - min(starts)) // 40, 1)
        self.state.look(Viewport(min(starts) - margin, max(ends) + margin))
        self._moved()

    def undo(self) -> None:
        if self._stack is not None and self.state.undo():
            self._selected()

    def redo(self) -> None:
        if self._stack is not None and self.state.redo():
            self._selected()

    def action_beside_step(self, by: int) -> None:
        """Show the next step as this one is shown."""
        stack = self._stack
        if stack is None:
            return
        axis, here = stack.axis, self.state.place.time_ns
        step = axis.step_at(self._moment)
        if not 0 <= step + by < max(axis.steps):
            self.viewer.show_status("There are no more steps." if any(axis.steps) else "There are no steps.")
            return
        moved = axis.step_start(step + by) - (axis.step_start(step) if step >= 0 else self._moment)
        viewport = self.state.viewport.pan(moved, self.state.bounds)
        time = min(max(here + moved, 0), axis.end) if here == self._moment else axis.step_start(step + by)
        self.state.go(replace(self.state.place, viewport=viewport, time_ns=time, row=-1, gap=-1), "step")
        self._selected()

    def action_event(self, by: int) -> None:
        stack, state, side = self._stack, self.state, self.side
        if stack is None:
            return
        lanes, time = stack.sides[side], stack.axis.moment(side, state.place.time_ns)
        if self.kind is Kind.IDLE:
            gap = gap_beside(lanes.picture, lanes.device(self._device), state.gap, time, by)
            self._choose(side, Chosen(gap=gap), self.kind)
        else:
            band = lanes.band(self._device, self.kind)
            self._choose(side, Chosen(row=band.beside(state.row, time, by)), self.kind)

    def _choose(self, side: int, chosen: Chosen, kind: Kind) -> None:
        """Select something and bring it on screen; nothing changes where it is nothing."""
        stack, state = self._stack, self.state
        if stack is None or not chosen:
            return
        start, end = stack.span(side, chosen)
        viewport = state.viewport.showing(start, end, state.bounds)
        state.go(Place(viewport, chosen.row, chosen.gap, (str(side), kind.value), start), "select")
        self._selected()

    def action_track(self, by: int) -> None:
        """The line above or below, at the same time; from one run to the other."""
        lines = [place for place in self.lanes.places if isinstance(place.part, Kind)]
        at = next((at for at, (side, part) in enumerate(lines) if (side, part) == (self.side, self.kind)), 0)
        if lines:
            side, part = lines[min(max(at + by, 0), len(lines) - 1)]
            assert isinstance(part, Kind)
            self._to_line(side, part, self.state.place.time_ns, 1)

    def _to_line(self, side: int, kind: Kind, time_ns: int, length_ns: int) -> None:
        """Put the cursor on a line, and select what is there in a stretch of time."""
        stack = self._stack
        if stack is None:
            return
        lanes = stack.sides[side]
        start, end = (stack.axis.moment(side, time) for time in (time_ns, time_ns + length_ns))
        if kind is Kind.IDLE:
            chosen = Chosen(gap=lanes.picture.gap_at(lanes.device(self._device), start))
        else:
            chosen = Chosen(row=lanes.band(self._device, kind).at(start, end))
        if start == end:  # it stands still there: its step is over
            chosen = Chosen()
        place = replace(self.state.place, row=chosen.row, gap=chosen.gap, cursor=(str(side), kind.value))
        self.state.go(replace(place, time_ns=time_ns), "select")
        self._selected()

    def action_flip(self) -> None:
        """Make the other run the one that the cursor is in, at the counterpart of what is selected."""
        side = 1 - self.side
        if self._stack is None:
            return
        own, there = self.chosen[1 - side], self.chosen[side]
        if there:
            self._matched = (side, there, own)
            self._choose(side, there, self.kind)
        else:
            cursor = (str(side), self.kind.value)
            self.state.go(replace(self.state.place, row=-1, gap=-1, cursor=cursor), "select")
            self._selected()
        self.comparing.look_at(self.session_of(side))

    def action_next_view(self, by: int = 1) -> None:
        """The next device of both."""
        if self._stack is None or self._stack.devices < 2:
            self.viewer.show_status("There is one device.")
            return
        self._device = (self._device + by) % self._stack.devices
        self.state.go(replace(self.state.place, row=-1, gap=-1), "device")
        self._selected()

    def action_nth_gap(self, rank: int) -> None:
        self.viewer.action_nth_gap(rank)

    def on_selection_changed(self, message: SelectionChanged) -> None:
        """A gap was gone to in the run that the cursor is in."""
        stack, side = self._stack, self.side
        if stack is None or not self.is_current:  # a panel lies over it
            return
        gap = self.session_of(side).state.gap
        if gap >= 0:
            lanes = stack.sides[side]
            device = int(lanes.analysis.gaps.device[gap])
            if device in lanes.devices:
                self._device = lanes.devices.index(device)
            chosen = Chosen(gap=gap)
            self.state.show(*stack.span(side, chosen))
            self._choose(side, chosen, Kind.IDLE)

    # The way out

    def action_activate(self) -> None:
        """Open what is selected in its own timeline."""
        if self._stack is not None:
            self._hand_on(self.side)
            self.comparing.show_session(self.session_of(self.side), FIRST)

    def _hand_on(self, side: int) -> None:
        """Select in a trace what is selected of it here."""
        session, chosen, own = self.session_of(side), self.chosen[side], self.session_of(side).state
        if self._stack is None:
            return
        time = self._stack.axis.moment(side, self.state.place.time_ns)
        viewport = own.viewport
        if chosen.gap >= 0:
            session.go_to_gap(chosen.gap)
            own.look(viewport, own.burst)
        elif chosen.row >= 0:
            session.select(chosen.row)
        else:
            own.go(replace(own.place, row=-1, gap=-1, time_ns=time), "stacked")

    def on_screen_suspend(self) -> None:
        super().on_screen_suspend()
        app = self.comparing
        if self._stack is not None and self._pair is app.pair and app.shown != STACKED:
            for side in (0, 1):
                self._hand_on(side)
                app.broadcast(self.session_of(side), SelectionChanged)
            self._left = [self.session_of(side).state.place for side in (0, 1)]

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        super().on_screen_resume(event)
        app = self.comparing
        if self._stack is not None and self._pair is app.pair and app.session in map(self.session_of, (0, 1)):
            if [self.session_of(side).state.place for side in (0, 1)] != self._left:
                self._look_first()  # somebody has looked elsewhere meanwhile
            elif app.session is not self.session_of(self.side):
                self.action_flip()
            self._show()

    def copy_text(self) -> str:
        """What is said of what is selected in both."""
        return self.query_one("#chosen", Lines).text if any(self.chosen) else ""

    def action_leave(self) -> None:
        self.comparing.leave_stacked()

    # The mouse

    @on(Stacked.Pressed)
    def _pressed(self, message: Stacked.Pressed) -> None:
        message.stop()
        part = message.place.part
        kind = part if isinstance(part, Kind) else self.kind
        self._to_line(message.place.side, kind, message.time_ns, message.column_ns)

    @on(Stacked.Wheeled)
    def _wheeled(self, message: Stacked.Wheeled) -> None:
        message.stop()
        if message.sideways:
            self.action_pan(message.turn)
        else:
            self._zoom(-message.turn, message.time_ns)
