"""The documents as plain text for people: what `tracetui summary` and `tracetui gaps` print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.export.documents import gaps_document, summary_document
from tracetui.export.selection import Selection
from tracetui.export.text import MARGIN, Column, bar, cut, table
from tracetui.trace.clean import printable
from tracetui.trace.model import Kind
from tracetui.units import (
    format_bytes,
    format_count,
    format_duration,
    format_ms,
    format_percent,
    format_time,
)

TOP_GAPS, TOP_STEPS = 5, 20
BAR_CELLS = 24

_STEP_COLUMNS = (
    ("computing_ns", "computing"),
    ("communication_not_overlapped_ns", "not over-\nlapped"),
    ("overlapped_ns", "over-\nlapped"),
    ("communication_ns", "communi-\ncation"),
    ("free_ns", "free"),
    ("stage_ns", "stage"),
    ("bubble_ns", "bubble"),
    ("communication_not_overlapped_exclude_receive_ns", "not ov.,\nno recv."),
    ("preparing_ns", "prepar-\ning"),
    ("idle_ns", "idle"),
)
#: Columns that say nothing more where no step waits for a receive.
_RECEIVE_COLUMNS = {"bubble_ns", "communication_not_overlapped_exclude_receive_ns"}


def summary_text(analysis: Analysis, selection: Selection, top: int | None, width: int) -> str:
    """The summary of a trace; `top` rows of gaps and of steps, 0 for all, None for 5 and 20."""
    document = summary_document(analysis, selection)
    trace = document["trace"]
    lines = [*_header(trace, width)]
    if not document["devices"]:
        lines += ["", "No device in this trace: it shows the host only."]
    for device, activity in zip(document["devices"], analysis.devices):
        lines += ["", *_device(device, activity, trace["start_ns"])]
        lines += _steps(device["steps"], TOP_STEPS if top is None else top, width)
    if len(analysis.gaps):
        lines += ["", *_gaps(analysis, selection, TOP_GAPS if top is None else top, width)]
    return "\n".join(lines) + "\n"


def gaps_text(analysis: Analysis, selection: Selection, top: int, width: int) -> str:
    """The table of gaps; at most `top`, 0 for all."""
    return "\n".join(_gaps(analysis, selection, top, width)) + "\n"


def _header(trace: dict[str, Any], width: int) -> list[str]:
    span = format_duration(trace["end_ns"] - trace["start_ns"])
    facts = [
        f"{trace['kind']} trace of {span}",
        f"{format_count(trace['events'])} events",
        format_bytes(trace["bytes"]),
    ]
    if trace["skipped_events"]:
        facts.append(f"{format_count(trace['skipped_events'])} skipped")
    if trace["truncated"]:
        facts.append("cut off at its end")
    return [cut(printable(trace["path"]), width, keep_end=True), ", ".join(facts)]


def _device(device: dict[str, Any], activity: DeviceActivity, origin_ns: int) -> list[str]:
    start, end = device["start_ns"], device["end_ns"]
    window = end - start
    name = printable(device["device"])
    if window <= 0:
        return [f"{name}: {format_count(device['tasks'])} tasks, none of which computes or communicates"]
    rows = [
        ("computing", device["computing_ns"]),
        ("communication", device["communication_ns"]),
        ("  not overlapped", device["communication_not_overlapped_ns"]),
        ("free", device["free_ns"]),
        ("  idle", device["idle_ns"]),
    ]
    span = f"from {format_time(start - origin_ns)} to {format_time(end - origin_ns)}"
    lines = [f"{name}: {format_duration(window)}, {span}"]
    for label, ns in rows:
        share = format_percent(ns, window)
        lines.append(
            f"{MARGIN}{label:<16}{format_ms(ns):>14} ms{share:>9}  {bar(ns, window, BAR_CELLS)}".rstrip()
        )
    linked = format_percent(device["linked_tasks"], device["tasks"])
    lines.append(f"{MARGIN}{format_count(device['tasks'])} tasks; {linked} of them lead back to an operator")
    if activity.differs and activity.producer is not None:
        lines += _producer(device, activity.producer)
    return lines


def _producer(device: dict[str, Any], producer: dict[str, int]) -> list[str]:
    """Where the trace's own rows say otherwise."""
    lines = [f"{MARGIN}the trace's own Overlap Analysis says otherwise:"]
    for key, theirs in producer.items():
        if theirs != device.get(key):
            label = key[: -len("_ns")].replace("_", " ")
            lines.append(f"{MARGIN * 2}{label:<28}{format_ms(theirs):>14} ms")
    return lines


def _steps(steps: Sequence[dict[str, Any]], top: int, width: int) -> list[str]:
    if not steps:
        return []
    shown = steps[:top] if top else steps
    received = any(step["bubble_ns"] for step in steps)
    keys = [(key, title) for key, title in _STEP_COLUMNS if received or key not in _RECEIVE_COLUMNS]
    columns = [Column("step"), *(Column(title) for _, title in keys)]
    # Three decimals are the producer's own; a table of long steps gives them up before it gives up the width.
    for decimals in (3, 2, 1, 0):
        rows = [[str(step["step"]), *(format_ms(step[key], decimals) for key, _ in keys)] for step in shown]
        lines = table(columns, rows, width)
        if max(map(len, lines)) <= width:
            break
    more = (
        [f"{MARGIN}{format_count(len(steps) - len(shown))} more steps: --top 0"]
        if len(shown) < len(steps)
        else []
    )
    return ["", "Steps, in ms", *lines, *more]


def _gaps(analysis: Analysis, selection: Selection, top: int, width: int) -> list[str]:
    gaps = gaps_document(analysis, selection, top)["gaps"]
    total = len(selection.gaps(analysis))
    if not gaps:
        return ["No gaps."]
    several = len(analysis.devices) > 1
    origin = analysis.trace.start_ns
    rows = []
    for gap in gaps:
        after = gap["after"]
        rows.append(
            [
                *([printable(gap["device"])] if several else []),
                format_time(gap["start_ns"] - origin),
                format_duration(gap["dur_ns"]),
                format_duration(gap["idle_ns"]),
                "" if gap["step"] is None else str(gap["step"]),
                "(end)" if after is None else printable(after["name"]),
                "-" if gap["line"] is None else printable(gap["line"]),
            ]
        )
    columns = [
        *([Column("device", right=False)] if several else []),
        Column("at"),
        Column("gap"),
        Column("idle"),
        Column("step"),
        Column("until", right=False, shrink_to=12),
        Column("Python line", right=False, shrink_to=16, keep_end=True),
    ]
    what = "kernel gap" if analysis.trace.kind is Kind.GPU else "AICore gap"
    if len(gaps) < total:
        title = f"The {format_count(len(gaps))} of {format_count(total)} {what}s with the most idle time"
    else:
        title = f"{format_count(total)} {what}{'s' if total > 1 else ''}, most idle first"
    return [title, *table(columns, rows, width)]
