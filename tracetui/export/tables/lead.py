"""Where the host lost its lead on a device, as a part of the JSON documents."""

from __future__ import annotations

from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.export.tables.pieces import frame_document


def lead_lost_document(analysis: Analysis, gap: int) -> dict[str, Any] | None:
    """Return where the lead was lost before a gap; None where the host had none, or did not cause it."""
    losses = analysis.lead_losses
    place = losses.of_gap(gap)
    if place < 0:
        return None
    cause, line = int(losses.cause[place]), int(losses.line[place])
    start = int(losses.pause_start[place])
    return {
        "at_ns": int(losses.lost_at[place]),
        "tasks": int(losses.count[place]),
        "work_ns": int(losses.work[place]),
        "pause_start_ns": start,
        "pause_ns": int(losses.pause_end[place]) - start,
        "cause": Cause(cause).label if cause >= 0 else None,
        **frame_document(losses.lines[line] if line >= 0 else None),
    }
