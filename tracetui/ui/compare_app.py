"""What compares in the viewer: which two traces, from a row to its instance, from one trace to the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from textual.message import Message

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.search import track_of_rows
from tracetui.ui.comparing.pair import Pair, Runs
from tracetui.ui.failures import failure
from tracetui.ui.messages import ProgressChanged, SelectionChanged, TraceChanged
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screen_specs import Scope, is_of_scope, screens_of_scope
from tracetui.ui.session import Session
from tracetui.ui.viewer import FIRST, Viewer

if TYPE_CHECKING:
    from tracetui.comparison.counterpart import Counterpart

COMPARE, STACKED = "compare", "stacked"
_ONE = "One trace is open: tracetui A B opens two, to compare them."
_NOTHING = "A trace has no work of a device: nothing tells what matches."


def is_paired(screen: str) -> bool:
    """Return whether a screen shows two traces."""
    return is_of_scope(screen, Scope.PAIR)


def is_joint(screen: str) -> bool:
    """Return whether a screen is of no trace alone."""
    return is_of_scope(screen, Scope.PAIR) or is_of_scope(screen, Scope.JOB)


def joint_mode(screen: str) -> str:
    """Return the mode of a screen that is of no trace alone."""
    return f"{screen}@0"


class PairChanged(Message, bubble=False):
    """Other traces are compared, or more is known of them: from the app to its screen."""


@dataclass
class Flipped(Message, bubble=False):
    """The counterpart of a place is found: from a thread to the app."""

    there: Session
    span: tuple[int, int] | None  #: where to look, ns on its clock; None: where one looked before
    found: Counterpart | None
    sentence: str


class CompareApp(Viewer):
    """A viewer of which two traces are compared: those shown last, in the order in which they were opened."""

    def __init__(self, sessions: Sequence[Session], options: ViewerOptions | None = None) -> None:
        super().__init__(sessions, options)
        self.runs = Runs()
        self.pair: Pair | None = None
        self._at = 0  # the trace that was looked at last
        self._before = -1  # the one before
        self._from = FIRST  # the screen from which the two were stacked

    @property
    def session(self) -> Session:
        return self.sessions[self._at] if is_joint(self.shown) else super().session

    def has_screen(self, screen: str) -> bool:
        return len(self.sessions) > 1 if is_paired(screen) else super().has_screen(screen)

    def action_go(self, screen: str) -> None:
        if not is_paired(screen):
            super().action_go(screen)
        elif len(self.sessions) < 2:
            self.show_status(_ONE)
        elif self.shown != screen:
            self._at, before = self.sessions.index(self.session), self.shown
            if screen == STACKED:
                self._from = before
            if not is_paired(before) or self.pair is None:
                self._compare(*self._last_two())
            if screen == STACKED and self.pair is not None:
                for place in (self.pair.base, self.pair.other):
                    self.read(self.sessions[place])
            self.switch_mode(joint_mode(screen))

    def leave_stacked(self) -> None:
        """Go back to the screen from which the two were stacked, of the run that is looked at."""
        self.action_go(self._from)

    def look_at(self, session: Session) -> None:
        """Look at one of the two that are shown at once: what works everywhere is about it."""
        self._at = self.sessions.index(session)

    def tell_joint(self, screen: str, message: type[Message]) -> None:
        """Post a message to a screen that is of no trace alone, if it was shown."""
        for mode, screens in self.screens_by_mode():
            if mode == joint_mode(screen):
                for each in screens:
                    each.post_message(message())

    def show_session(self, session: Session, screen: str = "", span: tuple[int, int] | None = None) -> None:
        before = self.sessions.index(self.kept_beside(session))
        super().show_session(session, screen or (FIRST if is_joint(self.shown) else ""), span)
        self._at = self.sessions.index(session)
        if self._at != before:
            self._before = before

    def kept_beside(self, session: Session) -> Session:
        """The one before; from a screen of two, of these two the other one."""
        place = self.sessions.index(session)
        if is_paired(self.shown) and self.pair is not None and place in self.pair:
            return self.sessions[self.pair.partner(place)]
        return super().kept_beside(session)

    def action_session(self, by: int) -> None:
        """Show the next of the open traces; on the screen that compares, compare with the next."""
        if not is_paired(self.shown) or self.pair is None:
            super().action_session(by)
        elif len(self.sessions) == 2:
            self.show_status("Both open traces are compared here: T shows one, enter opens a row.")
        else:
            base, count = self.pair.base, len(self.sessions)
            places = ((self.pair.other + by * step) % count for step in range(1, count))
            self._compare(base, next(place for place in places if place != base))

    def is_told(self, mode: str, session: Session) -> bool:
        """A screen that is of no trace alone is told by `tell_joint`."""
        return not is_joint(mode.partition("@")[0]) and super().is_told(mode, session)

    def broadcast(self, session: Session, message: type[Message]) -> None:
        super().broadcast(session, message)
        if self.pair is None or self.sessions.index(session) not in self.pair:
            return
        if message in (TraceChanged, ProgressChanged):
            self._tell_pair()
        elif message is SelectionChanged and self.shown == STACKED:
            self.tell_joint(STACKED, SelectionChanged)

    def _tell_pair(self) -> None:
        for spec in screens_of_scope(Scope.PAIR):
            self.tell_joint(spec.name, PairChanged)

    def _last_two(self) -> tuple[int, int]:
        """The trace that is shown and the one before, else the next one, in the order of opening."""
        at = self.sessions.index(self.session)
        before = self._before if self._before not in (-1, at) else (at + 1) % len(self.sessions)
        return min(at, before), max(at, before)

    def _compare(self, base: int, other: int) -> None:
        """Have two traces read, if they are not yet, and the others let go."""
        if self.pair is None or (self.pair.base, self.pair.other) != (base, other):
            self.pair = Pair(base, other)
        if self._at not in self.pair:
            self._at = other
        for place, session in enumerate(self.sessions):
            if place not in self.pair and session.is_open:
                self._let_go(session)
        if self.pair.comparison is None:
            for place in (base, other):
                self.read(self.sessions[place])
        self._tell_pair()

    # From a row of a table to where it is

    def show_slice(self, place: int, row: int) -> None:
        """Show a slice of one of the two traces."""
        self._show_there(place, lambda session, analysis: _go_to_slice(session, analysis, row))

    def show_idle(self, place: int, row: int) -> None:
        """Show the gap with the idle time that a task of one of the two traces ends."""
        self._show_there(place, lambda session, analysis: _go_to_idle(session, analysis, row))

    def show_span(self, place: int, start_ns: int, end_ns: int) -> None:
        """Show a span of time of one of the two traces, ns on its clock."""
        self._show_there(place, lambda session, _: session.state.show(start_ns, max(end_ns, start_ns + 1)))

    def look_at_row(self, place: int, row: int, span: tuple[int, int] | None, of_idle: bool) -> None:
        """Look in one of the two, without showing it: at a slice, the idle time it ends, or a span."""
        session = self.sessions[place]
        self._at = place
        if session.analysis is None:
            return
        if row >= 0:
            (_go_to_idle if of_idle else _go_to_slice)(session, session.analysis, row)
        elif span is not None:
            session.state.show(span[0], max(span[1], span[0] + 1))

    def _show_there(self, place: int, go: Callable[[Session, Analysis], object]) -> None:
        session = self.sessions[place]
        self.show_session(session, FIRST)
        if session.analysis is None:
            self.show_status(f"{session.name} is read again: then enter opens the row.")
        else:
            go(session, session.analysis)
            self.broadcast(session, SelectionChanged)

    # From one trace to the other

    def action_flip(self) -> None:
        """Show the other trace at the same step and place in it, with the same span of time."""
        if len(self.sessions) < 2:
            self.show_status(_ONE)
            return
        here, places = self.session, self._last_two()
        pair = Pair(*places)
        mine = self.sessions.index(here)
        theirs = pair.partner(mine)
        there = self.sessions[theirs]
        self.read(there)
        sides = (here.analysis, there.analysis)
        if sides[0] is None or sides[1] is None:
            waits = here if here.analysis is None else there
            self.show_status(f"{waits.name}: {waits.unanswered} Then \\ flips.")
            return
        work = (mine, sides[0]), (theirs, sides[1])
        whole = here.state.viewport == here.state.bounds
        row, viewport = here.state.row, here.state.viewport
        time = _anchor(here, sides[0])

        def flip() -> Flipped:
            from tracetui.comparison.counterpart import (  # one trace needs none of it
                CounterpartSide,
                counterpart,
            )

            one, two = (CounterpartSide(analysis, self.runs.of(place, analysis)) for place, analysis in work)
            found = counterpart(one, two, time, row)
            if found is None:
                return Flipped(there, None, None, _NOTHING)
            numbers = [side.run.walls.number[side.run.walls.host] for side in (one, two)]
            step, of = int(numbers[1][found.step]), int(numbers[0][found.of_step])
            start = found.time_ns - (time - viewport.start_ns)
            matched = "the matching slice" if found.row >= 0 else "the same place"
            where = f"step {step}, {matched}" if step == of else f"step {step} for step {of}, {matched}"
            span = None if whole else (start, start + viewport.span_ns)
            return Flipped(there, span, found, f"{there.name}: {where if step >= 0 else matched}")

        self.in_thread(lambda: self.post_message(_or_sentence(flip, there)))

    def on_flipped(self, message: Flipped) -> None:
        there = message.there
        if there not in self.sessions or there is self.session:
            return
        if message.found is not None:
            self.show_session(there, "", message.span)
            if message.found.row >= 0:
                there.select(message.found.row)
            else:
                there.state.go(replace(there.state.place, row=-1, gap=-1, time_ns=message.found.time_ns))
            self.broadcast(there, SelectionChanged)
        self.show_status(message.sentence)


def _or_sentence(flip: Callable[[], Flipped], there: Session) -> Flipped:
    try:
        return flip()
    except Exception as error:  # the rest of the viewer is of use without it
        matching = "matching the two traces"
        return Flipped(there, None, None, failure(error, matching.capitalize(), matching))


def _anchor(session: Session, analysis: Analysis) -> int:
    """What stays where it is on screen: the selection, the first step that begins there, or the middle."""
    state, slices = session.state, analysis.trace.slices
    viewport = state.viewport
    if state.row >= 0:
        return int(slices.start[state.row])
    begins = analysis.host_spans[:, 0]
    inside = begins[(begins >= viewport.start_ns) & (begins < viewport.end_ns)]
    return int(inside[0]) if len(inside) else viewport.centre_ns


def _go_to_idle(session: Session, analysis: Analysis, row: int) -> None:
    """Select the gap with the idle time that a task ends; before all gaps show the step until the task."""
    if session.go_to_gap(gap_ended_by(analysis, row)):
        return
    _go_to_slice(session, analysis, row)
    end = int(analysis.trace.slices.start[row])
    begins = analysis.host_spans[:, 0]
    before = begins[begins < end]
    if len(before):
        session.state.show(int(before[-1]), end)


def _go_to_slice(session: Session, analysis: Analysis, row: int) -> None:
    """Select a slice in the middle of the screen."""
    slices = analysis.trace.slices
    start, end = int(slices.start[row]), int(slices.end[row])
    session.state.show(start, max(end, start + 1))
    session.select(row)


def gap_ended_by(analysis: Analysis, row: int) -> int:
    """Return the gap with the idle time that a task ends; -1 where it ends none."""
    track = int(track_of_rows(analysis.trace, np.array([row], np.int64))[0])
    device, time = analysis.trace.tracks[track].device, int(analysis.trace.slices.start[row])
    (found,) = np.nonzero((analysis.gaps.start < time) & (time <= analysis.gaps.end))
    names = [analysis.devices[index].device for index in analysis.gaps.device[found].tolist()]
    return next((gap for gap, name in zip(found.tolist(), names) if name == device), -1)
