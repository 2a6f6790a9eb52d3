"""What the wall of each step went into, in four parts that sum to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.comparison.walls import StepChoice, find_walls


class StepParts(NamedTuple):
    """The parts of a step, ns; all 0 where it has no wall on its device."""

    preparing: int = 0  #: as in the table of steps, as far as it is in the wall
    computing: int = 0
    exposed: int = 0  #: communication that no computing overlaps
    rest: int = 0  #: idle time and copies after preparing

    @property
    def wall(self) -> int:
        """Their sum: from the start of the step on the host to that of the next; of the last one, and where
        numbers do not follow each other, to the end of its work on the device.
        """
        return sum(self)


def step_parts(analysis: Analysis) -> list[StepParts]:
    """Return the parts of each step of an analysis."""
    walls = find_walls(analysis, StepChoice(all_steps=True))
    parts_of_step: dict[tuple[str, int], StepParts] = {}
    for index in np.unique(walls.device).tolist():
        places, activity = walls.of_device(index), analysis.devices[index]
        start, prepared, end = walls.start[places], walls.prepared[places], walls.end[places]
        working = activity.compute | activity.communication
        preparing = prepared - start - working.covered(start, prepared)
        computing = activity.compute.covered(start, end)
        exposed = working.covered(start, end) - computing
        rest = end - start - preparing - computing - exposed
        parts = np.stack((preparing, computing, exposed, rest), axis=1).tolist()
        parts_of_step.update(
            ((activity.device, host_start), StepParts(*parts_ns))
            for host_start, parts_ns in zip(start.tolist(), parts)
        )
    return [parts_of_step.get((step.device, step.host_start_ns), StepParts()) for step in analysis.steps]
