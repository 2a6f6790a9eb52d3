"""All rules of health, in the order in which one explains another."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from tracetui.analysis.health import (
    clocks,
    collectives,
    files,
    graphs,
    host,
    leaps,
    lost,
    steps,
    task_ids,
    tasks,
    unseen,
    waits,
)
from tracetui.analysis.health.finding import Finding, Health
from tracetui.analysis.health.launches import Launches, LostLaunches, find_losses, launches_of
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.health.unseen import Unseen
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.explain import UnseenSpan
from tracetui.arrays import Int64s


class Examination:
    """The findings in a recording, each part made at first use: causes of idle time need only some."""

    def __init__(self, recording: HealthEvidence) -> None:
        self._recording = recording
        self._beside: list[Finding] = []

    def add(self, finding: Finding) -> None:
        """Add a finding that follows from files beside the recording; only before `health` is called."""
        self._beside.append(finding)

    @cached_property
    def unseen(self) -> list[Unseen]:
        """The stretches in which a device did something that is not recorded."""
        lost_windows = [*self._holes, *self._launching]
        return unseen.unseen_work(self._recording, self._launches, lost_windows)

    @cached_property
    def incomplete(self) -> tuple[Finding, ...]:
        """What is found of graphs that lack kernels; nothing where as many may hang at the ids of others."""
        found = tuple(graphs.incomplete_graphs(self._recording, self._launching, self._holes))
        lacking = sum(finding.count for finding in found)
        return () if lacking and tasks.LEAST_SHARED <= len(self._extra) >= lacking else found

    @cached_property
    def unseen_spans(self) -> list[UnseenSpan]:
        """The spans of time that may be of the cause UNSEEN: devices did what is not recorded.

        Any device may have run tasks that were lost in a row: from the first launch without a task, or the
        end of the task before it, to the next recorded task.
        """
        starts, every = self._launches.start, range(len(self._recording.devices))
        graphs_lack = (window for finding in self.incomplete for window in finding.windows)
        return [
            *(UnseenSpan(stretch.device, stretch.start, stretch.end) for stretch in self.unseen),
            *(UnseenSpan(device, *window) for window in graphs_lack for device in every),
            *(
                UnseenSpan(None, max(start, int(starts[loss.places[0]])), end)
                for loss, (start, end) in zip(self._losses, self._holes)
                if loss.is_dense
            ),
        ]

    def health(self, causes: Callable[[], Causes]) -> Health:
        """Return all findings, worst first.

        `causes`: gives why the devices were idle, where a rule asks for it.
        """
        recording = self._recording
        mixed = [*files.mixed_runs(recording)]
        findings = [
            *(mixed or self._of_one_run()),
            *self._beside,
            *files.damaged_file(recording, self._steps_cut if recording.trace.report.truncated else ()),
            *clocks.scheduler_apart(recording),
            *host.absent(recording),
            *(host.overhead(recording, causes()) if recording.devices else ()),
            *steps.unusual_steps(recording),
        ]
        return Health(tuple(sorted(findings, key=lambda finding: -finding.severity)))

    def _of_one_run(self) -> list[Finding]:
        """Return the findings in a recording of one run: in one of several everything would seem wrong."""
        recording = self._recording
        distant = [*leaps.distant_parts(recording)]
        if distant:
            return distant
        is_cut = recording.trace.report.truncated
        host_waits = waits.find_waits(recording, self._extra)
        # What is cut off leaves holes, and calls without their caller, as a leap does.
        found = [] if is_cut else leaps.find_leaps(recording, host_waits.device)
        if found:
            return [*leaps.leap_findings(recording, found)]
        late = [*clocks.outlasting_tasks(recording, host_waits)]
        del host_waits  # large, and of use to no rule below
        lacking = () if is_cut else self._lacking
        return [
            # A device whose clock is late seems to begin late.
            *(finding for finding in lacking if not (late and finding.id == "device.unseen_work")),
            *host.unclosed_calls(recording),
            *([*clocks.early_tasks(recording)] or late),
            *tasks.overlapping_tasks(recording),
            *tasks.shared_flows(recording, self._extra),
        ]

    @cached_property
    def _lacking(self) -> list[Finding]:
        """The findings about tasks that are missing."""
        recording = self._recording
        missing = [*lost.lost_tasks(recording, self._launches, self._losses)]
        if not missing:
            missing += collectives.missing_parts(recording)
        if not any(finding.id == "device.dropped" for finding in missing):
            missing += task_ids.unnumbered_tasks(recording, self._holes)
        missing = missing or [*lost.logged_losses(recording)]
        return [
            *(missing or lost.lone_launches(recording, self._launches)),
            *self.incomplete,
            *unseen.unseen_findings(recording, self.unseen),
        ]

    @cached_property
    def _steps_cut(self) -> tuple[int, ...]:
        """The places of the steps whose tasks went with the rest of a file that was cut."""
        return tuple(sorted({step for finding in self._lacking for step in finding.steps}))

    @cached_property
    def _launches(self) -> Launches:
        return launches_of(self._recording.trace, self._recording.launch_chains)

    @cached_property
    def _extra(self) -> Int64s:
        """Rows of the tasks beyond the first of their launch."""
        extra = tasks.shared_tasks(self._recording)
        replayed = {replay.names for replay in graphs.replays_of(self._recording)}
        uncalled = tasks.uncalled_tasks(self._recording, replayed)
        if replayed and not tasks.LEAST_SHARED <= self._count_lost <= self._count_after_lost(uncalled):
            return extra  # one graph that was launched before the recording has many tasks of one id
        return np.union1d(extra, uncalled)

    @cached_property
    def _losses(self) -> list[LostLaunches]:
        """The stretches of launches without tasks; none where as many tasks were given to other launches."""
        misled = len(self._extra) + self._recording.trace.shared_flows
        if tasks.LEAST_SHARED <= self._count_lost <= misled:
            return []
        return find_losses(self._launches)

    @cached_property
    def _count_lost(self) -> int:
        return int(np.count_nonzero(self._launches.lost))

    def _count_after_lost(self, rows: Int64s) -> int:
        """Return how many tasks start after the first launch without a task: these it may have launched."""
        starts = self._launches.start[self._launches.lost]
        return (
            int(np.count_nonzero(self._recording.trace.slices.start[rows] >= starts[0])) if len(starts) else 0
        )

    @cached_property
    def _holes(self) -> list[tuple[int, int]]:
        return [lost.hole_of(self._recording, self._launches, loss) for loss in self._losses]

    @cached_property
    def _launching(self) -> list[tuple[int, int]]:
        """When what was lost was launched, ns: from the launch before the first to that after the last.

        Where tasks are lost here and there, from the first to the last such place: graphs lose theirs too.
        """
        starts = self._launches.start
        spread = [loss for loss in self._losses if not loss.is_dense]
        spans = [(loss.first, loss.stop) for loss in self._losses]
        if spread:
            spans.append((spread[0].first, spread[-1].stop))
        return [
            (int(starts[max(first - 1, 0)]), int(starts[min(stop, len(starts) - 1)])) for first, stop in spans
        ]
