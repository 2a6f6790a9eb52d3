"""The columns of a table of operators, time per name or per type, and its answer in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracetui.analysis.activity import counts_of
from tracetui.analysis.engines import engine_of
from tracetui.analysis.operators import OperatorSlices, OperatorTable
from tracetui.export.sentences.causes import NO_STACK, line_name, task_kinds
from tracetui.export.tables.operators import OPERATORS, activity_words
from tracetui.language import clauses, counted, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity, Trace
from tracetui.trace.stack import Frame, distinct_ends
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.tables.columns import ViewColumn, bar_column, named_column, with_line_number
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out
from tracetui.units import format_count, format_duration

DURATION_CELLS = 7  #: "96.0 ms"
SHARE_CELLS = 7  #: "100.0 %"

#: key, importance of the times of one slice
_TIMES = (("mean_ns", 2), ("p50_ns", 4), ("p95_ns", 3), ("min_ns", 6), ("max_ns", 2))


def operator_columns(
    table: OperatorTable,
    trace: Trace,
    palette: Palette,
    glyphs: Glyphs,
    host: bool,
    types: bool = False,
    lines: Sequence[str] | None = None,
) -> list[ViewColumn]:
    """Return one row per name, or type (and activity, on a device).

    lines : the line of Python that launched most of each row, as written in the trace; None: not known.
    """
    number = palette.style_of(Role.NUMBER)
    total = ColumnLook("total_ns", 2 if host else 0, DURATION_CELLS, style=None if host else number)
    places: list[ColumnPlace] = [
        ColumnLook("name", 0, 60, 30, title="type" if types else ""),
        _activity_column(table, trace),
        ColumnLook("names", 4),
        ColumnLook("count", 1),
        ColumnLook("self_ns", 0, DURATION_CELLS, style=number) if host else total,
        ColumnLook("share", 1, SHARE_CELLS),
        *([_line_column(lines, glyphs)] if lines is not None else []),
        _bar_column(table, palette, glyphs),
        *([total] if host else []),
        *(ColumnLook(key, rank, DURATION_CELLS) for key, rank in _TIMES),
        ...,
    ]
    omitted = {"activity"} if host else {"self_ns"}
    if not types or not (table.names > 1).any():
        omitted.add("names")
    return laid_out(OPERATORS, table, places, omitted)


def name_count(count: int) -> str:
    """Return "1 name", "214 names"."""
    return counted(count, "1 name", "{count} names")


def operators_answer(
    table: OperatorTable, operators: OperatorSlices, host: bool, types: bool, where: str, tasks: int | None
) -> str:
    """Return "35 types of 83 names: 215 of 539 tasks (187 compute, 4 communication, 24 copies), 110 ms"

    Args:
        table: what is shown of the operators.
        operators: all that are summed up.
        host: they are operators of the host.
        types: the table has a row per type.
        where: which of them, in words, such as " of step 3"; "" for all.
        tasks: how many tasks there are with those that do no work; None: not to be said.
    """
    rows = name_count(int(table.names.sum()))
    if types:
        rows = translate(
            "{types} of {names}", types=counted(len(table), "1 type", "{count} types"), names=rows
        )
    count = len(operators.rows)
    if host:
        ran = counted(count, "1 host operator", "{count} host operators")
    else:
        kinds = task_kinds(counts_of(operators.trace.slices.activity[operators.rows]))
        ran = translate("{count} tasks", count=format_count(count))
        if tasks is not None:
            ran = translate("{count} of {all} tasks", count=format_count(count), all=format_count(tasks))
        if len(kinds) > 1:
            ran = translate("{tasks} ({kinds})", tasks=ran, kinds=clauses(kinds))
    time = format_duration(int(table.self_ns.sum()))
    time = translate("self {time}", time=time) if host else time
    return translate("{rows}: {facts}", rows=rows, facts=clauses((f"{ran}{where}", time)))


def _activity_column(table: OperatorTable, trace: Trace) -> ViewColumn:
    """Show what the tasks of each row do; beside the AI cores, what they run on."""
    names = [activity_words(activity, trace.kind) for activity in Activity]
    names[Activity.COMMUNICATION] = wording("comm")  # as wide as the others
    codes = table.activity.astype(np.int32)
    for row in np.flatnonzero(table.activity == Activity.AICPU).tolist():
        engine = engine_of(trace, int(table.longest[row]))
        if engine not in names:
            names.append(engine)
        codes[row] = names.index(engine)
    return named_column("activity", "activity", codes, names, width=9, least=9, rank=3, show=printable)


def frame_names(frames: Sequence[Frame | None]) -> list[str] | None:
    """Return names of lines, with as much of each path as tells files apart; None where no line is known."""
    if not any(frames):
        return None
    ends = distinct_ends(frame.file for frame in frames if frame is not None)
    return [
        translate(NO_STACK) if frame is None else line_name(ends[frame.file], frame.line, frame.function)
        for frame in frames
    ]


def _line_column(lines: Sequence[str], glyphs: Glyphs) -> ViewColumn:
    """Return the line of Python that launched most of each row."""
    names = list(dict.fromkeys(lines))
    places = {name: place for place, name in enumerate(names)}
    codes = np.array([places[name] for name in lines], np.int32)
    column = named_column("line", "launched by", codes, names, width=44, least=19, rank=1, show=printable)
    return with_line_number(column, glyphs.ellipsis)


def _bar_column(table: OperatorTable, palette: Palette, glyphs: Glyphs) -> ViewColumn:
    """Show the share as a bar, drawn against the largest share."""
    largest = float(table.share.max()) if len(table) else 0.0
    host = palette.style_of(Role.HOST)
    styles = [palette.style_of(activity) if activity else host for activity in Activity]

    return bar_column(
        table.share, largest, lambda row: styles[int(table.activity[row])], glyphs, 24, 8, rank=3
    )
