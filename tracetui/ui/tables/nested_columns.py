"""The columns of the tables of modules, of frames and of scopes, and their answers in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.nested_idle import FrameIdle
from tracetui.analysis.scopes import SEPARATOR
from tracetui.export.sentences.causes import NO_MODULE, NO_SCOPE, NO_STACK
from tracetui.export.tables.column import Table
from tracetui.export.tables.nested import (
    FRAMES,
    MODULES,
    SCOPES,
    FrameRows,
    ModuleRows,
    NestedRows,
    ScopeRows,
)
from tracetui.export.trace.nested_text import NO_MODULES, NO_SCOPES
from tracetui.language import counted, translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import tail
from tracetui.ui.tables.cause_column import cause_column
from tracetui.ui.tables.columns import ViewColumn, named_column
from tracetui.ui.tables.hotspot_columns import (
    GAPS,
    TIME,
    between_operators,
    codes_of,
    idle_places,
    operator_column,
    operator_names,
)
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.tables.operator_columns import SHARE_CELLS
from tracetui.units import format_count, format_duration, format_percent


def module_columns(analysis: Analysis, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    """Return one row per module, in the order of `analysis.modules`: its name first, then those around it."""
    rows = ModuleRows(analysis)
    modules = rows.rows
    around = [" > ".join(module.path) for module in modules]
    names = named_column(
        "module",
        "module",
        codes_of(modules),
        [module.module or translate(NO_MODULE) for module in modules],
        least=22,
    )
    return _columns(MODULES, rows, [names, _around_column(around, 20, glyphs)], palette, glyphs)


def _around_column(around: Sequence[str], least: int, glyphs: Glyphs) -> ViewColumn:
    """Show what is around each row; where there is little room, what is nearest."""
    column = named_column("path", "inside of", codes_of(around), around, width=60, least=least, rank=2)
    return replace(column, draw=lambda row, width: tail(printable(around[row]), width, glyphs.ellipsis))


def frame_columns(analysis: Analysis, title: str, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    """Return one row per frame, in the order of `analysis.frames`; `title`: what a frame is called."""
    rows = FrameRows(analysis)
    names = [frame_name(analysis, row) for row in rows.rows]
    column = named_column("frame", title, codes_of(rows.rows), names, width=60, least=28)
    return _columns(FRAMES, rows, [column], palette, glyphs)


def scope_columns(analysis: Analysis, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    """Return one row per scope, in the order of `analysis.scopes`: its name first, then those around it."""
    rows = ScopeRows(analysis)
    scopes = rows.rows
    around = [SEPARATOR.join(row.scope[:-1]) for row in scopes]
    short = [row.scope[-1] if row.scope else translate(NO_SCOPE) for row in scopes]
    names = named_column("scope", "scope", codes_of(scopes), short, least=20)
    main = np.array([next(iter(row.causes), -1) for row in scopes], np.int8)
    number = palette.style_of(Role.NUMBER)
    places = [
        ColumnLook("computing_ns", 0, TIME, style=number),
        ColumnLook("share", 1, SHARE_CELLS),
        ColumnLook("own_computing_ns", 0, TIME, style=number),
        ColumnLook("idle_ns", 0, TIME, style=number),
        names,
        _around_column(around, 16, glyphs),
        cause_column(main, palette),
        ColumnLook("tasks", 3),
        ...,
    ]
    return laid_out(SCOPES, rows, places)


def scopes_answer(analysis: Analysis) -> str:
    """Return "36 scopes, 67.1 ms of computing, 170 ms of idle time before their tasks"."""
    scopes = [row for row in analysis.scopes if row.scope]
    if not scopes:
        return translate(NO_SCOPES)
    return translate(
        "{scopes}, {computing} of computing tasks, {idle} of idle time before their tasks",
        scopes=counted(len(scopes), "1 scope", "{count} scopes"),
        computing=format_duration(sum(row.own_computing_ns for row in scopes)),
        idle=format_duration(sum(row.own_ns for row in scopes)),
    )


def frameless_name(analysis: Analysis) -> str:
    """Return what idle time without a frame is called; without Python frames are scopes or operators."""
    if analysis.has_python:
        return translate(NO_STACK)
    return translate(NO_SCOPE) if analysis.has_scopes else between_operators()


def frame_name(analysis: Analysis, row: FrameIdle) -> str:
    """Return "train.py(88) main", "nn.Module: Conv2d_7", "(no stack)"."""
    if row.frame is None:
        return frameless_name(analysis)
    file = path_end(row.frame.file)
    return f"{file}({row.frame.line}) {row.frame.function}" if file else row.frame.function


def modules_answer(analysis: Analysis) -> str:
    """Return "26 modules hold 16.0 ms of 25.0 ms of idle time (64.1 %)"."""
    modules = [module for module in analysis.modules if module.module is not None]
    if not modules:
        return translate(NO_MODULES)
    inside = sum(module.own_ns for module in modules)
    template = "{count} modules hold {time} of {idle} of idle time ({share})"
    if len(modules) == 1:
        template = "1 module holds {time} of {idle} of idle time ({share})"
    return translate(
        template,
        count=format_count(len(modules)),
        time=format_duration(inside),
        idle=format_duration(analysis.idle_ns),
        share=format_percent(inside, analysis.idle_ns),
    )


def frames_answer(analysis: Analysis) -> str:
    """Return "168 frames at any depth of the stacks, 25.0 ms of idle time"."""
    count = sum(row.frame is not None for row in analysis.frames)
    frames = counted(count, "1 frame of all stacks", "{count} frames of all stacks")
    return translate("{frames}, {time} of idle time", frames=frames, time=format_duration(analysis.idle_ns))


def operator_frames_answer(analysis: Analysis) -> str:
    """Return "50 operators of the host, 790 ms of idle time; no Python stack is recorded"."""
    count = sum(row.frame is not None for row in analysis.frames)
    operators = counted(count, "1 operator of the host", "{count} operators of the host")
    return translate(
        "{operators}, {time} of idle time; no Python stack is recorded",
        operators=operators,
        time=format_duration(analysis.idle_ns),
    )


def _columns(
    table: Table[Any], rows: NestedRows, names: list[ViewColumn], palette: Palette, glyphs: Glyphs
) -> list[ViewColumn]:
    every = rows.rows
    main = np.array([next(iter(row.causes)) for row in every], np.int8)
    operators = [operator_names(row.ops) for row in every]
    places = [
        *idle_places([row.idle_ns for row in every], rows.idle_ns, palette, glyphs),
        ColumnLook("own_ns", 0, TIME, style=palette.style_of(Role.NUMBER)),
        *names,
        cause_column(main, palette),
        *GAPS,
        operator_column(operators, palette),
        ...,
    ]
    return laid_out(table, rows, places)
