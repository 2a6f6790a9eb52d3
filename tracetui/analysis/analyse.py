"""The one entry of all fronts: everything computed from a trace, once."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.gaps import Gaps, IdleIntervals
from tracetui.analysis.links import Links
from tracetui.analysis.steps import Step
from tracetui.trace.model import Trace


@dataclass(frozen=True, eq=False)
class Analysis:
    """A trace and all that follows from it."""

    trace: Trace
    devices: tuple[DeviceActivity, ...]
    links: Links
    steps: tuple[Step, ...]
    gaps: Gaps
    idle: IdleIntervals
