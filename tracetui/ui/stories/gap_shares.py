"""What the pieces of a gap come to: those alike in cause, in what was done and in line, together.

Knows what the host was doing in words, no styles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.exposed import Exposed
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.links import frames_of
from tracetui.analysis.sums import most_first
from tracetui.export.language import cause_facts
from tracetui.language import tell
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace
from tracetui.trace.stack import Frame, parse_call_stack

NAME = 60  #: characters of a name


@dataclass(frozen=True)
class Share:
    """Pieces of a gap that have the same cause, doing and line."""

    cause: Cause
    doing: str
    frame: Frame | None
    backward: bool
    ns: int
    pieces: int


def gap_shares(analysis: Analysis, gap: int) -> list[Share]:
    """Return the pieces of a gap by cause, doing and line, most first; their sum is its idle time."""
    trace, causes = analysis.trace, analysis.causes
    pieces = causes.of_gap(gap)
    frames, place = lines_of(trace, causes.stack[pieces], causes.frame[pieces], analysis.rules)
    ns = (causes.end[pieces] - causes.start[pieces]).tolist()
    columns = (causes.cause, causes.operator, causes.backward, causes.wait, causes.waited_for)
    rows = zip(ns, place.tolist(), *(column[pieces].tolist() for column in columns))
    found: dict[tuple[Cause, str, Frame | None, bool], list[int]] = {}
    for length, at, number, operator, backward, wait, waited_for in rows:
        cause = Cause(number)
        # What comes after the host's part has the line of the operator that launched the task: said once.
        frame = frames[at] if at >= 0 and cause.family == "host" else None
        waits = cause is Cause.STREAM_WAIT
        doing = _waiting(trace, wait, waited_for) if waits else _doing(trace, cause, operator)
        found.setdefault((cause, doing, frame, backward and frame is not None), []).append(length)
    shares = [Share(*key, sum(lengths), len(lengths)) for key, lengths in found.items()]
    return sorted(shares, key=lambda share: -share.ns)


class MainLine(NamedTuple):
    """The stack, leaf first, with most of the time on the line behind a gap."""

    stack: tuple[Frame, ...]
    backward: bool
    communicates: bool = False  #: the gap has more exposed communication than idle time


def main_line(analysis: Analysis, gap: int) -> MainLine:
    """Return the stack behind a gap, of the line that tables name; empty where that has none.

    Of a gap with more exposed communication than idle time, that of what issued most of the communication:
    the idle line of such a gap is that of the operator that came after.
    """
    trace, gaps = analysis.trace, analysis.gaps
    causes: Causes | Exposed = analysis.causes
    pieces = causes.of_gap(gap)
    communicates = bool(gaps.communication[gap] > gaps.idle[gap])
    if communicates:
        causes = analysis.communication.exposed
        pieces = causes.of_gap(gap)
        main = np.arange(pieces.stop - pieces.start)
    else:
        main = np.flatnonzero(causes.cause[pieces] == analysis.causes.main(pieces))
    ns = causes.end[pieces] - causes.start[pieces]
    stack, frame = causes.stack[pieces], causes.frame[pieces]
    _, place = lines_of(trace, stack, frame, analysis.rules)
    lines, _ = most_first(place[main], ns[main])
    if not len(lines) or lines[0] < 0:
        return MainLine((), False, communicates)
    on_line = main[place[main] == lines[0]]
    at = int(on_line[ns[on_line].argmax()])
    text = trace.string(int(stack[at]))
    frames = parse_call_stack(text) if text is not None else frames_of(trace, int(frame[at]))
    return MainLine(frames, bool(causes.backward[pieces][at]), communicates)


def _doing(trace: Trace, cause: Cause, operator: int) -> str:
    """What the host was doing, in words."""
    facts = cause_facts(cause)
    if not facts.doing_unknown:
        return facts.doing
    return facts.doing_unknown if operator < 0 else facts.doing.format(printable(trace.name(operator), NAME))


def _waiting(trace: Trace, wait: int, waited_for: int) -> str:
    name = printable(trace.name(waited_for), NAME) if waited_for >= 0 else tell("an event")
    if wait < 0:
        return tell("waiting for {name}", name=name)
    return tell(
        "waiting on {stream} for {name}", stream=printable(trace.track_of(wait).name, NAME), name=name
    )
