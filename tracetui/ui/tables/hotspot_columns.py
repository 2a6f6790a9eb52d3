"""The columns of the tables of lines, signatures and synchronisations, and their answers in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from rich.style import Style

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.saves import LineSaving
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import LineKey
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.arrays import Int32s, Int64s
from tracetui.export.sentences.causes import NO_OPERATOR, NO_STACK
from tracetui.export.tables.hotspots import LINES, LineRows
from tracetui.export.tables.signatures import SIGNATURES, SignatureRows
from tracetui.export.tables.syncs import SYNCS, SyncRows
from tracetui.language import counted, names, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.stack import HasLine, distinct_ends, path_end
from tracetui.ui.drawing.causes import cause_letter, cause_style
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.tables.cause_column import cause_column
from tracetui.ui.tables.columns import (
    LONGEST,
    Cell,
    ViewColumn,
    bar_column,
    clipped,
    named_column,
    with_line_number,
)
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out
from tracetui.units import format_count, format_duration, format_percent

PLAIN = Style.null()
BAR = 10  #: cells
TIME = 8  #: cells
GAPS = (ColumnLook("gaps", 2, 6), ColumnLook("longest_ns", 4, TIME))
RUNTIME = KNOWN.calls.layer_beginnings[0]  #: what the names of most calls begin with
MOST_OF_IDLE = 80  #: percent of the idle time that the answer counts lines for


def hotspot_line_columns(
    analysis: Analysis, savings: Mapping[LineKey, LineSaving] | None, palette: Palette, glyphs: Glyphs
) -> list[ViewColumn]:
    """Return one row per line of code, in the order of `analysis.lines`; `savings` None: not known yet."""
    rows = LineRows(analysis)
    lines = rows.rows
    main = [next(iter(line.causes)) for line in lines]
    places = [
        *idle_places([line.idle_ns for line in lines], rows.idle_ns, palette, glyphs),
        _line_column(lines, 60, 24, glyphs),
        ColumnLook("saves_at_most_ns", 1, 10, title="saves", write=lambda ns: at_most(ns, glyphs)),
        cause_column(np.array(main, np.int8), palette),
        ColumnLook("trust", rank=1),
        *GAPS,
        operator_column([operator_names(line.ops) for line in lines], palette),
        ...,
    ]
    return laid_out(LINES, rows, places, {"saves_at_most_ns"} if savings is None else ())


def signature_columns(analysis: Analysis, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    """Return one row per signature, in the order of `analysis.signatures`."""
    rows = SignatureRows(analysis)
    found = rows.rows
    places = [
        *idle_places([signature.idle_ns for signature in found], rows.idle_ns, palette, glyphs),
        cause_column(np.array([signature.cause for signature in found], np.int8), palette),
        _line_column(found, 60, 22, glyphs),
        operator_column([signature.operator or between_operators() for signature in found], palette, 16, 1),
        *GAPS,
        ...,
    ]
    return laid_out(SIGNATURES, rows, places)


def sync_columns(analysis: Analysis, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    """Return one row per call and line, in the order of `analysis.syncs`."""
    rows = SyncRows(analysis)
    syncs = rows.rows
    count = np.array([sync.count for sync in syncs], np.int64)
    often = [times_a_step(analysis, sync.count) for sync in syncs]
    places = [
        ColumnLook("exposed_ns", 0, TIME, style=palette.style_of(Role.NUMBER), title="exposed"),
        _call_column(syncs, palette, glyphs),
        _line_column(syncs, 36, 18, glyphs),
        ColumnLook("count", 1, 6),
        *([ViewColumn("", "a step", count, lambda row, _: often[row], 6, rank=4)] if analysis.steps else []),
        ColumnLook("waited_ns", 2, TIME),
        ColumnLook("longest_ns", 3, TIME),
        ...,
    ]
    return laid_out(SYNCS, rows, places)


def times_a_step(analysis: Analysis, count: int) -> str:
    """Return how often in a step of the host, "8", "2.3"; "" where there is none."""
    steps = len(analysis.host_spans)
    if not steps:
        return ""
    return format_count(count // steps) if count % steps == 0 else f"{count / steps:,.1f}"


def line_of(row: HasLine) -> LineKey:
    """Return what tells the line of a row from others; what says nothing of a backward pass is of none."""
    return row.file, row.line, row.function, getattr(row, "backward", False)


def _line_column(lines: Sequence[HasLine], width: int, least: int, glyphs: Glyphs) -> ViewColumn:
    """Return the lines of rows, in `width` cells at most and `least` cells where there is little room."""
    column = named_column("line", "line", codes_of(lines), line_names(lines), width=width, least=least)
    return with_line_number(column, glyphs.ellipsis)


def line_names(lines: Sequence[HasLine]) -> list[str]:
    """Return the names of lines, with as much of their paths as tells files apart."""
    ends = distinct_ends(line.file for line in lines if line.file)
    return [line_label(line, ends.get(line.file or "")) for line in lines]


def line_label(line: HasLine, file: str | None = None) -> str:
    """Return "train_moba.py(88) attention (backward)"; `file`: what its file is called, else its end."""
    if line.file is None:
        return translate(NO_STACK)
    file = path_end(line.file) if file is None else file
    place = f"{file}({line.line}) {line.function}" if file else line.function
    return translate("{line} (backward)", line=place) if line_of(line)[3] else place


def hotspots_answer(analysis: Analysis) -> str:
    """Return "NPU idle 391 ms of 812 ms (48.2 %); 3 lines hold 80 %"."""
    window_ns, idle_ns = analysis.window_ns, analysis.idle_ns
    devices = names(device.device for device in analysis.devices)
    if len(analysis.devices) > 2:
        devices = translate("{count} devices", count=len(analysis.devices))
    answer = [
        translate(
            "{devices} idle {time} of {window} ({share})",
            devices=devices,
            time=format_duration(idle_ns),
            window=format_duration(window_ns),
            share=format_percent(idle_ns, window_ns),
        )
    ]
    stacked = [line.idle_ns for line in analysis.lines if line.file is not None]
    holding = lines_holding(np.array(stacked, np.int64), idle_ns, MOST_OF_IDLE)
    if holding:
        held = "1 line holds {percent} %" if holding == 1 else "{count} lines hold {percent} %"
        answer.append(translate(held, count=holding, percent=MOST_OF_IDLE))
    without = idle_ns - sum(stacked)
    if without:
        answer.append(translate("{share} has no stack", share=format_percent(without, idle_ns)))
    return semicolon_list(answer)


def signatures_answer(analysis: Analysis) -> str:
    """Return "41 signatures of 143 gaps, 38.9 ms of idle time; 2 hold 80 %"."""
    found = analysis.signatures
    idle = np.array([signature.idle_ns for signature in found], np.int64)
    holding = lines_holding(idle, analysis.idle_ns, MOST_OF_IDLE)
    return translate(
        "{signatures} of {gaps}, {time} of idle time; {holding} holds {percent} %"
        if holding == 1
        else "{signatures} of {gaps}, {time} of idle time; {holding} hold {percent} %",
        signatures=counted(len(found), "1 signature", "{count} signatures"),
        gaps=counted(sum(signature.gaps for signature in found), "1 gap", "{count} gaps"),
        time=format_duration(analysis.idle_ns),
        holding=holding,
        percent=MOST_OF_IDLE,
    )


def syncs_answer(analysis: Analysis) -> str:
    """Say "30 calls, 44.0 ms waited; 4.44 ms of idle exposed (11.4 %)"."""
    exposed = sum(sync.exposed_ns for sync in analysis.syncs)
    template = "{calls}, {waited} waited; no idle time exposed"
    if exposed:
        template = "{calls}, {waited} waited; {exposed} of idle exposed ({share})"
    return translate(
        template,
        calls=counted(sum(sync.count for sync in analysis.syncs), "1 call", "{count} calls"),
        waited=format_duration(sum(sync.total_ns for sync in analysis.syncs)),
        exposed=format_duration(exposed),
        share=format_percent(exposed, analysis.idle_ns),
    )


def lines_holding(idle: Int64s, total_ns: int, percent: int) -> int:
    """Return how many lines, most idle first, hold so much of the total together; 0 where all do not."""
    enough = np.flatnonzero(np.cumsum(idle) * 100 >= total_ns * percent) if total_ns else np.empty(0)
    return int(enough[0]) + 1 if len(enough) else 0


def operator_names(operators: Collection[str]) -> str:
    """Name the first of the operators charged."""
    return ", ".join(name or between_operators() for name in [*operators][:4])


def between_operators() -> str:
    """Return what stands for the operator where none ran."""
    return translate(NO_OPERATOR)


def codes_of(rows: Sequence[object]) -> Int32s:
    return np.arange(len(rows), dtype=np.int32)


def idle_places(idle: Sequence[int], whole_ns: int, palette: Palette, glyphs: Glyphs) -> list[ColumnPlace]:
    """Return the idle time, its share of the whole, that as a bar."""
    ns, style = np.array(idle, np.int64), palette.style_of(Role.IDLE)
    return [
        ColumnLook("idle_ns", 0, TIME, style=palette.style_of(Role.NUMBER)),
        ColumnLook("share", 3, 7),
        bar_column(ns, whole_ns, lambda _: style, glyphs, BAR, rank=5),
    ]


def _call_column(syncs: Sequence[SyncCall], palette: Palette, glyphs: Glyphs) -> ViewColumn:
    """Name the call without the runtime, after the letter of the cause where it exposes idle time."""
    calls = [sync.call for sync in syncs]
    column = named_column("call", "  call", codes_of(syncs), calls, width=50, least=20, rank=1)
    letter, blank = (cause_letter(Cause.SYNC), cause_style(Cause.SYNC, palette)), (" ", PLAIN)

    def draw(row: int, width: int) -> Cell:
        name = clipped(f" {printable(calls[row].removeprefix(RUNTIME), LONGEST)}", width - 1, glyphs.ellipsis)
        return [letter if syncs[row].exposed_ns else blank, (name, PLAIN)]

    return replace(column, draw=draw, width=column.width + 2)


def most_saved(line: HasLine, savings: Mapping[LineKey, LineSaving]) -> tuple[int, int]:
    """Return ns that fixing the line saves at most: beyond waits for late peers, and if they come sooner."""
    found = savings.get(line_of(line))
    return (0, 0) if found is None else (found.saves_at_most_ns, found.saves_with_peers_ns)


def at_most(ns: int, glyphs: Glyphs) -> str:
    """Return "≤ 3.10 ms"; "0" where there is nothing to save."""
    return f"{glyphs.at_most} {format_duration(ns)}" if ns else "0"


def operator_column(names: Sequence[str], palette: Palette, least: int = 14, rank: int = 6) -> ViewColumn:
    style = palette.style_of(Role.DIM)
    return named_column(
        "operators", "operators", codes_of(names), names, width=60, least=least, rank=rank, style=style
    )
