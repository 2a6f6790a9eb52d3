"""The Python behind operators: which row holds an operator's call stack, which frame it ran in.

An operator without a call stack takes that of the operator around it, unless that is a step. One of the
backward pass takes the stack of its forward operator, found by the arrow between them: the arrow ends at the
operator, at one around it, or, for `autograd::engine::evaluate_function: XBackward0` itself, at its child
`XBackward0`. One that another thread handed its work likewise takes the stack of the giver: MindSpore's
thread of Python hands it to a front end, that to a back end, and that to a thread that launches.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.search import distinct, of_category, pick, rows_by_track
from tracetui.arrays import Bools, Int32s, Int64s, first_equal
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Family, Trace, Track
from tracetui.trace.nesting import enclosing
from tracetui.trace.order import numbered

#: Threads that work goes through, from that of Python to the one that launches.
MOST_RELAYS = 8


class Handoffs(NamedTuple):
    """How work came to the thread that does it; columns of equal length, -1 where nobody handed it over."""

    stage: Int64s  #: rows: in what the last thread did it
    giver: Int64s  #: rows: what ran on the first thread that handed it over
    time: Int64s  #: ns: when that was


@dataclass(frozen=True, eq=False)
class CallSites:
    """Where operators were called from, as columns of equal length; -1 where not found."""

    forward: Int64s  #: rows: the forward operator of a backward one
    stack: Int32s  #: string of the `Call stack`, of the forward operator where there is one
    #: rows: the innermost python_function slice it started in, of the forward operator likewise
    frame: Int64s
    backward: Bools


class Callers:
    """Answers for any operators of a trace; what they are nested in is found once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.ancestors = Ancestors(trace)

    def call_sites(self, operators: Int64s) -> CallSites:
        """Return where operators (rows, -1 for none) were called from."""
        rows, place = numbered(operators)
        sites = self._sites_of_distinct(rows)
        return CallSites(sites.forward[place], sites.stack[place], sites.frame[place], sites.backward[place])

    def evaluates(self, rows: Int64s) -> Bools:
        """Return whether the autograd engine evaluates a function in each slice; bool[rows]."""
        return self._evaluating[self._trace.slices.name[rows]]

    def is_of_engine(self, rows: Int64s) -> bool:
        """Return whether the autograd engine runs any of these slices."""
        beginnings = (*KNOWN.operators.backward_beginnings, *KNOWN.operators.engine_beginnings)
        names = distinct(self._trace.slices.name[rows])
        return any(self._trace.strings[name].startswith(beginnings) for name in names.tolist())

    def holds_steps(self, rows: Int64s) -> bool:
        """Return whether any of these slices is a step."""
        return bool(self._steps[self._trace.slices.name[rows]].any())

    @cached_property
    def forward_arrows(self) -> tuple[Int64s, Int64s]:
        """Rows of forward operators and of the backward ones that arrows from them end at."""
        return self._arrows_of(KNOWN.flows.backward)

    def _sites_of_distinct(self, rows: Int64s) -> CallSites:
        slices, nearest = self._trace.slices, self.ancestors.nearest
        forward = self._forward_of.nearest(rows)
        forward = np.where(forward >= 0, forward, self._evaluated.of(rows))
        callers = np.where(forward >= 0, forward, self.handoffs(rows).giver)

        def has_stack(candidates: Int64s) -> Bools:
            return (slices.stack[candidates] >= 0) & ~self._steps[slices.name[candidates]]

        inner, outer = nearest(rows, has_stack), nearest(callers, has_stack)
        inner = np.where(inner >= 0, inner, rows)
        return CallSites(
            forward=forward,
            stack=pick(slices.stack, np.where(outer >= 0, outer, inner)).astype(np.int32),
            frame=self.frames_at(*self._starts(np.where(callers >= 0, callers, rows))),
            backward=(forward >= 0) | (nearest(rows, self.evaluates) >= 0),
        )

    def _arrows_of(self, categories: Collection[str]) -> tuple[Int64s, Int64s]:
        """Return the rows at the starts and at the ends of all arrows of some categories."""
        flows = self._trace.flows
        matching = of_category(self._trace, flows.category, categories)
        matching &= (flows.source >= 0) & (flows.target >= 0)
        return flows.source[matching], flows.target[matching]

    def handoffs(self, rows: Int64s) -> Handoffs:
        """Return how the work of slices, -1 for none, came to their thread from the first that had it."""
        arrows, flows = self._handoff_arrows, self._trace.flows
        handoffs = Handoffs(*(np.full(len(rows), -1, np.int64) for _ in Handoffs._fields))
        if not len(arrows):
            return handoffs
        taker = rows
        for _ in range(MOST_RELAYS):
            taker = self.ancestors.nearest(taker, lambda candidates: self._takes[candidates])
            arrow = pick(arrows, first_equal(flows.target[arrows], taker))
            linked = np.flatnonzero(arrow >= 0)
            if not len(linked):
                break
            first = linked[handoffs.stage[linked] < 0]
            handoffs.stage[first] = taker[first]
            handoffs.giver[linked] = flows.source[arrow[linked]]
            handoffs.time[linked] = flows.source_time[arrow[linked]]
            taker = pick(flows.source, arrow)
        return handoffs

    @cached_property
    def work_takers(self) -> Int64s:
        """The slices that another thread handed their work, in order; rows."""
        return distinct(self._trace.flows.target[self._handoff_arrows])

    @cached_property
    def _handoff_arrows(self) -> Int64s:
        """The arrows from slices that hand work over to those that take it; their places."""
        flows = self._trace.flows
        matching = of_category(self._trace, flows.category, KNOWN.flows.dispatch)
        return np.flatnonzero(matching & (flows.source >= 0) & (flows.target >= 0))

    @cached_property
    def _takes(self) -> Bools:
        """For each slice, whether it takes work."""
        takes = np.zeros(len(self._trace.slices), np.bool_)
        takes[self.work_takers] = True
        return takes

    @cached_property
    def _forward_of(self) -> ForwardLinks:
        """The forward operators whose arrows end at slices."""
        source, target = self.forward_arrows
        return ForwardLinks(self.ancestors, target, source, len(self._trace.slices))

    @cached_property
    def _evaluated(self) -> ForwardLinks:
        """The forward operators of slices in which the engine evaluates a function."""
        source, target = self.forward_arrows
        outer = self.ancestors.parents_of(target)
        evaluates = outer >= 0
        evaluates[evaluates] = self.evaluates(outer[evaluates])
        return ForwardLinks(self.ancestors, outer[evaluates], source[evaluates], len(self._trace.slices))

    @cached_property
    def _steps(self) -> Bools:
        """For each string, whether slices of that name are steps.

        A step is begun on a line of its own: it tells where it was called from, not where what is in it was.
        """
        return np.array(
            [text.startswith(KNOWN.operators.step_beginnings) for text in self._trace.strings], np.bool_
        )

    @cached_property
    def _evaluating(self) -> Bools:
        """For each string, whether the autograd engine evaluates a function in slices of that name."""
        return np.array(
            [text.startswith(KNOWN.operators.backward_beginnings) for text in self._trace.strings], np.bool_
        )

    def frames_at(self, rows: Int64s, times: Int64s) -> Int64s:
        """Return the innermost frame of Python at a time on the thread of each slice, -1 where none; rows."""
        frame = np.full(len(rows), -1, np.int64)
        for track, places in rows_by_track(self._trace, rows):
            stack = self._stacks.get((track.pid, track.tid))
            if stack is not None:
                frame[places] = enclosing(self._trace, stack.lanes, times[places])
        return frame

    def _starts(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """Return the rows and when each starts, ns."""
        return rows, pick(self._trace.slices.start, rows)

    @cached_property
    def _stacks(self) -> dict[tuple[str, str], Track]:
        """The frames of Python of each thread."""
        tracks = self._trace.tracks
        return {(track.pid, track.tid): track for track in tracks if track.family == Family.FRAMES}


class ForwardLinks:
    """Some slices and what each was given by: of several the first."""

    def __init__(self, ancestors: Ancestors, takers: Int64s, givers: Int64s, count: int) -> None:
        self._ancestors, self._takers, self._givers = ancestors, takers, givers
        self._takes = np.zeros(count if len(takers) else 0, np.bool_)
        self._takes[takers] = True

    def of(self, rows: Int64s) -> Int64s:
        """Return the giver of each row, -1 where it has none."""
        return pick(self._givers, first_equal(self._takers, rows))

    def nearest(self, rows: Int64s) -> Int64s:
        """Return the giver of the nearest of each row and its ancestors that has one, -1 where none has."""
        if not len(self._takers):
            return np.full(len(rows), -1, np.int64)
        return self.of(self._ancestors.nearest(rows, lambda candidates: self._takes[candidates]))
