"""Why a step's first work came so late: the causes of the time from its start on the host to that work.

That time, without what the device still does for steps before, is treated like one more idle interval,
without the copies in it. Where it lies within the window of the device it is idle time too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.gaps import IdleIntervals, ending_tasks
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.explain import explain
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.intervals import NOTHING
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.steps import Step, steps_by_device
from tracetui.arrays import EMPTY, Int64s

COPY = "copy"  #: what copies in the preparing time are called beside the causes of the rest


@dataclass(frozen=True, eq=False)
class Preparing:
    """The causes of the preparing time of all steps."""

    causes: Causes  #: its intervals are those between copies; their gap is -1
    copy_ns: Int64s  #: of each step: the copies in its preparing time

    def by_step(self, index: int) -> dict[str, int]:
        """Sum a step's preparing_ns by the name of the cause, most first, `COPY` last."""
        sums = {cause.label: ns for cause, ns in self.causes.by_step(index).items()}
        return {**sums, COPY: int(self.copy_ns[index])} if self.copy_ns[index] else sums

    def by_steps(self, indices: Sequence[int]) -> dict[str, int]:
        """Return the sums of several steps together, such as those of a device."""
        total: dict[str, int] = {}
        for index in indices:
            for name, ns in self.by_step(index).items():
                total[name] = total.get(name, 0) + ns
        return dict(sorted(total.items(), key=lambda item: (item[0] == COPY, -item[1], item[0])))


def explain_preparing(
    activities: Sequence[DeviceActivity],
    steps: Sequence[Step],
    chains: LaunchChains,
    host_threads: HostThreads,
) -> Preparing:
    """Return the causes of each step's preparing time, where it has any."""
    copy_ns = np.zeros(len(steps), np.int64)
    parts = []
    indices = steps_by_device(steps)
    for place, activity in enumerate(activities):
        unfilled = [(_NO_STEP, NOTHING)]
        for index in indices.get(activity.device, ()):
            step = steps[index]
            if step.preparing_ns <= 0:
                continue
            empty = activity.busy.complement(step.host_start_ns, step.prepared_ns)
            copy_ns[index] = step.preparing_ns - empty.total
            unfilled.append((np.full(len(empty), index, np.int32), empty))
        starts = np.concatenate([part.starts for _, part in unfilled])
        ends = np.concatenate([part.ends for _, part in unfilled])
        step_of_interval = np.concatenate([index for index, _ in unfilled])
        task = ending_tasks(chains.trace, activity, chains, ends)
        parts.append((np.full(len(starts), place, np.int32), starts, ends, step_of_interval, task))
    device, starts, ends, step_of_interval, task = (
        np.concatenate(columns) for columns in zip((_NO_STEP, EMPTY, EMPTY, _NO_STEP, EMPTY), *parts)
    )
    intervals = IdleIntervals(
        device, starts, ends, np.full(len(starts), -1, np.int64), step_of_interval, task
    )
    return Preparing(explain(intervals, chains, host_threads), copy_ns)


_NO_STEP = np.empty(0, np.int32)
