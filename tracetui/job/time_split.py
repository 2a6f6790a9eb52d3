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
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.idle.pieces import cut_at_edges, last_begun
from tracetui.analysis.intervals import union
from tracetui.analysis.search import among
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.job.digest import TimeCells, TimeClass, TimeKeys
from tracetui.job.digest_size import sum_cells
from tracetui.job.texts import LinePlaces, TextPlaces
from tracetui.trace.model import Activity

_COMPUTING = (Activity.COMPUTE, Activity.AICPU)
_CLASS_OF_CAUSE = {
    CommunicationCause.WAIT: TimeClass.WAIT,
    CommunicationCause.TRANSFER: TimeClass.TRANSFER,
    CommunicationCause.UNSPLIT: TimeClass.UNSPLIT,
}


class TimePieces(NamedTuple):
    """Stretches of time that do not overlap, each with its key; columns of equal length."""

    start: Int64s
    end: Int64s
    time_class: Int64s
    reason: Int64s  #: text, -1 none
    line: Int64s  #: place in the lines, -1 none


def first_boundary(analysis: Analysis, activity: DeviceActivity) -> int:
    """Return where the time of a device begins, ns: with its first work, or its first step on the host."""
    steps_of_device = analysis.steps_by_device.get(activity.device, ())
    starts = [analysis.steps[index].host_start_ns for index in steps_of_device]
    return min([activity.start_ns, *starts])


def device_pieces(analysis: Analysis, device: int, texts: TextPlaces, lines: LinePlaces) -> TimePieces:
    """Return the time of a device from its first boundary to the end of its window, in pieces."""
    activity = analysis.devices[device]
    copies = activity.free & activity.copies
    parts = [
        _computing_pieces(analysis, activity, texts),
        _exposed_pieces(analysis, device),
        _pieces(copies.starts, copies.ends, TimeClass.COPY),
        _idle_pieces(analysis, device, texts, lines),
        *_pieces_before_window(analysis, device, texts, lines),
    ]
    pieces = TimePieces(*(np.concatenate(columns) for columns in zip(*parts)))
    order = np.argsort(pieces.start, kind="stable")
    return TimePieces(*(column[order] for column in pieces))


def split_time(pieces: TimePieces, boundaries: Int64s) -> tuple[TimeKeys, TimeCells]:
    """Return the keys of pieces, most time first, and the time of each key in each segment."""
    keys, key_of_piece = np.unique(
        np.stack((pieces.time_class, pieces.reason, pieces.line)), axis=1, return_inverse=True
    )
    key_of_piece = key_of_piece.reshape(-1)
    total = np.zeros(keys.shape[1], np.int64)
    np.add.at(total, key_of_piece, pieces.end - pieces.start)
    order = np.lexsort((*keys[::-1], -total))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    cuts = cut_at_edges(pieces.start, pieces.end, boundaries)
    segment = np.searchsorted(boundaries, cuts.start, "right") - 1
    return TimeKeys(*keys[:, order]), sum_cells(
        segment, rank[key_of_piece][cuts.place], cuts.end - cuts.start
    )


def _computing_pieces(analysis: Analysis, activity: DeviceActivity, texts: TextPlaces) -> TimePieces:
    """Return what computes, by type of operator; of tasks at the same time the last begun counts."""
    slices = analysis.trace.slices
    rows = activity.tasks[among(slices.activity[activity.tasks], _COMPUTING)]
    owned = last_begun(slices.start[rows], slices.end[rows])
    types = analysis.operators().types
    place = texts.places(types.strings, types.on_device[slices.name[rows]])
    return _pieces(owned.start, owned.end, TimeClass.COMPUTING, place[owned.place])


def _exposed_pieces(analysis: Analysis, device: int) -> TimePieces:
    exposed = analysis.communication.exposed
    device_exposed = exposed.at(exposed.of_device(device))
    classes = np.array([_CLASS_OF_CAUSE[cause] for cause in CommunicationCause], np.int64)
    return _pieces(device_exposed.start, device_exposed.end, classes[device_exposed.cause])


def _pieces(
    start: Int64s, end: Int64s, time_class: int | Int64s, reason: int | Int64s = -1, line: int | Int64s = -1
) -> TimePieces:
    """Return pieces of time; a number in place of a column is that of all of them."""
    keys = (np.broadcast_to(np.asarray(key, np.int64), start.shape) for key in (time_class, reason, line))
    return TimePieces(start, end, *keys)


def _idle_pieces(analysis: Analysis, device: int, texts: TextPlaces, lines: LinePlaces) -> TimePieces:
    causes = analysis.causes
    of_device = causes.of_device(device)
    line = _line_places(
        analysis, causes.stack[of_device], causes.frame[of_device], causes.backward[of_device], lines
    )
    return _pieces_of_causes(
        causes.start[of_device], causes.end[of_device], causes.cause[of_device].astype(np.int64), line, texts
    )


def _pieces_before_window(
    analysis: Analysis, device: int, texts: TextPlaces, lines: LinePlaces
) -> list[TimePieces]:
    """Return the time before a device's window: copies, preparing of the first step, what is unknown."""
    activity = analysis.devices[device]
    begin, end = first_boundary(analysis, activity), activity.start_ns
    copies = activity.copies.clip(begin, end)
    causes = analysis.preparing.causes
    intervals = causes.intervals
    chosen = (intervals.device[causes.interval] == device) & (causes.start < end)
    first = int(intervals.step[causes.interval[chosen]].min(initial=np.iinfo(np.int32).max))
    chosen &= intervals.step[causes.interval] == first
    starts, ends = causes.start[chosen], np.minimum(causes.end[chosen], end)
    line = _line_places(analysis, causes.stack[chosen], causes.frame[chosen], causes.backward[chosen], lines)
    known = _pieces_of_causes(starts, ends, causes.cause[chosen].astype(np.int64), line, texts)
    unknown = (union(starts, ends) | copies).complement(begin, end)
    cause = np.full(len(unknown), Cause.UNLINKED, np.int64)
    unexplained = _pieces_of_causes(unknown.starts, unknown.ends, cause, -1, texts)
    return [_pieces(copies.starts, copies.ends, TimeClass.COPY), known, unexplained]


def _pieces_of_causes(
    starts: Int64s, ends: Int64s, cause: Int64s, line: int | Int64s, texts: TextPlaces
) -> TimePieces:
    reason = texts.places([cause_class.label for cause_class in Cause], cause)
    return _pieces(starts, ends, TimeClass.IDLE, reason, line)


def _line_places(
    analysis: Analysis, stack: Int32s, frame: Int64s, backward: Bools, lines: LinePlaces
) -> Int64s:
    frames, of_frame = lines_of(analysis.trace, stack, frame, analysis.rules)
    return lines.places(frames, of_frame, backward)
