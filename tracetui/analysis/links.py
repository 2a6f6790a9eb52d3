"""From device tasks to what launched them: launch, dequeue, enqueue, operator, Python stack.

A missing hop is tolerated and named, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.trace.model import Trace
from tracetui.trace.stack import Frame


class Hop(NamedTuple):
    """One slice on the way from an operator to its task."""

    name: str  #: "operator", "enqueue", "dequeue", "launch", "task"
    row: int
    start_ns: int
    dur_ns: int
    wait_ns: int  #: from the start of this hop to the start of the next one; negative where clocks disagree; 0 at last


@dataclass(frozen=True)
class Chain:
    """All that is known about where one device task comes from; rows are -1 where not found."""

    task: int
    launch: int
    dequeue: int
    enqueue: int
    operator: int
    forward: int  #: the forward operator of a backward one
    hops: tuple[Hop, ...]  #: those found, operator first, task last
    stack: tuple[Frame, ...]  #: leaf first; empty where the trace has none
    backward: bool  #: the operator belongs to the backward pass: the stack is that of its forward operator
    missing: (
        str | None
    )  #: the first hop not found, seen from the task: "launch", "dequeue", "operator", "stack"


@dataclass(frozen=True, eq=False)
class Links:
    """The chains of all device tasks as columns of equal length, ordered by task row; -1 where not found."""

    trace: Trace
    tasks: Int64s  #: rows: all slices of streams, and the operations of communication groups
    launch: Int64s  #: rows of the runtime call
    launch_point: Int64s  #: ns: when the host launched it
    dequeue: Int64s  #: rows
    enqueue: Int64s  #: rows
    operator: Int64s  #: rows
    forward: Int64s  #: rows: the forward operator of a backward one
    stack: Int32s  #: string of the `Call stack` that belongs to the task
    frame: Int64s  #: rows: the innermost python_function slice that belongs to the task
    backward: Bools

    @property
    def total(self) -> int:
        """How many tasks there are."""
        return len(self.tasks)
