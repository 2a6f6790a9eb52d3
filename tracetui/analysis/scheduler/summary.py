"""Sums of what the scheduler did, by thread, by culprit and by core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.scheduler.scheduler import SCHEDULED, Culprit, RecordedThread, Scheduler
from tracetui.analysis.scheduler.states import State
from tracetui.arrays import Int64s

PREEMPTORS = 3  #: tasks that are told of a thread, at most


@dataclass(frozen=True)
class ThreadTime:
    """The time of a thread in the window that trace and recording share."""

    task: RecordedThread
    pid: int  #: its process, as the trace has it; its own number where that tells none
    ns: dict[State, int]
    migrations: int
    node_migrations: int | None  #: those to another NUMA node; None where nodes are not known
    idle_ns: int  #: idle time of devices that the scheduler explains and this thread is to blame for
    preemptors: tuple[Culprit, ...]  #: who had its core in that, most first
    longest_idle: tuple[int, int] | None = None  #: the longest piece of that, [start, end) ns

    @property
    def wall_ns(self) -> int:
        """The length of the window that trace and recording share."""
        return sum(self.ns.values())

    @property
    def migrations_per_s(self) -> float:
        """How often it came to another core."""
        return self._per_second(self.migrations)

    @property
    def node_migrations_per_s(self) -> float:
        """How often it came to another NUMA node; 0 where that is not known."""
        return self._per_second(self.node_migrations or 0)

    def _per_second(self, number: int) -> float:
        return number * 1e9 / self.wall_ns if self.wall_ns else 0.0


@dataclass(frozen=True)
class CoreTime:
    """The time of a core in the window that trace and recording share."""

    cpu: int
    node: int | None  #: its NUMA node
    busy_ns: int  #: with a thread
    interrupted_ns: int  #: serving interrupts
    wall_ns: int
    threads: tuple[RecordedThread, ...]  #: of the trace, those that had it longest first


@dataclass(frozen=True)
class SchedulerSummary:
    """What the scheduler did, and what it cost."""

    threads: tuple[ThreadTime, ...]  #: those to blame for the most idle time first
    culprits: tuple[Culprit, ...]  #: most idle time first; they sum to that of host.preempted
    cores: tuple[CoreTime, ...]  #: those of the threads of the trace first, then by number


def summarise(scheduler: Scheduler, causes: Causes) -> SchedulerSummary:
    """Return the sums over the window that trace and recording share."""
    return SchedulerSummary(
        tuple(_threads(scheduler, causes)), culprits_of(scheduler, causes), tuple(_cores(scheduler))
    )


def culprits_of(scheduler: Scheduler, causes: Causes, places: Int64s | None = None) -> tuple[Culprit, ...]:
    """Return who had the cores while threads waited in idle time, most first; of some pieces, or of all."""
    preempted = np.flatnonzero(causes.cause == Cause.PREEMPTED)
    if places is not None:
        preempted = places[causes.cause[places] == Cause.PREEMPTED]
    return scheduler.culprits(causes.start[preempted], causes.end[preempted], causes.track[preempted])


def longest_of_culprit(scheduler: Scheduler, causes: Causes, culprit: Culprit) -> tuple[int, int] | None:
    """Return the longest time on end in which threads waited in idle time while a culprit had their core."""
    preempted = np.flatnonzero(causes.cause == Cause.PREEMPTED)
    return scheduler.longest_occupancy(
        culprit, causes.start[preempted], causes.end[preempted], causes.track[preempted]
    )


def _threads(scheduler: Scheduler, causes: Causes) -> list[ThreadTime]:
    pids = np.where(causes.track >= 0, scheduler.pid_of_track[causes.track], -1)
    scheduled = np.isin(causes.cause, SCHEDULED)
    found = []
    for thread in scheduler.threads:
        states = scheduler.states(thread)
        idle_pieces = np.flatnonzero(scheduled & (pids == states.pid))
        idle_ns = (causes.end - causes.start)[idle_pieces]
        longest = idle_pieces[np.argsort(-idle_ns, kind="stable")[:1]].tolist()
        last = scheduler.task(states.pid, scheduler.window[1])
        found.append(
            ThreadTime(
                task=last if last.comm else last._replace(comm=thread.name),
                pid=thread.pid,
                ns=states.sums(),
                migrations=len(states.moves.reached),
                node_migrations=states.moves.across(scheduler.nodes) if scheduler.nodes else None,
                idle_ns=int(idle_ns.sum()),
                preemptors=culprits_of(scheduler, causes, idle_pieces)[:PREEMPTORS],
                longest_idle=next(((int(causes.start[at]), int(causes.end[at])) for at in longest), None),
            )
        )
    return sorted(found, key=lambda time: (-time.idle_ns, time.task.pid or 0))


def _cores(scheduler: Scheduler) -> list[CoreTime]:
    window = scheduler.window
    longest: dict[int, dict[int, int]] = {}
    for thread in scheduler.threads:
        states = scheduler.states(thread)
        had = (states.state == State.RUNNING) | (states.state == State.INTERRUPTED)
        for cpu in np.unique(states.cpu[had]).tolist():
            on_core = had & (states.cpu == cpu)
            longest.setdefault(cpu, {})[states.pid] = int((states.end[on_core] - states.start[on_core]).sum())
    found = []
    for cpu in scheduler.cores.numbers:
        tasks = sorted(longest.get(cpu, {}).items(), key=lambda item: -item[1])
        found.append(
            CoreTime(
                cpu=cpu,
                node=scheduler.nodes.get(cpu),
                busy_ns=scheduler.cores.busy_ns(cpu, window),
                interrupted_ns=scheduler.interrupts(cpu).clip(*window).total,
                wall_ns=window[1] - window[0],
                threads=tuple(scheduler.task(pid, window[1]) for pid, _ in tasks),
            )
        )
    return sorted(found, key=lambda core: (not core.threads, core.cpu))
