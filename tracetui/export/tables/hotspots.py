"""The table of lines of Python by the idle time that they are charged with."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.health.finding import Severity
from tracetui.analysis.idle.idle_lines import LineIdle
from tracetui.arrays import Int64s
from tracetui.export.sentences.causes import leading_shares, line_name
from tracetui.export.tables.column import Table, count, duration, json_only
from tracetui.export.tables.common import (
    FirstRows,
    flag_column,
    line_columns,
    name_column,
    optional_numbers,
    reason_columns,
    share_column,
    trust_columns,
    values_of,
)
from tracetui.export.trace.selection import Selection
from tracetui.language import translate


class LineRows(FirstRows):
    """The lines of Python behind the gaps selected, most idle first; at most `top`, 0 for all."""

    def __init__(self, analysis: Analysis, selection: Selection | None = None, top: int = 0) -> None:
        self.analysis, self.selection = analysis, selection or Selection()
        super().__init__(self.selection.lines(analysis), top)

    @cached_property
    def idle_ns(self) -> int:
        """The idle time of all lines, listed or not."""
        return sum(line.idle_ns for line in self.all_rows)

    @cached_property
    def severities(self) -> list[Severity]:
        """What the idle time of each line is worth: the worst of the gaps that it is in."""
        health, gaps = self.analysis.health, self.analysis.gaps
        if not health.doubts:
            return [Severity.NOTE] * len(self.rows)
        worst = health.severities_between(gaps.start, gaps.end, ("idle", "causes", "lines"))
        return [Severity(int(worst[line.gap_indices].max(initial=0))) for line in self.rows]

    @cached_property
    def saves(self) -> Int64s:
        """int64[rows]: what making a line faster saves at most; -1 where that is not known."""
        return optional_numbers([saves_at_most(self.analysis, line, self.selection) for line in self.rows])


def saves_at_most(analysis: Analysis, line: LineIdle, selection: Selection) -> int | None:
    """Return what making a line faster saves at most: of the whole trace, of a step; None of a window.

    0 where the line is on no critical chain.
    """
    if selection.window is not None:
        return None
    saving = analysis.savings.get(line.key)
    if saving is None:
        return 0
    if selection.step is None:
        return saving.saves_at_most_ns
    # Where several devices wait for the same line they do so at the same time: the most of any counts.
    return max((saving.steps.get(index, 0) for index in selection.steps(analysis)), default=0)


def _with_peers(rows: LineRows) -> list[int | None]:
    """Return the ns that each line saves at most if late peers come as much sooner; of all of a trace."""
    if rows.selection.window is not None or rows.selection.step is not None:
        return [None] * len(rows.rows)
    savings = [rows.analysis.savings.get(line.key) for line in rows.rows]
    return [0 if saving is None else saving.saves_with_peers_ns for saving in savings]


def called(line: Any) -> str:
    """Return "train.py(88) forward (backward)", "(no stack)"; never print it unescaped."""
    name = line_name(line.file, line.line, line.function)
    return translate("{line} (backward)", line=name) if line.backward else name


LINES: Table[LineRows] = Table(
    columns=(
        *line_columns(),
        flag_column("backward"),
        duration("idle_ns", "idle", values_of("idle_ns")),
        share_column(values_of("idle_ns"), lambda rows: rows.idle_ns),
        count("gaps", "gaps", values_of("gaps")),
        duration("longest_ns", "longest", values_of("longest_ns")),
        duration(
            "saves_at_most_ns",
            "saves at most",
            lambda rows: rows.saves,
            optional=True,
            stacked="saves\nat most",
        ),
        json_only("saves_with_peers_ns", _with_peers),
        *trust_columns(),
        *reason_columns(leading_shares),
        name_column("Python line", called),
    ),
    order=("idle_ns", "share", "saves_at_most_ns", "gaps", "longest_ns", "trust", ..., "name"),
    markdown=(
        *("name", "idle_ns", "share", "saves_at_most_ns", "gaps", "longest_ns", "trust"),
        *(..., "why", "operators"),
    ),
    kind="line",
    identity=("file", "line", "function", "backward"),
)
