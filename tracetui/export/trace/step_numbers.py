"""Which ProfilerStep a moment belongs to, and which time a step takes, on the host and on the devices."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.host_steps import host_steps
from tracetui.analysis.search import group_by
from tracetui.arrays import Int32s, Int64s


class StepNumbers:
    """The steps of a trace by number. A trace without a device has the steps of its host."""

    def __init__(self, analysis: Analysis) -> None:
        self._steps, self._numbers = analysis.steps, analysis.step_numbers
        self._hosts = host_steps(analysis.trace)
        self._windows = analysis.step_windows
        self._devices = analysis.trace.devices
        place = {device: index for index, device in enumerate(self._devices)}
        self._device_of = np.array([place.get(t.device or "", -1) for t in analysis.trace.tracks], np.int64)

    def known(self) -> list[int]:
        """Return the numbers, each once, in order."""
        return sorted({step.number for step in self._hosts} | {step.number for step in self._steps})

    def window(self, number: int) -> tuple[int, int]:
        """Return [start, end), epoch ns: from the step's start on the host to its end on host and devices."""
        hosts = [step for step in self._hosts if step.number == number]
        devices = [step for step in self._steps if step.number == number]
        start = min([step.start for step in hosts] + [step.start_ns for step in devices])
        return start, max([step.end for step in hosts] + [step.end_ns for step in devices])

    def numbers_at(self, times: Int64s, tracks: Int32s) -> Int64s:
        """Return int64[n]: the number of the step that holds each time (epoch ns) on a track; else -1.

        On a device that is the step whose device window holds the time, elsewhere the host's own step.
        """
        numbers = self._numbers_on_host(times)
        for index, places in group_by(self._device_of[tracks]):
            if index >= 0:
                step = self._windows.step_of(self._devices[index], times[places])
                numbers[places] = self._numbers[step]
        return numbers

    def _numbers_on_host(self, times: Int64s) -> Int64s:
        """Return, for each time, the number of the host step that started last and holds it; -1 for none."""
        columns = np.array([(step.start, step.end, step.number) for step in self._hosts], np.int64)
        starts, ends, numbers = columns.reshape(-1, 3).T
        place = np.searchsorted(starts, times, "right") - 1
        is_inside = place >= 0
        is_inside[is_inside] = times[is_inside] < ends[place[is_inside]]
        numbers_at: Int64s = np.full(len(times), -1, np.int64)
        numbers_at[is_inside] = numbers[place[is_inside]]
        return numbers_at
