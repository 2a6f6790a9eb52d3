"""The time of devices in the ranges that people mark, by their names and step: the phases of a run."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.marked_ranges import host_ranges, marked_ranges, range_name
from tracetui.comparison.tally import Sums, tally
from tracetui.comparison.walls import StepWalls


def range_sums(analysis: Analysis, walls: StepWalls) -> Sums:
    """Return how long marked ranges take the devices, by name; those that begin in no step are left out.

    A range is of the step in which its host began it. It takes a device from when that had ended what was
    enqueued before it until it has ended what was enqueued in it.
    """
    trace = analysis.trace
    rows, chains = host_ranges(trace), analysis.launch_chains
    of_devices = [marked_ranges(trace, rows, activity, chains) for activity in analysis.devices]
    if not of_devices:
        return {}
    row, start, end = (np.concatenate(columns) for columns in zip(*of_devices))
    numbers, name = np.unique(trace.slices.name[row], return_inverse=True)
    names = [range_name(trace.strings[number]) for number in numbers.tolist()]
    step = walls.step_at(trace.slices.start[row])
    return tally(names, name.reshape(-1).astype(np.int64), step, end - start, walls.host_steps, row)
