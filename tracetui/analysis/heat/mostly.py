"""Why a device was idle in any stretch of time: the cause and the line of Python with the most of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.sums import most_first
from tracetui.arrays import Int64s
from tracetui.trace.stack import Frame


class IdleReason(NamedTuple):
    """The main reason of some idle time."""

    idle_ns: int  #: all of it
    cause: Cause | None  #: the cause with the most of it; None where it is nothing
    cause_ns: int
    frame: Frame | None  #: the line with the most of that cause; None where most has no stack


class IdleReasons:
    """The causes and lines of all idle time, for many questions about stretches of it."""

    def __init__(self, analysis: Analysis) -> None:
        self._causes = causes = analysis.causes
        self._frames, self._frame = lines_of(analysis.trace, causes.stack, causes.frame, analysis.rules)

    def between(self, device: int, start_ns: int, end_ns: int, only: Cause | None = None) -> IdleReason:
        """Return the main reason of a device's idle time in [start_ns, end_ns), or of one cause's part."""
        causes = self._causes
        on_device = causes.of_device(device)
        first = on_device.start + int(np.searchsorted(causes.end[on_device], start_ns, "right"))
        stop = on_device.start + int(np.searchsorted(causes.start[on_device], end_ns, "left"))
        places = np.arange(first, max(first, stop))
        if only is not None:
            places = places[causes.cause[places] == only]
        return self._of(places, start_ns, end_ns)

    def _of(self, places: Int64s, start_ns: int, end_ns: int) -> IdleReason:
        causes = self._causes
        ns = np.minimum(causes.end[places], end_ns) - np.maximum(causes.start[places], start_ns)
        ranked, total = most_first(causes.cause[places].astype(np.int64), ns)
        if not len(ranked):
            return IdleReason(0, None, 0, None)
        main = causes.cause[places] == ranked[0]
        lines, _ = most_first(self._frame[places][main], ns[main])
        frame = self._frames[int(lines[0])] if lines[0] >= 0 else None
        return IdleReason(int(ns.sum()), Cause(int(ranked[0])), int(total[0]), frame)
