"""Idle time by line of Python, and which lines of two runs are one line that moved."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.search import distinct, rows_of
from tracetui.analysis.sums import sums
from tracetui.comparison.launched_work import StepOperators
from tracetui.comparison.sequence_diff import match_sequences
from tracetui.comparison.tally import OTHERS, Sum, tally
from tracetui.comparison.wall_pieces import WallIdle
from tracetui.comparison.walls import StepWalls
from tracetui.trace.model import Family
from tracetui.trace.stack import Frame, parse_frame

#: What the lines of BASE, and those of OTHER, call.
_Calls = tuple[Mapping[Frame, int], Mapping[Frame, int]]


@dataclass(frozen=True)
class ChargedLine:
    """The line of Python that a charge of one run belongs to."""

    frame: Frame | None  #: None: there is no stack
    backward: bool


#: What stands for the lines that a digest does not tell apart.
OTHER_LINES = ChargedLine(Frame("", -1, OTHERS), False)


@dataclass(frozen=True, eq=False)
class LineSums:
    """The lines of a run."""

    idle: Mapping[ChargedLine, Sum]  #: idle time charged, preparing included; counted in idle intervals
    by_cause: Mapping[tuple[Cause, ChargedLine], int]  #: ns
    calls: Mapping[Frame, int]  #: of all lines, idle or not: a number for the set of operators called there


def line_sums(analysis: Analysis, walls: StepWalls, pieces: WallIdle, operators: StepOperators) -> LineSums:
    """Return the lines that idle time of the walls is charged to, and those that call operators."""
    trace, rules = analysis.trace, analysis.rules
    frames, line_of_piece = lines_of(trace, pieces.stack, pieces.frame, rules)
    code = np.where(line_of_piece >= 0, line_of_piece * 2 + pieces.backward, -1).astype(np.int64) + 1
    keys = [
        ChargedLine(None, False),
        *(ChargedLine(frame, back) for frame in frames for back in (False, True)),
    ]
    steps = len(walls)
    # One count for an interval, however many pieces of it a line has.
    intervals = int(pieces.interval.max(initial=0)) + 1
    pair = (code * steps + pieces.wall) * intervals + pieces.interval
    pairs, ns = sums(pair, pieces.ns)
    task_by_interval = np.full(intervals, -1, np.int64)
    task_by_interval[pieces.interval] = pieces.ending_task
    ending_task = task_by_interval[pairs % intervals]
    pairs //= intervals
    names = [str(place) for place in range(len(keys))]
    sums_by_place = tally(names, pairs // max(steps, 1), pairs % max(steps, 1), ns, steps, ending_task)
    causes, cause_ns = sums(code * len(Cause) + pieces.cause, pieces.ns)
    return LineSums(
        idle={keys[int(name)]: total for name, total in sums_by_place.items()},
        by_cause={
            (Cause(cause % len(Cause)), keys[cause // len(Cause)]): ns
            for cause, ns in zip(causes.tolist(), cause_ns.tolist())
        },
        calls=_number_calls(analysis, operators),
    )


def match_lines(base: Collection[Frame], other: Collection[Frame], calls: _Calls) -> dict[Frame, Frame]:
    """Return the line of BASE that each line of OTHER is, where it is one.

    Files are one by the end of their paths. Within a function lines are one by their number, or by their
    order and what they call, whichever fits more of them.

    Args:
        base, other: the lines.
        calls: what lines of BASE, and of OTHER, call.
    """
    file_of = _match_files({frame.file for frame in base}, {frame.file for frame in other})
    functions: dict[tuple[str, str], tuple[list[Frame], list[Frame]]] = {}
    for frame in base:
        functions.setdefault((frame.file, frame.function), ([], []))[0].append(frame)
    for frame in other:
        file = file_of.get(frame.file)
        if file is not None:
            functions.setdefault((file, frame.function), ([], []))[1].append(frame)
    matches: dict[Frame, Frame] = {}
    for base_frames, other_frames in functions.values():
        matches.update(_match_in_function(sorted(base_frames), sorted(other_frames), calls))
    return matches


def _match_in_function(base: list[Frame], other: list[Frame], calls: _Calls) -> dict[Frame, Frame]:
    """Match the lines of a function by number or by order, whichever pairs more that call alike."""
    by_number = {frame.line: frame for frame in base}
    by_line_number = {frame: by_number[frame.line] for frame in other if frame.line in by_number}
    base_numbers, other_numbers = (
        np.array([numbers.get(frame, 0) for frame in frames], np.int64)
        for numbers, frames in zip(calls, (base, other))
    )
    anchors = [
        *zip(*(places.tolist() for places in match_sequences(base_numbers, other_numbers))),
        (len(base), len(other)),
    ]
    ordered: dict[Frame, Frame] = {}
    base_next = other_next = 0
    for base_place, other_place in anchors:
        # As many lines of both between two matches are matched in order: they changed what they call.
        if base_place - base_next == other_place - other_next:
            ordered.update(zip(other[other_next:other_place], base[base_next:base_place]))
        if base_place < len(base):
            ordered[other[other_place]] = base[base_place]
        base_next, other_next = base_place + 1, other_place + 1

    def fits(pairs: dict[Frame, Frame]) -> tuple[int, int]:
        same_calls = sum(
            calls[0].get(base_frame) == calls[1].get(other_frame) for other_frame, base_frame in pairs.items()
        )
        return same_calls, len(pairs)

    return by_line_number if fits(by_line_number) >= fits(ordered) else ordered


def _match_files(base: Collection[str], other: Collection[str]) -> dict[str, str]:
    """Return the file of BASE that each file of OTHER is: its path ends most alike, in the name at least."""
    by_name: dict[str, list[str]] = {}
    for file in base:
        by_name.setdefault(PurePosixPath(file).name, []).append(file)
    matches: dict[str, str] = {}
    candidates = sorted(
        (-_common_end(file, base_file), file, base_file)
        for file in other
        for base_file in by_name.get(PurePosixPath(file).name, ())
    )
    taken: set[str] = set()
    for _, file, base_file in candidates:
        if file not in matches and base_file not in taken:
            matches[file] = base_file
            taken.add(base_file)
    return matches


def _common_end(path: str, other_path: str) -> int:
    """Return how many parts two paths end with alike; the whole path counts for more."""
    if path == other_path:
        return 1 << 20
    count = 0
    for part, other_part in zip(
        reversed(PurePosixPath(path).parts), reversed(PurePosixPath(other_path).parts)
    ):
        if part != other_part:
            break
        count += 1
    return count


def _number_calls(analysis: Analysis, operators: StepOperators) -> dict[Frame, int]:
    """Return a number for the operators called at each line of the host; 0 where no stack tells."""
    trace, row = analysis.trace, operators.row
    frame_row = analysis.launch_chains.callers.frames_at(row, trace.slices.start[row])
    frames, line = lines_of(trace, trace.slices.stack[row], frame_row, analysis.rules)
    width = len(trace.strings)
    called = distinct((line * width + trace.slices.name[row])[line >= 0])
    frame_tracks = () if trace.slices.have_stacks else trace.tracks
    named = distinct(trace.slices.name[rows_of(t for t in frame_tracks if t.family == Family.FRAMES)])
    frames_of_python = (parse_frame(trace.strings[name]) for name in named.tolist())
    names_by_frame: dict[Frame, set[str]] = {frame: set() for frame in (*frames_of_python, *frames)}
    for place, text in zip((called // width).tolist(), (called % width).tolist()):
        names_by_frame[frames[place]].add(trace.strings[text])
    return {frame: number_of_names(names) for frame, names in names_by_frame.items()}


def number_of_names(names: Iterable[str]) -> int:
    """Return a number for a set of names, the same in every process; 0 for none, two bytes as in digests."""
    text = "\n".join(sorted(set(names))).encode(errors="replace")
    return zlib.crc32(text) & 0xFFFF if text else 0
