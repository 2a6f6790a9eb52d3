"""Idle time by nn.Module and by frame as documents, as plain text and as Markdown.

What holds others of its kind has its idle time with theirs, and its own: the own times add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.nested_idle import NestedIdle
from tracetui.export.cells import encodable
from tracetui.export.documents import SCHEMA, causes_document
from tracetui.export.findings import ops_document
from tracetui.export.idle_text import OPERATORS, TOP_LINES, why
from tracetui.export.markdown import code, plain
from tracetui.export.markdown import table as markdown_table
from tracetui.export.reasons import frame_document
from tracetui.export.selection import Selection
from tracetui.export.text import MARGIN, Column, table
from tracetui.export.words import line_name, module_name, shares
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration, format_percent

NO_MODULES = "No nn.Module is recorded in this trace: the profiler records them with with_stack=True."


EXPLAINED = "Own times add up; the idle time of each holds that of all that is inside it."


class Ranking(NamedTuple):
    """What a table of idle time has a row of."""

    key: str  #: of the document
    one: str
    several: str


MODULES = Ranking("modules", "nn.Module", "modules")
FRAMES = Ranking("frames", "frame of Python", "frames")


def modules_document(analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
    """The idle time of the gaps selected by nn.Module, most first; at most `top` modules, 0 for all.

    `path` are the modules around one; `file`, `line` and `function` are where its forward is defined. What is
    outside any module is a row without a name.
    """
    rows = [
        {
            "module": None if module.module is None else encodable(module.module),
            "path": [encodable(name) for name in module.path],
            **frame_document(module.forward),
            **_numbers(module),
        }
        for module in selection.modules(analysis)
    ]
    return _document(MODULES, rows, top)


def frames_document(analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
    """The idle time of the gaps selected by frame at any depth, most first; at most `top`, 0 for all."""
    rows = [{**frame_document(each.frame), **_numbers(each)} for each in selection.frames(analysis)]
    return _document(FRAMES, rows, top)


def nested_text(ranking: Ranking, document: dict[str, Any], top: int | None, width: int) -> str:
    """The table of a document of all rows; `top` of them, 0 for all, None for 20."""
    every, shown = _shown(ranking, document, top)
    if not every:
        return "No idle time.\n"
    rows = [[*_cells(row, document["idle_ns"]), printable(_name(row))] for row in shown]
    titles = [Column("idle"), Column("share"), Column("own"), Column("gaps"), Column("longest")]
    columns = [*titles, Column(ranking.one, right=False, shrink_to=16, keep_end=True)]
    lines = [title(ranking, document), *table(columns, rows, width, [why(row) for row in shown])]
    if len(shown) < len(every):
        lines.append(f"{MARGIN}{format_count(len(every) - len(shown))} more with less: --top 0")
    lines += ["", EXPLAINED]
    if _without_modules(ranking, every):
        lines.append(NO_MODULES)
    return "\n".join(lines) + "\n"


def nested_markdown(ranking: Ranking, document: dict[str, Any], top: int | None) -> str:
    """The same table as Markdown."""
    every, shown = _shown(ranking, document, top)
    if not every:
        return "No idle time.\n"
    rows = [
        [
            code(_name(row)),
            *_cells(row, document["idle_ns"]),
            shares(row["causes"], 2),
            ", ".join(code(name) for name in [op for op in row["ops"] if op][:OPERATORS]) or "-",
        ]
        for row in shown
    ]
    titles = [ranking.one, "idle", "share", "own", "gaps", "longest", "why", "operators"]
    lines = [f"## {plain(title(ranking, document))}", "", EXPLAINED, ""]
    lines += markdown_table(titles, rows, [ranking.one, "why", "operators"])
    if len(shown) < len(every):
        lines += ["", f"{format_count(len(every) - len(shown))} {ranking.several} with less are not shown."]
    if _without_modules(ranking, every):
        lines += ["", NO_MODULES]
    return "\n".join(lines) + "\n"


def title(ranking: Ranking, document: dict[str, Any]) -> str:
    """What the table is called."""
    idle = format_duration(document["idle_ns"])
    return f"Idle time by {ranking.one}: {idle}"


def _document(ranking: Ranking, rows: Sequence[dict[str, Any]], top: int) -> dict[str, Any]:
    idle_ns = sum(row["own_ns"] for row in rows)
    return {"schema": SCHEMA, "idle_ns": idle_ns, ranking.key: rows[:top] if top else rows}


def _numbers(row: NestedIdle) -> dict[str, Any]:
    return {
        "idle_ns": row.idle_ns,
        "own_ns": row.own_ns,
        "backward_ns": row.backward_ns,
        "gaps": row.gaps,
        "longest_ns": row.longest_ns,
        "causes": causes_document(row.causes),
        "ops": ops_document(row.ops),
    }


def _shown(
    ranking: Ranking, document: dict[str, Any], top: int | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All rows, and those that are listed."""
    every = document[ranking.key]
    most = TOP_LINES if top is None else top
    return every, every[:most] if most else every


def _cells(row: dict[str, Any], idle_ns: int) -> list[str]:
    return [
        format_duration(row["idle_ns"]),
        format_percent(row["idle_ns"], idle_ns),
        format_duration(row["own_ns"]),
        format_count(row["gaps"]),
        format_duration(row["longest_ns"]),
    ]


def _name(row: dict[str, Any]) -> str:
    """As written in the trace: never print it unescaped."""
    if "module" in row:
        return module_name(row["module"], row["path"])
    return line_name(row["file"], row["line"] or 0, row["function"])


def _without_modules(ranking: Ranking, rows: Sequence[dict[str, Any]]) -> bool:
    return ranking is MODULES and all(row["module"] is None for row in rows)
