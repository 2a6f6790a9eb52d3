"""Idle time by line of Python: every piece of an idle interval is charged to a line of the stack it has.

The rows and the tree hold the same charges, and both add up to the idle time of all devices: what has no
stack is charged to a row of its own, never dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.idle.calls import cause_of_frame
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.search import distinct, group_by, pick
from tracetui.analysis.sums import most_first, ranked
from tracetui.arrays import EMPTY, Bools, Columns, Int8s, Int32s, Int64s
from tracetui.trace.model import Family, Trace
from tracetui.trace.order import numbered
from tracetui.trace.stack import Frame, parse_call_stack, parse_frame

DEEPEST_STACK = 256  #: frames of the tree, from the root: deeper ones are charged to the last of them


class PythonLine(NamedTuple):
    """What idle time, calls or advice are of, as the fields of all that tells of lines."""

    file: str | None  #: None: there is no stack; "" where its frames have no file
    line: int  #: 0 without a file
    function: str


def python_line(frame: Frame | None) -> PythonLine:
    """Return the line of a frame; of None that of what has no stack."""
    return PythonLine(None, 0, "") if frame is None else PythonLine(*frame)


#: file (None: no stack), line, function, backward
LineKey = tuple[Optional[str], int, str, bool]


@dataclass(frozen=True, eq=False)
class LineFields:
    """The fields of one line of Python, in the forward or the backward pass."""

    file: str | None  #: None: there is no stack; "" where its frames have no file
    line: int  #: 0 without a file
    function: str
    backward: bool

    @property
    def key(self) -> LineKey:
        """What tells the line from others."""
        return self.file, self.line, self.function, self.backward


@dataclass(frozen=True, eq=False)
class LineIdle(LineFields):
    """The idle time charged to one line."""

    idle_ns: int
    gaps: int  #: AICore gaps with an idle interval of this line
    longest_ns: int  #: its most in one gap
    ops: dict[str, int]  #: ns by name of the operator, most first; "" where none ran or is known
    causes: dict[Cause, int]  #: ns, most first
    steps: dict[int, int]  #: ns by index of the step, in order; -1: of none
    devices: dict[int, int]  #: ns by index of the device, in order
    gap_indices: Int64s  #: of those gaps, most idle of this line first


@dataclass(frozen=True)
class StackNode:
    """A frame of the tree of stacks, from the root down. idle_ns == own_ns + Σ children's idle_ns."""

    frame: Frame | None  #: None for the root, and for the node below it of what has no stack
    idle_ns: int
    own_ns: int
    gaps: int  #: AICore gaps with an idle interval under it
    children: tuple[StackNode, ...]  #: most idle first


@dataclass(frozen=True, eq=False)
class Charges(Columns):
    """Pieces of idle time and the stacks that they are charged to; columns of equal length."""

    ns: Int64s
    gap: Int64s  #: index of the AICore gap
    stack: Int32s  #: string of the call stack, -1 where none
    frame: Int64s  #: row of the innermost python_function slice, -1 where none
    operator: Int64s  #: row of the operator, -1 where none
    backward: Bools
    cause: Int8s  #: Cause
    step: Int32s  #: index, -1 of none
    device: Int32s  #: index


def idle_lines(trace: Trace, charges: Charges, rules: FrameRules) -> tuple[LineIdle, ...]:
    """Return the charges by line, most idle first. Their sum is the charges' sum.

    The line is the one being executed, of the call stack; where the trace has no call stacks at all, the one
    where the function of the python_function slice is defined.
    """
    keys, key_of_charge = line_keys(trace, charges.stack, charges.frame, charges.backward, rules)
    lines = [
        LineIdle(
            *keys[place],
            **charge_sums(trace, charges, places),
            steps=dict(sorted(ranked(charges.step[places], charges.ns[places]))),
            devices=dict(sorted(ranked(charges.device[places], charges.ns[places]))),
        )
        for place, places in group_by(key_of_charge)
    ]
    lines.sort(key=lambda line: (-line.idle_ns, line.file or "", line.line, line.function, line.backward))
    return tuple(lines)


def lines_of(trace: Trace, stack: Int32s, frame: Int64s, rules: FrameRules) -> tuple[list[Frame], Int64s]:
    """Return the distinct lines of stacks, and the place among them of each stack's; -1 where it has none.

    Args:
        stack: strings of call stacks, -1 where none.
        frame: rows of python_function slices, -1 where none; used where the trace has no call stacks at all.
        rules: which frame of a stack is its line.
    """
    stacks, stack_of_charge = _stacks(trace, stack, frame, frames_first=False)
    lines, place = rules.lines_of(stacks)
    return list(lines), pick(place, stack_of_charge)


def line_keys(
    trace: Trace, stack: Int32s, frame: Int64s, backward: Bools, rules: FrameRules
) -> tuple[list[LineKey], Int64s]:
    """Return the lines that pieces of time are charged to, and the place among them of each piece's."""
    frames, line = lines_of(trace, stack, frame, rules)
    codes, place = numbered(np.where(line >= 0, line * 2 + backward, -1))
    keys = [
        (*python_line(frames[code // 2] if code >= 0 else None), code >= 0 and code % 2 == 1)
        for code in codes.tolist()
    ]
    return keys, place


def charge_sums(trace: Trace, charges: Charges, places: Int64s) -> dict[str, Any]:
    """Sum the charges at some places, one at least, as fields of `LineIdle` and `NestedIdle`."""
    ns = charges.ns[places]
    gaps, per_gap = most_first(charges.gap[places], ns)
    names = pick(trace.slices.name, charges.operator[places])
    return {
        "idle_ns": int(ns.sum()),
        "gaps": len(gaps),
        "longest_ns": int(per_gap[0]),
        "ops": {trace.string(name) or "": total for name, total in ranked(names, ns)},
        "causes": {Cause(cause): total for cause, total in ranked(charges.cause[places], ns)},
        "gap_indices": gaps,
    }


def stack_tree(trace: Trace, charges: Charges) -> StackNode:
    """Return the charges by whole stack: of python_function slices if there is one, else the call stack."""
    stacks, stack_of_charge = charged_stacks(trace, charges)
    tree = _StackTree()
    for stack, places in group_by(stack_of_charge):
        path: tuple[Frame | None, ...] = (None,) if stack < 0 else stacks[stack]
        tree.add(path, int(charges.ns[places].sum()), charges.gap[places])
    return tree.root()


def frames_at_start(trace: Trace) -> frozenset[Frame]:
    """Return the frames that ran as the recording began: their lines are where they were then.

    On each thread they hold the first frame of the profiler, which began it, or begin with its first. All
    begin before any frame ends: a thread that begins later has none.
    """
    slices = trace.slices
    found: set[Frame] = set()
    tracks = [track for track in trace.tracks if track.family == Family.FRAMES and track.rows]
    ends = (slices.end[track.rows.start : track.rows.stop].min() for track in tracks)
    first_end = int(min(ends, default=0))
    for track in tracks:
        firsts = [trace.lane_slice_rows(lane).start for lane in track.lanes]
        chain = [row for row in firsts if slices.start[row] < first_end]
        names = [trace.string(int(slices.name[row])) or "" for row in chain]
        began = [place for place, name in enumerate(names) if cause_of_frame(name) is Cause.PROFILER]
        count = began[0] if began else int(np.count_nonzero(slices.start[chain] == slices.start[chain[:1]]))
        found.update(map(parse_frame, names[:count]))
    return frozenset(found)


def has_python(trace: Trace) -> bool:
    """Return whether any stack of Python is recorded: call stacks, or frames."""
    frames = any(track.family == Family.FRAMES and track.rows for track in trace.tracks)
    return frames or trace.slices.have_stacks


def charged_stacks(trace: Trace, charges: Charges) -> tuple[list[tuple[Frame, ...]], Int64s]:
    """Return the stacks of a tree, root first, and the place of each charge's among them; -1 for none.

    Where no Python is recorded, the operators of the host that hold each other stand for its frames.
    """
    if has_python(trace):
        stacks, stack_of_charge = _stacks(trace, charges.stack, charges.frame, frames_first=True)
    else:
        stacks, stack_of_charge = _operator_stacks(trace, charges.operator)
    has_frames = np.array([bool(stack) for stack in stacks], np.bool_)
    stack_of_charge[stack_of_charge >= 0] = np.where(has_frames, np.arange(len(stacks)), -1)[
        stack_of_charge[stack_of_charge >= 0]
    ]
    return [stack[::-1][:DEEPEST_STACK] for stack in stacks], stack_of_charge


def _stacks(
    trace: Trace, texts: Int32s, frames: Int64s, frames_first: bool
) -> tuple[list[tuple[Frame, ...]], Int64s]:
    """Return the distinct stacks, leaf first, and the place of each row's among them, -1 for none."""
    if frames_first:
        texts = np.where(frames >= 0, np.int32(-1), texts)
    else:
        frames = np.full(len(frames), -1) if trace.slices.have_stacks else frames
    stack_of_charge = np.full(len(texts), -1, np.int64)
    distinct, place = numbered(texts[texts >= 0])
    stack_of_charge[texts >= 0] = place
    call_stacks = [parse_call_stack(trace.strings[text]) for text in distinct.tolist()]
    recorded, place = _nested_names(trace, frames[frames >= 0], parse_frame)
    stack_of_charge[frames >= 0] = len(call_stacks) + place
    return call_stacks + recorded, stack_of_charge


def _operator_stacks(trace: Trace, operators: Int64s) -> tuple[list[tuple[Frame, ...]], Int64s]:
    """Return the stacks of operators, innermost first, and the place of each row's; -1 where a row is -1."""
    stack_of_charge = np.full(len(operators), -1, np.int64)
    stacks, stack_of_charge[operators >= 0] = _nested_names(
        trace, operators[operators >= 0], lambda name: Frame("", 0, name)
    )
    return stacks, stack_of_charge


def _nested_names(
    trace: Trace, rows: Int64s, frame_of: Callable[[str], Frame]
) -> tuple[list[tuple[Frame, ...]], Int64s]:
    """Return the distinct stacks of slices inside each other, innermost first, and the place of each row's.

    frame_of : makes a frame of the name of a slice.
    """
    leaves, leaf_of_row = numbered(rows)
    if not len(leaves):
        return [], leaf_of_row
    ancestors, width = Ancestors(trace), len(trace.strings) + 1
    names, row, stack_of_leaf = [], leaves, np.zeros(len(leaves), np.int64)
    while (row >= 0).any():  # one frame of all stacks: those alike so far get one number
        names.append(pick(trace.slices.name, row))
        stack_of_leaf = numbered(stack_of_leaf * width + names[-1])[1]
        row = ancestors.parents_of(row)
    _, first = np.unique(stack_of_leaf, return_index=True)
    paths = np.stack([column[first] for column in names], axis=1)
    stacks = [tuple(frame_of(trace.strings[name]) for name in path if name >= 0) for path in paths.tolist()]
    return stacks, stack_of_leaf[leaf_of_row]


class _StackTree:
    """A tree of stacks while it grows: a node comes after its parent."""

    def __init__(self) -> None:
        self._frames: list[Frame | None] = [None]
        self._parents = [-1]
        self._own_ns = [0]
        self._gaps: list[list[Int64s]] = [[]]
        self._children: dict[tuple[int, Frame | None], int] = {}

    def add(self, path: tuple[Frame | None, ...], ns: int, gaps: Int64s) -> None:
        node = 0
        for frame in path:
            child = self._children.setdefault((node, frame), len(self._frames))
            if child == len(self._frames):
                self._frames.append(frame)
                self._parents.append(node)
                self._own_ns.append(0)
                self._gaps.append([])
            node = child
        self._own_ns[node] += ns
        self._gaps[node].append(gaps)

    def root(self) -> StackNode:
        children: list[list[StackNode]] = [[] for _ in self._frames]
        for node in range(len(self._frames) - 1, -1, -1):
            child_nodes = sorted(children[node], key=lambda child: (-child.idle_ns, child.frame or ()))
            gaps = distinct(np.concatenate(self._gaps[node])) if self._gaps[node] else EMPTY
            idle = self._own_ns[node] + sum(child.idle_ns for child in child_nodes)
            built = StackNode(self._frames[node], idle, self._own_ns[node], len(gaps), tuple(child_nodes))
            if node:
                children[self._parents[node]].append(built)
                self._gaps[self._parents[node]].append(gaps)
        return built
