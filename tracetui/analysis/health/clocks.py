"""A finding about the clock of a device against the host's: tasks that begin before their launch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.search import runs, track_of_rows
from tracetui.units import format_count, format_duration

#: ns: a task may begin so long before its launch where clocks are aligned: 79 µs at most on clean traces.
JITTER = 200_000
#: Tasks, and their share, from which on clocks disagree.
LEAST_EARLY, EARLY_SHARE = 3, 0.005


def early_tasks(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding for each device whose tasks begin before their launch by more than jitter."""
    trace, chains = recording.trace, recording.launch_chains
    known = chains.launch_time >= 0
    late = trace.slices.start[chains.tasks] - chains.launch_time
    numbers: dict[str | None, int] = {
        activity.device: number for number, activity in enumerate(recording.devices)
    }
    devices = np.array([numbers.get(track.device, -1) for track in trace.tracks], np.int64)
    track = track_of_rows(trace, chains.tasks)
    linked = np.flatnonzero(known & (devices[track] >= 0))
    for _, group in runs(devices[track[linked]]):
        held = linked[group]
        early = held[late[held] < -JITTER]
        count, total = len(early), len(held)
        if count < LEAST_EARLY or count < EARLY_SHARE * total:
            continue
        offset = -int(late[early].min())
        starts = trace.slices.start[chains.tasks[early]]
        yield Finding(
            id="clock.host_device",
            severity=Severity.DOUBTFUL,
            affects=("causes",),
            sentence=(
                "{count} of {tasks} tasks begin before their launch, by {time} at most: "
                "the clocks of host and device are apart by that or more"
            ),
            remedy=(
                "Nothing is shifted. Add {time} or more to the times of the device before you compare them "
                "with the host's; what the device did, and for how long, stands."
            ),
            figures={
                "count": format_count(count),
                "tasks": format_count(total),
                "time": format_duration(offset),
            },
            count=count,
            share=count / total,
            steps=recording.steps_within(((int(starts.min()), int(starts.max()) + 1),)),
            windows=((int(starts.min()), int(starts.max()) + 1),),
            tracks=places(np.unique(track[early])),
        )
