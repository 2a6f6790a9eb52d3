"""The event table: what a reader hands to the model, as columns.

All tables are in file order. Strings are interned: a column holds indices into `EventTable.strings`,
-1 where the event has none. Times are integer nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tracetui.arrays import Floats, Int8s, Int32s, Int64s, Smalls, Wholes

Passages = tuple[tuple[int, int], ...]  #: (start, end) of parts of the text


@dataclass
class SliceColumns:
    """Complete events (`ph` X), and B/E pairs joined; every array has length n.

    They are most of a table; whoever takes them over may empty them one by one.
    """

    start: Int64s  #: ns
    dur: Int64s  #: ns, never negative
    thread: Int32s  #: index into EventTable.threads
    name: Int32s  #: string
    category: Smalls  #: string, or -1
    event: Wholes  #: ordinal of the event among the file's decoded events: where its args are read again
    correlation: Wholes  #: connection_id, correlation_id or correlation of the args; -1 where none
    task_type: Smalls  #: string of `Task Type`, or -1
    direction: Smalls  #: string of `memcpy direction` / `operation`, or -1
    stack: Smalls  #: string of `Call stack`, or -1 (also for an empty one)
    python_id: Int32s  #: `Python id` of a python_function slice, or -1
    python_parent: Int32s  #: `Python parent id` of one, or -1


@dataclass(frozen=True)
class HcclColumns:
    """The args of collectives and of the tasks of their planes; every array has length h, far below n.

    A row for each complete event without a `Task Type` that has a `transport type` (a task of a plane), a
    `data_type` (a collective of HCCL) or a `Collective name` (of c10d: a kernel of NCCL, or the operator that
    launched it; there the keys in brackets hold): 129 k rows of 64 bytes in 1 GB of text, and 3 % of the time
    of scanning it. To read them again from the file when they are wanted would be to scan all blocks with
    device events, among which producers sort them: half of the text.
    """

    event: Wholes  #: ordinal, as in SliceColumns
    src: Int32s  #: `src rank`, of the group (`Src Rank`, of the job); -1 where none (4294967295)
    dst: Int32s  #: `dst rank` (`Dst Rank`)
    group_size: Int32s  #: `Group size`, -1 where none
    size: Wholes  #: `size(Byte)`, -1 where none
    count: Wholes  #: `count` of elements of a collective (`In msg nelems`), -1 where none
    transport: Int32s  #: string of `transport type`, or -1
    link: Int32s  #: string of `link type`, or -1
    dtype: Int32s  #: string of a collective's `data_type` (`dtype`), or -1
    algorithm: Int32s  #: string of `alg_type`, or -1
    collective: Int32s  #: string of `Collective name`, or -1
    process_group: Int32s  #: string of `Process Group Name`, or -1
    group_ranks: Int32s  #: string of `Process Group Ranks`: "[0, 1, ..., 7]", or -1


@dataclass(frozen=True)
class NumberedColumns:
    """The numbers that an NPU gives the tasks of a stream, one after the other; of equal length, far below n.

    A row for each complete event with a `Task Type` and a `Task Id` that is not part of a model, whose tasks
    have the same numbers each time it runs.
    """

    event: Wholes  #: ordinal, as in SliceColumns
    task: Wholes  #: `Task Id`, plus 2**32 `Batch Id`: a batch begins where numbers are used up


@dataclass(frozen=True)
class MemoryColumns:
    """The args of instants with which an allocator tells of a block, `[memory]`; of equal length."""

    event: Wholes  #: ordinal, as in InstantColumns
    address: Wholes  #: `Addr`, -1 where it is no address
    size: Wholes  #: `Bytes`: allocated, or below 0 given back; 0 where it is no size
    allocated: Wholes  #: `Total Allocated` then, bytes, -1 where not told
    reserved: Wholes  #: `Total Reserved`
    device: Int32s  #: `Device Id`, -1 of the host


@dataclass(frozen=True)
class FlowColumns:
    """Flow events (`ph` s, t, f); every array has length n."""

    time: Int64s  #: ns
    thread: Int32s  #: index into EventTable.threads
    category: Int32s  #: string, or -1
    phase: Int8s  #: 0 start (s), 1 step (t), 2 end (f)
    #: equal ids of one category belong together: the id's decimal value, or below -1 an index where that
    #: does not fit 63 bits; -1 for an id that means "not connected" (0xFFFFFFFF << 32 and 2**64 - 1)
    id: Int64s


@dataclass(frozen=True)
class CounterColumns:
    """Samples of counter events (`ph` C), one row per series of an event; every array has length n."""

    time: Int64s  #: ns
    series: Smalls  #: index into EventTable.series
    value: Floats


@dataclass(frozen=True)
class InstantColumns:
    """Instant events (`ph` i, I); every array has length n."""

    time: Int64s  #: ns
    thread: Int32s  #: index into EventTable.threads
    name: Int32s  #: string
    event: Wholes  #: ordinal, as in SliceColumns


@dataclass(frozen=True)
class BlockColumns:
    """Where the decoded blocks are in the text: finds an event again by its ordinal."""

    first: Int64s  #: int64[blocks + 1]: block b holds the ordinals first[b]:first[b + 1]
    offset: Int64s  #: int64[blocks]: bytes from the start of the (decompressed) text
    length: Int64s  #: int64[blocks]: bytes
    spans: Int64s  #: int64[blocks]: how many of the spans below are the block's; 0: all of it is elements
    span_start: Int64s  #: of one element, bytes from the start of its block
    span_end: Int64s


@dataclass(frozen=True)
class Metadata:
    """One metadata event (`ph` M), e.g. name="thread_name", value="Stream 2"."""

    name: str
    pid: str
    tid: str  #: "" where the event has none
    value: str


@dataclass(frozen=True)
class Skip:
    """A place in the file that held no readable event."""

    offset: int  #: bytes from the start of the (decompressed) text
    length: int  #: bytes
    reason: str


@dataclass(frozen=True)
class ReadReport:
    """How the reading went: what was read, what was not and why. Everything here is shown to the user."""

    bytes: int  #: size of the file on disk
    text_bytes: int  #: bytes of JSON text seen (differs for gzip)
    events: int  #: events decoded
    skipped: int  #: events not used: corrupt, without the fields of their phase, or of an unknown phase
    places: int = 0  #: how many places of the text are damaged: they hold no readable event
    skips: tuple[Skip, ...] = ()  #: the first of these places, at most 100
    without_duration: int = 0  #: slices whose duration cannot be; it counts as 0
    partial_tables: int = 0  #: of a database, which are read in part or not at all
    truncated: bool = False  #: the text ends before the array does
    stopped: bool = False  #: the user stopped the reading: later events are missing
    unknown_phases: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  #: one sentence each, free of control characters
    passing: tuple[str, ...] = ()  #: those of the warnings that tell of this reading and not of the file
    seen: Passages = ()  #: of the text, ascending
    files: int = 1  #: that were read


@dataclass(frozen=True)
class EventTable:
    """All events of one file, or of the part read so far."""

    path: str
    strings: list[str]
    threads: list[tuple[str, str]]  #: (pid, tid) as text
    series: list[tuple[int, int, str]]  #: (thread, event name string, key of the args)
    slices: SliceColumns
    hccl: HcclColumns
    numbered: NumberedColumns
    memory: MemoryColumns
    flows: FlowColumns
    counters: CounterColumns
    instants: InstantColumns
    metadata: list[Metadata]
    document: dict[str, Any]  #: keys beside traceEvents of a wrapping object; large values dropped
    report: ReadReport
    base_ns: int = 0  #: was added to the times of the file
