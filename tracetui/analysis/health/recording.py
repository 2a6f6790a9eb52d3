"""What the rules of health look at: a trace, what its devices did, and what launched that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.gaps import IdleIntervals
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.scheduler.scheduler import Scheduler
from tracetui.analysis.search import distinct
from tracetui.analysis.steps import Step
from tracetui.arrays import EMPTY, Bools, Int64s
from tracetui.trace.model import Trace


@dataclass(frozen=True, eq=False)
class HealthEvidence:
    """A trace, and what of its analysis the rules read; what costs time is made when one asks for it."""

    trace: Trace
    devices: tuple[DeviceActivity, ...]
    launch_chains: LaunchChains
    steps: tuple[Step, ...]
    idle: IdleIntervals
    hosts_of: Callable[[], HostThreads]
    scheduler: Scheduler | None = None

    @cached_property
    def host_threads(self) -> HostThreads:
        """The threads of the host, and what they did at any time."""
        return self.hosts_of()

    @cached_property
    def host_starts(self) -> Int64s:
        """int64[steps]: ns, when each step of `steps` starts on the host."""
        return np.array([step.host_start_ns for step in self.steps], np.int64)

    @cached_property
    def host_ends(self) -> Int64s:
        """int64[steps]: ns, when each step of `steps` ends on the host."""
        return np.array([step.host_end_ns for step in self.steps], np.int64)

    @cached_property
    def is_empty(self) -> Bools:
        """bool[steps]: whether nothing is computed or communicated in each step on its device."""
        return np.array(
            [
                step.iteration_gap is None or (step.computing_ns == 0 == step.communication_ns)
                for step in self.steps
            ],
            np.bool_,
        )

    def steps_at(self, times: Int64s) -> Int64s:
        """Return the places of the steps that run on the host at some times, ns, each once, in order.

        A time after the end of a step belongs to it until the next one starts: queues are emptied late.
        """
        if not len(self.steps) or not len(times):
            return EMPTY
        starts = distinct(self.host_starts)
        place = np.searchsorted(starts, times, "right") - 1
        held = distinct(starts[place[place >= 0]])
        return np.flatnonzero(np.isin(self.host_starts, held))

    def steps_within(self, windows: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        """Return the places of the steps whose time on the device overlaps some windows, ns."""
        found = {
            place
            for start, end in windows
            for place, step in enumerate(self.steps)
            if step.start_ns < end and start < step.end_ns
        }
        return tuple(sorted(found))


def places(found: Sequence[int] | Int64s) -> tuple[int, ...]:
    """Return some places as plain numbers."""
    return tuple(int(place) for place in found)
