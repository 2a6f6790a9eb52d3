"""The machine-readable answers: one JSON object per command, times as integer ns, null for what is unknown.

Absolute times are epoch ns as in the trace. The text and csv tables show the values of these documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.intervals import union
from tracetui.analysis.steps import Step
from tracetui.export.cells import encodable
from tracetui.export.lines import gap_lines
from tracetui.export.selection import Selection
from tracetui.trace.model import Trace

SCHEMA = 1

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
    steps = selection.steps(analysis)
    return {
        "schema": SCHEMA,
        "trace": _trace(analysis.trace),
        "devices": [_device(analysis, activity, steps) for activity in analysis.devices],
    }


def gaps_document(analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
    """The gaps selected, most idle first; at most `top`, 0 for all."""
    return {"schema": SCHEMA, "gaps": list(_gaps(analysis, selection, top))}


def step_document(step: Step) -> dict[str, Any]:
    """One step of one device."""
    sums = {key: getattr(step, key) for key in STEP_SUMS}
    return {"step": step.number, "start_ns": step.start_ns, "end_ns": step.end_ns, **sums, "causes": None}


def dumps(document: dict[str, Any]) -> str:
    """The JSON text of a document, ASCII only, so that no terminal obeys a name; a gap is one line of it."""
    if "gaps" in document:
        lines = ",\n".join(json.dumps(gap, allow_nan=False) for gap in document["gaps"])
        return f'{{"schema": {document["schema"]}, "gaps": [\n{lines}\n]}}\n'
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def linked_tasks(analysis: Analysis, activity: DeviceActivity) -> int:
    """How many of a device's tasks lead back to an operator."""
    linked = analysis.links.tasks[analysis.links.operator >= 0]
    return int(np.isin(activity.tasks, linked).sum())


def preparing_ns(activity: DeviceActivity, steps: tuple[Step, ...]) -> int | None:
    """From the host start of each step to its first compute or communication task, without copies."""
    own = [step for step in steps if step.device == activity.device]
    if not own:
        return None
    starts = np.array([step.host_start_ns for step in own], np.int64)
    ends = starts + np.array([step.preparing_ns for step in own], np.int64)
    return (union(starts, ends) - activity.copies).total


def _trace(trace: Trace) -> dict[str, Any]:
    report = trace.report
    return {
        "path": encodable(trace.path),
        "bytes": report.bytes,
        "events": report.events,
        "skipped_events": report.skipped,
        "truncated": report.truncated,
        "start_ns": trace.start_ns,
        "end_ns": trace.end_ns,
        "kind": trace.kind.value,
        "warnings": [encodable(warning) for warning in (*report.warnings, *trace.notes)],
    }


def _device(analysis: Analysis, activity: DeviceActivity, steps: list[Step]) -> dict[str, Any]:
    return {
        "device": encodable(activity.device),
        "start_ns": activity.start_ns,
        "end_ns": activity.end_ns,
        "tasks": len(activity.tasks),
        "linked_tasks": linked_tasks(analysis, activity),
        **{key: getattr(activity, key) for key in _DEVICE_SUMS},
        "causes": None,
        "preparing_ns": preparing_ns(activity, analysis.steps),
        "preparing_causes": None,
        "steps": [step_document(step) for step in steps if step.device == activity.device],
    }


def _gaps(analysis: Analysis, selection: Selection, top: int) -> Iterator[dict[str, Any]]:
    gaps = analysis.gaps
    chosen = selection.gaps(analysis, top)
    lines = gap_lines(analysis, chosen)
    columns = (gaps.device, gaps.start, gaps.end, gaps.idle, gaps.aicpu, gaps.communication, gaps.copy)
    rows = zip(*(column[chosen].tolist() for column in (*columns, gaps.step, gaps.before, gaps.after)))
    for (device, start, end, idle, aicpu, communication, copy, step, before, after), line in zip(rows, lines):
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
            "cause": None,
            "line": None if line is None else encodable(line),
            "exposed_by": None,
            "pieces": None,
        }


def _task(trace: Trace, row: int) -> dict[str, str] | None:
    return (
        None
        if row < 0
        else {"name": encodable(trace.name(row)), "stream": encodable(trace.track_of(row).name)}
    )
