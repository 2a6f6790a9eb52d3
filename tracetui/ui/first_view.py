"""What of a trace is shown first: the part in which its devices work, and what they do if they are busy.

Pure: knows an analysis, no screen.

Profilers record long before and after that: counters, their own start, the import of modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.ui.state import Viewport

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis

_MARGIN = 50  #: one part of so many is left on either side
_BUSY = 10  #: devices are busy that compute all but one part of so many of their time
_WORTH = 10  #: less than one part of so many to leave out is not worth it


def is_busy(analysis: Analysis) -> bool:
    """Return whether the devices compute more than 90 % of their time, so that gaps are of no interest."""
    splits = analysis.communication.splits
    window = sum(split.window_ns for split in splits)
    return _BUSY * sum(split.computing_ns for split in splits) > (_BUSY - 1) * window > 0


def first_view(analysis: Analysis, bounds: Viewport) -> Viewport:
    """Return the time of all steps and work of devices; all there is where that is most of it, or none."""
    spans = [(device.start_ns, device.end_ns) for device in analysis.devices if device.window_ns]
    if not spans:
        return bounds
    spans += [
        (min(step.host_start_ns, step.start_ns), max(step.host_end_ns, step.end_ns))
        for step in analysis.steps
    ]
    start, end = min(start for start, _ in spans), max(end for _, end in spans)
    margin = max((end - start) // _MARGIN, 1)
    start, end = max(start - margin, bounds.start_ns), min(end + margin, bounds.end_ns)
    if start >= end or (end - start) * _WORTH > bounds.span_ns * (_WORTH - 1):
        return bounds
    return Viewport(start, end)
