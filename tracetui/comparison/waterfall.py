"""Where the time of each step went: terms that sum to its wall, to the nanosecond."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Int64s
from tracetui.comparison.wall_pieces import WallExposed, WallIdle
from tracetui.comparison.walls import StepWalls

PREPARING, AICORE, AICPU, COPY = "preparing", "aicore", "aicpu", "copy"
PREPARING_COPY = f"{PREPARING}.{COPY}"  #: copies until preparing ends: they are part of it
_COMMUNICATION = tuple(cause.label for cause in CommunicationCause)
_PREPARING = tuple(f"{PREPARING}.{cause.label}" for cause in Cause)
_IDLE = tuple(f"idle.{cause.label}" for cause in Cause)
#: The terms of a step, in the order in which they are told.
TERMS = (*_PREPARING, PREPARING_COPY, AICORE, AICPU, *_COMMUNICATION, COPY, *_IDLE)
#: What the idle time of a step sums up.
IDLE_TERMS = (*_PREPARING, *_IDLE)
#: Causes of idle time, and terms, that are the device's: it may lag behind the steps of the host.
DEVICE_CAUSES = frozenset(
    cause.label for cause in Cause if cause.label.startswith("device.") or cause is Cause.UNLINKED
)
DEVICE_TERMS = frozenset(
    (AICORE, AICPU, *_COMMUNICATION, COPY, *(f"idle.{label}" for label in DEVICE_CAUSES))
)


def term_places(name: str) -> list[int]:
    """Return the places in `TERMS` of a term, or of `preparing` or `idle` as a whole."""
    return [place for place, term in enumerate(TERMS) if term == name or term.startswith(f"{name}.")]


def waterfall(analysis: Analysis, walls: StepWalls, idle: WallIdle, exposed: WallExposed) -> Int64s:
    """Return int64[walls, terms]: ns. Each row sums to the length of its wall."""
    terms = np.zeros((len(walls), len(TERMS)), np.int64)
    for index in np.unique(walls.device).tolist():
        places, activity = walls.of_device(index), analysis.devices[index]
        start, end = walls.start[places], walls.end[places]
        terms[places, TERMS.index(AICORE)] = activity.aicore.covered(start, end)
        terms[places, TERMS.index(AICPU)] = (activity.compute - activity.aicore).covered(start, end)
        copies = activity.copies - (activity.compute | activity.communication)
        terms[places, TERMS.index(PREPARING_COPY)] = copies.covered(start, walls.prepared[places])
        terms[places, TERMS.index(COPY)] = copies.covered(walls.prepared[places], end)
    causes = np.where(idle.preparing, TERMS.index(_PREPARING[0]), TERMS.index(_IDLE[0])) + idle.cause
    np.add.at(terms, (idle.wall, causes), idle.ns)
    np.add.at(terms, (exposed.wall, TERMS.index(_COMMUNICATION[0]) + exposed.cause), exposed.ns)
    return terms
