"""The Python behind operators: which row holds an operator's call stack, which frame it ran in.

An operator without a call stack takes that of the operator around it. One of the backward pass takes the
stack of its forward operator, found by the arrow between them: the arrow ends at the operator, at one around
it, or, for `autograd::engine::evaluate_function: XBackward0` itself, at its child `XBackward0`. One that
another thread handed its work, as MindSpore's thread of Python does, likewise takes the stack of the giver.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.search import of_category, pick, rows_by_track
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.trace.model import Family, Trace
from tracetui.trace.nesting import enclosing

BACKWARD_FLOW = "fwdbwd"
HANDED_FLOW = "async_mindspore"  #: from the thread of Python to one that works for it
BACKWARD_OPERATOR = "autograd::engine::evaluate_function"


@dataclass(frozen=True, eq=False)
class Called:
    """Where operators were called from, as columns of equal length; -1 where not found."""

    forward: Int64s  #: rows: the forward operator of a backward one
    stack: Int32s  #: string of the `Call stack`, of the forward operator where there is one
    frame: (
        Int64s  #: rows: the innermost python_function slice it started in, of the forward operator likewise
    )
    backward: Bools


class Callers:
    """Answers for any operators of a trace; what they are nested in is found once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.ancestors = Ancestors(trace)

    def of(self, operators: Int64s) -> Called:
        """Where operators (rows, -1 for none) were called from."""
        rows, place = np.unique(operators, return_inverse=True)
        called = self._of_distinct(rows)
        place = place.reshape(-1)
        return Called(called.forward[place], called.stack[place], called.frame[place], called.backward[place])

    def _of_distinct(self, rows: Int64s) -> Called:
        slices, ancestors = self._trace.slices, self.ancestors
        forward = pick(self._turns, ancestors.nearest(rows, self._turns >= 0))
        forward = np.where(forward >= 0, forward, pick(self._evaluated, rows))
        has_stack = slices.stack >= 0
        handed = pick(self._handed, ancestors.nearest(rows, self._handed >= 0))
        called = np.where(forward >= 0, forward, handed)
        own, through = ancestors.nearest(rows, has_stack), ancestors.nearest(called, has_stack)
        backward = (forward >= 0) | (ancestors.nearest(rows, self.evaluates) >= 0)
        stack_row = np.where(through >= 0, through, own)
        return Called(
            forward=forward,
            stack=pick(slices.stack.astype(np.int64), stack_row).astype(np.int32),
            frame=self._frames(np.where(called >= 0, called, rows)),
            backward=backward,
        )

    @cached_property
    def forward_arrows(self) -> tuple[Int64s, Int64s]:
        """Rows of forward operators and of the backward ones that arrows from them end at."""
        return self._arrows_of(BACKWARD_FLOW)

    def _arrows_of(self, category: str) -> tuple[Int64s, Int64s]:
        """Rows at the starts and ends of all arrows of a category."""
        flows = self._trace.flows
        kept = of_category(self._trace, flows.category, category) & (flows.source >= 0) & (flows.target >= 0)
        return flows.source[kept], flows.target[kept]

    @cached_property
    def _handed(self) -> Int64s:
        """Of each slice: the operator on another thread that handed it its work, or -1."""
        source, target = self._arrows_of(HANDED_FLOW)
        return _first_by_key(len(self._trace.slices), target, source)

    @cached_property
    def _turns(self) -> Int64s:
        """Of each slice: the forward operator whose arrow ends there, or -1."""
        source, target = self.forward_arrows
        return _first_by_key(len(self._trace.slices), target, source)

    @cached_property
    def _evaluated(self) -> Int64s:
        """Of each slice in which the engine evaluates a function: its forward operator; or -1."""
        source, target = self.forward_arrows
        outer = self.ancestors.parents_of(target)
        evaluates = outer >= 0
        evaluates[evaluates] = self.evaluates[outer[evaluates]]
        return _first_by_key(len(self._trace.slices), outer[evaluates], source[evaluates])

    @cached_property
    def evaluates(self) -> Bools:
        """Of each slice: whether the autograd engine evaluates a function in it."""
        names = [i for i, text in enumerate(self._trace.strings) if text.startswith(BACKWARD_OPERATOR)]
        return np.isin(self._trace.slices.name, names)

    def _frames(self, operators: Int64s) -> Int64s:
        trace = self._trace
        frame = np.full(len(operators), -1, np.int64)
        stacks = {(track.pid, track.tid): track for track in trace.tracks if track.family == Family.FRAMES}
        for track, places in rows_by_track(trace, operators):
            stack = stacks.get((track.pid, track.tid))
            if stack is not None:
                frame[places] = enclosing(trace, stack.lanes, trace.slices.start[operators[places]])
        return frame


def _first_by_key(count: int, keys: Int64s, values: Int64s) -> Int64s:
    """int64[count]: at each key the first of its values, -1 elsewhere."""
    first = np.full(count, -1, np.int64)
    first[keys[::-1]] = values[::-1]
    return first
