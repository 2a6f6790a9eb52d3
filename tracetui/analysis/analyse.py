"""The one entry of all fronts: everything computed from a trace, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.activity import DeviceActivity, device_activities
from tracetui.analysis.annotated import AnnotatedPhase, annotated_phases
from tracetui.analysis.checks import Check, find_checks
from tracetui.analysis.communication.analyse import Communication
from tracetui.analysis.critical.chain import CriticalChain, CriticalKind, critical_chains
from tracetui.analysis.critical.dependencies import Dependencies, dependencies
from tracetui.analysis.critical.host_time import HostTime
from tracetui.analysis.critical.meetings import Meetings, meetings
from tracetui.analysis.critical.saves import LineSaving, least_capped, line_savings
from tracetui.analysis.critical.whatif import RunSaving, WhatIfs
from tracetui.analysis.engines import engines_within
from tracetui.analysis.gaps import Gaps, IdleIntervals, find_gaps, find_idle
from tracetui.analysis.health.examine import Examination
from tracetui.analysis.health.finding import Health
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.idle.cause_raster import CauseRaster
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.explain import explain
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.idle.idle_lines import (
    Charges,
    LineIdle,
    LineKey,
    StackNode,
    frames_at_start,
    has_python,
    idle_lines,
    stack_tree,
)
from tracetui.analysis.idle.preparing import Preparing, explain_preparing
from tracetui.analysis.idle.signatures import Signature, signatures
from tracetui.analysis.idle.syncs import SyncCall, sync_table
from tracetui.analysis.intervals import NOTHING, Intervals
from tracetui.analysis.kernels import Kernels, kernels_of
from tracetui.analysis.launch_chains import LaunchChains, link_tasks
from tracetui.analysis.lead import HostLead, LeadLosses, host_leads, lead_losses
from tracetui.analysis.marked_ranges import MarkedRanges, RangeTimes, marked_ranges, range_times
from tracetui.analysis.modules import ModuleIdle, idle_modules
from tracetui.analysis.nested_idle import FrameIdle, idle_frames
from tracetui.analysis.notes import step_notes
from tracetui.analysis.operators import OperatorSlices, OperatorTable, host_operators, self_times
from tracetui.analysis.raster import Raster
from tracetui.analysis.scheduler.scheduler import Scheduler, SchedulerRecording
from tracetui.analysis.scheduler.states import State
from tracetui.analysis.scheduler.summary import SchedulerSummary, summarise
from tracetui.analysis.scopes import ScopeTime, has_scopes, scope_times, scope_tree
from tracetui.analysis.search import group_by, pick, track_of_rows
from tracetui.analysis.steps import Step, StepWindows, step_of, step_table, steps_by_device
from tracetui.analysis.system_calls import SystemCalls
from tracetui.arrays import EMPTY, Int64s
from tracetui.background import MOST_BESIDE, Background
from tracetui.databases.exports import OtherExport, other_export
from tracetui.siblings.run_description import RunDescription, describe_run
from tracetui.trace.model import Activity, Layer, Trace
from tracetui.trace.stack import Frame

if TYPE_CHECKING:
    from tracetui.analysis.memory.analyse import Memory


@dataclass(frozen=True, eq=False)
class Analysis:
    """A trace and all that follows from it, each part made at first use; `analyse` makes some at once."""

    trace: Trace
    rules: FrameRules
    scheduler: Scheduler | None = None  #: what the operating system did with the host, where recorded
    scheduler_problem: str = ""  #: why the recording beside the trace is of no use

    @classmethod
    def of(
        cls, trace: Trace, rules: FrameRules | None = None, recording: SchedulerRecording | None = None
    ) -> Analysis:
        """Return the analysis of a trace, of which nothing is computed yet; arguments as of `analyse`."""
        return cls(trace, rules or FrameRules(), *(recording or SchedulerRecording()))

    @cached_property
    def devices(self) -> tuple[DeviceActivity, ...]:
        """What each device did; none where the trace has none."""
        return device_activities(self.trace)

    @cached_property
    def launch_chains(self) -> LaunchChains:
        """From which operator each task comes, and how."""
        return link_tasks(self.trace)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps of each device."""
        return step_table(self.trace, self.devices, self.launch_chains)

    @cached_property
    def step_windows(self) -> StepWindows:
        """The windows of the steps of each device."""
        return StepWindows(self.steps)

    @cached_property
    def gaps(self) -> Gaps:
        """The gaps of all devices."""
        return find_gaps(self.trace, self.devices, self.step_windows)

    @cached_property
    def idle(self) -> IdleIntervals:
        """The idle time of all devices."""
        return find_idle(self.trace, self.devices, self.gaps, self.step_windows, self.launch_chains)

    @property
    def window_ns(self) -> int:
        """The windows of all devices together."""
        return sum(activity.window_ns for activity in self.devices)

    @property
    def idle_ns(self) -> int:
        """The idle time of all devices."""
        return sum(activity.idle_ns for activity in self.devices)

    @cached_property
    def work(self) -> Int64s:
        """The rows of all work of all devices, by device, then start."""
        parts = [activity.work for activity in self.devices]
        return np.concatenate([EMPTY, *parts])

    @cached_property
    def host_rows(self) -> Int64s:
        """The rows of all operators of all threads of the host, by thread, then start."""
        return host_operators(self.trace)

    @property
    def has_runtime(self) -> bool:
        """Whether calls of the runtime are recorded: at profiler level 0 none is."""
        return any(track.layer == Layer.RUNTIME and len(track.rows) for track in self.trace.tracks)

    @cached_property
    def step_numbers(self) -> Int64s:
        """int64[steps + 1]: the number of each of `steps`; last, where -1 leads to, -1."""
        return np.array([*(step.number for step in self.steps), -1], np.int64)

    @cached_property
    def host_spans(self) -> Int64s:
        """int64[steps of all hosts, 2]: ns, their starts and ends, by start; each once for all devices."""
        spans = {(step.host_start_ns, step.host_end_ns, step.row) for step in self.steps}
        return np.array(sorted(spans), np.int64).reshape(-1, 3)[:, :2]

    @cached_property
    def steps_by_device(self) -> dict[str, list[int]]:
        """The indices of the steps of each device that has any."""
        return steps_by_device(self.steps)

    @cached_property
    def tasks_of_no_step(self) -> dict[str, int]:
        """How much of the work of each device that has steps starts outside of all of them, in tasks."""
        windows, starts = self.step_windows, self.trace.slices.start
        return {
            activity.device: int((windows.step_of(activity.device, starts[activity.work]) < 0).sum())
            for activity in self.devices
            if activity.device in self.steps_by_device
        }

    @cached_property
    def beside_cores(self) -> tuple[Int64s, ...]:
        """For each device, the rows of what computes beside its AI cores, by start."""
        activity = self.trace.slices.activity
        return tuple(device.work[activity[device.work] == Activity.AICPU] for device in self.devices)

    def engines_in_gap(self, gap: int) -> str:
        """Return what computes beside the AI cores in a gap: "DSA", "AI CPU and DSA"; as in the trace."""
        rows = self.beside_cores[int(self.gaps.device[gap])]
        return engines_within(self.trace, rows, int(self.gaps.start[gap]), int(self.gaps.end[gap]))

    @cached_property
    def step_notes(self) -> dict[str, tuple[str, ...]]:
        """What must be known to read the numbers of steps, in sentences without full stop, by device."""
        return {
            device: tuple(step_notes([self.steps[index] for index in indices], self.tasks_of_no_step[device]))
            for device, indices in self.steps_by_device.items()
        }

    @cached_property
    def examination(self) -> Examination:
        """What is wrong or doubtful about the recording, each part when it is asked for."""
        recording = HealthEvidence(
            self.trace,
            self.devices,
            self.launch_chains,
            self.steps,
            self.idle,
            lambda: self.host_threads,
            self.scheduler,
        )
        return Examination(recording)

    @cached_property
    def health(self) -> Health:
        """Whether the recording can be believed, and which of its numbers."""
        return self.examination.health(lambda: self.causes)

    @cached_property
    def host_threads(self) -> HostThreads:
        """The threads of the host, and what they did at any time."""
        return HostThreads(self.launch_chains, self.scheduler)

    @cached_property
    def causes(self) -> Causes:
        """Why the devices were idle: the idle intervals in pieces, each with a cause and a stack."""
        return self._explain(by_frame=False)

    @cached_property
    def system_calls(self) -> SystemCalls:
        """The calls of the system that threads of the host made, where a database records them."""
        return SystemCalls(self.trace)

    @cached_property
    def scheduler_summary(self) -> SchedulerSummary | None:
        """What the scheduler did in sum, and what it cost; None where it is not recorded."""
        return None if self.scheduler is None else summarise(self.scheduler, self.causes)

    @cached_property
    def pinning_saves(self) -> RunSaving:
        """What is saved if every thread that is ready has a core; nothing where the scheduler is not
        recorded. An idle core takes as long to wake up.
        """
        return self._saved_without(lambda scheduler, pid: scheduler.without_core(pid))

    @cached_property
    def interrupts_save(self) -> RunSaving:
        """What is saved if no thread of the trace is interrupted, as `pinning_saves`."""
        return self._saved_without(lambda scheduler, pid: scheduler.states_of(pid).of(State.INTERRUPTED))

    def _saved_without(self, times_of: Callable[[Scheduler, int], Intervals]) -> RunSaving:
        """Return what is saved if threads of the trace lose none of these times."""
        scheduler = self.scheduler
        if scheduler is None:
            return RunSaving(0, 0)
        pids = scheduler.pid_of_track

        def times(pid: int) -> Intervals:
            return NOTHING if pid < 0 else times_of(scheduler, pid)

        def of_launch(rows: Int64s, starts: Int64s, ends: Int64s) -> Int64s:
            places = self.launch_chains.index(rows)
            dequeues = pick(self.launch_chains.dequeue, places)
            launchers = np.where(dequeues >= 0, dequeues, pick(self.launch_chains.launch, places))
            of_row = pick(pids, track_of_rows(self.trace, launchers))
            waited = np.zeros(len(rows), np.int64)
            for pid, places in group_by(of_row):
                waited[places] = times(pid).covered(starts[places], ends[places])
            return waited

        def of_thread(index: int) -> Intervals:
            return times(int(pids[self.host_threads.thread(index).track.index]))

        late, prompt = self.what_ifs_with_late_peers, self.what_ifs
        alone = late.without(of_thread, of_launch)
        together = alone if late is prompt else prompt.without(of_thread, of_launch)
        return RunSaving(alone.saved_ns, max(alone.saved_ns, together.saved_ns))

    @cached_property
    def communication(self) -> Communication:
        """Whom collectives waited for, what they moved, and what of it was exposed."""
        return Communication(
            self.trace, self.devices, self.gaps, self.step_windows, self.launch_chains, self.rules
        )

    @cached_property
    def memory(self) -> Memory | None:
        """Who holds the memory of the devices; None where nothing was recorded of it. Reads what lies beside
        the trace, which may take seconds.
        """
        from tracetui.analysis.memory.analyse import memory_of  # most that read a trace need none of it

        return memory_of(self.trace, self.launch_chains, self.rules)

    @cached_property
    def idle_rasters(self) -> tuple[Raster, ...]:
        """For each device, its idle intervals per column of a screen."""
        return tuple(Raster(device.idle.starts, device.idle.ends) for device in self.devices)

    @cached_property
    def cause_rasters(self) -> tuple[CauseRaster, ...]:
        """For each device, the causes of its idle time per column of a screen."""
        return tuple(CauseRaster.from_causes(self.causes, index) for index in range(len(self.devices)))

    @cached_property
    def kernels(self) -> Kernels | None:
        """What kernel_details.csv beside the trace knows of its tasks; None where there is none. Reads it."""
        return kernels_of(self.trace, self.launch_chains.tasks)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """What the producer's own sums beside the trace say of what is computed of it. Reads them."""
        return find_checks(self.trace, self.kernels, self.steps, self.communication)

    @cached_property
    def run(self) -> RunDescription:
        """The run that the trace is of: rank, level, versions, options, environment. Reads small files."""
        return describe_run(Path(self.trace.path))

    @cached_property
    def other_export(self) -> OtherExport | None:
        """The export of the same run that is not read: a database beside JSON, or JSON beside a database."""
        return other_export(Path(self.trace.path))

    @cached_property
    def leads(self) -> tuple[HostLead, ...]:
        """How far the host runs ahead of each device."""
        return host_leads(self.devices, self.launch_chains)

    @cached_property
    def lead_losses(self) -> LeadLosses:
        """Where the host lost its lead before the devices starved."""
        sources = (self.causes, self.host_threads, self.launch_chains, self.rules)
        return lead_losses(self.leads, self.devices, *sources)

    @cached_property
    def preparing(self) -> Preparing:
        """Why the first work of each step came when it did."""
        return explain_preparing(self.devices, self.steps, self.launch_chains, self.host_threads)

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
        return sync_table(self.trace, self.host_threads, self.causes, self.rules)

    @cached_property
    def stacks(self) -> StackNode:
        """The idle time of all devices as a tree of stacks; of scopes or operators where there are none."""
        if self.has_scopes and not self.has_python:
            return scope_tree(self.scopes)
        return stack_tree(self.trace, self.frame_charges)

    @cached_property
    def frames_at_start(self) -> frozenset[Frame]:
        """The frames that ran as the recording began: their lines are where they were then."""
        return frames_at_start(self.trace)

    @cached_property
    def frame_charges(self) -> Charges:
        """The idle time in pieces cut wherever a frame of Python begins or ends."""
        if not self.trace.slices.have_stacks:
            return self.causes.charges  # cut so already
        return self._explain(by_frame=True).charges

    def _explain(self, by_frame: bool) -> Causes:
        found = self.examination
        return explain(self.idle, self.launch_chains, self.host_threads, by_frame, found.unseen_spans)

    @cached_property
    def modules(self) -> tuple[ModuleIdle, ...]:
        """The idle time of all devices by nn.Module, most first."""
        return idle_modules(self.trace, self.launch_chains.callers.ancestors, self.frame_charges)

    @cached_property
    def annotated_phases(self) -> list[tuple[AnnotatedPhase, ...]]:
        """For each of `steps`, the phases that the program annotates on the host; () where it does not."""
        return annotated_phases(self.trace, self.steps)

    @cached_property
    def marked_ranges(self) -> tuple[MarkedRanges, ...]:
        """For each device, the ranges that people mark, as it ran them."""
        return marked_ranges(self.trace, self.devices, self.launch_chains)

    @cached_property
    def range_times(self) -> tuple[tuple[RangeTimes, ...], ...]:
        """For each device, what it does in the ranges that people mark, by their names, most time first."""
        return tuple(
            range_times(self.trace, ranges, activity)
            for ranges, activity in zip(self.marked_ranges, self.devices)
        )

    @cached_property
    def has_python(self) -> bool:
        """Whether any stack of Python is recorded: call stacks, or frames."""
        return has_python(self.trace)

    @cached_property
    def has_scopes(self) -> bool:
        """Whether tasks are called by the scope of the network they are in."""
        return has_scopes(self.trace, self.work)

    @cached_property
    def scopes(self) -> tuple[ScopeTime, ...]:
        """The computing of all devices, and the idle time before it, by scope; () without scopes."""
        return tuple(scope_times(self.trace, self.work, self.causes)) if self.has_scopes else ()

    @cached_property
    def frames(self) -> tuple[FrameIdle, ...]:
        """The idle time of all devices by frame at any depth of the stacks, most first."""
        return idle_frames(self.trace, self.frame_charges)

    @cached_property
    def dependencies(self) -> Dependencies:
        """What waited for what, from host to device; collectives take as long as they took."""
        return dependencies(self.launch_chains, self.devices, self.steps, self.host_threads)

    @cached_property
    def meetings(self) -> Meetings:
        """The collectives, and how long each waited for a late peer."""
        communication = self.communication
        return meetings(
            self.launch_chains, communication.operations, communication.waits, communication.exposed
        )

    @cached_property
    def dependencies_with_late_peers(self) -> Dependencies:
        """The same, but late peers come when they came; that of `dependencies` where nobody was late."""
        late = self.meetings.late
        if not len(late.row):
            return self.dependencies
        return dependencies(self.launch_chains, self.devices, self.steps, self.host_threads, late)

    @cached_property
    def critical(self) -> tuple[CriticalChain, ...]:
        """For each device, what each stretch of the wall time depends on."""
        return critical_chains(self.dependencies, self._host_time)

    def critical_in_step(self, index: int) -> dict[CriticalKind, int]:
        """Split the wall time of one of `steps` by kind, ns: from the end of the step before to its own."""
        depends = self.dependencies
        end = int(depends.step_end[index])
        chain = self.critical[int(depends.points.device[end])]
        return chain.by_kind(int(depends.step_begin[index]), int(depends.points.time[end]))

    @cached_property
    def savings(self) -> dict[LineKey, LineSaving]:
        """What making each line of Python faster saves, at most; those that can save most first."""
        inputs = self.trace, self.devices, self.rules
        savings = line_savings(*inputs, self.critical, self.dependencies, self.meetings)
        late = self.dependencies_with_late_peers
        if late is not self.dependencies:
            chains = critical_chains(late, self._host_time)
            savings = least_capped(savings, line_savings(*inputs, chains, late))
        return {saving.key: saving for saving in savings}

    @cached_property
    def what_ifs(self) -> WhatIfs:
        """What would follow if the host took less time for a line, and late peers came as much sooner."""
        return WhatIfs(self.trace, self.dependencies, self._host_time, self.rules)

    @cached_property
    def what_ifs_with_late_peers(self) -> WhatIfs:
        """The same while late peers come when they came; that of `what_ifs` where nobody was late."""
        late = self.dependencies_with_late_peers
        if late is self.dependencies:
            return self.what_ifs
        return WhatIfs(self.trace, late, self._host_time, self.rules)

    @cached_property
    def device_operators(self) -> OperatorTable:
        """The time of all work of all devices by name and activity."""
        return self.operators().by_name()

    @cached_property
    def host_operators(self) -> OperatorTable:
        """The time of all host operators by name: in total, and without those inside."""
        return self.operators(host=True).by_name()

    def operators(self, host: bool = False) -> OperatorSlices:
        """Return all work of all devices, or all host operators."""
        if not host:
            durations = self.trace.slices.dur[self.work]
            return OperatorSlices(self.trace, self.work, durations, durations)
        rows = self.host_rows
        return OperatorSlices(self.trace, rows, self.trace.slices.dur[rows], self._own_of_operators)

    def operators_in_step(self, index: int, host: bool = False) -> OperatorSlices:
        """Return the work that starts in one of `steps` on its device; with `host`, its operators too."""
        step, starts, operators = self.steps[index], self.trace.slices.start, self.operators(host)
        if host:
            inside = starts[operators.rows] >= step.host_start_ns
            return operators.at(inside & (starts[operators.rows] < step.host_end_ns))
        activity = next(device for device in self.devices if device.device == step.device)
        durations = self.trace.slices.dur[activity.work]
        inside = step_of(self.steps, step.device, starts[activity.work]) == index
        return OperatorSlices(self.trace, activity.work, durations, durations).at(inside)

    def operators_in_window(self, start_ns: int, end_ns: int, host: bool = False) -> OperatorSlices:
        """Return the work of all devices (with `host`, the host operators), cut to [start_ns, end_ns)."""
        slices = self.trace.slices
        rows = self.host_rows if host else self.work
        rows = rows[(slices.start[rows] < end_ns) & (slices.end[rows] > start_ns)]
        starts, ends = np.maximum(slices.start[rows], start_ns), np.minimum(slices.end[rows], end_ns)
        self_ns = (
            self_times(self.launch_chains.callers.ancestors, rows, starts, ends) if host else ends - starts
        )
        return OperatorSlices(self.trace, rows, ends - starts, self_ns)

    @cached_property
    def _own_of_operators(self) -> Int64s:
        slices, rows = self.trace.slices, self.host_rows
        return self_times(self.launch_chains.callers.ancestors, rows, slices.start[rows], slices.end[rows])

    @cached_property
    def _host_time(self) -> HostTime:
        return HostTime(self.trace, self.host_threads)


def analyse(
    trace: Trace, rules: FrameRules | None = None, recording: SchedulerRecording | None = None
) -> Analysis:
    """Return everything of a trace; one without devices, steps or chains has none of what they give.

    What most need is made now, so that no screen waits for it.

    Args:
        rules: which frame of a stack is the user's own.
        recording: what the scheduler did meanwhile, of `recording_of`.
    """
    analysis = Analysis.of(trace, rules, recording)
    chains = analysis.launch_chains
    launching = chains.launch, chains.operator, chains.enqueue
    # The threads that launched are asked next why a device was idle. Numpy gives up the interpreter's lock.
    is_large = len(trace.slices) > MOST_BESIDE
    threads = Background(lambda: analysis.host_threads.of_tasks(*launching), is_large)
    _ = analysis.idle  # of devices, chains, steps and gaps
    threads.result()
    return analysis
