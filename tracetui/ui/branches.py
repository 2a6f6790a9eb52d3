"""The rows of a tree of stacks: which are open, which are folded, which are too small, whose they are.

Pure: knows no terminal. Rows are made only for what is open. Nothing is dropped: the idle time of a row is
its own plus that of the rows below it, among them one row that stands for all that are too small.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tracetui.analysis.idle.frames import FrameRules, Origin
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.analysis.modules import module_of
from tracetui.language import clauses, names, translate
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.stack import Frame

#: shares of the total below which a frame is not shown by itself, in tenths of a percent
THRESHOLDS = (0, 1, 5, 10, 20, 50, 100)

_INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/([^/.]+)")


def package_of(frame: Frame, rules: FrameRules) -> str:
    """Return what a frame that is not the user's belongs to, in words; "" for one of the user's own."""
    origin = rules.origin(frame)
    if origin is Origin.USER:
        return ""
    if origin is Origin.NO_FILE:
        return translate("built-ins")
    if origin is Origin.GENERATED:
        return translate("generated code")
    path = frame.file.replace("\\", "/")
    installed = _INSTALLED.search(path)
    first = installed[1] if installed else path.split("/", 1)[0]
    if installed or first in KNOWN.frames.framework_packages:
        return first
    return translate("the standard library")


@dataclass(eq=False)
class Branch:
    """One row: a frame; several frames folded into one; or, without frames, all that are too small."""

    nodes: tuple[StackNode, ...]  #: root side first
    parent: Branch | None
    indent: int
    idle_ns: int
    own_ns: int
    small: int = 0  #: frames that the row of small ones stands for
    opened: bool = False

    @property
    def node(self) -> StackNode | None:
        """The frame nearest to the leaf."""
        return self.nodes[-1] if self.nodes else None

    @property
    def frame(self) -> Frame | None:
        """Its frame; None for "no stack" and for the row of small ones."""
        return self.nodes[-1].frame if self.nodes else None

    @property
    def written(self) -> Frame | None:
        """Its nearest frame that is in a file: of a built-in function its caller."""
        branch: Branch | None = self
        while branch is not None:
            for node in reversed(branch.nodes):
                if node.frame is not None and node.frame.file:
                    return node.frame
            branch = branch.parent
        return None

    @property
    def has_children(self) -> bool:
        """Whether it can be opened."""
        return bool(self.nodes and self.nodes[-1].children)


class Branches:
    """What is shown of one tree."""

    def __init__(self, root: StackNode, rules: FrameRules | None = None) -> None:
        self.root = root
        self.rules = rules or FrameRules()
        self.threshold = 2  #: place in THRESHOLDS
        self.folds = True  #: frames of packages are folded
        self._opened: set[int] = {
            id(root)
        }  # nodes are told apart by identity: comparing them walks their trees

    @property
    def least_ns(self) -> int:
        """A frame with less idle time is not shown by itself."""
        return -(-self.root.idle_ns * THRESHOLDS[self.threshold] // 1000)

    def rows(self) -> list[Branch]:
        """Return all rows that are open, from top to bottom."""
        rows: list[Branch] = []
        waiting = self._below(None, self.root)[::-1]
        while waiting:
            branch = waiting.pop()
            rows.append(branch)
            if branch.opened and branch.node is not None:
                waiting.extend(reversed(self._below(branch, branch.node)))
        return rows

    def open(self, branch: Branch) -> None:
        """Show what is below a row, and below that as long as one frame has most of it."""
        node = branch.node
        self._opened.update(map(id, branch.nodes))
        while node is not None and node.children:
            longest = node.children[0]
            if 2 * longest.idle_ns <= node.idle_ns:
                break
            self._opened.add(id(longest))
            node = longest

    def close(self, branch: Branch) -> None:
        """Hide what is below a row."""
        self._opened.difference_update(map(id, branch.nodes))

    def open_longest(self) -> None:
        """Open the tree along the frames that have most of the idle time."""
        self.open(Branch((self.root,), None, 0, self.root.idle_ns, self.root.own_ns))

    def reveal(self, stack: Sequence[Frame]) -> StackNode | None:
        """Open the tree down to a stack (leaf first), as far as it has it; the last node of it.

        A tree of python_function frames has the lines of definitions and some frames more or fewer than a
        call stack has: a frame that is not found is skipped, and one of the same function and file will do.
        """
        path: list[StackNode] = [self.root]
        for frame in reversed(stack):
            children = path[-1].children
            below = next((child for child in children if child.frame == frame), None)
            if below is None:
                below = next(
                    (child for child in children if child.frame and _alike(child.frame, frame)), None
                )
            if below is not None:
                path.append(below)
        self._opened.update(map(id, path[:-1]))
        return path[-1] if len(path) > 1 else None

    def raise_threshold(self, steps: int) -> None:
        """Show fewer frames (steps > 0) or more."""
        self.threshold = max(0, min(self.threshold + steps, len(THRESHOLDS) - 1))

    def hidden(self, rows: Sequence[Branch]) -> str:
        """Describe what the rows do not show by themselves; "" where they show all."""
        folded = [branch for branch in rows if len(branch.nodes) > 1]
        small = [branch for branch in rows if not branch.nodes]
        facts = []
        if folded:
            nodes = [node for branch in folded for node in branch.nodes]
            packages = self.packages(nodes)
            facts.append(
                translate("{count} frames of {packages} folded", count=len(nodes), packages=packages)
            )
        if small:
            count, share = sum(branch.small for branch in small), THRESHOLDS[self.threshold] / 10
            facts.append(
                translate("{count} frames under {share} % summed up", count=count, share=f"{share:g}")
            )
        return clauses(facts)

    def packages(self, nodes: Sequence[StackNode]) -> str:
        """Name what the frames belong to: "torch, accelerate and 3 more"."""
        packages = [*dict.fromkeys(package_of(node.frame, self.rules) for node in nodes if node.frame)]
        if len(packages) > 3:
            packages = [*packages[:2], translate("{count} more", count=len(packages) - 2)]
        if len(packages) == 1:
            return packages[0]
        return translate("{first} and {last}", first=names(packages[:-1]), last=packages[-1])

    def is_users(self, frame: Frame) -> bool:
        """Return whether the frame is the user's own code."""
        return self.rules.origin(frame) is Origin.USER

    def _below(self, parent: Branch | None, node: StackNode) -> list[Branch]:
        """Return the rows directly below a node."""
        least = self.least_ns
        large = [child for child in node.children if child.idle_ns >= least]
        small = node.children[len(large) :]  # most idle first
        if len(small) == 1:
            large, small = list(node.children), ()
        indent = 0 if parent is None else parent.indent + (2 if len(large) + bool(small) > 1 else 1)
        rows = [self._branch(parent, child, indent) for child in large]
        if small:
            idle_ns = sum(child.idle_ns for child in small)
            rows.append(Branch((), parent, indent, idle_ns, 0, small=len(small)))
        return rows

    def _branch(self, parent: Branch | None, node: StackNode, indent: int) -> Branch:
        nodes = self.chain(node)
        last = nodes[-1]
        return Branch(nodes, parent, indent, node.idle_ns, last.own_ns, opened=id(last) in self._opened)

    def chain(self, node: StackNode, spare_ns: int = 0) -> tuple[StackNode, ...]:
        """Return the node and those below that fold into its row; all but the last take `spare_ns` at most.

        None of them is the user's, and none but the first is a module of the model.
        """
        nodes = [node]
        while self.folds and len(node.children) == 1 and self._folds(node, node.children[0]):
            spare_ns -= node.own_ns
            if spare_ns < 0:
                break
            node = node.children[0]
            nodes.append(node)
        return tuple(nodes)

    def _folds(self, node: StackNode, below: StackNode) -> bool:
        if node.frame is None or below.frame is None or module_of(below.frame.function) is not None:
            return False
        return not self.is_users(node.frame) and not self.is_users(below.frame)


def _alike(one: Frame, other: Frame) -> bool:
    """Return whether two frames are of one function: a path may be cut after an entry of sys.path."""
    return one.function == other.function and (
        one.file.endswith(other.file) if len(one.file) > len(other.file) else other.file.endswith(one.file)
    )


class FrameKind(Enum):
    """Told by colour and by the mark before the name."""

    YOURS = "your code"
    MODULE = "nn.Module"
    FRAMEWORK = "torch and the like"
    OTHER = "packages, Python, built-ins"


def frame_kind(frame: Frame, rules: FrameRules) -> FrameKind:
    """Return the kind of a frame, by the rules that choose the lines that are charged."""
    if rules.origin(frame) is Origin.USER:
        return FrameKind.YOURS
    if module_of(frame.function) is not None and not frame.file:
        return FrameKind.MODULE
    return (
        FrameKind.FRAMEWORK
        if package_of(frame, rules) in KNOWN.frames.framework_packages
        else FrameKind.OTHER
    )
