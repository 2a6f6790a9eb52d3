"""The one entry of all fronts: everything computed from a trace, once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.analysis.activity import DeviceActivity, device_activity, work_tasks
from tracetui.analysis.advice import Advice, find_advice
from tracetui.analysis.causes import Causes
from tracetui.analysis.explain import explain
from tracetui.analysis.frames import FrameRules
from tracetui.analysis.gaps import Gaps, IdleIntervals, find_gaps, find_idle
from tracetui.analysis.lines import LineIdle, StackNode, idle_lines, stack_tree
from tracetui.analysis.links import Links, link_tasks
from tracetui.analysis.operators import OperatorTable, host_operators, operator_table
from tracetui.analysis.preparing import Preparing, explain_preparing
from tracetui.analysis.signatures import Signature, signatures
from tracetui.analysis.steps import Step, step_of, step_table
from tracetui.analysis.syncs import SyncCall, sync_table
from tracetui.analysis.window import cut_durations
from tracetui.arrays import Int64s
from tracetui.trace.model import Trace


@dataclass(frozen=True, eq=False)
class Analysis:
    """A trace and all that follows from it. What costs time and is not always wanted is made at first use."""

    trace: Trace
    rules: FrameRules
    devices: tuple[DeviceActivity, ...]
    links: Links
    steps: tuple[Step, ...]
    gaps: Gaps
    idle: IdleIntervals

    @property
    def idle_ns(self) -> int:
        """The idle time of all devices."""
        return sum(activity.idle_ns for activity in self.devices)

    @cached_property
    def causes(self) -> Causes:
        """Why the devices were idle: the idle intervals in pieces, each with a cause and a stack."""
        return explain(self.trace, self.idle, self.links)

    @cached_property
    def preparing(self) -> Preparing:
        """Why the first work of each step came when it did."""
        return explain_preparing(self.trace, self.devices, self.steps, self.links)

    @cached_property
    def lines(self) -> tuple[LineIdle, ...]:
        """The idle time of all devices by line of Python, most first."""
        return idle_lines(self.trace, self.causes.charges, self.rules)

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """The gaps by what is alike of them: cause, line and operator, most idle first."""
        return signatures(self.trace, self.gaps, self.causes, self.rules)

    @cached_property
    def syncs(self) -> tuple[SyncCall, ...]:
        """The synchronisations of the host by call and line, those first that expose the most idle time."""
        return sync_table(self.trace, self.links, self.causes, self.rules)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What to do about lost time, what costs most first."""
        return find_advice(self)

    @cached_property
    def stacks(self) -> StackNode:
        """The idle time of all devices as a tree of stacks."""
        return stack_tree(self.trace, explain(self.trace, self.idle, self.links, by_frame=True).charges)

    @cached_property
    def device_operators(self) -> OperatorTable:
        """The time of all work of all devices by name and activity."""
        return operator_table(self.trace, self._work)

    @cached_property
    def host_operators(self) -> OperatorTable:
        """The time of all host operators by name, nested ones included in those around them."""
        return operator_table(self.trace, host_operators(self.trace))

    def operators_in_step(self, index: int, host: bool = False) -> OperatorTable:
        """Of the work that starts in one of `steps` on its device, or of operators inside it on the host."""
        step, starts = self.steps[index], self.trace.slices.start
        if host:
            rows = host_operators(self.trace)
            kept = (starts[rows] >= step.host_start_ns) & (starts[rows] < step.host_end_ns)
        else:
            activity = next(device for device in self.devices if device.device == step.device)
            rows = work_tasks(self.trace, activity.tasks)
            kept = step_of(self.steps, step.device, starts[rows]) == index
        return operator_table(self.trace, rows[kept])

    def operators_in_window(self, start_ns: int, end_ns: int, host: bool = False) -> OperatorTable:
        """Of the work of all devices, or of host operators, cut to [start_ns, end_ns)."""
        rows = host_operators(self.trace) if host else self._work
        kept = (self.trace.slices.start[rows] < end_ns) & (self.trace.slices.end[rows] > start_ns)
        rows = rows[kept]
        return operator_table(self.trace, rows, cut_durations(self.trace, rows, start_ns, end_ns))

    @property
    def _work(self) -> Int64s:
        parts = [work_tasks(self.trace, activity.tasks) for activity in self.devices]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


def analyse(trace: Trace, rules: FrameRules | None = None) -> Analysis:
    """Everything of a trace; one without devices, steps or links has none of what they give."""
    devices = tuple(device_activity(trace, device) for device in trace.devices)
    links = link_tasks(trace)
    steps = step_table(trace, devices, links)
    gaps = find_gaps(trace, devices, steps)
    idle = find_idle(trace, devices, gaps, steps, links)
    return Analysis(trace, rules or FrameRules(), devices, links, steps, gaps, idle)
