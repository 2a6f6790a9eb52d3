"""Where one looks at two stacked runs: viewport, cursor and selection, on the axis of both, with undo.

Knows no screen and no app; what is selected in one run and its counterpart in the other are kept together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracetui.ui.comparing.stacked_runs import BandKind, Chosen, StackedRuns
from tracetui.ui.neighbours import gap_beside
from tracetui.ui.state import UndoPoint, Viewport, ViewState

MARGIN = 20  #: one of so many parts of a step stays free at both its ends


class JointView:
    """A stack and where one looks at it. Methods that move return whether anything has changed."""

    def __init__(self, stack: StackedRuns) -> None:
        self.stack = stack
        self.state = ViewState(Viewport(0, max(stack.axis.end, 1)))
        self.device = 0  #: a number among those of the stack
        self._match: tuple[int, Chosen, Chosen] | None = None  # side, what is selected there, its counterpart

    # What is looked at

    @property
    def side(self) -> int:
        """The run that the cursor is in: 0 is BASE, 1 OTHER."""
        return int(self.state.place.cursor[0]) if self.state.place.cursor else 1

    @property
    def kind(self) -> BandKind:
        """The line that the cursor is on."""
        return BandKind(self.state.place.cursor[1]) if self.state.place.cursor else BandKind.IDLE

    @property
    def selected(self) -> Chosen:
        """What is selected in the run that the cursor is in."""
        return Chosen(self.state.row, self.state.gap)

    @property
    def chosen(self) -> tuple[Chosen, Chosen]:
        """What is marked in both: what is selected, and its counterpart where that is known."""
        counterpart = Chosen()
        if self._match is not None and self._match[:2] == (self.side, self.selected):
            counterpart = self._match[2]
        return (self.selected, counterpart) if self.side == 0 else (counterpart, self.selected)

    @property
    def awaits_counterpart(self) -> bool:
        """Whether something is selected whose counterpart was not looked for yet."""
        known = self._match is not None and self._match[:2] == (self.side, self.selected)
        return bool(self.selected) and not known

    @property
    def moment(self) -> int:
        """The time whose step is spoken of: the cursor's, or the middle where that is off screen."""
        return _moment(self.state.viewport, self.state.place.time_ns)

    @property
    def step(self) -> int:
        """The place of the step that is spoken of on the axis; -1 for none."""
        return self.stack.axis.step_at(self.moment)

    def viewport_of(self, side: int) -> Viewport:
        """Return the span of time on screen on the clock of a run."""
        viewport, moment = self.state.viewport, self.stack.axis.moment
        return spanning(moment(side, viewport.start_ns), moment(side, viewport.end_ns))

    def take_counterpart(self, side: int, chosen: Chosen, counterpart: Chosen) -> None:
        """Keep what was found to match what was selected in a run."""
        self._match = side, chosen, counterpart

    # Where one looks first

    def look_as(self, side: int, state: ViewState) -> None:
        """Look where one looked in the trace of a run; at a step of both where that is all of it, or after
        the last step that both have.
        """
        place, chosen = self.stack.axis.place, Chosen(state.row, state.gap)
        if chosen and self._is_past_both(self.stack.span(side, chosen)[0]):
            chosen = Chosen()
        if state.viewport != state.bounds and state.undo_stack:
            viewport = spanning(place(side, state.viewport.start_ns), place(side, state.viewport.end_ns))
            time = place(side, state.place.time_ns)
            if not chosen and self._is_past_both(_moment(viewport, time)):
                viewport, time = self._step_of_most()
        else:
            viewport, time = self._step_of_most()
        if chosen:
            time, _ = self.stack.span(side, chosen)
            viewport = viewport.showing(time, time + 1, self.state.bounds)
        cursor = (str(side), self._kind_of(side, chosen).value)
        self.state.place = UndoPoint(viewport, chosen.row, chosen.gap, cursor, time)

    def _is_past_both(self, time: int) -> bool:
        """Return whether a time of the axis is after the last step that both runs have."""
        base, other = self.stack.axis.steps
        (shared,) = np.nonzero((base >= 0) & (other >= 0))
        return len(shared) > 0 and self.stack.axis.step_at(time) > int(shared[-1])

    def _step_of_most(self) -> tuple[Viewport, int]:
        """Return the step that differs most, and when it begins; the whole axis where there are none."""
        stack = self.stack
        rows = [(step, stack.step_rows(step, 0)) for step in range(len(stack.axis.steps[0]))]
        differences = [(abs(found[0].delta_ns), -step) for step, found in rows if found is not None]
        if not differences:
            return self.state.bounds, stack.axis.step_start(0)
        step = -max(differences)[1]
        return self._step_viewport(step), stack.axis.step_start(step)

    def _step_viewport(self, step: int) -> Viewport:
        start, end = self.stack.axis.at[1 + 2 * step : 3 + 2 * step].tolist()
        margin = max((end - start) // MARGIN, 1)
        return Viewport(start - margin, end + margin).within(self.state.bounds)

    def _kind_of(self, side: int, chosen: Chosen) -> BandKind:
        """Return the line that shows something; that of idle time where none does."""
        if chosen.row >= 0:
            for kind in self.stack.kinds(self.device):
                if kind is not BandKind.IDLE and chosen.row in self.stack.sides[side].band(self.device, kind):
                    return kind
        return BandKind.IDLE

    # Moving

    def fit_selection(self) -> bool:
        """Fill the screen with what is selected and its counterpart; without a selection with the step."""
        spans = [self.stack.span(side, chosen) for side, chosen in enumerate(self.chosen) if chosen]
        if spans:
            start, end = min(start for start, _ in spans), max(end for _, end in spans)
            margin = max((end - start) // 40, 1)
            self.state.look(Viewport(start - margin, end + margin))
        elif self.step >= 0:
            self.state.look(self._step_viewport(self.step))
        return bool(spans) or self.step >= 0

    def go_beside_step(self, by: int) -> bool:
        """Show the next step, or the one before (-1), as this one is shown; return False for none."""
        axis, here, step = self.stack.axis, self.state.place.time_ns, self.step
        if not 0 <= step + by < len(axis.steps[0]):
            return False
        moved = axis.step_start(step + by) - (axis.step_start(step) if step >= 0 else self.moment)
        viewport = self.state.viewport.pan(moved, self.state.bounds)
        time = min(here + moved, axis.end) if here == self.moment else axis.step_start(step + by)
        self.state.go(replace(self.state.place, viewport=viewport, time_ns=time, row=-1, gap=-1), "step")
        return True

    def go_beside(self, by: int) -> bool:
        """Select the next slice or gap of the line, or the one before (-1)."""
        side, lanes = self.side, self.stack.sides[self.side]
        time = self.stack.axis.moment(side, self.state.place.time_ns)
        if self.kind is BandKind.IDLE:
            device = lanes.device(self.device)
            chosen = Chosen(gap=gap_beside(lanes.picture, device, self.state.gap, time, by))
        else:
            chosen = Chosen(row=lanes.band(self.device, self.kind).beside(self.state.row, time, by))
        return self.choose(side, chosen, self.kind)

    def choose(self, side: int, chosen: Chosen, kind: BandKind) -> bool:
        """Select something of a run and bring it on screen; nothing changes where it is nothing."""
        if not chosen:
            return False
        start, end = self.stack.span(side, chosen)
        viewport = self.state.viewport.showing(start, end, self.state.bounds)
        self.state.go(UndoPoint(viewport, chosen.row, chosen.gap, (str(side), kind.value), start), "select")
        return True

    def choose_gap(self, side: int, gap: int) -> bool:
        """Select a gap of a run, on its device, in the middle third of the screen."""
        lanes, chosen = self.stack.sides[side], Chosen(gap=gap)
        device = int(lanes.analysis.gaps.device[gap])
        if device in lanes.devices:
            self.device = lanes.devices.index(device)
        self.state.show(*self.stack.span(side, chosen))
        return self.choose(side, chosen, BandKind.IDLE)

    def go_to_line(self, side: int, kind: BandKind, time_ns: int, length_ns: int) -> None:
        """Put the cursor on a line, and select what is there in a stretch of time."""
        lanes, moment = self.stack.sides[side], self.stack.axis.moment
        start, end = moment(side, time_ns), moment(side, time_ns + length_ns)
        if start == end:  # the run stands still there: its step is over
            chosen = Chosen()
        elif kind is BandKind.IDLE:
            chosen = Chosen(gap=lanes.picture.gap_at(lanes.device(self.device), start))
        else:
            chosen = Chosen(row=lanes.band(self.device, kind).at(start, end))
        cursor = (str(side), kind.value)
        place = replace(self.state.place, row=chosen.row, gap=chosen.gap, cursor=cursor, time_ns=time_ns)
        self.state.go(place, "select")

    def flip(self) -> None:
        """Go to the other run: to the counterpart of what is selected, where there is one."""
        side = 1 - self.side
        selected, counterpart = self.chosen[1 - side], self.chosen[side]
        if counterpart:
            self.take_counterpart(side, counterpart, selected)
            self.choose(side, counterpart, self.kind)
        else:
            cursor = (str(side), self.kind.value)
            self.state.go(replace(self.state.place, row=-1, gap=-1, cursor=cursor), "select")

    def go_to_next_device(self, by: int) -> bool:
        """Show the next device of both; return False where there is one only."""
        if self.stack.devices < 2:
            return False
        self.device = (self.device + by) % self.stack.devices
        self.state.go(replace(self.state.place, row=-1, gap=-1), "device")
        return True


def _moment(viewport: Viewport, time_ns: int) -> int:
    """Return a time that is on screen, else the middle of it."""
    return time_ns if viewport.start_ns <= time_ns < viewport.end_ns else viewport.centre_ns


def spanning(start_ns: int, end_ns: int) -> Viewport:
    """Return a viewport of two moments, a nanosecond at least."""
    return Viewport(start_ns, max(end_ns, start_ns + 1))
