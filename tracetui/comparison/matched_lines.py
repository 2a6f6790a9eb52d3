"""Idle time by line of Python, and which lines of two runs are one line that moved."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.search import distinct, rows_of
from tracetui.analysis.sums import sums
from tracetui.comparison.launched_work import Operators
from tracetui.comparison.sequence_diff import match
from tracetui.comparison.tally import OTHERS, Sum, tally
from tracetui.comparison.wall_pieces import IdlePieces
from tracetui.comparison.walls import StepWalls
from tracetui.trace.model import Family
from tracetui.trace.stack import Frame, parse_frame

#: What the lines of BASE, and those of OTHER, call.
_Calls = tuple[Mapping[Frame, int], Mapping[Frame, int]]


@dataclass(frozen=True)
class LineKey:
    """A line of one run, as charges are told apart by."""

    frame: Frame | None  #: None: there is no stack
    backward: bool


#: What stands for the lines that a digest does not tell apart.
NOT_TOLD = LineKey(Frame("", -1, OTHERS), False)


@dataclass(frozen=True, eq=False)
class LineSums:
    """The lines of a run."""

    idle: Mapping[LineKey, Sum]  #: idle time charged, preparing included; counted in idle intervals
    by_cause: Mapping[tuple[Cause, LineKey], int]  #: ns
    calls: Mapping[Frame, int]  #: all lines, whether idle or not, and a number for the operators called there


def lines(analysis: Analysis, walls: StepWalls, pieces: IdlePieces, operators: Operators) -> LineSums:
    """Return the lines that idle time of the walls is charged to, and those that call operators."""
    trace, rules = analysis.trace, analysis.rules
    frames, of_piece = lines_of(trace, pieces.stack, pieces.frame, rules)
    code = np.where(of_piece >= 0, of_piece * 2 + pieces.backward, -1).astype(np.int64) + 1
    keys = [LineKey(None, False), *(LineKey(frame, back) for frame in frames for back in (False, True))]
    steps = len(walls)
    # One count for an interval, however many pieces of it a line has.
    intervals = int(pieces.interval.max(initial=0)) + 1
    pair = (code * steps + pieces.wall) * intervals + pieces.interval
    each, ns = sums(pair, pieces.ns)
    ends = np.full(intervals, -1, np.int64)
    ends[pieces.interval] = pieces.ends
    ended = ends[each % intervals]
    each //= intervals
    names = [str(place) for place in range(len(keys))]
    told = tally(names, each // max(steps, 1), each % max(steps, 1), ns, steps, ended)
    causes, cause_ns = sums(code * len(Cause) + pieces.cause, pieces.ns)
    return LineSums(
        idle={keys[int(name)]: found for name, found in told.items()},
        by_cause={
            (Cause(cause % len(Cause)), keys[cause // len(Cause)]): ns
            for cause, ns in zip(causes.tolist(), cause_ns.tolist())
        },
        calls=_calls(analysis, operators),
    )


def moved_lines(base: Collection[Frame], other: Collection[Frame], calls: _Calls) -> dict[Frame, Frame]:
    """Return the line of BASE that each line of OTHER is, where it is one.

    Files are one by the end of their paths. Within a function lines are one by their number, or by their
    order and what they call, whichever fits more of them.

    Args:
        base, other: the lines.
        calls: what lines of BASE, and of OTHER, call.
    """
    file_of = _same_files({frame.file for frame in base}, {frame.file for frame in other})
    functions: dict[tuple[str, str], tuple[list[Frame], list[Frame]]] = {}
    for frame in base:
        functions.setdefault((frame.file, frame.function), ([], []))[0].append(frame)
    for frame in other:
        file = file_of.get(frame.file)
        if file is not None:
            functions.setdefault((file, frame.function), ([], []))[1].append(frame)
    found: dict[Frame, Frame] = {}
    for mine, theirs in functions.values():
        found.update(_aligned(sorted(mine, key=_line), sorted(theirs, key=_line), calls))
    return found


def _line(frame: Frame) -> int:
    return frame.line


def _aligned(base: list[Frame], other: list[Frame], calls: _Calls) -> dict[Frame, Frame]:
    """The lines of a function that are one: by number or by order, whichever pairs more that call alike."""
    by_number = {frame.line: frame for frame in base}
    same = {frame: by_number[frame.line] for frame in other if frame.line in by_number}
    mine, theirs = (
        np.array([told.get(frame, 0) for frame in frames], np.int64)
        for told, frames in zip(calls, (base, other))
    )
    anchors = [*zip(*(places.tolist() for places in match(mine, theirs))), (len(base), len(other))]
    ordered: dict[Frame, Frame] = {}
    begin = start = 0
    for at, to in anchors:
        if at - begin == to - start:  # as many between two that are known: they changed what they call
            ordered.update(zip(other[start:to], base[begin:at]))
        if at < len(base):
            ordered[other[to]] = base[at]
        begin, start = at + 1, to + 1

    def fits(pairs: dict[Frame, Frame]) -> tuple[int, int]:
        alike = sum(calls[0].get(one) == calls[1].get(two) for two, one in pairs.items())
        return alike, len(pairs)

    return same if fits(same) >= fits(ordered) else ordered


def _same_files(base: Collection[str], other: Collection[str]) -> dict[str, str]:
    """The file of BASE that each file of OTHER is: the one whose path ends most alike, the name at least."""
    by_name: dict[str, list[str]] = {}
    for file in base:
        by_name.setdefault(PurePosixPath(file).name, []).append(file)
    found: dict[str, str] = {}
    likely = sorted(
        (-_common_end(file, mine), file, mine)
        for file in other
        for mine in by_name.get(PurePosixPath(file).name, ())
    )
    taken: set[str] = set()
    for _, file, mine in likely:
        if file not in found and mine not in taken:
            found[file] = mine
            taken.add(mine)
    return found


def _common_end(one: str, two: str) -> int:
    """How many parts two paths end with alike; the whole path counts for more."""
    if one == two:
        return 1 << 20
    count = 0
    for mine, theirs in zip(reversed(PurePosixPath(one).parts), reversed(PurePosixPath(two).parts)):
        if mine != theirs:
            break
        count += 1
    return count


def _calls(analysis: Analysis, operators: Operators) -> dict[Frame, int]:
    """The lines of the host, and a number for the operators called at each; 0 where no stack tells."""
    trace = analysis.trace
    if not trace.slices.have_stacks:
        names = distinct(trace.slices.name[rows_of(t for t in trace.tracks if t.family == Family.FRAMES)])
        return {parse_frame(trace.strings[name]): 0 for name in names.tolist()}
    row = operators.row[trace.slices.stack[operators.row] >= 0]
    width = len(trace.strings)
    pairs = distinct(trace.slices.stack[row].astype(np.int64) * width + trace.slices.name[row])
    stack, name = pairs // width, pairs % width
    nowhere = np.full(len(stack), -1, np.int64)
    frames, line = lines_of(trace, stack.astype(np.int32), nowhere, analysis.rules)
    found: dict[Frame, set[str]] = {frame: set() for frame in frames}
    for place, text in zip(line.tolist(), name.tolist()):
        if place >= 0:
            found[frames[place]].add(trace.strings[text])
    return {frame: number_of(names) for frame, names in found.items()}


def number_of(names: Iterable[str]) -> int:
    """A number for a set of names, the same in every process; 0 for none, two bytes, as digests keep it."""
    called = "\n".join(sorted(set(names))).encode(errors="replace")
    return zlib.crc32(called) & 0xFFFF if called else 0
