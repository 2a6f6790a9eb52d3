"""The columns of the table of gaps, and its answer in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import Measure
from tracetui.arrays import Int32s, Int64s
from tracetui.export.tables.pieces import IdlePieces
from tracetui.export.words import MEASURES
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.bars import TimeInks, stacked_bar
from tracetui.ui.drawing.causes import cause_words
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.tables.cause_column import cause_column
from tracetui.ui.tables.columns import Cell, Column, distinct, name_column, number_column
from tracetui.units import format_duration, format_percent, format_time

DURATION_CELLS = 7  #: "96.0 ms"
_TITLES = {Measure.LOST: "lost", Measure.IDLE: "idle", Measure.COMMUNICATION: "comm"}


def gap_columns(analysis: Analysis, by: Measure, palette: Palette, inks: TimeInks) -> list[Column]:
    """One row per gap, in the order of `analysis.gaps`; what ranks them stands beside the rank."""
    gaps, trace, pieces = analysis.gaps, analysis.trace, IdlePieces(analysis)
    of_gaps = analysis.causes.of_gaps(len(gaps))
    span_ns = trace.end_ns - trace.start_ns
    times = [by, *(measure for measure in (Measure.LOST, Measure.IDLE) if measure is not by)]
    if gaps.communication.any() and Measure.COMMUNICATION not in times:
        times.append(Measure.COMMUNICATION)
    measured = [
        _duration_column(
            f"{measure.value}_ns", _TITLES[measure], gaps.measured(measure), palette if place == 0 else None,
            2 * place,
        )
        for place, measure in enumerate(times)
    ]  # fmt: skip
    columns = [
        number_column("rank", "#", ranks(gaps.ranked(by)), lambda rank: f"{rank:,}"),
        *measured,
        _parts_column(analysis, by, inks),
        _duration_column("dur_ns", "gap", gaps.end - gaps.start, None, 2),
        cause_column(of_gaps, palette),
        _line_column(pieces),
        _task_column("after", "waited for", analysis, gaps.after, 1),
        _task_column("before", "ran before", analysis, gaps.before, 5),
        number_column(
            "start_ns",
            "at",
            gaps.start,
            lambda ns: format_time(int(ns) - trace.start_ns),
            width=len(format_time(span_ns)),
            rank=3,
        ),
    ]
    if analysis.steps:
        numbers = np.array([*(step.number for step in analysis.steps), np.nan], np.float64)[gaps.step]
        numbered = number_column("step", "step", numbers, _step, width=5, rank=4)
        columns.append(
            replace(numbered, plain=lambda gap: None if np.isnan(numbers[gap]) else int(numbers[gap]))
        )
    if len(analysis.devices) > 1:
        names = [device.device for device in analysis.devices]
        columns.append(name_column("device", "device", gaps.device, names, width=8, least=6, rank=4))
    return columns


def ranks(ranked: Int64s) -> Int64s:
    """int64[gaps]: the rank of each gap, from 1, of the gaps in order of rank."""
    rank = np.empty(len(ranked), np.int64)
    rank[ranked] = np.arange(1, len(ranked) + 1)
    return rank


def gaps_answer(analysis: Analysis, by: Measure) -> str:
    """ "4,312 gaps by idle time, 391 ms of 812 ms (48.2 %), most P python 62 %; the worst 10 hold 38 %" """
    gaps = analysis.gaps
    ns = gaps.measured(by)
    window_ns, idle_ns, whole_ns = analysis.window_ns, analysis.idle_ns, int(ns.sum())
    share = format_percent(whole_ns, window_ns)
    count = "1 gap" if len(gaps) == 1 else f"{len(gaps):,} gaps"
    whole = f"{format_duration(whole_ns)} of {format_duration(window_ns)} ({share})"
    answer = f"{count} by {MEASURES[by]}, {whole}"
    if by is Measure.LOST and idle_ns != whole_ns:
        answer += f", idle {format_duration(idle_ns)}"
    if by is not Measure.COMMUNICATION and idle_ns:
        (cause, most_ns), *_ = analysis.causes.by_cause().items()
        answer += f", most {cause_words(cause)} {format_percent(most_ns, idle_ns)}"
    if len(gaps) > 10 and whole_ns:
        worst_ns = int(ns[gaps.ranked(by)[:10]].sum())
        answer += f"; the worst 10 hold {format_percent(worst_ns, whole_ns)}"
    if len(analysis.devices) > 1:
        answer += f"; {len(analysis.devices)} devices"
    return answer


def _duration_column(key: str, title: str, values: Int64s, palette: Palette | None, rank: int) -> Column:
    style = palette.style_of(Role.NUMBER) if palette else None
    return number_column(key, title, values, _duration_or_dash, width=DURATION_CELLS, rank=rank, style=style)


def _duration_or_dash(ns: float) -> str:
    return format_duration(int(ns)) if ns else "-"


def _parts_column(analysis: Analysis, by: Measure, inks: TimeInks) -> Column:
    """What a gap is made of, drawn against the worst one: what is longer is cut, but not what ranks it."""
    gaps = analysis.gaps
    most_ns = max(int(gaps.measured(by).max()), 1)
    idle, communication = (gaps.idle, inks.idle), (gaps.communication, inks.communication)
    first = (communication, idle) if by is Measure.COMMUNICATION else (idle, communication)
    parts = (*first, (gaps.copy, inks.copy), (gaps.aicpu, inks.aicpu))

    def draw(row: int, width: int) -> Cell:
        left, shown = most_ns, []
        for values, ink in parts:
            shown.append((min(int(values[row]), left), ink))
            left -= shown[-1][0]
        return stacked_bar(shown, most_ns, width)

    return Column("", "parts", gaps.end - gaps.start, draw, 16, 6, rank=2, right=False)


def _line_column(pieces: IdlePieces) -> Column:
    codes, names = pieces.main_line.codes.astype(np.int32), [line or "" for line in pieces.lines]
    return name_column("line", "Python line", codes, names, width=36, least=14, rank=0, show=path_end)


def _task_column(key: str, title: str, analysis: Analysis, rows: Int64s, rank: int) -> Column:
    codes: Int32s = np.full(len(rows), -1, np.int32)
    codes[rows >= 0] = analysis.trace.slices.name[rows[rows >= 0]]
    return name_column(key, title, *distinct(analysis.trace.strings, codes), width=60, least=12, rank=rank)


def _step(number: float) -> str:
    return "-" if np.isnan(number) else f"{number:.0f}"


def task_words(analysis: Analysis, row: int) -> str:
    """A task and where it ran: "aclnnMatmul · Stream 2"; a dash for none."""
    if row < 0:
        return "-"
    trace = analysis.trace
    return f"{printable(trace.name(row), 200)} · {printable(trace.track_of(row).name, 60)}"
