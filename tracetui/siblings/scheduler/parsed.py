"""The contents of a block of a recording's lines, while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int32s, Int64s
from tracetui.siblings.scheduler.events import EMPTY, SchedulerColumns

Words = NDArray[np.uint64]

LEFT = -1  #: the kind of a line that is left to `line`
REMARK = -2  #: the kind of a line that says nothing, unless a name with a line break in it goes on there


class Comms(NamedTuple):
    """The names of threads in switches; columns of equal length."""

    place: Int64s  #: row of the event
    pid: Int32s
    first: Words  #: the first 8 bytes of the name, the rest 0
    second: Words  #: the next 8


class Mark(NamedTuple):
    """A line that says that events of a core are lost."""

    cpu: int
    events: int  #: 0 where not recorded
    after_ns: int  #: the last event of the core before, in the block; -1 where there is none
    before_ns: int  #: its first after


@dataclass
class ReadLines:
    """The lines of a block as far as they are read many at once, a row each."""

    columns: SchedulerColumns  #: its kind is LEFT or REMARK where no event is read
    start: Int32s | Int64s  #: of the line in the block, in bytes
    comms: list[Comms] = field(default_factory=list)
    processes: dict[int, int] = field(default_factory=dict)


@dataclass
class Parsed:
    """The contents of a block; rows are those of `columns`."""

    columns: SchedulerColumns = EMPTY
    comms: list[Comms] = field(default_factory=list)
    odd_names: list[tuple[int, int, bytes]] = field(default_factory=list)  #: row, pid, name
    processes: dict[int, int] = field(default_factory=dict)
    lost: list[Mark] = field(default_factory=list)
    first_ns: dict[int, int] = field(default_factory=dict)  #: time of the first event, by core
    last_ns: dict[int, int] = field(default_factory=dict)
    overwritten: int = 0
    skipped: int = 0
