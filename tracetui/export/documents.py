"""The machine-readable answers: one JSON object per command, times as integer ns, null for what is unknown.

Absolute times are epoch ns as in the trace. The text and csv tables show the values of these documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.export.cells import encodable
from tracetui.export.communication import CommunicationPieces, communication_causes
from tracetui.export.lead import lead_lost_document
from tracetui.export.reasons import Reasons
from tracetui.export.selection import Selection
from tracetui.trace.clean import printable
from tracetui.trace.model import Trace

SCHEMA = 1
#: Keys of documents that are tables.
ROWS = ("gaps", "hotspots", "modules", "frames", "advice", "breaches")

#: The sums of a step, by the names of step_trace_time.csv, and its idle time.
STEP_SUMS = (
    "computing_ns",
    "communication_ns",
    "communication_not_overlapped_ns",
    "overlapped_ns",
    "free_ns",
    "stage_ns",
    "bubble_ns",
    "communication_not_overlapped_exclude_receive_ns",
    "preparing_ns",
    "idle_ns",
)
_DEVICE_SUMS = (
    "computing_ns",
    "communication_ns",
    "communication_not_overlapped_ns",
    "overlapped_ns",
    "free_ns",
    "aicore_ns",
    "idle_ns",
)


def summary_document(analysis: Analysis, selection: Selection) -> dict[str, Any]:
    """The trace, its devices and, of each, the steps selected."""
    selected = set(selection.steps(analysis))
    return {
        "schema": SCHEMA,
        "trace": _trace(analysis),
        "devices": [_device(analysis, index, selected) for index in range(len(analysis.devices))],
    }


def gaps_document(analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
    """The gaps selected, in their order; at most `top`, 0 for all."""
    return {"schema": SCHEMA, "gaps": list(_gaps(analysis, selection, top))}


def step_document(analysis: Analysis, index: int) -> dict[str, Any]:
    """One step of one device, by its index."""
    step = analysis.steps[index]
    return {
        "step": step.number,
        "start_ns": step.start_ns,
        "end_ns": step.end_ns,
        **{key: getattr(step, key) for key in STEP_SUMS},
        "causes": causes_document(analysis.causes.by_step(index)),
        "communication_causes": communication_causes(analysis.communication.exposed.by_step(index)),
    }


def causes_document(causes: Mapping[Cause, int]) -> dict[str, int]:
    """ns by the name of the cause, in the order given."""
    return {cause.label: ns for cause, ns in causes.items()}


def dumps(document: dict[str, Any]) -> str:
    """The JSON text of a document, ASCII only, so that no terminal obeys a name; a row of a table a line."""
    rows = next((key for key in ROWS if key in document), None)
    if rows is None:
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    head = "".join(
        f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in document.items() if key != rows
    )
    lines = ",\n".join(json.dumps(row, allow_nan=False) for row in document[rows])
    return f'{{{head}"{rows}": [\n{lines}\n]}}\n'


def linked_tasks(analysis: Analysis, activity: DeviceActivity) -> int:
    """How many of a device's tasks lead back to an operator."""
    operators = analysis.links.operator[analysis.links.index(activity.tasks)]
    return int(np.count_nonzero(operators >= 0))


def preparing_causes(analysis: Analysis, activity: DeviceActivity) -> dict[str, int] | None:
    """Why the first compute or communication task of a device's steps came when it did: ns by cause.

    Counted from the start of each step on the host; the copies in between are "copy", last. None without
    steps.
    """
    own = analysis.steps_by_device.get(activity.device, [])
    return analysis.preparing.by_steps(own) if own else None


def _trace(analysis: Analysis) -> dict[str, Any]:
    trace, report = analysis.trace, analysis.trace.report
    return {
        "path": encodable(trace.path),
        "bytes": report.bytes,
        "events": report.events,
        "skipped_events": report.skipped,
        "truncated": report.truncated,
        "start_ns": trace.start_ns,
        "end_ns": trace.end_ns,
        "kind": trace.kind.value,
        "warnings": [encodable(warning) for warning in (*report.warnings, *trace.notes, *_notes(analysis))],
    }


def _notes(analysis: Analysis) -> Iterator[str]:
    for device, notes in analysis.step_notes.items():
        yield from (f"{printable(device)}: {note}." for note in notes)


def _device(analysis: Analysis, index: int, selected: set[int]) -> dict[str, Any]:
    activity, exposed = analysis.devices[index], analysis.communication.exposed
    preparing = preparing_causes(analysis, activity)
    own = [place for place in analysis.steps_by_device.get(activity.device, ()) if place in selected]
    return {
        "device": encodable(activity.device),
        "start_ns": activity.start_ns,
        "end_ns": activity.end_ns,
        "tasks": len(activity.tasks),
        "linked_tasks": linked_tasks(analysis, activity),
        **{key: getattr(activity, key) for key in _DEVICE_SUMS},
        "causes": causes_document(analysis.causes.by_cause(index)),
        "communication_causes": communication_causes(exposed.by_cause(exposed.of_device(index))),
        "preparing_ns": None if preparing is None else sum(preparing.values()),
        "preparing_causes": preparing,
        "steps": [step_document(analysis, place) for place in own],
    }


def _gaps(analysis: Analysis, selection: Selection, top: int) -> Iterator[dict[str, Any]]:
    gaps = analysis.gaps
    chosen = selection.gaps(analysis, top)
    reasons = Reasons(analysis)
    communicated = CommunicationPieces(analysis)
    say = (reasons.causes, reasons.lines, reasons.exposed_by, reasons.pieces, communicated.pieces)
    told = zip(*(each(chosen) for each in say))
    columns = (gaps.device, gaps.start, gaps.end, gaps.idle, gaps.aicpu, gaps.communication, gaps.copy)
    places = (gaps.step, gaps.before, gaps.after)
    rows = zip(*(column[chosen].tolist() for column in (*columns, gaps.lost, *places)), chosen.tolist())
    for row, (cause, line, exposed_by, pieces, communication_pieces) in zip(rows, told):
        device, start, end, idle, aicpu, communication, copy, lost, step, before, after, gap = row
        yield {
            "device": encodable(analysis.devices[device].device),
            "start_ns": start,
            "dur_ns": end - start,
            "idle_ns": idle,
            "aicpu_ns": aicpu,
            "communication_ns": communication,
            "copy_ns": copy,
            "step": None if step < 0 else analysis.steps[step].number,
            "before": _task(analysis.trace, before),
            "after": _task(analysis.trace, after),
            "cause": None if cause is None else cause.label,
            "line": None if line is None else encodable(line),
            "exposed_by": None if exposed_by is None else encodable(exposed_by),
            "pieces": pieces,
            "lost_ns": lost,
            "communication_pieces": communication_pieces,
            "lead_lost": lead_lost_document(analysis, gap),
        }


def _task(trace: Trace, row: int) -> dict[str, str] | None:
    return (
        None
        if row < 0
        else {"name": encodable(trace.name(row)), "stream": encodable(trace.track_of(row).name)}
    )
