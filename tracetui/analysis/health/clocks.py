"""Findings about the clocks of devices and of the scheduler.

Tasks begin before their launch or outlast a wait; threads call while they have no core.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.health.waits import LATE, LEAST_OUTLASTING, Waits, count_on_time
from tracetui.analysis.scheduler.clock import AGREEING
from tracetui.analysis.search import device_of_tracks, group_by, track_of_rows
from tracetui.units import format_duration, format_error

#: ns: a task may begin so long before its launch where clocks are aligned: 79 µs at most on clean traces.
JITTER = 200_000
#: Tasks, and their share, from which on clocks disagree.
LEAST_EARLY, EARLY_SHARE = 3, 0.005


def early_tasks(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding for each device whose tasks begin before their launch by more than jitter."""
    trace, chains = recording.trace, recording.launch_chains
    known = chains.launch_time >= 0
    delay = trace.slices.start[chains.tasks] - chains.launch_time  # below 0: early
    devices = device_of_tracks(trace)
    track = track_of_rows(trace, chains.tasks)
    linked = np.flatnonzero(known & (devices[track] >= 0))
    for _, group in group_by(devices[track[linked]]):
        on_device = linked[group]
        early = on_device[delay[on_device] < -JITTER]
        count, total = len(early), len(on_device)
        if count < LEAST_EARLY or count < EARLY_SHARE * total:
            continue
        starts = trace.slices.start[chains.tasks[early]]
        window = (int(starts.min()), int(starts.max()) + 1)
        yield Finding(
            id="clock.host_device",
            severity=Severity.DOUBTFUL,
            affects=("causes",),
            sentence=(
                "{count} of {tasks} tasks begin more than {jitter} before their launch, "
                "most of them by {time} or more: the clocks of host and device are apart by that or more"
            ),
            remedy=(
                "Nothing is shifted. Add {time} or more to the times of the device before you compare them "
                "with the host's; what the device did, and for how long, stands."
            ),
            figures={
                "tasks": total,
                "jitter": format_duration(JITTER),
                # The median: a task that is linked to a wrong launch may begin any time before it.
                "time": format_duration(-int(np.sort(delay[early])[count // 2])),
            },
            count=count,
            share=count / total,
            steps=recording.steps_within((window,)),
            windows=(window,),
            tracks=places(np.unique(track[early])),
        )


def outlasting_tasks(recording: HealthEvidence, waits: Waits) -> Iterator[Finding]:
    """Yield a finding where tasks outlast waits for them, more of these waits than return on time."""
    device, copies, operators = waits
    late = np.concatenate((device.late, copies.late, operators.late))
    is_outlasted = late > LATE
    on_time = count_on_time(np.concatenate((device.late, copies.late)))
    on_time += int(np.count_nonzero(operators.late <= 0))
    if np.count_nonzero(is_outlasted) <= on_time:
        return
    count = sum(device.outlasting(int(wait)) for wait in np.flatnonzero(device.late > LATE))
    count += int(np.count_nonzero(copies.late > LATE))
    count += int(operators.outlasting[operators.late > LATE].sum())
    if count < LEAST_OUTLASTING:
        return
    end = np.concatenate((device.end, copies.end, operators.end))[is_outlasted]
    outlasting_ns = late[is_outlasted]
    window = (int(end.min()), int((end + outlasting_ns).max()) + 1)
    yield Finding(
        id="clock.host_device",
        severity=Severity.DOUBTFUL,
        affects=("causes",),
        sentence=(
            "{count} tasks end after a call that waited for them returned, by {time} at most: "
            "the clocks of host and device are apart by that or more"
        ),
        remedy=(
            "Nothing is shifted. Take {time} or more off the times of the device before you compare them "
            "with the host's; what the device did, and for how long, stands."
        ),
        figures={"time": format_duration(int(outlasting_ns.max()))},
        count=count,
        share=len(end) / len(late),
        steps=recording.steps_within((window,)),
        windows=(window,),
    )


def scheduler_apart(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where threads have no core at many of their calls, as the scheduler recorded them."""
    share = None if recording.scheduler is None else recording.scheduler.agreeing
    if share is not None and share < AGREEING:
        yield Finding(
            id="clock.scheduler",
            severity=Severity.DOUBTFUL,
            affects=("causes",),
            sentence=(
                "threads have no core at {share} of their calls: the clock of the scheduler may be off, or "
                "cores are not recorded"
            ),
            remedy=(
                "Record all cores that they use, with the clock mono_raw. Do not read the causes that the "
                "scheduler tells: preempted, interrupted, disk and blocked."
            ),
            figures={"share": format_error(1 - share)},
            share=1 - share,
        )
