"""The columns of the table of gaps, and its answer in words."""

from __future__ import annotations

import numpy as np
from rich.style import Style

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import Measure
from tracetui.arrays import Int64s
from tracetui.export.sentences.causes import MEASURES
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.language import clauses, counted, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.bars import TimeInks, stacked_bar
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.tables.cause_column import cause_column
from tracetui.ui.tables.columns import UNKNOWN, Cell, ViewColumn, number_column
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out
from tracetui.units import format_duration, format_percent, format_time

DURATION_CELLS = 7  #: "96.0 ms"


def gap_columns(analysis: Analysis, by: Measure, palette: Palette, inks: TimeInks) -> list[ViewColumn]:
    """Return one row per gap, in the order of `analysis.gaps`; what ranks them stands beside the rank."""
    gaps, trace = analysis.gaps, analysis.trace
    rows = GapRows(analysis, np.arange(len(gaps)), by)
    times = [
        by,
        *(measure for measure in (Measure.LOST, Measure.IDLE, Measure.COMMUNICATION) if measure is not by),
    ]
    number = palette.style_of(Role.NUMBER)
    places: list[ColumnPlace] = [
        number_column("rank", "#", ranks(gaps.ranked(by)), lambda rank: f"{rank:,}"),
        *(
            _time(f"{measure.value}_ns", 2 * place, number if place == 0 else None)
            for place, measure in enumerate(times)
        ),
        _parts_column(analysis, by, inks),
        _time("dur_ns", 2),
        cause_column(rows.main_cause, palette),
        ColumnLook("trust", rank=1),
        ColumnLook("line", rank=0, width=36, least=14, show=path_end),
        ColumnLook("after", rank=1, width=60, title="waited for"),
        ColumnLook("before", rank=5, width=60),
        ColumnLook("start_ns", rank=3, width=len(format_time(trace.end_ns - trace.start_ns))),
        ColumnLook("step", rank=4, width=5),
        ColumnLook("device", rank=4, width=8, least=6),
        ...,
    ]
    return laid_out(GAPS, rows, places)


def ranks(ranked: Int64s) -> Int64s:
    """Return int64[gaps]: the rank of each gap, from 1, of the gaps in order of rank."""
    rank = np.empty(len(ranked), np.int64)
    rank[ranked] = np.arange(1, len(ranked) + 1)
    return rank


def gaps_answer(analysis: Analysis, by: Measure) -> str:
    """Say "4,312 gaps by idle time, 391 ms of 812 ms (48.2 %), most P python 62 %; the worst hold 38 %"."""
    gaps = analysis.gaps
    ns = gaps.measured(by)
    window_ns, idle_ns, whole_ns = analysis.window_ns, analysis.idle_ns, int(ns.sum())
    share = format_percent(whole_ns, window_ns)
    template = "{gaps} by {measure}, {time} of {window} ({share})"
    parts = [
        translate(
            template,
            gaps=counted(len(gaps), "1 gap", "{count} gaps"),
            measure=translate(MEASURES[by]),
            time=format_duration(whole_ns),
            window=format_duration(window_ns),
            share=share,
        )
    ]
    if by is Measure.LOST and idle_ns != whole_ns:
        parts.append(translate("idle {time}", time=format_duration(idle_ns)))
    if by is not Measure.COMMUNICATION and idle_ns:
        (cause, most_ns), *_ = analysis.causes.by_cause().items()
        percent = format_percent(most_ns, idle_ns)
        parts.append(translate("most {cause} {share}", cause=cause_name(cause), share=percent))
    answer = [clauses(parts)]
    if len(gaps) > 10 and whole_ns:
        worst_ns = int(ns[gaps.ranked(by)[:10]].sum())
        answer.append(translate("the worst 10 hold {share}", share=format_percent(worst_ns, whole_ns)))
    if len(analysis.devices) > 1:
        answer.append(translate("{count} devices", count=len(analysis.devices)))
    return semicolon_list(answer)


def _time(key: str, rank: int, style: Style | None = None) -> ColumnLook:
    return ColumnLook(
        key, rank, DURATION_CELLS, style=style, write=lambda ns: format_duration(ns) if ns else UNKNOWN
    )


def _parts_column(analysis: Analysis, by: Measure, inks: TimeInks) -> ViewColumn:
    """Draw what a gap is made of against the worst one: what is longer is cut, but not what ranks it."""
    gaps = analysis.gaps
    most_ns = max(int(gaps.measured(by).max()), 1)
    idle, communication = (gaps.idle, inks.idle), (gaps.communication, inks.communication)
    first = (communication, idle) if by is Measure.COMMUNICATION else (idle, communication)
    parts = (*first, (gaps.copy, inks.copy), (gaps.beside_cores, inks.beside_cores))

    def draw(row: int, width: int) -> Cell:
        left, shown = most_ns, []
        for values, ink in parts:
            shown.append((min(int(values[row]), left), ink))
            left -= shown[-1][0]
        return stacked_bar(shown, most_ns, width)

    return ViewColumn("", "parts", gaps.end - gaps.start, draw, 16, 6, rank=2, right=False)


def located_task(analysis: Analysis, row: int) -> str:
    """Return a task and where it ran: "aclnnMatmul · Stream 2"; a dash for none."""
    if row < 0:
        return "-"
    trace = analysis.trace
    return f"{printable(trace.name(row), 200)} · {printable(trace.track_of(row).name, 60)}"
