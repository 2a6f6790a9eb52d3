"""Idle time under frames of Python and modules: with what is inside (idle), and without (own).

The idle times of those inside one another hold the same pieces, the own times hold each piece once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import Charges, charge_sums, charged_stacks, python_line
from tracetui.analysis.search import group_by, pick
from tracetui.arrays import Bools, Int64s
from tracetui.trace.model import Trace
from tracetui.trace.stack import Frame


@dataclass(frozen=True, eq=False)
class NestedIdle:
    """The idle time under something that holds others of its kind."""

    idle_ns: int  #: with what is inside
    own_ns: int  #: without
    backward_ns: int  #: of idle_ns, in the backward pass
    gaps: int  #: AICore gaps with an idle interval under it
    longest_ns: int  #: the most in one gap
    ops: dict[str, int]  #: ns by name of the operator, most first; "" where none ran or is known
    causes: dict[Cause, int]  #: ns, most first
    gap_indices: Int64s  #: of those gaps, most idle under it first

    @property
    def place(self) -> Frame | None:
        """Where it is defined; None where nothing tells."""
        return None

    @property
    def file(self) -> str | None:
        """The file of its place; None: nothing tells it."""
        return python_line(self.place).file

    @property
    def line(self) -> int:
        """The line of its place, 0 without a file."""
        return python_line(self.place).line

    @property
    def function(self) -> str:
        """The function of its place."""
        return python_line(self.place).function


@dataclass(frozen=True, eq=False)
class FrameIdle(NestedIdle):
    """The idle time under one frame, wherever in stacks it is; once where it calls itself."""

    frame: Frame | None  #: None: there is no stack

    @property
    def place(self) -> Frame | None:
        return self.frame


def idle_frames(trace: Trace, charges: Charges) -> tuple[FrameIdle, ...]:
    """Return the charges by frame, most idle first; the own times sum to the idle time.

    `charges`: cut wherever a frame begins or ends, as for `stack_tree`, which holds the same times.
    """
    stacks, stack = charged_stacks(trace, charges)
    frames: dict[Frame, int] = {}
    paths = [[frames.setdefault(frame, len(frames)) for frame in path] for path in stacks]
    pairs = [(leaf, frame) for leaf, path in enumerate(paths) for frame in set(path)]
    leaf_of_charge = pick(np.array([path[-1] if path else -1 for path in paths], np.int64), stack)
    frame_list = [*frames]  # by depth where they first are: of equals the outer one comes first
    rows = [
        FrameIdle(
            **vars(nested_idle(trace, charges, places, leaf_of_charge == frame)),
            frame=None if frame < 0 else frame_list[frame],
        )
        for frame, places in places_under(stack, np.array(pairs, np.int64).reshape(-1, 2))
    ]
    return tuple(sorted(rows, key=lambda row: -row.idle_ns))


def places_under(leaf: Int64s, pairs: Int64s) -> Iterator[tuple[int, Int64s]]:
    """Yield each thing that holds leaves, with the places of all pieces below it; -1 with those of no leaf.

    Args:
        leaf: int64[n], what each piece is charged to: a number from 0, -1 for none.
        pairs: int64[m, 2], leaves and what each is inside of (itself included), every pair once.
    """
    places = dict(group_by(leaf))
    if -1 in places:
        yield -1, places[-1]
    for holder, group in group_by(pairs[:, 1]):
        parts = [places[leaf_number] for leaf_number in pairs[group, 0].tolist() if leaf_number in places]
        if parts:
            yield holder, np.sort(np.concatenate(parts))


def nested_idle(trace: Trace, charges: Charges, places: Int64s, is_leaf: Bools) -> NestedIdle:
    """Sum the charges at some places, one at least; `is_leaf`: bool[charges], those that end here."""
    ns = charges.ns[places]
    return NestedIdle(
        **charge_sums(trace, charges, places),
        own_ns=int(ns[is_leaf[places]].sum()),
        backward_ns=int(ns[charges.backward[places]].sum()),
    )
