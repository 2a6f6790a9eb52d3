"""The pieces of a gap summed up: those with the same cause, activity of the host and Python line are one.

Puts what the host was doing into words; knows no styles.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.scheduler.scheduler import SCHEDULED
from tracetui.export.language import cause_facts
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace
from tracetui.trace.stack import Frame

NAME = 60  #: characters of a name


@dataclass(frozen=True)
class Share:
    """The pieces of a gap that have the same cause, doing and line."""

    cause: Cause
    doing: str  #: what the host was doing, in words
    frame: Frame | None  #: the Python line; None where it is not known, or not of the host's part
    backward: bool  #: the line ran in the forward pass, its backward pass is meant
    ns: int
    pieces: int


def gap_shares(analysis: Analysis, gap: int) -> list[Share]:
    """Return the pieces of a gap by cause, doing and line, most first; their sum is its idle time."""
    trace, causes = analysis.trace, analysis.causes
    pieces = causes.of_gap(gap)
    frames, line_indices = lines_of(trace, causes.stack[pieces], causes.frame[pieces], analysis.rules)
    ns = (causes.end[pieces] - causes.start[pieces]).tolist()
    host_columns = (causes.cause, causes.operator, causes.track, causes.backward)
    columns = (*host_columns, causes.stream_wait, causes.waited_for)
    rows = zip(ns, line_indices.tolist(), *(column[pieces].tolist() for column in columns))
    lengths_by_share: dict[tuple[Cause, str, Frame | None, bool], list[int]] = {}
    for length, line_index, cause_number, operator, track, backward, wait, waited_for in rows:
        cause = Cause(cause_number)
        is_launcher = _launches(trace, cause, track, operator)
        # After the host's part the line is always that of the operator that launched the task: name it once.
        frame = frames[line_index] if line_index >= 0 and cause.family == "host" and not is_launcher else None
        is_wait = cause is Cause.STREAM_WAIT
        doing = _wait_words(trace, wait, waited_for) if is_wait else _host_activity(trace, cause, operator)
        if is_launcher:
            doing = translate("the launching thread {doing}", doing=_host_activity(trace, cause, -1))
        lengths_by_share.setdefault((cause, doing, frame, backward and frame is not None), []).append(length)
    shares = [Share(*key, sum(lengths), len(lengths)) for key, lengths in lengths_by_share.items()]
    return sorted(shares, key=lambda share: -share.ns)


def _launches(trace: Trace, cause: Cause, track: int, operator: int) -> bool:
    """Return whether the scheduler tells of the thread that launches what another one enqueued.

    Of that thread neither the operator of the piece nor its line are.
    """
    is_known = cause in SCHEDULED and track >= 0 and operator >= 0
    return is_known and trace.tracks[track].tid != trace.track_of(operator).tid


def _host_activity(trace: Trace, cause: Cause, operator: int) -> str:
    """Return what the host was doing: "running aten::mul". `operator` is the row of a slice, -1 unknown."""
    facts = cause_facts(cause)
    if not facts.doing_unknown:
        return facts.doing
    return facts.doing_unknown if operator < 0 else facts.doing.format(printable(trace.name(operator), NAME))


def _wait_words(trace: Trace, wait: int, waited_for: int) -> str:
    """Return "waiting on stream 3 for matmul". `wait` and `waited_for` are rows of slices, -1 unknown."""
    name = printable(trace.name(waited_for), NAME) if waited_for >= 0 else translate("an event")
    if wait < 0:
        return translate("waiting for {name}", name=name)
    return translate(
        "waiting on {stream} for {name}", stream=printable(trace.track_of(wait).name, NAME), name=name
    )
