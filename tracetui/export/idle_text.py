"""Gaps and the lines behind them as plain text: what `tracetui gaps` and `tracetui hotspots` print."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.preparing import COPY
from tracetui.export.documents import gaps_document
from tracetui.export.findings import hotspots_document
from tracetui.export.ranks import group_words, rank_words
from tracetui.export.selection import Selection
from tracetui.export.sync_text import sync_lines
from tracetui.export.text import MARGIN, Column, cut, table
from tracetui.export.words import MEASURES, line_name, shares
from tracetui.trace.clean import printable
from tracetui.trace.model import Kind
from tracetui.trace.stack import path_end
from tracetui.units import format_count, format_duration, format_percent, format_time

TOP_LINES, TOP_SYNCS = 20, 5  #: rows listed where nothing else is asked for
NAME_CELLS, OPERATORS = 32, 3  #: the longest name in a note, the most of them


def gaps_text(analysis: Analysis, selection: Selection, top: int, width: int) -> str:
    """The table of gaps; at most `top`, 0 for all."""
    return "\n".join(gap_lines(analysis, selection, top, width)) + "\n"


def hotspots_text(analysis: Analysis, selection: Selection, top: int | None, width: int) -> str:
    """The tables of lines of Python by idle time and of synchronisations, where there are any.

    `top` rows of each, 0 for all, None for 20 and 5.
    """
    lines = _hotspot_lines(analysis, selection, TOP_LINES if top is None else top, width)
    syncs = sync_lines(analysis, selection, TOP_SYNCS if top is None else top, width)
    return "\n".join([*lines, *([""] if syncs else []), *syncs]) + "\n"


def _hotspot_lines(analysis: Analysis, selection: Selection, top: int, width: int) -> list[str]:
    document = hotspots_document(analysis, selection)
    every = document["hotspots"]
    if not every:
        return ["No idle time."]
    shown = every[:top] if top else every
    rows = [_hotspot_row(hotspot, document["idle_ns"]) for hotspot in shown]
    columns = [
        Column("idle"),
        Column("share"),
        Column("saves\nat most"),
        Column("gaps"),
        Column("longest"),
        Column("Python line", right=False, shrink_to=16, keep_end=True),
    ]
    lines = table(columns, rows, width, [why(hotspot) for hotspot in shown])
    if len(shown) < len(every):
        left = document["idle_ns"] - sum(hotspot["idle_ns"] for hotspot in shown)
        more = f"{format_count(len(every) - len(shown))} more, {format_duration(left)} together: --top 0"
        lines.append(MARGIN + more)
    note = textwrap.wrap(beyond_idle(shown), max(width, 20))
    return [hotspots_title(document), *lines, *(["", *note] if note else [])]


def gap_lines(analysis: Analysis, selection: Selection, top: int, width: int) -> list[str]:
    """The table of gaps and its title, line by line."""
    gaps = gaps_document(analysis, selection, top)["gaps"]
    total = len(selection.gaps(analysis))
    if not gaps:
        return ["No gaps."]
    several = len(analysis.devices) > 1
    origin, by = analysis.trace.start_ns, selection.by
    times = gap_times(gaps, by)
    rows = [
        [
            format_time(gap["start_ns"] - origin),
            *([printable(gap["device"])] if several else []),
            format_duration(gap["dur_ns"]),
            *(format_duration(gap[key]) for key in times),
            "" if gap["step"] is None else str(gap["step"]),
            printable(gap_line(gap, by) or "-"),
        ]
        for gap in gaps
    ]
    columns = [
        Column("at"),
        *([Column("device", right=False)] if several else []),
        Column("gap"),
        *map(Column, times.values()),
        Column("step"),
        Column("Python line", right=False, shrink_to=16, keep_end=True),
    ]
    title = gaps_title(analysis, len(gaps), total, by)
    return [title, *table(columns, rows, width, [_story(gap, by) for gap in gaps])]


def gaps_title(analysis: Analysis, shown: int, total: int, by: Measure) -> str:
    """What a table of so many of all gaps is called, and what ranks it."""
    what = "kernel gap" if analysis.trace.kind is Kind.GPU else "AICore gap"
    if shown < total:
        return f"The {format_count(shown)} of {format_count(total)} {what}s with the most {MEASURES[by]}"
    most = MEASURES[by].removesuffix(" time")
    return f"{format_count(total)} {what}{'s' if total > 1 else ''}, most {most} first"


def gap_times(gaps: Sequence[dict[str, Any]], by: Measure) -> dict[str, str]:
    """The columns of time in a table of gaps, key and title, the one that ranks them first.

    That of communication is there where any gap has some.
    """
    if by is Measure.IDLE:
        return {"idle_ns": "idle"}
    communicates = any(gap["communication_ns"] for gap in gaps)
    exposed = {"communication_ns": "comm."} if communicates or by is Measure.COMMUNICATION else {}
    return {**({"lost_ns": "lost"} if by is Measure.LOST else {}), **exposed, "idle_ns": "idle"}


def gap_line(gap: dict[str, Any], by: Measure) -> str | None:
    """The line behind most of what ranks a gap, "train.py(88)": of its idle time or its communication."""
    if by is Measure.IDLE or (by is Measure.LOST and gap["idle_ns"] >= gap["communication_ns"]):
        line: str | None = gap["line"]
        return line
    lines: dict[str | None, int] = {}
    for piece in gap["communication_pieces"]:
        line = f"{piece['file']}({piece['line']})" if piece["file"] else None
        lines[line] = lines.get(line, 0) + piece["dur_ns"]
    return max(lines, key=lines.__getitem__, default=None)


def gap_causes(gap: dict[str, Any], by: Measure) -> dict[str, int]:
    """ns of what ranks a gap by the name of the cause: of idle time, of communication, copies."""
    kinds = {
        Measure.IDLE: ("pieces",),
        Measure.COMMUNICATION: ("communication_pieces",),
        Measure.LOST: ("pieces", "communication_pieces"),
    }
    causes: dict[str, int] = {}
    for piece in (piece for kind in kinds[by] for piece in gap[kind]):
        causes[piece["cause"]] = causes.get(piece["cause"], 0) + piece["dur_ns"]
    if by is Measure.LOST and gap["copy_ns"]:
        causes[COPY] = gap["copy_ns"]
    return causes


def late_in(gap: dict[str, Any]) -> str | None:
    """The late rank that a gap waited for longest, "peer 5 of group 271"; None where it waited for none.

    As written in the trace: never print it unescaped.
    """
    waited: dict[str, int] = {}
    for piece in gap["communication_pieces"]:
        if piece["group_rank"] is not None:
            group = group_words(piece["group"], piece["group_name"])
            name = rank_words(group, piece["group_rank"], piece["rank"], piece["ring"])
            waited[name] = waited.get(name, 0) + piece["dur_ns"]
    return max(waited, key=waited.__getitem__, default=None)


def hotspots_title(document: dict[str, Any]) -> str:
    """What the table of lines is called."""
    count = len(document["hotspots"])
    lines = "1 line" if count == 1 else f"{format_count(count)} lines"
    return f"Idle time by Python line: {format_duration(document['idle_ns'])}, {lines}"


def beyond_idle(hotspots: Sequence[dict[str, Any]]) -> str:
    """Why a line can save more than its idle time, if one of those listed can; else nothing."""
    if not any((hotspot["saves_at_most_ns"] or 0) > hotspot["idle_ns"] for hotspot in hotspots):
        return ""
    return (
        "A line can save more than its idle time: what the host does while the device is still busy delays "
        "later launches too."
    )


def duration_or_dash(ns: int | None) -> str:
    """A length of time, a dash where it is not known."""
    return "-" if ns is None else format_duration(ns)


def place_name(document: dict[str, Any]) -> str:
    """Where a document says that something comes from: "train.py(88) forward", "(no stack)".

    As written in the trace: never print it unescaped.
    """
    name = line_name(document["file"], document["line"], document["function"])
    return f"{name} (backward)" if document.get("backward") else name


def _hotspot_row(hotspot: dict[str, Any], idle_ns: int) -> list[str]:
    return [
        format_duration(hotspot["idle_ns"]),
        format_percent(hotspot["idle_ns"], idle_ns),
        duration_or_dash(hotspot["saves_at_most_ns"]),
        format_count(hotspot["gaps"]),
        format_duration(hotspot["longest_ns"]),
        printable(place_name(hotspot)),
    ]


def why(hotspot: dict[str, Any]) -> str:
    """Of a row of idle time: "host.python 70 %, queue.busy 20 %; in aten::mul, aten::add" """
    operators = [cut(printable(name), NAME_CELLS) for name in hotspot["ops"] if name]
    told = shares(hotspot["causes"], 2)
    return f"{told}; in {', '.join(operators[:OPERATORS])}" if operators else told


def _story(gap: dict[str, Any], by: Measure) -> str:
    """ "host.sync 80 %, host.python 20 %; exposed by train.py(90); until aclnnMul"

    Or "communication.wait 96 %, transfer 4 %; for peer 5 of group 271; until aclnnMul".
    """
    causes, late = gap_causes(gap, by), late_in(gap)
    told = [shares(causes, 2).replace(", communication.", ", ")] if causes else []
    if late is not None and by is not Measure.IDLE:
        told.append(f"for {printable(late, NAME_CELLS)}")
    if gap["exposed_by"] is not None:
        told.append(f"exposed by {cut(printable(path_end(gap['exposed_by'])), NAME_CELLS)}")
    told.append(f"until {'the end' if gap['after'] is None else printable(gap['after']['name'])}")
    return "; ".join(told)
