"""Whether both exports of one run, its JSON and its database, say the same of it.

JSON rounds each bound of a slice to 1 ns. What one of both leaves out (at level 0, JSON leaves out the calls
of CANN, so fewer tasks lead back to operators and more idle time is unlinked) is no difference between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.health.finding import EVERYTHING, Finding, Severity
from tracetui.arrays import Int64s
from tracetui.units import format_count, format_duration, format_exact

#: Times of a device and of its steps that are compared, and what they are called.
_DEVICE_TIMES = {
    "computing_ns": "computing",
    "communication_ns": "communication",
    "communication_not_overlapped_ns": "communication not overlapped",
    "free_ns": "free",
    "idle_ns": "idle",
}
_STEP_TIMES = {
    "computing_ns": "computing",
    "communication_ns": "communication",
    "free_ns": "free",
    "stage_ns": "stage",
    "idle_ns": "idle",
}


class DeviceMeasures(NamedTuple):
    """What an export says of a device."""

    device: str
    tasks: int
    linked: int  #: tasks that lead back to an operator
    ns: dict[str, int]  #: of its parts, of its causes ("host.python"), and of those of steps ("step 50 idle")
    gap_start: Int64s  #: ns
    gap_end: Int64s  #: ns


class ExportDifference(NamedTuple):
    """Something that the two exports of a run say differently."""

    device: str  #: as written: never print it unescaped; "" for the whole run
    measure: str  #: printable: "tasks", "step 50 idle"
    json: int
    database: int
    is_time: bool  #: both are ns


def export_measures(analysis: Analysis) -> tuple[DeviceMeasures, ...]:
    """Return what an export says of each device; the analysis is not kept."""
    return tuple(_measures(analysis, index, device) for index, device in enumerate(analysis.devices))


def export_differences(
    text: tuple[DeviceMeasures, ...], database: tuple[DeviceMeasures, ...]
) -> tuple[ExportDifference, ...]:
    """Return what the measures of the JSON and of the database of a run differ in, device by device."""
    if len(text) != len(database):
        return (ExportDifference("", "devices", len(text), len(database), False),)
    return tuple(found for pair in zip(text, database) for found in _differences(*pair))


def differing_exports(differences: tuple[ExportDifference, ...]) -> Finding | None:
    """Return the finding about a run whose exports differ; None where they agree."""
    if not differences:
        return None
    first = differences[0]
    values = first.json, first.database
    json, database = (format_duration(value) if first.is_time else format_count(value) for value in values)
    if json == database:
        json, database = (format_exact(value) for value in values)
    return Finding(
        id="run.mixed",
        severity=Severity.DOUBTFUL,
        affects=EVERYTHING,
        sentence=(
            "the JSON and the database of this run differ in 1 number: {measure}, {json} and {database}"
            if len(differences) == 1
            else "the JSON and the database of this run differ in {count} numbers, first in {measure}: "
            "{json} and {database}"
        ),
        remedy="They may be of two runs, or one is damaged: check --same-exports prints what differs.",
        figures={"measure": first.measure, "json": json, "database": database},
        count=len(differences),
    )


def _measures(analysis: Analysis, index: int, device: DeviceActivity) -> DeviceMeasures:
    ns = {title: getattr(device, name) for name, title in _DEVICE_TIMES.items()}
    for step in analysis.steps:
        if step.device == device.device:
            ns.update(
                {f"step {step.number} {title}": getattr(step, name) for name, title in _STEP_TIMES.items()}
            )
    ns.update({cause.label: spent for cause, spent in analysis.causes.by_cause(index).items()})
    operators = analysis.launch_chains.operator[analysis.launch_chains.index(device.tasks)]
    of_device = analysis.gaps.device == index
    return DeviceMeasures(
        device.device,
        len(device.tasks),
        int(np.count_nonzero(operators >= 0)),
        ns,
        analysis.gaps.start[of_device],
        analysis.gaps.end[of_device],
    )


def _differences(text: DeviceMeasures, database: DeviceMeasures) -> Iterator[ExportDifference]:
    counts = [("tasks", text.tasks, database.tasks), ("gaps", len(text.gap_start), len(database.gap_start))]
    differing = [count for count in counts if count[1] != count[2]]
    yield from (ExportDifference(text.device, *count, False) for count in differing)
    rounding = 2 * max(text.tasks, 1)
    same_links = text.linked == database.linked
    for measure in dict.fromkeys((*text.ns, *database.ns)):
        values = text.ns.get(measure, 0), database.ns.get(measure, 0)
        is_cause = "." in measure or measure == "unlinked"
        if abs(values[0] - values[1]) > rounding and (same_links or not is_cause):
            yield ExportDifference(text.device, measure, *values, True)
    if not differing:
        apart = (np.abs(text.gap_start - database.gap_start) > 1) | (
            np.abs(text.gap_end - database.gap_end) > 1
        )
        for place in np.flatnonzero(apart)[:1].tolist():
            starts = int(text.gap_start[place]), int(database.gap_start[place])
            ends = int(text.gap_end[place]), int(database.gap_end[place])
            bound, times = ("start", starts) if abs(starts[0] - starts[1]) > 1 else ("end", ends)
            yield ExportDifference(text.device, f"the {bound} of gap {place + 1} in time", *times, True)
