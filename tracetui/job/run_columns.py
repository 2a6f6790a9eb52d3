"""What a digest keeps of a run for comparing it: its steps, what they went into, and sums by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from tracetui.analysis.health.facts import HealthFacts
from tracetui.arrays import Int64s
from tracetui.job.columns import ColumnTable


class SumTable(IntEnum):
    """Which table of a run a sum is of; digests hold the numbers."""

    CAUSES = 0
    CLASSES = 1
    OPERATORS = 2
    LOOSE = 3  #: device time of no operator of level 1
    KERNELS = 4
    SHAPED_KERNELS = 5
    MODULES = 6
    MODULES_OWN = 7
    API = 8
    API_OWN = 9
    COLLECTIVES = 10  #: their keys are joined by tabs
    COLLECTIVES_WAIT = 11
    COLLECTIVES_TRANSFER = 12
    LINES = 13
    LINE_CAUSES = 14
    ALLOCATED = 15  #: bytes
    RESERVED = 16
    ALIVE = 17
    ADVICE = 18
    COMPUTING = 19  #: time of kernels by operator of level 1
    PHASES = 20  #: time of devices in marked ranges


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run as a whole."""

    devices: tuple[str, ...]
    steps: int  #: of the host
    notes: tuple[str, ...]  #: what must be known to read the numbers
    #: of all devices over their windows, ns: the window, computing, exposed communication, free time; empty
    #: where only a part of the steps is compared
    totals: tuple[int, ...]
    memory: bool  #: something was recorded of it
    shapes: bool  #: those of kernels are told
    runtime: bool  #: calls of the runtime are recorded
    scheduler: bool  #: what the scheduler did is recorded; False of an older digest
    left_out: tuple[int, ...]  #: numbers of the steps that are outliers, or cannot be believed
    health: HealthFacts = field(default_factory=HealthFacts)


@dataclass(frozen=True, eq=False)
class WallColumns(ColumnTable):
    """The steps that are compared; as `tracetui.comparison.walls.StepWalls`."""

    device: Int64s
    number: Int64s
    start: Int64s
    prepared: Int64s
    end: Int64s
    launched_from: Int64s
    launched_to: Int64s
    device_start: Int64s
    device_end: Int64s


@dataclass(frozen=True, eq=False)
class TermColumns(ColumnTable):
    """The terms that each step is made of; none is 0, and those of a step sum to its length."""

    wall: Int64s  #: place in `walls`
    term: Int64s  #: text
    ns: Int64s


@dataclass(frozen=True, eq=False)
class SumColumns(ColumnTable):
    """What a run has in all its steps, most first in each table; as `tracetui.comparison.tally.Sum`."""

    table: Int64s  #: SumTable
    name: Int64s  #: text
    line: Int64s  #: place in `lines`, -1 without
    ns: Int64s
    count: Int64s
    lowest: Int64s
    highest: Int64s


@dataclass(frozen=True, eq=False)
class StepSumColumns(ColumnTable):
    """What each of the sums has in each step that is tested: all steps of the first, then of the second."""

    ns: Int64s


#: Tables of sums that are of no steps, and those of which each device has steps of its own.
STEPLESS_TABLES = frozenset(
    (SumTable.LINE_CAUSES, SumTable.ALLOCATED, SumTable.RESERVED, SumTable.ALIVE, SumTable.ADVICE)
)
WALL_TABLES = frozenset((SumTable.CAUSES, SumTable.LINES))


@dataclass(frozen=True, eq=False)
class CallColumns(ColumnTable):
    """The lines of the run, and a number for what operators each calls."""

    line: Int64s  #: place in `lines`
    number: Int64s
