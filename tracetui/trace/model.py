"""The trace: tracks of lanes of slices, with flows, counters and instants beside them. Immutable once built.

Slices are rows of one table, sorted by track, then lane, then start; slices of one lane never overlap. So a
lane is a contiguous range of rows whose starts and ends are both sorted, and everything that draws or
searches works on such ranges with `numpy.searchsorted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, unique
from functools import cached_property
from typing import Any

import numpy as np

from tracetui.arrays import Floats, Int8s, Int32s, Int64s, Smalls, Wholes
from tracetui.reader.events import HcclColumns, NumberedColumns, ReadReport
from tracetui.reader.events import MemoryColumns as MemoryColumns
from tracetui.trace.order import order_by_group


@unique
class Layer(IntEnum):
    """What part of the system a track shows, in the order in which people read them, host to device."""

    PYTHON = 0  #: the framework's own process: operators, task queue, Python frames
    MARKS = 1  #: user ranges (mstx, msproftx)
    RUNTIME = 2  #: the runtime under the framework: CANN, or the CUDA runtime and driver
    DEVICE = 3  #: hardware streams
    COMMUNICATION = 4  #: collective groups and their planes
    OVERLAP = 5  #: the producer's own Overlap Analysis rows
    COUNTER = 6
    OTHER = 7  #: every process that no table knows


#: The layers whose tracks are of a device.
DEVICE_LAYERS = (Layer.DEVICE, Layer.COMMUNICATION, Layer.OVERLAP)
#: Devices of one trace that are analysed: a host has tens, a damaged file may tell of any number.
MOST_DEVICES = 1024


@unique
class Family(IntEnum):
    """Why slices of one thread nest in each other: each family of a thread is a track of its own."""

    FRAMES = 0  #: python_function
    OPERATORS = 1  #: cpu_op, enqueue, dequeue, user annotations
    COLLECTOR = 2  #: garbage collection
    CALLS = 3  #: runtime calls (CANN; CUDA runtime)
    TASKS = 4  #: tasks of a device stream
    GROUP = 5  #: collective operations of a communication group
    PLANE = 6  #: the transfers a collective is made of
    OVERLAP = 7
    ANNOTATIONS = 8  #: gpu_user_annotation: encloses tasks, is not work
    OTHER = 9


@unique
class Activity(IntEnum):
    """What a device slice does. Only the classes below COMMUNICATION_TASK count as work."""

    NONE = 0  #: not a device task
    COMPUTE = 1  #: kernels: on the AI cores of an NPU; of a GPU those that are not nccl
    AICPU = 2  #: compute elsewhere on the device: AI CPU, DSA, VPC, JPEG
    COMMUNICATION = 3  #: a collective of a group (GPU: nccl kernels)
    COPY = 4  #: memcpy, SDMA, PCIe DMA, memset
    COMMUNICATION_TASK = 5  #: part of a collective: on planes and streams; repeats the group's time
    WAIT = 6  #: EVENT_WAIT, NOTIFY_WAIT: occupies a stream, is not work
    EVENT = 7  #: EVENT_RECORD and the like
    OTHER = 8


class TraceKind(Enum):
    """Which family of producers wrote the trace."""

    ASCEND = "ascend"
    GPU = "gpu"
    CHROME = "chrome"  #: no device layer known


class Durations:
    """How long slices take, worked out where it is asked: a column of it would be 8 bytes more of each."""

    def __init__(self, start: Int64s, end: Int64s) -> None:
        self._start, self._end = start, end

    def __getitem__(self, rows: Any) -> Any:
        """Return end - start, ns: of a row, or of whatever a column can be indexed with."""
        return self._end[rows] - self._start[rows]


@dataclass(frozen=True)
class Slices:
    """The columns of all slices, length n each, sorted by (lane, start)."""

    start: Int64s  #: epoch ns
    end: Int64s  #: epoch ns
    name: Int32s  #: string
    category: Smalls  #: string, or -1
    activity: Int8s  #: Activity
    event: Wholes  #: the reader's ordinal, for `args` on demand
    correlation: Wholes  #: connection_id / correlation_id / correlation, or -1
    stack: Smalls  #: string of the `Call stack`, or -1
    task_type: Smalls  #: string, or -1
    direction: Smalls  #: string of the direction of a copy, or -1

    def __len__(self) -> int:
        return len(self.start)

    @property
    def dur(self) -> Durations:
        """How long each takes, ns."""
        return Durations(self.start, self.end)

    @cached_property
    def have_stacks(self) -> bool:
        """Whether any slice has a call stack."""
        return bool((self.stack >= 0).any())


@dataclass(frozen=True)
class Track:
    """One thread, stream, group or plane (in one family), or one counter series."""

    index: int  #: place in Trace.tracks; -1 until all tracks are known
    layer: Layer
    family: Family
    process: str  #: as written by the producer: "Ascend Hardware"
    name: str  #: as written: "Stream 2"; for a counter its series
    device: str | None  #: "NPU 0", "NPU", "GPU 3"; None on the host
    pid: str
    tid: str
    lanes: range = range(0)  #: lanes, outermost first; empty for a counter
    rows: range = range(0)  #: slices of those lanes
    samples: range = range(0)  #: samples in Trace.counters; empty for all but counters


@dataclass(frozen=True)
class Flows:
    """Arrows between slices, one per end in the file; length f each, sorted by (category, source row)."""

    category: Int32s  #: string, or -1
    source: Int64s  #: slice row at the start of the arrow, or -1 where no slice encloses it
    target: Int64s  #: slice row at its end, or -1
    source_time: Int64s  #: ns: where in the source the arrow starts
    source_thread: Int32s  #: index into Trace.threads: known also where no slice encloses the start


@dataclass(frozen=True)
class Counters:
    """Samples of all counter tracks.

    Two events in five are such, and most are never looked at: they stay in the order of the file until one is
    asked for.
    """

    track: Smalls  #: the counter track of each sample, the first of them 0
    read_time: Int64s  #: ns
    read_value: Floats

    def __len__(self) -> int:
        return len(self.track)

    @property
    def is_sorted(self) -> bool:
        """Whether they have been brought in order: 0.14 s of 2 M samples, once."""
        return "_by_track" in self.__dict__

    @property
    def time(self) -> Int64s:
        """ns; each track's range is sorted."""
        return self._by_track[0]

    @property
    def value(self) -> Floats:
        """The value at each `time`."""
        return self._by_track[1]

    def samples_of_track(self, number: int, place: range) -> tuple[Int64s, Floats]:
        """Return the times, sorted, and the values of one track: of a few among many, all need no order.

        Args:
            number: its `track`.
            place: where its samples are among those in order.
        """
        if self.is_sorted:
            return self.time[place.start : place.stop], self.value[place.start : place.stop]
        rows = np.flatnonzero(self.track == number)
        rows = rows[np.argsort(self.read_time[rows], kind="stable")]
        return self.read_time[rows], self.read_value[rows]

    @cached_property
    def _by_track(self) -> tuple[Int64s, Floats]:
        order = order_by_group(self.track, self.read_time)
        return self.read_time[order], self.read_value[order]


@dataclass(frozen=True)
class Instants:
    """Instant events, sorted by time."""

    time: Int64s  #: ns
    track: Int32s  #: the track to show it on, or -1
    name: Int32s  #: string
    event: Wholes


@dataclass(frozen=True)
class Trace:
    """One profile of one process group member, as read so far."""

    path: str
    kind: TraceKind
    strings: list[str]
    threads: list[tuple[str, str]]  #: (pid, tid) as written
    tracks: tuple[Track, ...]
    slices: Slices
    lane_rows: Int64s  #: int64[lanes + 1]: lane l holds rows lane_rows[l]:lane_rows[l + 1]
    lane_track: Int32s  #: int32[lanes]: the track of a lane
    hccl: HcclColumns  #: what the args of collectives and their planes say, by `event` of the slices
    numbered: NumberedColumns  #: the numbers of tasks on their streams, by `event` of the slices
    memory: MemoryColumns  #: what the args of `[memory]` say, by `event` of the instants
    flows: Flows
    counters: Counters
    instants: Instants
    devices: tuple[str, ...]  #: labels, in order of first appearance; empty without a device layer
    start_ns: int  #: first start of a slice (of anything, where there is no slice)
    end_ns: int  #: last end of a slice
    report: ReadReport
    owners: dict[str, str]  #: equal for the layers of one OS process, by pid
    base_ns: int = 0  #: was added to the times of the file, as it says
    unclosed: int = 0  #: calls of Python whose end was never recorded, and was taken from their caller
    shared_flows: int = 0  #: ends of arrows whose id several starts have at once: they belong to any of them
    messages: tuple[str, ...] = ()  #: warnings and errors of the profiler: never print them unescaped
    notes: tuple[str, ...] = ()  #: what the model wants said: "Level 0: no CANN slices", one sentence each

    def name(self, row: int) -> str:
        """Return the name of a slice as written in the trace: never print it unescaped."""
        return self.strings[int(self.slices.name[row])]

    @cached_property
    def device_tracks(self) -> dict[str, list[Track]]:
        """The tracks of each device, in their order; those of none are left out."""
        by_device: dict[str, list[Track]] = {}
        for track in self.tracks:
            if track.device:
                by_device.setdefault(track.device, []).append(track)
        return by_device

    def string(self, index: int) -> str | None:
        """Return the string of an interned index; None for -1."""
        return None if index < 0 else self.strings[index]

    def same_process(self, first: str, second: str) -> bool:
        """Return whether two pids are known to be of one OS process: good for choosing among
        several candidates.
        """
        return self.owners.get(first, first) == self.owners.get(second, second)

    def lane_of(self, row: int) -> int:
        """Return the lane that holds a slice."""
        return int(np.searchsorted(self.lane_rows, row, "right")) - 1

    def track_of(self, row: int) -> Track:
        """Return the track that holds a slice."""
        return self.tracks[int(self.lane_track[self.lane_of(row)])]

    def lane_slice_rows(self, lane: int) -> slice:
        """Return the rows of a lane, as a Python slice to index columns with."""
        return slice(int(self.lane_rows[lane]), int(self.lane_rows[lane + 1]))
