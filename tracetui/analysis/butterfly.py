"""One frame of a tree of stacks, wherever it is: what lies below it, and what called it.

Both keep the sums of the tree: idle_ns == own_ns + Σ children's idle_ns. Where a frame calls itself, its
outermost call counts. In how many gaps merged frames are is not known: 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.trace.stack import Frame


def callees(root: StackNode, frame: Frame) -> StackNode | None:
    """Return all stacks below a frame as one, itself on top; None where the tree does not have it."""
    nodes = [path[-1] for path in _outermost(root, frame)]
    return _merge_nodes(frame, nodes) if nodes else None


def callers(root: StackNode, frame: Frame) -> StackNode | None:
    """Return the frame on top, its callers below it, theirs below; own_ns is of what nothing called."""
    paths = list(_outermost(root, frame))
    return _invert_paths(frame, [(path[-1].idle_ns, path[-2::-1]) for path in paths]) if paths else None


def _outermost(root: StackNode, frame: Frame) -> Iterator[tuple[StackNode, ...]]:
    """Yield the frames from the outermost one to each call of the frame that is in no other call of it."""
    waiting: list[tuple[StackNode, ...]] = [(child,) for child in root.children]
    while waiting:
        path = waiting.pop()
        if path[-1].frame == frame:
            yield path
        else:
            waiting += [(*path, child) for child in path[-1].children]


def _merge_nodes(frame: Frame | None, nodes: list[StackNode]) -> StackNode:
    by_frame: dict[Frame | None, list[StackNode]] = {}
    for node in nodes:
        for child in node.children:
            by_frame.setdefault(child.frame, []).append(child)
    children = [_merge_nodes(child_frame, group) for child_frame, group in by_frame.items()]
    idle_ns, self_ns = (sum(getattr(node, key) for node in nodes) for key in ("idle_ns", "own_ns"))
    return StackNode(frame, idle_ns, self_ns, nodes[0].gaps if len(nodes) == 1 else 0, _rank_nodes(children))


def _invert_paths(frame: Frame | None, paths: list[tuple[int, tuple[StackNode, ...]]]) -> StackNode:
    by_caller: dict[Frame | None, list[tuple[int, tuple[StackNode, ...]]]] = {}
    self_ns = 0
    for idle_ns, path in paths:
        if path:
            by_caller.setdefault(path[0].frame, []).append((idle_ns, path[1:]))
        else:
            self_ns += idle_ns
    children = [_invert_paths(caller, group) for caller, group in by_caller.items()]
    return StackNode(frame, sum(idle_ns for idle_ns, _ in paths), self_ns, 0, _rank_nodes(children))


def _rank_nodes(nodes: Iterable[StackNode]) -> tuple[StackNode, ...]:
    return tuple(sorted(nodes, key=lambda node: (-node.idle_ns, node.frame or ())))
