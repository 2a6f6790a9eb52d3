"""Sentences about one trace that its text, its Markdown and its page share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.language import counted, translate
from tracetui.units import format_duration, format_time

NO_DEVICE = "No known device in this trace: no task of one is recognised."
NO_IDLE_TIME = "No idle time."
IDLE_UNKNOWN = "No known device works in this trace: whether one is idle is not known."
WHY_IDLE = "Why it was idle for {time}"
WHY_PREPARING = "Why preparing steps took {time}"


def window_words(device: Mapping[str, Any], origin_ns: int) -> str:
    """Return "2.31 s, from 0.120 s to 2.430 s": the window of a device, from `origin_ns` on."""
    start, end = device["start_ns"], device["end_ns"]
    return translate(
        "{length}, from {start} to {end}",
        length=format_duration(end - start),
        start=format_time(start - origin_ns),
        end=format_time(end - origin_ns),
    )


def hidden_steps(count: int) -> str:
    """Return how many steps a table leaves out."""
    return counted(count, "1 more step is not shown.", "{count} more steps are not shown.")


def nothing_idle(analysis: Analysis, nothing: str = NO_IDLE_TIME) -> str:
    """Return `nothing`, or why the trace tells of no idle time."""
    return translate(nothing if any(device.window_ns for device in analysis.devices) else IDLE_UNKNOWN)


def hidden_rows(count: int) -> str:
    """Return how many rows, with less than those shown, a table leaves out."""
    return counted(count, "1 with less is not shown.", "{count} with less are not shown.")
