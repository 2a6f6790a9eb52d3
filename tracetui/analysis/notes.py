"""What must be known of the steps of a device to read their numbers, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.steps import Step
from tracetui.units import format_count, format_duration


def step_notes(steps: Sequence[Step], tasks_of_none: int) -> Iterator[str]:
    """Yield a sentence for each thing that is unusual about the steps of one device.

    Args:
        steps: of the device.
        tasks_of_none: how much of its work belongs to none of them, in tasks.
    """
    if tasks_of_none:
        single = tasks_of_none == 1
        tasks = "1 task belongs" if single else f"{format_count(tasks_of_none)} tasks belong"
        yield f"{tasks} to no step: {'it starts' if single else 'they start'} outside of all of them"
    without_compute = sum(step.computing_ns == 0 < step.communication_ns for step in steps)
    if without_compute and any(step.computing_ns for step in steps):
        yield (
            f"In {format_count(without_compute)} of {format_count(len(steps))} steps only communication is "
            "recorded: what they computed counts as idle"
        )
    early = [ns for ns in map(clocks_apart, steps) if ns]
    if early:
        yield (
            f"In {len(early)} of {len(steps)} steps the device starts before the host does, by "
            f"{format_duration(max(early))} at most: their clocks disagree"
        )


def overlap_note(activity: DeviceActivity) -> str | None:
    """Return a sentence on the sums of the trace's own Overlap Analysis that differ; None where none does."""
    if not activity.differs or activity.producer is None:
        return None
    sums = [
        f"{key[: -len('_ns')].replace('_', ' ')} {format_duration(listed)}, not {format_duration(computed)}"
        for key, listed in activity.producer.items()
        if listed != (computed := getattr(activity, key))
    ]
    words = f"the trace's own Overlap Analysis says otherwise: {'; '.join(sums)}"
    left_out = format_duration(activity.left_out_ns)
    return f"{words}: it leaves out {left_out} between iterations" if activity.left_out_ns else words


def clocks_apart(step: Step) -> int:
    """Return the ns by which the first task of a step starts before the step on the host; 0: it does not."""
    return max(step.host_start_ns - step.start_ns, 0)
