"""The columns of the table of lines, and its answer in words."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.lines import LineIdle
from tracetui.arrays import Int64s
from tracetui.ui.bars import share_bar
from tracetui.ui.columns import Column, name_column, number_column
from tracetui.ui.glyphs import Glyphs
from tracetui.ui.palette import Palette, Role
from tracetui.units import format_count, format_duration, format_percent

NO_STACK = "(no stack)"
BAR = 10  #: cells
MOST = 80  #: percent of the idle time that the answer counts lines for


def line_columns(analysis: Analysis, palette: Palette, glyphs: Glyphs) -> list[Column]:
    """One row per line of code, in the order of `analysis.lines`."""
    lines = analysis.lines
    total = sum(line.idle_ns for line in lines)
    idle = np.array([line.idle_ns for line in lines], np.int64)
    ops = [_operators(line) for line in lines]
    codes = np.arange(len(lines), dtype=np.int32)

    def bar(row: int, width: int) -> list[tuple[str, object]]:
        return [(share_bar(int(idle[row]), total, width, glyphs), palette.style_of(Role.IDLE))]

    return [
        _duration_column("idle_ns", "idle", idle, palette, 0),
        number_column("share", "share", idle, lambda ns: format_percent(int(ns), total), width=7, rank=2),
        Column("", "", idle, bar, BAR, rank=4, right=False),  # type: ignore[arg-type]
        name_column("line", "line", codes, [line_name(line) for line in lines], width=60, least=32),
        number_column(
            "gaps", "gaps", np.array([line.gaps for line in lines], np.int64), _count, width=6, rank=1
        ),
        _duration_column(
            "longest_ns", "longest", np.array([line.longest_ns for line in lines], np.int64), None, 3
        ),
        name_column(
            "operators", "operators", codes, ops, width=60, least=14, rank=5, style=palette.style_of(Role.DIM)
        ),
    ]


def line_name(line: LineIdle) -> str:
    """ "train_moba.py:88 attention (backward)" """
    if line.file is None:
        return NO_STACK
    file = line.file.replace("\\", "/").rsplit("/", 1)[-1]
    place = f"{file}:{line.line} {line.function}" if file else line.function
    return f"{place} (backward)" if line.backward else place


def hotspots_answer(analysis: Analysis) -> str:
    """ "NPU idle 391 ms of 812 ms (48.2 %); 3 lines hold 80 %" """
    window_ns = sum(device.window_ns for device in analysis.devices)
    idle_ns = sum(device.idle_ns for device in analysis.devices)
    devices = " and ".join(device.device for device in analysis.devices)
    if len(analysis.devices) > 2:
        devices = f"{len(analysis.devices)} devices"
    share = format_percent(idle_ns, window_ns)
    answer = f"{devices} idle {format_duration(idle_ns)} of {format_duration(window_ns)} ({share})"
    stacked = [line.idle_ns for line in analysis.lines if line.file is not None]
    holding = lines_holding(np.array(stacked, np.int64), idle_ns, MOST)
    if holding:
        held = "1 line holds" if holding == 1 else f"{holding} lines hold"
        answer += f"; {held} {MOST} %"
    without = idle_ns - sum(stacked)
    if without:
        answer += f"; {format_percent(without, idle_ns)} has no stack"
    return answer


def lines_holding(idle: Int64s, total_ns: int, percent: int) -> int:
    """How many of the lines, most idle first, hold so much of the total together; 0 where all do not."""
    enough = np.flatnonzero(np.cumsum(idle) * 100 >= total_ns * percent) if total_ns else np.empty(0)
    return int(enough[0]) + 1 if len(enough) else 0


def _operators(line: LineIdle) -> str:
    """The operators charged, most first."""
    return ", ".join(name or "?" for name in [*line.ops][:4])


def _count(value: int) -> str:
    return format_count(int(value))


def _duration_column(key: str, title: str, values: Int64s, palette: Palette | None, rank: int) -> Column:
    style = palette.style_of(Role.NUMBER) if palette else None
    return number_column(
        key, title, values, lambda ns: format_duration(int(ns)), width=8, rank=rank, style=style
    )
