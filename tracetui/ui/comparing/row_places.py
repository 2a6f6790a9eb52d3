"""From a row of a comparison to its place in one of the two traces. Knows sessions; no screen and no app."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.search import track_of_rows
from tracetui.ui.session import Session

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis


def go_to_idle(session: Session, analysis: Analysis, row: int) -> None:
    """Select the gap with the idle time that a task ends; before all gaps show the step until the task."""
    if session.go_to_gap(gap_ended_by(analysis, row)):
        return
    go_to_slice(session, analysis, row)
    end = int(analysis.trace.slices.start[row])
    begins = analysis.host_spans[:, 0]
    before = begins[begins < end]
    if len(before):
        session.state.show(int(before[-1]), end)


def go_to_slice(session: Session, analysis: Analysis, row: int) -> None:
    """Select a slice in the middle of the screen."""
    slices = analysis.trace.slices
    session.state.show(int(slices.start[row]), int(slices.end[row]))
    session.select(row)


def gap_ended_by(analysis: Analysis, row: int) -> int:
    """Return the gap with the idle time that a task ends; -1 where it ends none."""
    track = int(track_of_rows(analysis.trace, np.array([row], np.int64))[0])
    device, time = analysis.trace.tracks[track].device, int(analysis.trace.slices.start[row])
    (found,) = np.nonzero((analysis.gaps.start < time) & (time <= analysis.gaps.end))
    names = [analysis.devices[index].device for index in analysis.gaps.device[found].tolist()]
    return next((gap for gap, name in zip(found.tolist(), names) if name == device), -1)
