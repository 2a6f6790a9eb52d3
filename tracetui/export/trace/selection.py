"""Which steps and gaps of an analysis a table lists: those of one step, those that start in one window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.idle_lines import Charges, LineIdle, idle_lines
from tracetui.analysis.idle.syncs import SyncCall, sync_table
from tracetui.analysis.modules import ModuleIdle, idle_modules
from tracetui.analysis.nested_idle import FrameIdle, idle_frames
from tracetui.analysis.scopes import ScopeTime, scope_times
from tracetui.arrays import Bools, Int64s
from tracetui.export.trace.step_numbers import StepNumbers
from tracetui.units import OPEN_END


@dataclass(frozen=True)
class Selection:
    """A step is in a window if its device part starts in it, a gap if it starts in it."""

    step: int | None = None  #: number of a ProfilerStep; None: all
    window: tuple[int, int] | None = None  #: [start, end), epoch ns; None: all
    all_steps: bool = False  #: steps that are not to be believed count in means, too
    by: Measure = field(default=Measure.LOST, compare=False)  #: what the gaps are ranked by

    def steps(self, analysis: Analysis, device: str | None = None) -> list[int]:
        """Return indices of the steps listed, in the order of the analysis; of one device, or of all."""
        return [
            index
            for index, step in enumerate(analysis.steps)
            if (self.step is None or step.number == self.step)
            and device in (None, step.device)
            and (self.window is None or self.window[0] <= step.start_ns < self.window[1])
        ]

    def believed(self, analysis: Analysis, places: Sequence[int]) -> Sequence[int]:
        """Return the steps that means are made of: those that can be believed.

        All of them where none can.
        """
        doubted = frozenset[int]() if self.all_steps else analysis.health.doubted_steps
        return [place for place in places if place not in doubted] or places

    def gaps(self, analysis: Analysis, top: int = 0) -> Int64s:
        """Return indices of the gaps listed, those with the most of `by` first; at most `top`, 0 for all."""
        ranked = analysis.gaps.ranked(self.by)
        if self.window is not None:
            start = analysis.gaps.start[ranked]
            ranked = ranked[(self.window[0] <= start) & (start < self.window[1])]
        if self.step is not None:
            ranked = ranked[analysis.step_numbers[analysis.gaps.step[ranked]] == self.step]
        return ranked[:top] if top else ranked

    def lines(self, analysis: Analysis) -> tuple[LineIdle, ...]:
        """Return the idle time of the gaps listed by line, most first."""
        if self == Selection():
            return analysis.lines
        charges, listed = analysis.causes.charges, self._listed(analysis)
        return idle_lines(analysis.trace, charges.at(np.flatnonzero(listed[charges.gap])), analysis.rules)

    def modules(self, analysis: Analysis) -> tuple[ModuleIdle, ...]:
        """Return the idle time of the gaps listed by nn.Module, most first."""
        if self == Selection():
            return analysis.modules
        return idle_modules(
            analysis.trace, analysis.launch_chains.callers.ancestors, self._frame_charges(analysis)
        )

    def frames(self, analysis: Analysis) -> tuple[FrameIdle, ...]:
        """Return the idle time of the gaps listed by frame at any depth, most first."""
        if self == Selection():
            return analysis.frames
        return idle_frames(analysis.trace, self._frame_charges(analysis))

    def scopes(self, analysis: Analysis) -> tuple[ScopeTime, ...]:
        """Return the computing that starts in the selection, and the idle time of its gaps, by scope."""
        if self == Selection() or not analysis.has_scopes:
            return analysis.scopes
        starts, work = analysis.trace.slices.start, analysis.work
        if self.window is not None:
            work = work[(self.window[0] <= starts[work]) & (starts[work] < self.window[1])]
        if self.step is not None:
            of_step = [analysis.operators_in_step(index).rows for index in self.steps(analysis)]
            work = work[np.isin(work, np.concatenate([work[:0], *of_step]))]
        return tuple(scope_times(analysis.trace, work, analysis.causes, self._listed(analysis)))

    def syncs(self, analysis: Analysis) -> tuple[SyncCall, ...]:
        """Return the synchronisations that start there or expose idle time of its gaps, which counts alone.

        Those of a step start between its start on the host and its end, there or on a device.
        """
        if self == Selection():
            return analysis.syncs
        start, end = self.window or (analysis.trace.start_ns, analysis.trace.start_ns + OPEN_END)
        if self.step is not None:
            first, last = StepNumbers(analysis).window(self.step)
            start, end = max(start, first), min(end, last)
        of = (analysis.trace, analysis.host_threads, analysis.causes, analysis.rules)
        return sync_table(*of, (start, end), self._listed(analysis))

    def _frame_charges(self, analysis: Analysis) -> Charges:
        charges, listed = analysis.frame_charges, self._listed(analysis)
        return charges.at(np.flatnonzero(listed[charges.gap]))

    def _listed(self, analysis: Analysis) -> Bools:
        """Return bool[gaps]: which gaps are listed."""
        listed = np.zeros(len(analysis.gaps), np.bool_)
        listed[self.gaps(analysis)] = True
        return listed
