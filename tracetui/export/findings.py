"""The machine-readable answers about idle time: hotspots and limits, one JSON object each.

Times are integer ns, shares 0..1, null is what is unknown.
"""

from __future__ import annotations

from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.lines import LineIdle
from tracetui.analysis.limits import Breach, Limit
from tracetui.export.cells import encodable
from tracetui.export.documents import SCHEMA, causes_document
from tracetui.export.reasons import frame_document
from tracetui.export.selection import Selection
from tracetui.trace.stack import Frame


def hotspots_document(analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
    """The idle time of the gaps selected by line, most first; at most `top` lines, 0 for all.

    `idle_ns` is that of all lines, listed or not.
    """
    lines = selection.lines(analysis)
    return {
        "schema": SCHEMA,
        "idle_ns": sum(line.idle_ns for line in lines),
        "hotspots": [_hotspot(analysis, line, selection) for line in (lines[:top] if top else lines)],
    }


def saves_at_most(analysis: Analysis, line: LineIdle, selection: Selection) -> int | None:
    """What making a line faster saves at most: of the whole trace, of a step; None of a window, not known.

    0 where the line is on no critical chain.
    """
    if selection.window is not None:
        return None
    saving = analysis.savings.get((line.file, line.line, line.function, line.backward))
    if saving is None:
        return 0
    if selection.step is None:
        return saving.saves_at_most_ns
    # Where several devices wait for the same line they do so at the same time: the most of any counts.
    return max((saving.steps.get(index, 0) for index in selection.steps(analysis)), default=0)


def limits_document(limits: tuple[Limit, ...], breaches: tuple[Breach, ...]) -> dict[str, Any]:
    """The limits, and where they are passed."""
    return {
        "schema": SCHEMA,
        "limits": [
            {"measure": limit.measure, "allowed_share": _share(limit), "allowed_ns": limit.ns}
            for limit in limits
        ],
        "breaches": [
            {
                "device": encodable(breach.device),
                "step": breach.step,
                "measure": breach.limit.measure,
                "measured_ns": breach.measured_ns,
                "window_ns": breach.window_ns,
                "allowed_share": _share(breach.limit),
                "allowed_ns": breach.limit.ns,
            }
            for breach in breaches
        ],
    }


def _hotspot(analysis: Analysis, line: LineIdle, selection: Selection) -> dict[str, Any]:
    frame = None if line.file is None else Frame(line.file, line.line, line.function)
    return {
        **frame_document(frame),
        "backward": line.backward,
        "idle_ns": line.idle_ns,
        "gaps": line.gaps,
        "longest_ns": line.longest_ns,
        "saves_at_most_ns": saves_at_most(analysis, line, selection),
        "causes": causes_document(line.causes),
        "ops": ops_document(line.ops),
    }


def ops_document(ops: dict[str, int]) -> dict[str, int]:
    """ns by the name of the operator, "" where none ran; names that differ in nothing encodable are one."""
    told: dict[str, int] = {}
    for name, ns in ops.items():
        told[encodable(name)] = told.get(encodable(name), 0) + ns
    return told


def _share(limit: Limit) -> float | None:
    return None if limit.share is None else float(limit.share)
