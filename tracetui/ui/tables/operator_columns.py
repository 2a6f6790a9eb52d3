"""The columns of a table of operators: time per name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.style import Style

from tracetui.analysis.operators import OperatorTable
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.tables.columns import Cell, Column, distinct, name_column, number_column
from tracetui.units import format_count, format_duration, format_percent

DURATION_CELLS = 7  #: "96.0 ms"

#: how the activities are called in a table
ACTIVITY_NAMES = {
    Activity.NONE: "host",
    Activity.AICORE: "AI core",
    Activity.AICPU: "AI CPU",
    Activity.COMMUNICATION: "comm",
    Activity.COPY: "copy",
    Activity.COMMUNICATION_TASK: "comm task",
    Activity.WAIT: "wait",
    Activity.EVENT: "event",
    Activity.OTHER: "other",
}

#: key, title, importance of the times of one slice
_TIMES = (
    ("mean_ns", "mean", 2),
    ("p50_ns", "p50", 4),
    ("p95_ns", "p95", 3),
    ("min_ns", "min", 6),
    ("max_ns", "max", 2),
)


def operator_columns(table: OperatorTable, palette: Palette, glyphs: Glyphs, host: bool) -> list[Column]:
    """One row per name (and activity, on a device)."""
    codes, names = distinct(table.strings, table.name)
    columns = [name_column("name", "name", codes, names, width=60, least=30)]
    if not host:
        columns.append(_activity_column(table))
    columns += [
        number_column("count", "count", table.count, lambda count: format_count(int(count)), rank=1),
        _time_column("total_ns", "total", table.total_ns, 0, palette.style_of(Role.NUMBER)),
        _share_column(table),
        _bar_column(table, palette, glyphs),
    ]
    columns += [_time_column(key, title, getattr(table, key), rank) for key, title, rank in _TIMES]
    return columns


def name_count(count: int) -> str:
    """ "1 name", "214 names" """
    return "1 name" if count == 1 else f"{count:,} names"


def _time_column(key: str, title: str, values: Int64s, rank: int, style: Style | None = None) -> Column:
    return number_column(
        key, title, values, lambda ns: format_duration(int(ns)), width=DURATION_CELLS, rank=rank, style=style
    )


def _activity_column(table: OperatorTable) -> Column:
    names: Sequence[str] = [ACTIVITY_NAMES[activity] for activity in Activity]
    return name_column(
        "activity", "activity", table.activity.astype(np.int32), names, width=9, least=9, rank=3
    )


def _share_column(table: OperatorTable) -> Column:
    whole_ns = int(table.total_ns.sum())

    def draw(row: int, width: int) -> str:
        return format_percent(int(table.total_ns[row]), whole_ns)

    return Column("share", "share", table.share, draw, 7, rank=1)


def _bar_column(table: OperatorTable, palette: Palette, glyphs: Glyphs) -> Column:
    """The share as a bar, drawn against the largest share."""
    largest = float(table.share.max()) if len(table) else 0.0
    host = palette.style_of(Role.HOST)
    styles = [palette.style_of(activity) if activity else host for activity in Activity]

    def draw(row: int, width: int) -> Cell:
        share = float(table.share[row])
        bar = share_bar(share, largest, width, glyphs)
        return [(bar, styles[int(table.activity[row])])]

    return Column("", "", table.share, draw, 24, 8, rank=3, right=False)
