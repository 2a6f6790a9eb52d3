"""The digest of a rank: all that a job needs to know of it, in about a hundredth of its trace.

Columns are numpy arrays of equal length, so that a thousand digests can be joined without a loop over what is
in them. Texts stand once in a list, and columns hold places in it. A digest knows nothing of where its trace
lies: the same trace gives the same digest on every host.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import cached_property
from typing import Any, Union

import numpy as np

from tracetui.arrays import Int64s
from tracetui.comparison.tally import tested_steps
from tracetui.job.columns import ColumnTable
from tracetui.job.run_columns import (
    STEPLESS_TABLES,
    WALL_TABLES,
    CallColumns,
    RunFacts,
    StepSumColumns,
    SumColumns,
    SumTable,
    TermColumns,
    WallColumns,
)

#: Ranks of the largest job that is believed: a file may tell of as many as a number holds.
MOST_RANKS = 1 << 17
Scalar = Union[str, int, bool]


class TimeClass(IntEnum):
    """What a device did with a stretch of its time. Each nanosecond is of one class."""

    COMPUTING = 0  #: C
    WAIT = 1  #: exposed communication: a rank was late, as the planes tell
    TRANSFER = 2  #: exposed communication: data moved, as the planes tell
    UNSPLIT = 3  #: exposed communication, without planes
    COPY = 4  #: X \\ (C ∪ M)
    IDLE = 5  #: nothing at all; before the first work of the trace too


@dataclass(frozen=True, eq=False)
class StepColumns(ColumnTable):
    """The steps of the device, by the host's start; the sums are those of `analysis.steps.Step`."""

    number: Int64s
    host_start: Int64s  #: epoch ns on the clock of the rank, as all times
    host_end: Int64s
    start: Int64s  #: the device window
    end: Int64s
    computing: Int64s
    communication: Int64s
    exposed: Int64s  #: communication not overlapped
    wait: Int64s  #: of the exposed communication of the step: a rank was late
    transfer: Int64s  #: of it: data moved
    unsplit: Int64s  #: of it: not told apart
    overlapped: Int64s
    free: Int64s
    idle: Int64s
    stage: Int64s
    bubble: Int64s
    exposed_without_receive: Int64s
    preparing: Int64s
    gap: Int64s  #: the iteration gap; -1 where not told
    forward_backward: Int64s  #: -1 where not told
    tail: Int64s  #: -1 where not told

    @property
    def copies(self) -> Int64s:
        """Return the exposed copies, int64[steps] in ns: what is not idle of the free time."""
        return self.free - self.idle


@dataclass(frozen=True, eq=False)
class CollectiveColumns(ColumnTable):
    """The communication operations of the device, by start; also sends and receives."""

    group: Int64s  #: place in `groups`
    type: Int64s  #: text: "allReduce"
    index: Int64s  #: that its name carries, -1 where none
    iteration: Int64s  #: that its name carries, -1 where none
    dtype: Int64s  #: text, -1 where not told
    count: Int64s  #: elements, -1 where not told
    bytes: Int64s  #: -1 where not told
    step: Int64s  #: number of the step that it starts in, -1 where none
    start: Int64s
    end: Int64s
    line: Int64s  #: place in `lines` of the line that issued it, -1 where not known
    known: Int64s  #: 1: its planes tell whom it waited for
    wait: Int64s  #: ns from its start until the late peer came, as its planes tell; 0: nobody was late
    peer: Int64s  #: number in the group of the late peer, -1 where nobody was late or nothing is known
    ring: Int64s  #: 1: it sees its neighbours only: late was the peer, or a rank before it
    other: Int64s  #: of a send or receive: number in the group of its other end, -1 where not known


@dataclass(frozen=True, eq=False)
class ArrivalColumns(ColumnTable):
    """When peers came that a collective waited for, 50 us at least; by collective, then peer."""

    collective: Int64s  #: place in `collectives`
    peer: Int64s  #: number in the group
    time: Int64s


@dataclass(frozen=True, eq=False)
class TimeCells(ColumnTable):
    """How much of a class and reason there is between two boundaries; by segment, then key; none is 0."""

    segment: Int64s  #: from boundary `segment` to the next one
    key: Int64s  #: place in `keys`
    ns: Int64s


@dataclass(frozen=True, eq=False)
class TimeKeys(ColumnTable):
    """The keys that time is summed by: class, reason and line."""

    time_class: Int64s  #: TimeClass
    #: text: of idle time its cause, "" where nothing tells; of computing the type of operator, "" of those
    #: that take little; -1 of all others
    reason: Int64s
    line: Int64s  #: of idle time: place in `lines` of the line it is charged to, -1 where none


@dataclass(frozen=True, eq=False)
class OperatorColumns(ColumnTable):
    """The tasks of the device by type, most time first."""

    type: Int64s  #: text
    activity: Int64s  #: trace.model.Activity
    count: Int64s
    ns: Int64s


@dataclass(frozen=True, eq=False)
class LinkColumns(ColumnTable):
    """What moved from one rank of a group to another."""

    group: Int64s  #: place in `groups`, -1 where not known
    src: Int64s  #: number in the group
    dst: Int64s
    transport: Int64s  #: text: "HCCS", "RDMA", ...
    size_class: Int64s  #: bits of the bytes of each transfer: 21 of 1 to 2 MiB; 0 where not told
    transfers: Int64s
    bytes: Int64s
    ns: Int64s


@dataclass(frozen=True, eq=False)
class RangeColumns(ColumnTable):
    """The ranges that people mark, by their start on the device, outer ones first; also boundaries."""

    name: Int64s  #: text: "generate_sequences"
    start: Int64s  #: on the device
    end: Int64s


@dataclass(frozen=True, eq=False)
class AwaitedColumns(ColumnTable):
    """The collectives that the device waited for: exposed communication ends with them, and not before."""

    collective: Int64s  #: place in `collectives`, ascending


@dataclass(frozen=True, eq=False)
class TokenColumns(ColumnTable):
    """How many tokens the experts of a rank work at: the grouped matmuls of the device, by start."""

    start: Int64s
    tokens: Int64s  #: first dimension of the first input


@dataclass(frozen=True, order=True)
class DigestLine:
    """A line of Python, in the forward or in the backward pass."""

    file: str  #: "" where its frames have no file
    line: int
    function: str
    backward: bool


NO_LINE = DigestLine("", -1, "", False)  #: stands before all lines


@dataclass(frozen=True)
class RankGroup:
    """A communication group as one of its ranks sees it."""

    key: str  #: what operations and tracks call it, the same on all its ranks: "271", "1 [0, 2]", "stream 20"
    communicator: str  #: the whole name, "" where not known: groups with other names are others
    name: str  #: what it is for: "tp"; "" where not known
    rank: int  #: the rank's own number in it, -1 where not known
    global_ranks: tuple[int, ...]  #: of the numbers 0, 1, ... in the group; empty where not known
    size: int  #: ranks in it as far as is known; 0: nothing is


@dataclass(frozen=True)
class Identity:
    """Which rank of which job this is, as far as its files and their names tell."""

    name: str  #: of the rank's directory, of the file where it has none
    rank: int  #: -1 where nothing tells
    rank_from: str  #: what told its rank: "profiler_info", "distributedInfo", "name" or ""
    host: str  #: "" where nothing tells
    started: str  #: digits of the time stamp in the name, "" without
    world: int  #: ranks in the job, 0 where nothing tells
    sizes: dict[str, int]  #: ranks of a group by what it is for: {"tp": 2, "pp": 4}
    indices: dict[str, int]  #: its own number in those groups: {"tp": 1, "pp": 0}
    options: dict[str, Scalar]  #: of the profiler: {"profiler_level": "Level2"}


@dataclass(frozen=True, eq=False)
class Digest:
    """All that a job needs to know of one rank."""

    identity: Identity
    kind: str  #: trace.model.TraceKind
    device: str  #: as written in the trace
    trace_bytes: int  #: of the file
    events: int
    start: int  #: of the device's window W, epoch ns
    end: int
    warnings: tuple[str, ...] = ()
    groups: tuple[RankGroup, ...] = ()
    texts: tuple[str, ...] = ()  #: as written in the trace: never print them unescaped
    lines: tuple[DigestLine, ...] = ()
    steps: StepColumns = field(default_factory=StepColumns.empty)
    collectives: CollectiveColumns = field(default_factory=CollectiveColumns.empty)
    arrivals: ArrivalColumns = field(default_factory=ArrivalColumns.empty)
    operators: OperatorColumns = field(default_factory=OperatorColumns.empty)
    links: LinkColumns = field(default_factory=LinkColumns.empty)
    keys: TimeKeys = field(default_factory=TimeKeys.empty)
    #: sorted, distinct; from the first step's start or the first work to the end of W
    boundaries: Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    cells: TimeCells = field(default_factory=TimeCells.empty)
    chip: str = ""  #: generation of the device: "910B"; "" where that is not certain
    facts: RunFacts | None = None  #: what the run is compared by; None of a digest that has nothing of it
    walls: WallColumns = field(default_factory=WallColumns.empty)
    terms: TermColumns = field(default_factory=TermColumns.empty)
    device_terms: TermColumns = field(default_factory=TermColumns.empty)  #: of the steps of the devices
    sums: SumColumns = field(default_factory=SumColumns.empty)
    parts: StepSumColumns = field(default_factory=StepSumColumns.empty)
    calls: CallColumns = field(default_factory=CallColumns.empty)
    ranges: RangeColumns | None = None  #: None of a digest of before they were kept
    tokens: TokenColumns | None = None  #: None of a digest of before they were kept
    awaited: AwaitedColumns | None = None  #: None of a digest of before they were kept

    @property
    def part_counts(self) -> Int64s:
        """int64[sums]: how many steps `parts` has of each."""
        steps = self.facts.steps if self.facts is not None else 0
        of_table = np.zeros(len(SumTable), np.int64)
        for table in SumTable:
            if table not in STEPLESS_TABLES:
                count = len(self.walls) if table in WALL_TABLES else steps
                of_table[table] = len(tested_steps(count))
        return of_table[self.sums.table]

    @cached_property
    def by_key(self) -> Int64s:
        """int64[keys]: ns of each key in all the time between the first boundary and the last."""
        total = np.zeros(len(self.keys), np.int64)
        np.add.at(total, self.cells.key, self.cells.ns)
        return total

    def by_class(self) -> dict[TimeClass, int]:
        """Return the ns of each class between the first boundary and the last."""
        total = np.zeros(len(TimeClass), np.int64)
        np.add.at(total, self.keys.time_class[self.cells.key], self.cells.ns)
        return dict(zip(TimeClass, total.tolist()))

    def text(self, place: int) -> str:
        """Return a text by its place, "" of -1; as written in the trace: never print it unescaped."""
        return self.texts[place] if place >= 0 else ""


def tables(digest: Digest) -> dict[str, ColumnTable]:
    """Return the tables of a digest by name."""
    values: dict[str, Any] = {column.name: getattr(digest, column.name) for column in fields(digest)}
    return {name: value for name, value in values.items() if isinstance(value, ColumnTable)}
