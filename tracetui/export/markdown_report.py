"""The reports as Markdown, to be pasted into a ticket: the values of the documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.export.advice import advice_document
from tracetui.export.advice_text import NOTHING, SUBJECTS, TITLE, cost_words
from tracetui.export.communication_text import (
    LINK_TITLES,
    PEER_TITLES,
    TOP_LINKS,
    TOP_PEERS,
    late_row,
    late_title,
    link_row,
    links_between_ranks,
    links_title,
    split_rows,
)
from tracetui.export.documents import gaps_document, summary_document
from tracetui.export.findings import hotspots_document
from tracetui.export.idle_text import (
    OPERATORS,
    TOP_LINES,
    TOP_SYNCS,
    beyond_idle,
    duration_or_dash,
    gap_causes,
    gap_line,
    gap_times,
    gaps_title,
    hotspots_title,
    late_in,
    place_name,
)
from tracetui.export.markdown import code, plain, table
from tracetui.export.report import STEP_COLUMNS, TOP_GAPS, TOP_STEPS, in_all, task_facts, trace_facts
from tracetui.export.selection import Selection
from tracetui.export.sync_text import sync_numbers, syncs_title
from tracetui.export.words import MEANINGS, line_name, micro
from tracetui.units import format_count, format_duration, format_ms, format_percent, format_time


def summary_markdown(analysis: Analysis, selection: Selection, top: int | None) -> str:
    """The summary of a trace; `top` rows of gaps and of steps, 0 for all, None for 5 and 20."""
    document = summary_document(analysis, selection)
    trace = document["trace"]
    lines = [f"# {code(trace['path'])}", "", plain(", ".join(trace_facts(trace)))]
    if not document["devices"]:
        lines += ["", "No device in this trace: it shows the host only."]
    splits = analysis.communication.splits
    for device, activity, split in zip(document["devices"], analysis.devices, splits):
        lines += ["", *_device(analysis, device, activity, split)]
        lines += _steps(device["steps"], TOP_STEPS if top is None else top)
    lines += _communication(analysis)
    if len(analysis.gaps):
        lines += ["", *_gaps(analysis, selection, TOP_GAPS if top is None else top)]
    if analysis.advice:
        lines += ["", *_advice(analysis)]
    return "\n".join(lines) + "\n"


def gaps_markdown(analysis: Analysis, selection: Selection, top: int) -> str:
    """The table of gaps; at most `top`, 0 for all."""
    return "\n".join(_gaps(analysis, selection, top)) + "\n"


def hotspots_markdown(analysis: Analysis, selection: Selection, top: int | None) -> str:
    """The tables of lines of Python by idle time and of synchronisations, where there are any.

    `top` rows of each, 0 for all, None for 20 and 5.
    """
    lines = _hotspots(analysis, selection, TOP_LINES if top is None else top)
    syncs = _syncs(analysis, selection, TOP_SYNCS if top is None else top)
    return "\n".join([*lines, *([""] if syncs else []), *syncs]) + "\n"


def advice_markdown(analysis: Analysis) -> str:
    """All advice, numbered."""
    return "\n".join(_advice(analysis) if analysis.advice else [NOTHING]) + "\n"


def _hotspots(analysis: Analysis, selection: Selection, top: int) -> list[str]:
    document = hotspots_document(analysis, selection)
    every, idle = document["hotspots"], document["idle_ns"]
    if not every:
        return ["No idle time."]
    rows = [
        [
            code(place_name(hotspot)),
            format_duration(hotspot["idle_ns"]),
            format_percent(hotspot["idle_ns"], idle),
            duration_or_dash(hotspot["saves_at_most_ns"]),
            format_count(hotspot["gaps"]),
            format_duration(hotspot["longest_ns"]),
            _shares(hotspot["causes"]),
            ", ".join(code(name) for name in [op for op in hotspot["ops"] if op][:OPERATORS]) or "-",
        ]
        for hotspot in (every[:top] if top else every)
    ]
    titles = ["Python line", "idle", "share", "saves at most", "gaps", "longest", "why", "operators"]
    lines = table(titles, rows, ["Python line", "why", "operators"])
    if len(rows) < len(every):
        lines += ["", f"{format_count(len(every) - len(rows))} lines with less are not shown."]
    why = beyond_idle(every[: len(rows)])
    lines += ["", why] if why else []
    return [f"## {plain(hotspots_title(document))}", "", *lines]


def _syncs(analysis: Analysis, selection: Selection, top: int) -> list[str]:
    every = selection.syncs(analysis)
    if not every:
        return []
    shown = every[:top] if top else every
    rows = [
        [code(sync.call), code(line_name(sync.file, sync.line, sync.function)), *sync_numbers(sync)]
        for sync in shown
    ]
    texts = ["call", "Python line"]
    titles = [*texts, "idle exposed", "calls", "waited", "longest"]
    lines = [f"## {plain(syncs_title(every))}", "", *table(titles, rows, texts)]
    if len(shown) < len(every):
        lines += ["", f"{format_count(len(every) - len(shown))} with less are not shown."]
    return lines


def _communication(analysis: Analysis) -> list[str]:
    """The tables of late ranks and of links, where there are any."""
    peers, links = analysis.communication.late_peers, links_between_ranks(analysis)
    late = [late_row(analysis, peer) for peer in peers[:TOP_PEERS]]
    moved = [link_row(analysis, link) for link in links[:TOP_LINKS]]
    lines: list[str] = []
    if late:
        rows = [[*row[:-1], code(row[-1])] for row in late]
        lines += ["", f"## {plain(late_title(peers))}", "", *table(PEER_TITLES, rows, ["for"])]
    if moved:
        rows = [[*row[:-1], code(row[-1])] for row in moved]
        lines += ["", f"## {plain(links_title(links))}", "", *table(LINK_TITLES, rows, ["by", "link"])]
    return lines


def _device(
    analysis: Analysis, device: dict[str, Any], activity: DeviceActivity, split: WindowSplit
) -> list[str]:
    start, end, idle = device["start_ns"], device["end_ns"], device["idle_ns"]
    window, origin = end - start, analysis.trace.start_ns
    title = f"## {code(device['device'])}"
    if window <= 0:
        return [title, "", f"{format_count(device['tasks'])} tasks, none of which computes or communicates"]
    rows = [
        [_indented(name), f"{format_ms(ns)} ms", format_percent(ns, window)] for name, ns in split_rows(split)
    ]
    span = f"{format_duration(window)}, from {format_time(start - origin)} to {format_time(end - origin)}"
    facts = f"{'. '.join([span, in_all(device), *task_facts(analysis, device, activity)])}."
    lines = [title, "", facts, "", *table(["", "time", "share"], rows, [""])]
    lines += _why("it was idle for", idle, device["causes"])
    lines += _why("preparing steps took", device["preparing_ns"], device["preparing_causes"])
    return lines


def _indented(name: str) -> str:
    """A name whose leading blanks Markdown keeps."""
    return "&nbsp;" * (len(name) - len(name.lstrip())) + name.lstrip()


def _why(what: str, total_ns: int, causes: Mapping[str, int] | None) -> list[str]:
    if not causes:
        return []
    rows = [
        [cause, f"{format_ms(ns)} ms", format_percent(ns, total_ns), MEANINGS[cause]]
        for cause, ns in causes.items()
    ]
    title = f"### Why {what} {format_duration(total_ns)}"
    return ["", title, "", *table(["cause", "time", "share", "meaning"], rows, ["cause", "meaning"])]


def _steps(steps: list[dict[str, Any]], top: int) -> list[str]:
    if not steps:
        return []
    rows = [
        [str(step["step"]), *(format_ms(step[key]) for key, _ in STEP_COLUMNS), _shares(step["causes"])]
        for step in (steps[:top] if top else steps)
    ]
    titles = ["step", *(key[: -len("_ns")].replace("_", " ") for key, _ in STEP_COLUMNS), "why idle"]
    lines = ["", "### Steps, in ms", "", *table(titles, rows, ["why idle"])]
    if len(rows) < len(steps):
        lines += ["", f"{format_count(len(steps) - len(rows))} more steps are not shown."]
    return lines


def _gaps(analysis: Analysis, selection: Selection, top: int) -> list[str]:
    gaps = gaps_document(analysis, selection, top)["gaps"]
    if not gaps:
        return ["No gaps."]
    origin, by = analysis.trace.start_ns, selection.by
    times = gap_times(gaps, by)
    rows = [
        [
            format_time(gap["start_ns"] - origin),
            code(gap["device"]),
            format_duration(gap["dur_ns"]),
            *(format_duration(gap[key]) for key in times),
            "-" if gap["step"] is None else str(gap["step"]),
            _most(gap_causes(gap, by)),
            *map(_code_or_dash, (late_in(gap), gap_line(gap, by), gap["exposed_by"])),
            "the end" if gap["after"] is None else code(gap["after"]["name"]),
        ]
        for gap in gaps
    ]
    texts = ["device", "why", "waited for", "Python line", "exposed by", "until"]
    titles = ["at", "device", "gap", *times.values(), "step", *texts[1:]]
    title = plain(gaps_title(analysis, len(gaps), len(selection.gaps(analysis)), by))
    return [f"## {title}", "", *table(titles, rows, texts)]


def _most(causes: Mapping[str, int]) -> str:
    return max(causes, key=causes.__getitem__, default="-")


def _code_or_dash(name: str | None) -> str:
    return "-" if name is None else code(name)


def _advice(analysis: Analysis) -> list[str]:
    lines = [f"## {TITLE}", ""]
    for number, advice in enumerate(advice_document(analysis)["advice"], 1):
        title = f"**{plain(advice['title'])}** ({cost_words(advice)})"
        lines.append(f"{number}. {title}. {plain(micro(advice['text']))}")
        place = f"At {code(place_name(advice))}. " if advice["file"] is not None else ""
        names = ", ".join(map(code, advice["subjects"][:SUBJECTS]))
        about = f"Of {names}. " if names else ""
        lines.append(f"   {place}{about}Rule: {plain(micro(advice['rule']))}")
    return lines


def _shares(causes: Mapping[str, int]) -> str:
    """The causes with the most time: "host.python 70.1 %, queue.busy 20.0 %"."""
    whole = sum(causes.values())
    return ", ".join(f"{cause} {format_percent(ns, whole)}" for cause, ns in list(causes.items())[:3]) or "-"
