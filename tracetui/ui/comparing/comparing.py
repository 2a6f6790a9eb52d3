"""Comparing in the viewer: which two traces, from a row to its instance, from one trace to the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from textual.message import Message

from tracetui.language import clauses, sentences, translate, wording
from tracetui.ui.comparing.pair import ComparedPair, Runs
from tracetui.ui.failures import failure
from tracetui.ui.messages import PairChanged, ProgressChanged, SelectionChanged, TraceChanged
from tracetui.ui.screen_specs import ScreenScope, is_paired, joint_mode, screens_of_scope
from tracetui.ui.session import Session
from tracetui.ui.viewer import FIRST, Viewer

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.comparison.counterpart import Counterpart

COMPARE, STACKED = "compare", "stacked"
_ONE = "One trace is open: tracetui A B opens two, to compare them."
_NOTHING = "A trace has no work of a device: nothing tells what matches."


class Flipped(NamedTuple):
    """The counterpart of a place in the other trace."""

    there: Session
    span: tuple[int, int] | None  #: where to look, ns on its clock; None: where one looked before
    found: Counterpart | None
    sentence: str


class Comparing:
    """Which two of the open traces are compared: those shown last, in the order in which they were opened."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.runs = Runs(viewer.options.all_steps)
        self.pair: ComparedPair | None = None
        self._before = -1  # the trace that was looked at before the one that is now
        self._origin = FIRST  # the screen from which the two were stacked

    def show(self, screen: str) -> None:
        """Show a screen of two traces: of the last two, unless two are compared already."""
        viewer = self.viewer
        if len(viewer.sessions) < 2:
            viewer.show_status(_ONE)
        elif viewer.shown != screen:
            viewer.look_at(viewer.session)
            origin = viewer.shown
            if screen == STACKED:
                self._origin = origin
            if not is_paired(origin) or self.pair is None:
                self.choose(*self.last_two())
            if screen == STACKED and self.pair is not None:
                for place in (self.pair.base, self.pair.other):
                    viewer.read(viewer.sessions[place])
            viewer.switch_mode(joint_mode(screen))

    def leave_stacked(self) -> None:
        """Go back to the screen from which the two were stacked, of the run that is looked at."""
        self.viewer.action_go(self._origin)

    def take_shown(self, before: int, place: int) -> None:
        """Remember which trace was looked at before the one that is shown now."""
        if place != before:
            self._before = before

    def partner_of(self, session: Session) -> Session | None:
        """Return the other one of the two that a screen shows; None where it shows no two."""
        place = self.viewer.sessions.index(session)
        if is_paired(self.viewer.shown) and self.pair is not None and place in self.pair:
            return self.viewer.sessions[self.pair.partner(place)]
        return None

    def compare_next(self, by: int) -> None:
        """Compare BASE with the next of the open traces, or with the one before (-1)."""
        assert self.pair is not None
        base, count = self.pair.base, len(self.viewer.sessions)
        if count == 2:
            self.viewer.show_status("Both open traces are compared here: T shows one, enter opens a row.")
        else:
            places = ((self.pair.other + by * step) % count for step in range(1, count))
            self.choose(base, next(place for place in places if place != base))

    def hand_on(self, session: Session, message: type[Message]) -> None:
        """Tell the screens of two what has changed in one of them."""
        if self.pair is None or self.viewer.sessions.index(session) not in self.pair:
            return
        if message in (TraceChanged, ProgressChanged):
            self.tell()
        elif message is SelectionChanged and self.viewer.shown == STACKED:
            self.viewer.tell_joint(STACKED, SelectionChanged)

    def tell(self) -> None:
        """Tell the screens of two that other traces are compared, or that more is known of them."""
        for spec in screens_of_scope(ScreenScope.PAIR):
            self.viewer.tell_joint(spec.name, PairChanged)

    def last_two(self) -> tuple[int, int]:
        """Return the trace that is shown and the one before, else the next one, in the order of opening."""
        sessions = self.viewer.sessions
        place = sessions.index(self.viewer.session)
        before = self._before if self._before not in (-1, place) else (place + 1) % len(sessions)
        return min(place, before), max(place, before)

    def choose(self, base: int, other: int) -> None:
        """Have two traces read, if they are not yet, and the others let go."""
        viewer = self.viewer
        if self.pair is None or (self.pair.base, self.pair.other) != (base, other):
            self.pair = ComparedPair(base, other)
        if viewer.sessions.index(viewer.session) not in self.pair:
            viewer.look_at(viewer.sessions[other])
        for place, session in enumerate(viewer.sessions):
            if place not in self.pair and session.is_open:
                viewer.let_go(session)
        if self.pair.comparison is None:
            for place in (base, other):
                viewer.read(viewer.sessions[place])
        self.tell()

    # From a row of a table to where it is

    def show_row(self, place: int, row: int, span: tuple[int, int] | None, of_idle: bool) -> None:
        """Show a slice of one of the two, the idle time it ends, or a span of time, ns on its clock."""
        session = self.viewer.sessions[place]
        self.viewer.show_session(session, FIRST)
        if session.analysis is None:
            self.viewer.show_status(
                translate("{name} is read again: then enter opens the row.", name=session.name)
            )
        else:
            _look_at(session, session.analysis, row, span, of_idle)
            self.viewer.broadcast(session, SelectionChanged)

    def look_at_row(self, place: int, row: int, span: tuple[int, int] | None, of_idle: bool) -> None:
        """Look at the same without showing it."""
        session = self.viewer.sessions[place]
        self.viewer.look_at(session)
        if session.analysis is not None:
            _look_at(session, session.analysis, row, span, of_idle)

    # From one trace to the other

    def flip(self) -> None:
        """Show the other trace at the same step and place in it, with the same span of time."""
        viewer = self.viewer
        if len(viewer.sessions) < 2:
            viewer.show_status(_ONE)
            return
        here = viewer.session
        place = viewer.sessions.index(here)
        other = ComparedPair(*self.last_two()).partner(place)
        there = viewer.sessions[other]
        viewer.read(there)
        if here.analysis is None or there.analysis is None:
            waits = here if here.analysis is None else there
            reason = translate("{name}: {reason}", name=waits.name, reason=wording(waits.unanswered))
            viewer.show_status(sentences((reason, translate("Then \\ flips."))))
            return
        sides = (place, here.analysis), (other, there.analysis)
        whole = here.state.viewport == here.state.bounds
        row, viewport = here.state.row, here.state.viewport
        time = _anchor(here, here.analysis)

        def find() -> Flipped:
            from tracetui.comparison.counterpart import (  # one trace needs none of it
                CounterpartSide,
                counterpart,
            )

            side, other_side = (
                CounterpartSide(analysis, self.runs.of(place, analysis)) for place, analysis in sides
            )
            match = counterpart(side, other_side, time, row)
            if match is None:
                return Flipped(there, None, None, _NOTHING)
            numbers, other_numbers = (
                of.run.walls.number[of.run.walls.host_places] for of in (side, other_side)
            )
            step, of_step = int(other_numbers[match.step]), int(numbers[match.asked_step])
            start = match.time_ns - (time - viewport.start_ns)
            matched = translate("the matching slice") if match.row >= 0 else translate("the same place")
            where = translate("step {number}", number=step)
            if step != of_step:
                where = translate("step {number} for step {other}", number=step, other=of_step)
            span = None if whole else (start, start + viewport.span_ns)
            words = clauses((where, matched) if step >= 0 else (matched,))
            return Flipped(there, span, match, translate("{name}: {reason}", name=there.name, reason=words))

        viewer.in_thread(lambda: viewer.call_later(self._take_flip, _or_failure(find, there)))

    def _take_flip(self, flipped: Flipped) -> None:
        """Show the counterpart that was found."""
        viewer, there = self.viewer, flipped.there
        if there not in viewer.sessions or there is viewer.session:
            return
        if flipped.found is not None:
            viewer.show_session(there, "", flipped.span)
            if flipped.found.row >= 0:
                there.select(flipped.found.row)
            else:
                there.state.go(replace(there.state.place, row=-1, gap=-1, time_ns=flipped.found.time_ns))
            viewer.broadcast(there, SelectionChanged)
        viewer.show_status(flipped.sentence)


def _or_failure(find: Callable[[], Flipped], there: Session) -> Flipped:
    try:
        return find()
    except Exception as error:  # the rest of the viewer is of use without it
        sentence = failure(error, "Matching the two traces", "matching the two traces")
        return Flipped(there, None, None, sentence)


def _anchor(session: Session, analysis: Analysis) -> int:
    """Return the time that stays where it is: of the selection, the first step on screen, or the middle."""
    state, slices = session.state, analysis.trace.slices
    viewport = state.viewport
    if state.row >= 0:
        return int(slices.start[state.row])
    begins = analysis.host_spans[:, 0]
    inside = begins[(begins >= viewport.start_ns) & (begins < viewport.end_ns)]
    return int(inside[0]) if len(inside) else viewport.centre_ns


def _look_at(
    session: Session, analysis: Analysis, row: int, span: tuple[int, int] | None, of_idle: bool
) -> None:
    if row >= 0:
        (go_to_idle if of_idle else go_to_slice)(session, analysis, row)
    elif span is not None:
        session.state.show(*span)


def go_to_idle(session: Session, analysis: Analysis, row: int) -> None:
    """Select the gap with the idle time that a task ends; before all gaps show the step until the task."""
    if session.go_to_gap(gap_ended_by(analysis, row)):
        return
    go_to_slice(session, analysis, row)
    end = int(analysis.trace.slices.start[row])
    begins = analysis.host_spans[:, 0]
    before = begins[begins < end]
    if len(before):
        session.state.show(int(before[-1]), end)


def go_to_slice(session: Session, analysis: Analysis, row: int) -> None:
    """Select a slice in the middle of the screen."""
    slices = analysis.trace.slices
    session.state.show(int(slices.start[row]), int(slices.end[row]))
    session.select(row)


def gap_ended_by(analysis: Analysis, row: int) -> int:
    """Return the gap with the idle time that a task ends; -1 where it ends none."""
    device, time = analysis.trace.track_of(row).device, int(analysis.trace.slices.start[row])
    (found,) = np.nonzero((analysis.gaps.start < time) & (time <= analysis.gaps.end))
    names = [analysis.devices[index].device for index in analysis.gaps.device[found].tolist()]
    return next((gap for gap, name in zip(found.tolist(), names) if name == device), -1)
