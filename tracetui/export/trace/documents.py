"""The answers of one trace as JSON objects, one per command: times as integer ns, null for what is unknown.

Absolute times are epoch ns as in the trace, shares 0..1. Rows are those of the tables, with their columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.notes import overlap_note
from tracetui.background import MOST_BESIDE, Background
from tracetui.databases.exports import export_of
from tracetui.export.cells import encodable
from tracetui.export.json_document import SCHEMA
from tracetui.export.sentences.scheduler import scheduler_notes
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.tables.column import records
from tracetui.export.tables.common import FirstRows, causes_document
from tracetui.export.tables.communication import LINKS, PEERS, LinkRows, PeerRows
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.hotspots import LINES, LineRows
from tracetui.export.tables.ranges import RANGES
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.export.trace.health import trust_document
from tracetui.export.trace.selection import Selection
from tracetui.trace.clean import printable

#: What of a recording the numbers of gaps, and of lines, stand on.
GAP_NUMBERS, LINE_NUMBERS = ("idle", "causes", "lines", "communication"), ("idle", "causes", "lines")
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
    """Return the trace, its devices and, of each, the steps selected; late ranks, and links of the window."""
    selected = set(selection.steps(analysis))

    def beside() -> tuple[dict[str, Any], list[dict[str, int] | None]]:
        """Return what takes as long as all else about the devices, whose steps wait for the trust in them."""
        trust = trust_document(analysis)
        return trust, [preparing_causes(analysis, activity) for activity in analysis.devices]

    work = Background(beside, len(analysis.trace.slices) > MOST_BESIDE)
    of_trace = {"trace": _trace(analysis)}
    devices = [_device(analysis, index, selected) for index in range(len(analysis.devices))]
    trust, preparing = work.result()
    for device, causes in zip(devices, preparing):
        device["preparing_ns"] = None if causes is None else sum(causes.values())
        device["preparing_causes"] = causes
    return {
        "schema": SCHEMA,
        **trust,
        **of_trace,
        "devices": devices,
        "late_peers": records(PEERS, PeerRows(analysis)),
        "links": records(LINKS, LinkRows(analysis, window=selection.window)),
    }


def gaps_document(analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
    """Return the gaps selected, in their order; at most `top`, 0 for all."""
    rows = GapRows(analysis, selection.gaps(analysis, top), selection.by)
    return {"schema": SCHEMA, **trust_document(analysis, GAP_NUMBERS), "gaps": records(GAPS, rows)}


def hotspots_document(analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
    """Return the idle time of the gaps selected by line, most first; at most `top` lines, 0 for all.

    `idle_ns` is that of all lines, listed or not. `waited_for_peers_ns`: how long collectives waited for late
    peers; more than 0: `saves_at_most_ns` holds while those come when they came, `saves_with_peers_ns` if
    they come as much sooner.
    """
    rows = LineRows(analysis, selection, top)
    waited = sum(peer.wait_ns for peer in analysis.communication.late_peers)
    document = {
        "schema": SCHEMA,
        **trust_document(analysis, LINE_NUMBERS),
        "idle_ns": rows.idle_ns,
        "waited_for_peers_ns": waited,
    }
    return {**document, "hotspots": records(LINES, rows)}


def advice_document(analysis: Analysis) -> dict[str, Any]:
    """Return the advice, that about the most time first. What is about no line of Python has no file."""
    return {"schema": SCHEMA, "advice": records(ADVICE, AdviceRows(analysis))}


def linked_tasks(analysis: Analysis, activity: DeviceActivity) -> int:
    """Return how many of a device's tasks lead back to an operator."""
    operators = analysis.launch_chains.operator[analysis.launch_chains.index(activity.tasks)]
    return int(np.count_nonzero(operators >= 0))


def preparing_causes(analysis: Analysis, activity: DeviceActivity) -> dict[str, int] | None:
    """Return why the first compute or communication task of a device's steps came when it did: ns by cause.

    Counted from the start of each step on the host; the copies in between are "copy", last. None without
    steps.
    """
    places = analysis.steps_by_device.get(activity.device, [])
    return analysis.preparing.by_steps(places) if places else None


def _trace(analysis: Analysis) -> dict[str, Any]:
    trace, report, other = analysis.trace, analysis.trace.report, analysis.other_export
    return {
        "path": encodable(trace.path),
        "export": export_of(Path(trace.path)),
        "other_export": None if other is None else encodable(str(other.path)),
        "bytes": report.bytes,
        "files": report.files,
        "events": report.events,
        "skipped_events": report.skipped,
        "truncated": report.truncated,
        "start_ns": trace.start_ns,
        "end_ns": trace.end_ns,
        "kind": trace.kind.value,
        "run": _run(analysis),
        "checks": [
            {"table": check.table, "agrees": check.agrees, "words": check.words} for check in analysis.checks
        ],
        "warnings": [encodable(warning) for warning in (*report.warnings, *trace.notes, *_notes(analysis))],
    }


def _run(analysis: Analysis) -> dict[str, Any]:
    """Return what the files beside the trace tell of its run; null, or empty, where they do not."""
    run = analysis.run
    return {
        "rank": run.rank,
        "host": None if run.host is None else encodable(run.host),
        "level": None if run.level is None else encodable(run.level),
        "activities": [*map(encodable, run.activities)],
        **{
            name: {encodable(key): encodable(str(value)) for key, value in texts.items()}
            for name, texts in (
                ("versions", run.versions),
                ("options", run.options),
                ("environment", run.environment),
            )
        },
        "parallel": {encodable(key): size for key, size in run.parallel.items()},
    }


def _notes(analysis: Analysis) -> Iterator[str]:
    yield from (f"{printable(problem)}." for problem in analysis.run.problems)
    yield from (f"{check.sentence}." for check in analysis.checks if not check.agrees)
    yield from scheduler_notes(analysis)
    for activity in analysis.devices:
        note = overlap_note(activity)
        yield from () if note is None else (f"{printable(activity.device)}: {note}.",)
    for device, notes in analysis.step_notes.items():
        yield from (f"{printable(device)}: {note}." for note in notes)


def _device(analysis: Analysis, index: int, selected: set[int]) -> dict[str, Any]:
    """Return all of a device but why its first tasks came when they did, which has its place."""
    activity = analysis.devices[index]
    causes = causes_document(analysis.causes.by_cause(index))  # first: the trust in them waits for them
    exposed = analysis.communication.exposed
    places = [place for place in analysis.steps_by_device.get(activity.device, ()) if place in selected]
    return {
        "device": encodable(activity.device),
        "start_ns": activity.start_ns,
        "end_ns": activity.end_ns,
        "tasks": len(activity.tasks),
        "linked_tasks": linked_tasks(analysis, activity),
        **{key: getattr(activity, key) for key in _DEVICE_SUMS},
        "causes": causes,
        "communication_causes": causes_document(exposed.by_cause(exposed.of_device(index))),
        "preparing_ns": None,
        "preparing_causes": None,
        "steps": records(STEPS, StepRows(analysis, places)),
        "phases": records(RANGES, FirstRows(analysis.range_times[index])),
    }
