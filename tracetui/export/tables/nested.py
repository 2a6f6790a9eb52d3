"""The tables by nn.Module, by frame and by scope: each row holds the time of what is inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.nested_idle import FrameIdle, NestedIdle
from tracetui.analysis.scopes import ScopeTime
from tracetui.export.cells import encodable
from tracetui.export.sentences.causes import (
    NO_OPERATOR,
    NO_STACK,
    largest_shares,
    line_name,
    module_name,
    scope_name,
)
from tracetui.export.tables.column import Column, Form, Table, count, data, duration, json_only
from tracetui.export.tables.common import (
    FirstRows,
    cause_columns,
    causes_document,
    line_columns,
    name_column,
    named,
    reason_columns,
    share_column,
    texts_by,
    texts_of,
    values_of,
)
from tracetui.export.trace.selection import Selection
from tracetui.language import translate


class NestedRows(FirstRows):
    """What has idle time, most first; at most `top` of them, 0 for all."""

    def __init__(self, all_rows: Sequence[NestedIdle], top: int = 0) -> None:
        super().__init__(all_rows, top)
        self.idle_ns = sum(row.own_ns for row in all_rows)  #: of all, listed or not


class ModuleRows(NestedRows):
    """The modules behind the gaps selected."""

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        super().__init__((selection or Selection()).modules(analysis), top)


class FrameRows(NestedRows):
    """The frames of Python at any depth behind the gaps selected."""

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        super().__init__((selection or Selection()).frames(analysis), top)


def _two_shares(causes: Mapping[str, int]) -> str:
    return largest_shares(causes, 2)


def _nested(title: str, *first: Column[Any], label: Any, kind: str, identity: tuple[str, ...]) -> Table[Any]:
    """Return the table of what holds others of its kind; `first` are the columns that name a row."""
    return Table(
        columns=(
            *first,
            *line_columns(),
            duration("idle_ns", "idle", values_of("idle_ns")),
            share_column(values_of("idle_ns"), lambda rows: rows.idle_ns),
            duration("own_ns", "own", values_of("own_ns")),
            data("backward_ns", values_of("backward_ns")),
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


def _two_causes(row: ScopeTime) -> str:
    return _two_shares(causes_document(row.causes))


class ScopeRows(NestedRows):
    """The scopes of the network behind the tasks and the gaps selected."""

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        super().__init__((selection or Selection()).scopes(analysis), top)
        self.computing_ns = sum(row.own_computing_ns for row in self.all_rows)  #: of all, listed or not


SCOPES: Table[ScopeRows] = Table(
    columns=(
        json_only("scope", lambda rows: [[encodable(name) for name in row.scope] for row in rows.rows]),
        data("scope", texts_by(lambda row: scope_name(row.scope)), forms=Form.FRAME),
        count("tasks", "tasks", values_of("tasks")),
        duration("computing_ns", "computing", values_of("computing_ns")),
        share_column(values_of("computing_ns"), lambda rows: rows.computing_ns),
        duration("own_computing_ns", "own", values_of("own_computing_ns")),
        duration("idle_ns", "idle before", values_of("idle_ns")),
        data("own_idle_ns", values_of("own_ns")),
        count("gaps", "gaps", values_of("gaps"), forms=Form.DATA | Form.VIEWER),
        duration("longest_ns", "longest", values_of("longest_ns"), forms=Form.DATA | Form.VIEWER),
        json_only("causes", lambda rows: [causes_document(row.causes) for row in rows.rows]),
        *cause_columns(Cause, _causes_of),
        named("why", "why idle before", _two_causes, forms=Form.MARKDOWN, trusted=True),
        name_column("scope", lambda row: scope_name(row.scope)),
    ),
    order=("computing_ns", "share", "own_computing_ns", "idle_ns", "longest_ns", "tasks", ..., "name"),
    markdown=("name", "computing_ns", "share", "own_computing_ns", "idle_ns", "tasks", ..., "why"),
    kind="scope",
    identity=("scope",),
)
MODULES: Table[ModuleRows] = _nested(
    "nn.Module",
    data("module", texts_of("module")),
    json_only("path", lambda rows: [[encodable(name) for name in row.path] for row in rows.rows]),
    data("path", texts_by(lambda row: " > ".join(row.path) or None), forms=Form.FRAME),
    label=lambda row: module_name(row.module, row.path),
    kind="module",
    identity=("path", "module"),
)


def _frames(title: str, frameless: str) -> Table[FrameRows]:
    """Return the table of frames; `frameless`: what the row without one is called."""

    def label(row: FrameIdle) -> str:
        return translate(frameless) if row.file is None else line_name(row.file, row.line, row.function)

    return _nested(title, label=label, kind="frame", identity=("file", "line", "function"))


FRAMES = _frames("frame of Python", NO_STACK)
OPERATORS = _frames("operator of the host", NO_OPERATOR)  #: frames where no Python is recorded
