"""The tables by nn.Module, by frame and by scope: each row holds the time of what is inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.modules import ModuleIdle
from tracetui.analysis.nested_idle import FrameIdle, NestedIdle
from tracetui.analysis.scopes import ScopeTime
from tracetui.export.cells import encodable
from tracetui.export.sentences.causes import largest_shares, line_name, module_name, scope_name
from tracetui.export.tables.column import Column, Form, Table, count, duration, json_only, listed
from tracetui.export.tables.common import (
    cause_columns,
    causes_document,
    line_columns,
    name_column,
    reason_columns,
    share_column,
    values_of,
)
from tracetui.export.trace.selection import Selection


class NestedRows:
    """What has idle time, most first; at most `top` of them, 0 for all."""

    def __init__(self, all_rows: Sequence[NestedIdle], top: int = 0) -> None:
        self.all_rows: Sequence[Any] = all_rows
        self.rows: Sequence[Any] = all_rows[:top] if top else all_rows
        self.idle_ns = sum(row.own_ns for row in all_rows)  #: of all, listed or not


class ModuleRows(NestedRows):
    """The modules behind the gaps selected."""

    all_rows: Sequence[ModuleIdle]
    rows: Sequence[ModuleIdle]

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        super().__init__((selection or Selection()).modules(analysis), top)


class FrameRows(NestedRows):
    """The frames of Python at any depth behind the gaps selected."""

    all_rows: Sequence[FrameIdle]
    rows: Sequence[FrameIdle]

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        super().__init__((selection or Selection()).frames(analysis), top)


def _two_shares(causes: Mapping[str, int]) -> str:
    return largest_shares(causes, 2)


def _module_label(row: ModuleIdle) -> str:
    return module_name(row.module, row.path)


def _frame_label(row: FrameIdle) -> str:
    return line_name(row.file, row.line, row.function)


def _nested(title: str, *first: Column[Any], label: Any, kind: str, identity: tuple[str, ...]) -> Table[Any]:
    """Return the table of what holds others of its kind; `first` are the columns that name a row."""
    return Table(
        columns=(
            *first,
            *line_columns(),
            duration("idle_ns", "idle", values_of("idle_ns")),
            share_column(values_of("idle_ns"), lambda rows: rows.idle_ns),
            duration("own_ns", "own", values_of("own_ns")),
            duration("backward_ns", "", values_of("backward_ns"), forms=Form.DATA),
            count("gaps", "gaps", values_of("gaps")),
            duration("longest_ns", "longest", values_of("longest_ns")),
            *reason_columns(_two_shares),
            name_column(title, label),
        ),
        order=("idle_ns", "share", "own_ns", "gaps", "longest_ns", ..., "name"),
        markdown=("name", "idle_ns", "share", "own_ns", "gaps", "longest_ns", ..., "why", "operators"),
        kind=kind,
        identity=identity,
    )


def _causes_of(rows: ScopeRows) -> list[dict[Cause, int]]:
    return [row.causes for row in rows.rows]


def _scope_label(row: ScopeTime) -> str:
    return scope_name(row.scope)


class ScopeRows(NestedRows):
    """The scopes of the network behind the tasks and the gaps selected."""

    all_rows: Sequence[ScopeTime]
    rows: Sequence[ScopeTime]

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        super().__init__((selection or Selection()).scopes(analysis), top)
        self.computing_ns = sum(row.own_computing_ns for row in self.all_rows)  #: of all, listed or not


SCOPES: Table[ScopeRows] = Table(
    columns=(
        json_only("scope", lambda rows: [[encodable(name) for name in row.scope] for row in rows.rows]),
        Column(
            "scope", "", lambda rows: listed([scope_name(row.scope) for row in rows.rows]), forms=Form.FRAME
        ),
        count("tasks", "tasks", values_of("tasks")),
        duration("computing_ns", "computing", values_of("computing_ns")),
        share_column(values_of("computing_ns"), lambda rows: rows.computing_ns),
        duration("own_computing_ns", "own", values_of("own_computing_ns")),
        duration("idle_ns", "idle before", values_of("idle_ns")),
        duration("own_idle_ns", "", values_of("own_ns"), forms=Form.DATA),
        count("gaps", "gaps", values_of("gaps"), forms=Form.DATA | Form.VIEWER),
        duration("longest_ns", "longest", values_of("longest_ns"), forms=Form.DATA | Form.VIEWER),
        json_only("causes", lambda rows: [causes_document(row.causes) for row in rows.rows]),
        *cause_columns(Cause, _causes_of),
        Column(
            "why",
            "why idle before",
            lambda rows: listed([_two_shares(causes_document(row.causes)) for row in rows.rows]),
            forms=Form.MARKDOWN,
            trusted=True,
        ),
        name_column("scope", _scope_label),
    ),
    order=("computing_ns", "share", "own_computing_ns", "idle_ns", "longest_ns", "tasks", ..., "name"),
    markdown=("name", "computing_ns", "share", "own_computing_ns", "idle_ns", "tasks", ..., "why"),
    kind="scope",
    identity=("scope",),
)
MODULES: Table[ModuleRows] = _nested(
    "nn.Module",
    Column("module", "", lambda rows: listed([row.module for row in rows.rows]), forms=Form.DATA),
    json_only("path", lambda rows: [[encodable(name) for name in row.path] for row in rows.rows]),
    Column(
        "path", "", lambda rows: listed([" > ".join(row.path) or None for row in rows.rows]), forms=Form.FRAME
    ),
    label=_module_label,
    kind="module",
    identity=(
        "path",
        "module",
    ),
)
FRAMES: Table[FrameRows] = _nested(
    "frame of Python",
    label=_frame_label,
    kind="frame",
    identity=(
        "file",
        "line",
        "function",
    ),
)
