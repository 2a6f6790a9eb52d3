"""A tree of stacks as rows of cells: a frame below its caller, as wide as the idle time under it.

Pure: knows whole cells of a screen, no terminal. The edges of cells are prefix sums of ns, cut to whole ones,
so that a row is never wider than the one above it. Frames too narrow to be seen share one cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tracetui.analysis.idle.idle_lines import StackNode

LEAST = 2  #: cells of a frame that is shown by itself, if it is not the only one so small

#: (frame, ns too short for a cell) -> the frames, root side first, that share its row.
FoldChain = Callable[[StackNode, int], tuple[StackNode, ...]]


@dataclass(frozen=True, eq=False)
class Flame:
    """One cell of a row."""

    nodes: tuple[StackNode, ...]  #: root side first; several are folded into one; () for the small ones
    small: tuple[StackNode, ...]  #: frames too narrow to be seen, most idle first
    parent: int  #: place of its caller in the row above, -1 in the first row
    start_ns: int  #: idle time of all on its left, under the frame of the first row
    idle_ns: int
    left: int  #: cells: it takes [left, right), one at least
    right: int

    @property
    def node(self) -> StackNode | None:
        """The frame nearest to the leaf; None for the small ones."""
        return self.nodes[-1] if self.nodes else None


def flame_rows(top: StackNode, width: int, chain: FoldChain = lambda node, _: (node,)) -> list[list[Flame]]:
    """Return the rows below a frame, itself in the first, in `width` cells; () where it has no idle time.

    What a frame took itself is left blank at the right of those below it.
    """
    if top.idle_ns <= 0 or width <= 0:
        return []
    rows = [[Flame(chain(top, top.idle_ns // width), (), -1, 0, top.idle_ns, 0, width)]]
    while True:
        below = [
            cell
            for place, flame in enumerate(rows[-1])
            for cell in _below(flame, place, top.idle_ns, width, chain)
        ]
        if not below:
            return rows
        rows.append(below)


def _below(flame: Flame, place: int, whole_ns: int, width: int, chain: FoldChain) -> list[Flame]:
    cells: list[Flame] = []
    children = flame.node.children if flame.node is not None else ()
    start = flame.start_ns
    left = start * width // whole_ns
    for index, child in enumerate(children):
        end = start + child.idle_ns
        right = end * width // whole_ns
        if right - left < LEAST and len(children) - index > 1:
            rest = children[index:]
            idle_ns = sum(other.idle_ns for other in rest)
            right = (start + idle_ns) * width // whole_ns
            if right > left:
                cells.append(Flame((), rest, place, start, idle_ns, left, right))
            break
        if right > left:
            cells.append(Flame(chain(child, whole_ns // width), (), place, start, child.idle_ns, left, right))
        start, left = end, right
    return cells
