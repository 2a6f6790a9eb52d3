"""Idle time by line of Python: every idle interval is charged to the line that launched the task ending it.

The rows and the tree hold the same charges, and both add up to the idle time of all devices: what has no
stack is charged to a row of its own, never dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.arrays import Int64s
from tracetui.trace.stack import Frame


@dataclass(frozen=True, eq=False)
class LineIdle:
    """The idle time charged to one line of Python (of the forward pass, or of its backward pass)."""

    file: str | None  #: None: there is no stack
    line: int  #: 0 without a file
    function: str
    backward: bool
    idle_ns: int
    gaps: int  #: AICore gaps with an idle interval of this line
    longest_ns: int  #: its most in one gap
    ops: dict[str, int]  #: ns by name of the operator, most first; "" where no operator was found
    gap_indices: Int64s  #: of those gaps, most idle of this line first


@dataclass(frozen=True)
class StackNode:
    """A frame of the tree of stacks, root (frame None) to leaf. idle_ns == own_ns + Σ children's idle_ns."""

    frame: Frame | None  #: None for the root, and for "no stack" below it
    idle_ns: int
    own_ns: int
    gaps: int  #: AICore gaps with an idle interval under it
    children: tuple[StackNode, ...]  #: most idle first
