"""Idle time by nn.Module and by frame, and the time of scopes, as JSON, plain text and Markdown.

What holds others of its kind has its time with theirs, and its own: the own times add up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable

from tracetui.analysis.analyse import Analysis
from tracetui.export.json_document import SCHEMA
from tracetui.export.markdown import escaped
from tracetui.export.sentences.trace import NO_IDLE_TIME, hidden_rows, nothing_idle
from tracetui.export.tables import nested
from tracetui.export.tables.column import Table, records
from tracetui.export.tables.nested import FrameRows, ModuleRows, NestedRows, ScopeRows
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN
from tracetui.export.trace.documents import LINE_NUMBERS
from tracetui.export.trace.health import trust_document
from tracetui.export.trace.idle_text import TOP_LINES, reasons_of_rows
from tracetui.export.trace.selection import Selection
from tracetui.language import translate
from tracetui.units import format_count, format_duration

NO_MODULES = "No nn.Module is recorded in this trace: the profiler records them with with_stack=True."
NO_SCOPES = (
    "No scope is recorded in this trace: MindSpore calls tasks by them (Default/network/fc1/MatMul-op9)."
)
EXPLAINED = "Own times add up; the idle time of each holds that of all that is inside it."
SCOPES_EXPLAINED = (
    "Own times add up. A scope has the time of those inside it, and the idle time before its tasks."
)


@dataclass(frozen=True)
class Ranking:
    """What a table of idle time has a row of."""

    title: str
    several: str  #: what the rows are, and their key in JSON
    table: Table[Any]
    rows: Callable[[Analysis, Selection, int], NestedRows]  #: at most so many, 0 for all
    nothing: str = NO_IDLE_TIME
    explained: str = EXPLAINED

    def document(self, analysis: Analysis, selection: Selection, top: int = 0) -> dict[str, Any]:
        """Return the rows of the gaps selected, most time first; at most `top`, 0 for all.

        The sums are those of all rows, listed or not. What is outside any module is a row without a name.
        """
        rows = self.rows(analysis, selection, top)
        computing = {"computing_ns": rows.computing_ns} if isinstance(rows, ScopeRows) else {}
        return {
            "schema": SCHEMA,
            **trust_document(analysis, LINE_NUMBERS),
            **computing,
            "idle_ns": rows.idle_ns,
            self.several: records(self.table, rows),
        }


MODULES = Ranking("Idle time by nn.Module: {idle}", "modules", nested.MODULES, ModuleRows)
SCOPES = Ranking(
    "Time by scope: {computing} of computing tasks, {idle} of idle time before it",
    "scopes",
    nested.SCOPES,
    ScopeRows,
    NO_SCOPES,
    SCOPES_EXPLAINED,
)
FRAMES = Ranking("Idle time by frame of Python: {idle}", "frames", nested.FRAMES, FrameRows)
#: the same where no Python is recorded
OPERATORS = replace(FRAMES, title="Idle time by operator of the host: {idle}", table=nested.OPERATORS)


def nested_text(
    ranking: Ranking, analysis: Analysis, selection: Selection, top: int | None, width: int
) -> str:
    """Return the table of the gaps selected; `top` rows of it, 0 for all, None for 20."""
    rows = ranking.rows(analysis, selection, TOP_LINES if top is None else top)
    if not rows.all_rows:
        return f"{nothing_idle(analysis, ranking.nothing)}\n"
    lines = [_title(ranking, rows), *text_table(ranking.table, rows, width, reasons_of_rows(rows))]
    more = rows.hidden
    if more:
        lines.append(MARGIN + translate("{count} more with less: --top 0", count=format_count(more)))
    lines += ["", translate(ranking.explained)]
    if _without_modules(analysis, rows):
        lines.append(translate(NO_MODULES))
    return "\n".join(lines) + "\n"


def nested_markdown(ranking: Ranking, analysis: Analysis, selection: Selection, top: int | None) -> str:
    """Return the same table as Markdown."""
    rows = ranking.rows(analysis, selection, TOP_LINES if top is None else top)
    if not rows.all_rows:
        return f"{nothing_idle(analysis, ranking.nothing)}\n"
    lines = [
        f"## {escaped(_title(ranking, rows))}",
        "",
        translate(ranking.explained),
        "",
        *markdown_table(ranking.table, rows),
    ]
    more = rows.hidden
    if more:
        lines += ["", hidden_rows(more)]
    if _without_modules(analysis, rows):
        lines += ["", translate(NO_MODULES)]
    return "\n".join(lines) + "\n"


def _title(ranking: Ranking, rows: NestedRows) -> str:
    computing = format_duration(rows.computing_ns) if isinstance(rows, ScopeRows) else ""
    return translate(ranking.title, idle=format_duration(rows.idle_ns), computing=computing)


def _without_modules(analysis: Analysis, rows: NestedRows) -> bool:
    return isinstance(rows, ModuleRows) and all(row.module is None for row in analysis.modules)
