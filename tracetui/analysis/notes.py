"""What must be known of the steps of a device to read their numbers, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.steps import Step, uncomputed_steps
from tracetui.language import state
from tracetui.units import format_count, format_duration


def step_notes(steps: Sequence[Step], tasks_of_none: int) -> Iterator[str]:
    """Yield a sentence for each thing that is unusual about the steps of one device.

    Args:
        steps: of the device.
        tasks_of_none: how much of its work belongs to none of them, in tasks.
    """
    if tasks_of_none:
        template = "{count} tasks belong to no step: they start outside of all of them"
        if tasks_of_none == 1:
            template = "1 task belongs to no step: it starts outside of all of them"
        yield state(template, count=format_count(tasks_of_none))
    without_compute = sum(steps[place].only_communicates for place in uncomputed_steps(steps))
    if without_compute:
        yield state(
            "In {count} of {steps} steps only communication is recorded: what they computed counts as idle",
            count=format_count(without_compute),
            steps=format_count(len(steps)),
        )
    early = [ns for ns in map(clocks_apart, steps) if ns]
    if early:
        yield state(
            "In {count} of {steps} steps the device starts before the host does, by {time} at most: "
            "their clocks disagree",
            count=len(early),
            steps=len(steps),
            time=format_duration(max(early)),
        )


def overlap_note(activity: DeviceActivity) -> str | None:
    """Return a sentence on the sums of the trace's own Overlap Analysis that differ; None where none does."""
    if not activity.differs or activity.producer is None:
        return None
    sums = [
        state(
            "{name} {listed}, not {computed}",
            name=key[: -len("_ns")].replace("_", " "),
            listed=format_duration(listed),
            computed=format_duration(computed),
        )
        for key, listed in activity.producer.items()
        if listed != (computed := getattr(activity, key))
    ]
    template = "the trace's own Overlap Analysis says otherwise: {sums}"
    if activity.left_out_ns:
        template = (
            "the trace's own Overlap Analysis says otherwise: {sums}: it leaves out {time} between iterations"
        )
    return state(template, sums=_alternatives(sums), time=format_duration(activity.left_out_ns))


def _alternatives(statements: Sequence[str]) -> str:
    """Return statements after each other: "a; b"."""
    return reduce(lambda before, statement: state("{this}; {that}", this=before, that=statement), statements)


def clocks_apart(step: Step) -> int:
    """Return the ns by which the first task of a step starts before the step on the host; 0: it does not."""
    return max(step.host_start_ns - step.start_ns, 0)
