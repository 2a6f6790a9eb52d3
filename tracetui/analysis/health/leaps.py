"""The finding about leaps of the clock of all tracks at once, back or ahead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.finding import EVERYTHING, Finding, Severity
from tracetui.analysis.health.leap import LEAST_LEAP, Leap
from tracetui.analysis.health.leaps_ahead import find_leaps_ahead
from tracetui.analysis.health.leaps_back import find_leap_back
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.health.waits import DeviceWaits, find_leap
from tracetui.units import format_count, format_duration


def find_leaps(recording: HealthEvidence, waits: DeviceWaits) -> list[Leap]:
    """Return the leaps of all clocks, by time: back where many tracks overlap themselves, or ahead.

    Args:
        recording: what was recorded.
        waits: the waits for the device.
    """
    back = find_leap_back(recording)
    found = [back] if back is not None else [*find_leaps_ahead(recording)]
    in_wait = None if found else find_leap(recording, waits, LEAST_LEAP)
    return found if in_wait is None else [in_wait]


def leap_findings(recording: HealthEvidence, leaps: list[Leap]) -> Iterator[Finding]:
    """Yield the finding about leaps, where there are any."""
    if not leaps:
        return
    origin = recording.trace.start_ns
    longest = max(leaps, key=lambda leap: abs(leap.by))
    windows = tuple((min(leap.at, leap.at + leap.by), max(leap.at, leap.at + leap.by)) for leap in leaps)
    yield Finding(
        id="clock.jump",
        severity=Severity.DOUBTFUL,
        affects=EVERYTHING,
        sentence=(
            "{tracks} tracks go back by about {time} at once, {at} after the start: a clock was set"
            if longest.by < 0
            else "{tracks} tracks leap by about {time} at once, {at} after the start: a clock was set"
        ),
        remedy="Read the parts before and after on their own; record again while nothing sets the clock.",
        figures={
            "tracks": format_count(len(longest.tracks)),
            "time": format_duration(abs(longest.by)),
            "at": format_duration(longest.at - origin),
        },
        count=len(leaps),
        share=sum(abs(leap.by) for leap in leaps) / max(recording.trace.end_ns - origin, 1),
        steps=places(
            np.union1d(
                recording.steps_at(np.array([leap.at for leap in leaps], np.int64)),
                np.array(recording.steps_within((leap.at, leap.at + 1) for leap in leaps), np.int64),
            )
        ),
        windows=windows,
        tracks=longest.tracks,
    )
