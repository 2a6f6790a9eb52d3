"""The ranges that people mark in their programs: when each of them was the device's, and what it did in them.

Ranges are slices of msTX and user annotations, and operators that only `record_function` can have made: they
lie in no other operator than such a range, their names are none of a library (`aten::mm`), and there are
operators inside. Those that PyTorch makes itself (`ProfilerStep#N`, `Optimizer.step#…`, `nccl:…`) are left
out. A device runs behind its host, and on several streams: a range counts on the stream to which it enqueues
most computing; without any, most work. It begins there once all has ended that the host had enqueued before,
and ends once all has ended that was enqueued in it; both not later than the stream begins what comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.launch_chains import NEVER, LaunchChains
from tracetui.analysis.search import among, group_by, of_category, rows_by_process, track_of_rows
from tracetui.arrays import EMPTY, Bools, Int64s, searchsorted
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Activity, Family, Layer, Trace, Track

_MADE_BY_LIBRARIES = compile_any(
    (
        *(f"(?:{beginning}).*" for beginning in KNOWN.operators.wrappers),
        *(f"{beginning}.*" for beginning in KNOWN.operators.step_beginnings),
        r"\w+:[^:].*",  # nccl:all_reduce
        r"enumerate\(.*",
        r"PyTorch Profiler.*",
        r"\w+Backward\d*",  # nodes of autograd, as PyTorch called them before 1.13: AddmmBackward
    )
)
_PHASE = compile_any(KNOWN.operators.phases)
_OF_A_LIBRARY = "::"
_EARLIEST = -NEVER  #: before all times


class MarkedRanges(NamedTuple):
    """Ranges by their start on the device; columns of equal length."""

    row: Int64s  #: slices of the host
    start: Int64s  #: ns, on the device
    end: Int64s


def range_name(name: str) -> str:
    """Return what people call a range.

    >>> range_name("## forward ##")
    'forward'
    """
    match = _PHASE.fullmatch(name)
    return match[match.lastindex or 0].strip() if match is not None else name


def host_ranges(trace: Trace) -> Int64s:
    """Return the rows of the ranges of a trace that last."""
    tracks = (track for track in trace.tracks if track.layer in (Layer.MARKS, Layer.PYTHON))
    row = np.concatenate([EMPTY, *(_ranges_of(trace, track) for track in tracks)])
    rows: Int64s = row[trace.slices.dur[row] > 0]
    return rows


def marked_ranges(
    trace: Trace, activities: Sequence[DeviceActivity], chains: LaunchChains
) -> tuple[MarkedRanges, ...]:
    """Return, for each device, the ranges of a trace as it ran them.

    Those of a process that launches work of other devices only are none of its.
    """
    rows = host_ranges(trace)
    if not len(rows) or len(activities) < 2:
        return tuple(_ranges_on_device(trace, rows, activity, chains) for activity in activities)
    launching = [_launching_processes(trace, activity, chains) for activity in activities]
    process_rows = [(pid, rows[places]) for pid, places in rows_by_process(trace, rows)]
    found = []
    for activity, own in zip(activities, launching):
        foreign = set().union(*launching) - own
        row = np.concatenate([EMPTY, *(part for pid, part in process_rows if pid not in foreign)])
        found.append(_ranges_on_device(trace, row, activity, chains))
    return tuple(found)


def _launching_processes(trace: Trace, activity: DeviceActivity, chains: LaunchChains) -> set[str]:
    """Return the pids that the work of a device comes from."""
    places = chains.index(activity.work)
    hops = (chains.operator, chains.enqueue, chains.launch)
    return {pid for hop in hops for pid, _ in rows_by_process(trace, hop[places])}


def _ranges_on_device(
    trace: Trace, row: Int64s, activity: DeviceActivity, chains: LaunchChains
) -> MarkedRanges:
    """Return the ranges of a trace, of which `row` has the rows, as one of its devices ran them."""
    slices = trace.slices
    host_start, host_end = slices.start[row], slices.end[row]
    enqueued = chains.enqueued(activity.work)
    order = np.argsort(enqueued, kind="stable")[: np.count_nonzero(enqueued != NEVER)]
    tasks, times = activity.work[order], enqueued[order]
    first, stop = np.searchsorted(times, host_start), np.searchsorted(times, host_end)
    latest = _latest(slices.end[tasks])
    busy = latest[first]
    done = np.where(latest[stop] > busy, latest[stop], _EARLIEST)  # else what is older ends last
    start, end = np.full(len(row), _EARLIEST), np.full(len(row), _EARLIEST)
    most_ns = np.full((2, len(row)), -1)
    for places, ns in _streams(trace, tasks):
        before, after = np.searchsorted(places, first), np.searchsorted(places, stop)
        enqueued_ns = ns[:, after] - ns[:, before]
        is_main = (enqueued_ns[0] > most_ns[0]) | (
            (enqueued_ns[0] == most_ns[0]) & (enqueued_ns[1] > most_ns[1])
        )
        ended, begins = _latest(slices.end[tasks[places]]), -_latest(-slices.start[tasks[places[::-1]]])[::-1]
        most_ns = np.where(is_main, enqueued_ns, most_ns)
        start = np.where(is_main, np.maximum(ended[before], np.minimum(busy, begins[before])), start)
        end = np.where(is_main, np.maximum(ended[after], np.minimum(done, begins[after])), end)
    start = np.maximum(start, host_start)
    end = np.maximum(np.maximum(end, host_end), start)
    order = np.lexsort((-slices.dur[row], host_start, start))
    return MarkedRanges(row[order], start[order], end[order])


def _streams(trace: Trace, tasks: Int64s) -> list[tuple[Int64s, Int64s]]:
    """Return the places of the tasks of each stream, those of the stream that computes most first.

    Beside them int64[2, places + 1]: how long the tasks before each place compute, and how long they take.
    """
    dur, activity = trace.slices.dur[tasks], trace.slices.activity[tasks]
    ns = np.stack([dur * among(activity, (Activity.COMPUTE, Activity.AICPU)), dur])
    streams = [
        (places, np.pad(ns[:, places].cumsum(axis=1), ((0, 0), (1, 0))))
        for _, places in group_by(track_of_rows(trace, tasks))
    ]
    return sorted(streams, key=lambda stream: -int(stream[1][0, -1]))


def _latest(times: Int64s) -> Int64s:
    """Return the latest of the times before each place and, at the end, of all; `_EARLIEST` of none."""
    return np.maximum.accumulate(np.concatenate(([_EARLIEST], times)))


def _ranges_of(trace: Trace, track: Track) -> Int64s:
    first, span = track.rows.start, slice(track.rows.start, track.rows.stop)
    if track.layer is Layer.MARKS:
        return np.arange(first, track.rows.stop)
    if track.layer is not Layer.PYTHON or track.family is not Family.OPERATORS or not len(track.rows):
        return EMPTY
    annotated = of_category(trace, trace.slices.category[span], KNOWN.categories.annotations)
    named = trace.slices.name[span]
    candidate = meanings(trace.strings, named, lambda name: _MADE_BY_LIBRARIES.fullmatch(name) is None) == 1
    if annotated.any():
        return first + np.flatnonzero(annotated & candidate)
    of_library = meanings(trace.strings, named, lambda name: _OF_A_LIBRARY in name) == 1
    candidates = first + np.flatnonzero(candidate & ~of_library)
    if not len(candidates):
        return candidates
    return candidates[_hold_operators(trace, candidates, span, of_library)]


def _hold_operators(trace: Trace, rows: Int64s, span: slice, of_library: Bools) -> Bools:
    """Return which slices lie in no operator of a library, of those in a span of rows, and have one inside.

    bool[rows]. `of_library`: bool[span].
    """
    starts, ends = trace.slices.start[span][of_library], trace.slices.end[span][of_library]
    starts.sort(kind="stable")
    ends.sort(kind="stable")
    begun = searchsorted(starts, trace.slices.start[rows], "right")
    none_open = begun == searchsorted(ends, trace.slices.start[rows], "right")
    holds: Bools = none_open & (searchsorted(starts, trace.slices.end[rows], "left") > begun)
    return holds


@dataclass(frozen=True)
class RangeTimes:
    """All ranges of one name on a device, cut to its window; sums in ns."""

    name: str  #: as written in the trace: never print it unescaped
    count: int
    time_ns: int
    longest_ns: int
    computing_ns: int
    exposed_communication_ns: int
    idle_ns: int

    @property
    def mean_ns(self) -> int:
        """Of a range."""
        return self.time_ns // self.count


def range_times(trace: Trace, ranges: MarkedRanges, activity: DeviceActivity) -> tuple[RangeTimes, ...]:
    """Return what a device does in its marked ranges, by name, most time first."""
    if not len(ranges.row):
        return ()
    start = np.clip(ranges.start, activity.start_ns, activity.end_ns)
    end = np.clip(ranges.end, activity.start_ns, activity.end_ns)
    parts = np.stack(
        [
            end - start,
            activity.compute.covered(start, end),
            activity.communication_not_overlapped.covered(start, end),
            activity.idle.covered(start, end),
        ]
    )
    places: dict[str, list[int]] = {}
    for place, named in enumerate(trace.slices.name[ranges.row].tolist()):
        places.setdefault(range_name(trace.strings[named]), []).append(place)
    found = []
    for name, of_name in places.items():
        time, computing, exposed, idle = parts[:, of_name].sum(axis=1).tolist()
        longest = int(parts[0, of_name].max())
        found.append(RangeTimes(name, len(of_name), time, longest, computing, exposed, idle))
    return tuple(sorted(found, key=lambda times: (-times.time_ns, times.name)))
