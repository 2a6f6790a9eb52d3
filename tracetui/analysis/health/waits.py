"""What calls that wait for the device tell about clocks.

A thread that waits calls nothing: calls inside of its wait were made after it, and a clock went back. A wait
for a whole device returns when all tasks that were launched before it are done: 5 µs after the last one or
later on clean traces. A wait for a stream right after the launch of a copy is a blocking copy: all 124 in
clean traces return 2 µs after the copy or later. An operator that takes a value of the device waits for the
stream of its tensor: 158 µs after the last task of that stream or later on clean traces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.search import (
    among,
    distinct,
    group_by,
    name_meanings,
    of_category,
    ranges,
    rows_of,
    span_of,
    track_of_rows,
)
from tracetui.arrays import EMPTY, Bools, Int32s, Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Activity, Family, Layer, Slices, Track

#: ns: tasks may end so long after a wait for them returned where clocks are aligned.
LATE = 200_000
#: Tasks that outlast a wait for them, from which on clocks disagree.
LEAST_OUTLASTING = 3
#: Calls in a wait, or names of operators in one that waits, from which on they were made after it.
_LEAST_CALLS, _LEAST_NAMES = 3, 5
#: ns: slices that end so close to their thread end with it.
_CLOSE = 1_000
#: Waits that return just when the device is done, from which on another one shows a leap.
_LEAST_ON_TIME = 2
#: Waits of one name that tell what waits hold.
_LEAST_WAITS = 3
#: ns: an operator that may wait does so where it lasts so long; taking a value of the host is not that slow.
_WAITED = 10_000_000


class DeviceWaits(NamedTuple):
    """Waits for the only device, by start, and by how much tasks that were launched before outlast each."""

    start: Int64s  #: ns
    end: Int64s  #: ns
    late: Int64s  #: ns from the return to the end of the last such task; below 0 where it was done
    launched: Int64s  #: ns: of the tasks, sorted
    ends: Int64s  #: ns: of these tasks

    def outlasting(self, wait: int) -> int:
        """Return how many tasks outlast a wait."""
        before = self.ends[: np.searchsorted(self.launched, self.start[wait])]
        return int(np.count_nonzero(before > self.end[wait] + LATE))


class CopyWaits(NamedTuple):
    """Waits for a stream right after the launch of a copy, by start: the copy was a blocking one."""

    end: Int64s  #: ns
    late: Int64s  #: ns from the return to the end of the copy; below 0 where it was done


class OperatorWaits(NamedTuple):
    """Long operators that wait for one stream of the device, by start, while some stream is busy."""

    end: Int64s  #: ns
    late: Int64s  #: ns from the return to the end of the busy stream that is done first; below 0: before it
    outlasting: Int64s  #: tasks of all streams that outlast each


class Waits(NamedTuple):
    """Calls and operators that wait for tasks launched before; none where there are several devices.

    Which of several devices a call waits for is not recorded.
    """

    device: DeviceWaits
    copies: CopyWaits
    operators: OperatorWaits


def leap_in_wait(recording: HealthEvidence, waits: DeviceWaits, least: int) -> tuple[int, int] | None:
    """Return when the clock leaps by what waits show, ns, and by how much: back, or ahead by `least` or more.

    `least`: ns.
    """
    back = _leap_back(recording)
    if back is not None:
        return back
    outlasted = np.flatnonzero(waits.late > LATE)
    if count_on_time(waits.late) < _LEAST_ON_TIME or len(outlasted) != 1:
        return None
    wait = int(outlasted[0])
    if waits.late[wait] < least or waits.outlasting(wait) < LEAST_OUTLASTING:
        return None
    return int(waits.end[wait]), int(waits.late[wait])


def count_on_time(late: Int64s) -> int:
    """Return how many waits return just when what they wait for is done."""
    return int(np.count_nonzero((late <= 0) & (late >= -LATE)))


def find_waits(recording: HealthEvidence, uncertain: Int64s) -> Waits:
    """Return the calls that wait after some task was launched.

    `uncertain`: rows of tasks whose launch is not certain.
    """
    slices = recording.trace.slices
    for_device, for_stream = _waits(recording)
    operators = _long_operators(recording)
    launched = tasks = EMPTY
    if len(for_device) or len(for_stream) or len(operators):
        launched, tasks = _tasks_by_launch(recording, uncertain)
    ends = slices.end[tasks]

    for_device, last = _last_before(slices.start, for_device, launched)
    late = np.maximum.accumulate(ends)[last] - slices.end[for_device]
    device = DeviceWaits(slices.start[for_device], slices.end[for_device], late, launched, ends)

    for_stream, last = _last_before(slices.start, for_stream, launched)
    is_copy = slices.activity[tasks[last]] == Activity.COPY
    returned = slices.end[for_stream[is_copy]]
    copies = CopyWaits(returned, ends[last[is_copy]] - returned)
    return Waits(device, copies, _operator_waits(recording, operators, launched, tasks))


def _last_before(start: Int64s, waits: Int64s, launched: Int64s) -> tuple[Int64s, Int64s]:
    """Return the waits before which something was launched, and the place of the last of that for each."""
    last = np.searchsorted(launched, start[waits]) - 1
    return waits[last >= 0], last[last >= 0]


def _operator_waits(
    recording: HealthEvidence, operators: Int64s, launched: Int64s, tasks: Int64s
) -> OperatorWaits:
    """Return what outlasts operators that wait for one stream; for which, where several are busy, is unknown.

    Args:
        operators: int64[waits], rows, by start.
        launched: int64[tasks], ns, ascending: when each task was launched.
        tasks: int64[tasks], rows. Kernels and copies count: operators do not wait for streams of collectives.
    """
    if not len(operators):
        return OperatorWaits(operators, operators, operators)
    slices = recording.trace.slices
    start, end = slices.start[operators], slices.end[operators]
    kept = among(slices.activity[tasks], (Activity.COMPUTE, Activity.AICPU, Activity.COPY))
    launched, tasks = launched[kept], tasks[kept]
    never = np.iinfo(np.int64).max
    done = np.full(len(operators), never)
    outlasting = np.zeros(len(operators), np.int64)
    for _, of_stream in group_by(track_of_rows(recording.trace, tasks)):
        ends = slices.end[tasks[of_stream]]
        count = np.searchsorted(launched[of_stream], start)
        last = np.where(count > 0, np.maximum.accumulate(ends)[count - 1], 0)
        done = np.where(last > start, np.minimum(done, last), done)
        for wait in np.flatnonzero(last > end + LATE).tolist():
            outlasting[wait] += np.count_nonzero(ends[: count[wait]] > end[wait] + LATE)
    busy = done < never
    return OperatorWaits(end[busy], (done - end)[busy], outlasting[busy])


def _long_operators(recording: HealthEvidence) -> Int64s:
    """Return the rows of the long operators that wait for the only device, by start."""
    trace, slices = recording.trace, recording.trace.slices
    if len(recording.devices) != 1:
        return EMPTY
    tracks = (t for t in trace.tracks if t.layer == Layer.PYTHON and t.family == Family.OPERATORS)
    long = [t.rows.start + np.flatnonzero(slices.dur[t.rows.start : t.rows.stop] >= _WAITED) for t in tracks]
    rows = np.concatenate([EMPTY, *long])
    return _outermost(slices, rows[name_meanings(trace, rows, calls.cause_of_operator) == Cause.SYNC])


def _waits(recording: HealthEvidence) -> tuple[Int64s, Int64s]:
    """Return the rows of the calls that wait for the only device, and for a stream of it, by start."""
    trace = recording.trace
    if len(recording.devices) != 1:
        return EMPTY, EMPTY
    rows = rows_of(t for t in trace.tracks if t.layer == Layer.RUNTIME and t.family == Family.CALLS)
    for_device = name_meanings(trace, rows, calls.waits_for_device) == 1
    for_stream = ~for_device & (name_meanings(trace, rows, calls.waits_for_stream) == 1)
    # Layers of the runtime hold a call of the same kind each: the outermost counts.
    return _outermost(trace.slices, rows[for_device]), _outermost(trace.slices, rows[for_stream])


def _outermost(slices: Slices, waits: Int64s) -> Int64s:
    """Return those of some rows that no other one of them holds, by start."""
    waits = waits[np.argsort(slices.start[waits], kind="stable")]
    return waits[slices.end[waits] > np.maximum.accumulate(np.append(0, slices.end[waits]))[:-1]]


def _tasks_by_launch(recording: HealthEvidence, uncertain: Int64s) -> tuple[Int64s, Int64s]:
    """Return when tasks of streams were launched, ns, ascending, and the row of each; not of `uncertain`."""
    trace, chains = recording.trace, recording.launch_chains
    of_stream = np.array([track.family == Family.TASKS for track in trace.tracks], np.bool_)
    known = (chains.launch_time >= 0) & of_stream[track_of_rows(trace, chains.tasks)]
    known &= ~np.isin(chains.tasks, uncertain)
    launched, tasks = chains.launch_time[known], chains.tasks[known]
    order = np.argsort(launched, kind="stable")
    return launched[order], tasks[order]


def _leap_back(recording: HealthEvidence) -> tuple[int, int] | None:
    """Return when and by how much a clock leaps back, as calls inside of one that waits show; ns.

    Operators that wait may call others, and calls other waits: those count that no other wait of the same
    name holds.
    """
    trace, slices = recording.trace, recording.trace.slices
    causes = {Family.CALLS: calls.cause_of_call, Family.OPERATORS: calls.cause_of_operator}
    for track in trace.tracks:
        if track.family not in causes or len(track.lanes) < 2:
            continue
        waits, inside, also_waits = _inside_waits(recording, track, causes[track.family])
        is_call = track.family == Family.CALLS
        for wait, places in group_by(waits):
            names = len(distinct(slices.name[inside[places]]))
            count = len(places) if is_call else int(np.count_nonzero(also_waits[places]))
            if names >= _LEAST_NAMES or count >= _LEAST_CALLS:
                end = int(slices.end[wait])
                return end, int(slices.start[inside[places]].min()) - end
    return None


def _inside_waits(
    recording: HealthEvidence, track: Track, cause_of: Callable[[str], Cause | None]
) -> tuple[Int64s, Int64s, Bools]:
    """Return the slices of a track that wait for the device, and those directly inside that should not be.

    Rows and rows, and whether what is inside waits as well; of equal length. Waits that end with their thread
    are left out: their end was not recorded. So are ranges of the user, which may hold anything.
    """
    trace, slices = recording.trace, recording.trace.slices
    rows = slice(track.rows.start, track.rows.stop)
    waiting = meanings(trace.strings, slices.name[rows], lambda name: int(cause_of(name) == Cause.SYNC)) == 1
    waiting &= ~of_category(trace, slices.category[rows], KNOWN.categories.annotations)
    every = rows.start + np.flatnonzero(waiting)
    closed = every[slices.end[every] < span_of(trace, track)[1] - _CLOSE]
    found = [np.empty((2, 0), np.int64)]
    for lane in track.lanes[1:] if len(closed) else ():
        outer, inner = trace.lane_slice_rows(lane - 1), trace.lane_slice_rows(lane)
        held = closed[slice(*np.searchsorted(closed, (outer.start, outer.stop)))]
        first, stop = np.searchsorted(slices.start[inner], (slices.start[held], slices.end[held]))
        found.append(np.stack((np.repeat(held, stop - first), inner.start + ranges(first, stop))))
    waits, inside = np.concatenate(found, axis=1)
    also_waits = waiting[inside - rows.start]
    odd = _alone(slices.name, waits, inside, every)
    if track.family == Family.CALLS:
        odd |= ~also_waits
    return waits[odd], inside[odd], also_waits[odd]


def _alone(name: Int32s, waits: Int64s, inside: Int64s, every: Int64s) -> Bools:
    """Return which slices inside of waits have a name that is in no other wait of the same name, of several.

    Args:
        name: int32[slices], the string of each.
        waits: int64[n], rows.
        inside: int64[n], rows: what is in each of them.
        every: rows of all waits.
    """
    counts = np.bincount(name[every])
    strings = int(name[inside].max(initial=0)) + 1
    alone = np.zeros(len(waits), np.bool_)
    for key, places in group_by(name[waits].astype(np.int64) * strings + name[inside]):
        several = counts[key // strings] >= _LEAST_WAITS
        alone[places] = several and len(distinct(waits[places])) == 1
    return alone
