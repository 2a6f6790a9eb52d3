"""How the time of a device splits between consecutive boundaries: what it did, why it was idle. Exact.

Boundaries are the starts and ends of collectives and the starts of steps, so the split of any stretch from
one collective to another is a sum of whole numbers. Time before the first work of the trace, back to the
host's start of the first step, counts as idle (or copies), with the causes of the preparing time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.owners import last_begun
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.idle.pieces import cut
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.search import among
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.job.digest import TimeCells, TimeClass, TimeKeys
from tracetui.job.digest_size import summed
from tracetui.job.texts import LinePlaces, TextPlaces
from tracetui.trace.model import Activity

_COMPUTING = (Activity.COMPUTE, Activity.AICPU)
_OF_CAUSE = {
    CommunicationCause.WAIT: TimeClass.WAIT,
    CommunicationCause.TRANSFER: TimeClass.TRANSFER,
    CommunicationCause.UNSPLIT: TimeClass.UNSPLIT,
}


class TimePieces(NamedTuple):
    """Stretches that do not overlap, each with what it is told apart by; columns of equal length."""

    start: Int64s
    end: Int64s
    time_class: Int64s
    reason: Int64s  #: text, -1 none
    line: Int64s  #: place in the lines, -1 none


def first_boundary(analysis: Analysis, activity: DeviceActivity) -> int:
    """Return where the time of a device begins, ns: with its first work, or its first step on the host."""
    own = analysis.steps_by_device.get(activity.device, ())
    starts = [analysis.steps[index].host_start_ns for index in own]
    return min([activity.start_ns, *starts])


def device_pieces(analysis: Analysis, device: int, texts: TextPlaces, lines: LinePlaces) -> TimePieces:
    """Return the time of a device from its first boundary to the end of its window, in pieces."""
    activity = analysis.devices[device]
    parts = [
        _computing(analysis, activity, texts),
        _exposed(analysis, device),
        _plain(activity.free & activity.copies, TimeClass.COPY),
        _idle(analysis, device, texts, lines),
        *_before(analysis, device, texts, lines),
    ]
    pieces = TimePieces(*(np.concatenate(columns) for columns in zip(*parts)))
    order = np.argsort(pieces.start, kind="stable")
    return TimePieces(*(column[order] for column in pieces))


def split(pieces: TimePieces, boundaries: Int64s) -> tuple[TimeKeys, TimeCells]:
    """Return what pieces are told apart by, most time first, and how much there is of it in each segment."""
    keys, of_piece = np.unique(
        np.stack((pieces.time_class, pieces.reason, pieces.line)), axis=1, return_inverse=True
    )
    of_piece = of_piece.reshape(-1)
    total = np.zeros(keys.shape[1], np.int64)
    np.add.at(total, of_piece, pieces.end - pieces.start)
    order = np.lexsort((*keys[::-1], -total))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    cuts = cut(pieces.start, pieces.end, boundaries)
    segment = np.searchsorted(boundaries, cuts.start, "right") - 1
    return TimeKeys(*keys[:, order]), summed(segment, rank[of_piece][cuts.place], cuts.end - cuts.start)


def _computing(analysis: Analysis, activity: DeviceActivity, texts: TextPlaces) -> TimePieces:
    """What computes, by type of operator; of tasks at the same time the one that began last counts."""
    slices = analysis.trace.slices
    rows = activity.tasks[among(slices.activity[activity.tasks], _COMPUTING)]
    owned = last_begun(slices.start[rows], slices.end[rows])
    types = analysis.operators().types
    place = texts.places(types.strings, types.on_device[slices.name[rows]])
    none = np.full(len(owned.place), -1, np.int64)
    kind = np.full(len(owned.place), TimeClass.COMPUTING, np.int64)
    return TimePieces(owned.start, owned.end, kind, place[owned.place], none)


def _exposed(analysis: Analysis, device: int) -> TimePieces:
    exposed = analysis.communication.exposed
    own = exposed.at(exposed.of_device(device))
    classes = np.array([_OF_CAUSE[cause] for cause in CommunicationCause], np.int64)
    none = np.full(len(own), -1, np.int64)
    return TimePieces(own.start, own.end, classes[own.cause], none, none)


def _plain(time: Intervals, time_class: TimeClass) -> TimePieces:
    none = np.full(len(time), -1, np.int64)
    return TimePieces(time.starts, time.ends, np.full(len(time), time_class, np.int64), none, none)


def _idle(analysis: Analysis, device: int, texts: TextPlaces, lines: LinePlaces) -> TimePieces:
    causes = analysis.causes
    own = causes.of_device(device)
    line = _lines(analysis, causes.stack[own], causes.frame[own], causes.backward[own], lines)
    return _of_idle(causes.start[own], causes.end[own], causes.cause[own].astype(np.int64), line, texts)


def _before(analysis: Analysis, device: int, texts: TextPlaces, lines: LinePlaces) -> list[TimePieces]:
    """What lies before the window of a device: copies, preparing of its first step, what nothing tells."""
    activity = analysis.devices[device]
    begin, end = first_boundary(analysis, activity), activity.start_ns
    copies = activity.copies.clip(begin, end)
    causes = analysis.preparing.causes
    intervals = causes.intervals
    own = (intervals.device[causes.interval] == device) & (causes.start < end)
    first = int(intervals.step[causes.interval[own]].min(initial=np.iinfo(np.int32).max))
    own &= intervals.step[causes.interval] == first
    starts, ends = causes.start[own], np.minimum(causes.end[own], end)
    line = _lines(analysis, causes.stack[own], causes.frame[own], causes.backward[own], lines)
    told = _of_idle(starts, ends, causes.cause[own].astype(np.int64), line, texts)
    unknown = (union(starts, ends) | copies).complement(begin, end)
    none = np.full(len(unknown), -1, np.int64)
    cause = np.full(len(unknown), Cause.UNLINKED, np.int64)
    untold = _of_idle(unknown.starts, unknown.ends, cause, none, texts)
    return [_plain(copies, TimeClass.COPY), told, untold]


def _of_idle(starts: Int64s, ends: Int64s, cause: Int64s, line: Int64s, texts: TextPlaces) -> TimePieces:
    labels = [each.label for each in Cause]
    reason = texts.places(labels, cause)
    return TimePieces(starts, ends, np.full(len(starts), TimeClass.IDLE, np.int64), reason, line)


def _lines(analysis: Analysis, stack: Int32s, frame: Int64s, backward: Bools, lines: LinePlaces) -> Int64s:
    frames, of_frame = lines_of(analysis.trace, stack, frame, analysis.rules)
    return lines.places(frames, of_frame, backward)
