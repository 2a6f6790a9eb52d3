"""Events of the scheduler as columns, whatever wrote them down."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, unique
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Int8s, Int16s, Int32s, Int64s

#: Linux gives no thread a greater number.
MOST_PIDS = 1 << 22
NO_PID = -1
#: Linux knows no more cores.
MOST_CORES = 1 << 13
#: ns: no clock tells a later time.
LATEST = 1 << 61


@unique
class EventKind(IntEnum):
    """The kinds of events."""

    SWITCH = 0
    WAKING = 1
    WAKEUP = 2
    WAKEUP_NEW = 3
    MIGRATE = 4
    FORK = 5
    EXEC = 6
    EXIT = 7
    IRQ_ENTRY = 8
    IRQ_EXIT = 9
    SOFTIRQ_ENTRY = 10
    SOFTIRQ_EXIT = 11
    OTHER = 12  #: read, and of no use here


NAMES = {
    b"sched_switch": EventKind.SWITCH,
    b"sched_waking": EventKind.WAKING,
    b"sched_wakeup": EventKind.WAKEUP,
    b"sched_wakeup_new": EventKind.WAKEUP_NEW,
    b"sched_migrate_task": EventKind.MIGRATE,
    b"sched_process_fork": EventKind.FORK,
    b"sched_process_exec": EventKind.EXEC,
    b"sched_process_exit": EventKind.EXIT,
    b"irq_handler_entry": EventKind.IRQ_ENTRY,
    b"irq_handler_exit": EventKind.IRQ_EXIT,
    b"softirq_entry": EventKind.SOFTIRQ_ENTRY,
    b"softirq_exit": EventKind.SOFTIRQ_EXIT,
}


class SchedulerColumns(NamedTuple):
    """Events, a row each; columns of equal length."""

    time: Int64s  #: ns, on the clock of the recording
    cpu: Int16s
    kind: Int8s  #: EventKind
    pid: Int32s  #: who left the core, is woken, moved, born or dead; of interrupts their number
    #: Of a switch who got the core, of others who had it; -1 where an interrupt woke, or not recorded.
    other: Int32s
    state: Int8s  #: of a switch the letter of the state it left in, "R"; of others 0
    target: Int16s  #: of wake-ups and moves the core they go to; -1 where not recorded


COLUMN_TYPES = (np.int64, np.int16, np.int8, np.int32, np.int32, np.int8, np.int16)
EMPTY = SchedulerColumns._make(np.empty(0, column_type) for column_type in COLUMN_TYPES)


class LostStretch(NamedTuple):
    """A stretch of time in which the kernel lost events of a core."""

    cpu: int
    after_ns: int  #: time of the core's last event before; -1 where there is none
    before_ns: int  #: time of its first event after; -1 where there is none
    events: int  #: how many; 0 where not recorded


@dataclass(frozen=True)
class CommNames:
    """The names of threads over time, as recorded: never print them unescaped."""

    changes: Mapping[int, list[tuple[int, str]]] = field(default_factory=dict)  #: (ns, name), by pid

    def at(self, pid: int, time: int) -> str:
        """Return the name of a thread at a time; "" where it is never named."""
        changes = self.changes.get(pid)
        if not changes:
            return ""
        place = bisect_right(changes, (time, "\U0010ffff")) - 1
        return changes[max(place, 0)][1]

    def last(self, pid: int) -> str:
        """Return the last name of a thread; "" where it is never named."""
        changes = self.changes.get(pid)
        return changes[-1][1] if changes else ""


@dataclass(frozen=True, eq=False)
class SchedulerEvents:
    """All events of a recording, by time."""

    path: str
    columns: SchedulerColumns
    names: CommNames
    processes: Mapping[int, int]  #: the process of each thread, where recorded
    losses: tuple[LostStretch, ...] = ()
    overwritten: int = 0  #: events that the buffer did not keep
    skipped: int = 0  #: lines that cannot be read
    reordered: int = 0  #: events that stand after later ones
    problems: tuple[str, ...] = ()  #: sentences about the file
    aligned: bool = False  #: already on the clock of a trace

    @property
    def lost(self) -> int:
        """The number of events that the kernel could not keep, as far as it is recorded."""
        return self.overwritten + sum(loss.events for loss in self.losses)

    @cached_property
    def has_wakes(self) -> bool:
        """Whether wake-ups are recorded: without, nothing tells when a thread slept and when it was ready."""
        kind = self.columns.kind
        return bool(((kind >= EventKind.WAKING) & (kind <= EventKind.WAKEUP)).any())

    @property
    def start_ns(self) -> int:
        """The time of the first event; 0 without any."""
        return int(self.columns.time[0]) if len(self.columns.time) else 0

    @property
    def end_ns(self) -> int:
        """The time of the last event; 0 without any."""
        return int(self.columns.time[-1]) if len(self.columns.time) else 0
