"""The Python line behind most of a gap, with the stack that called it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.exposed import ExposedPieces
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.launch_chains import frames_of
from tracetui.analysis.sums import most_first
from tracetui.trace.stack import Frame, parse_call_stack


class MainLine(NamedTuple):
    """The stack, leaf first, with most of the time on the line behind a gap."""

    stack: tuple[Frame, ...]
    backward: bool
    communicates: bool = False  #: it issued the communication: there is more of it exposed than idle time


def main_line(analysis: Analysis, gap: int, of_idle: bool = False) -> MainLine:
    """Return the stack behind a gap, of the line that tables name; an empty stack where there is no line.

    For a gap with more exposed communication than idle time, return the stack that issued most of the
    communication: the idle line of such a gap is that of the operator that came after. `of_idle`: return the
    stack of its idle time even so.
    """
    trace, gaps = analysis.trace, analysis.gaps
    causes: Causes | ExposedPieces = analysis.causes
    pieces = causes.of_gap(gap)
    communicates = not of_idle and bool(gaps.communication[gap] > gaps.idle[gap])
    if communicates:
        causes = analysis.communication.exposed
        pieces = causes.of_gap(gap)
        main_pieces = np.arange(pieces.stop - pieces.start)
    else:
        main_pieces = np.flatnonzero(causes.cause[pieces] == analysis.causes.main(pieces))
    ns = causes.end[pieces] - causes.start[pieces]
    stack, frame = causes.stack[pieces], causes.frame[pieces]
    _, line_index = lines_of(trace, stack, frame, analysis.rules)
    lines, _ = most_first(line_index[main_pieces], ns[main_pieces])
    if not len(lines) or lines[0] < 0:
        return MainLine((), False, communicates)
    on_line = main_pieces[line_index[main_pieces] == lines[0]]
    longest = int(on_line[ns[on_line].argmax()])
    text = trace.string(int(stack[longest]))
    frames = parse_call_stack(text) if text is not None else frames_of(trace, int(frame[longest]))
    return MainLine(frames, bool(causes.backward[pieces][longest]), communicates)
