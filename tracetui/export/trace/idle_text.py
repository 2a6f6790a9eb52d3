"""Gaps and the lines behind them as plain text: what `tracetui gaps` and `tracetui hotspots` print."""

from __future__ import annotations

from typing import Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import Measure
from tracetui.export.sentences.causes import MEASURES, largest_shares
from tracetui.export.sentences.health import mark
from tracetui.export.sentences.late_ranks import capped_savings
from tracetui.export.sentences.trace import hidden_rows, nothing_idle
from tracetui.export.tables.common import OPERATORS, FirstRows, causes_document
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.hotspots import LINES, LineRows
from tracetui.export.tables.shown import TableSection
from tracetui.export.text import cut, wrap_sentence
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.sync_text import sync_sections
from tracetui.language import counted, names, semicolon_list, translate
from tracetui.trace.clean import printable
from tracetui.trace.model import TraceKind
from tracetui.trace.stack import path_end
from tracetui.units import format_count, format_duration

TOP_LINES, TOP_SYNCS = 20, 5  #: rows listed where nothing else is asked for
NAME_CELLS = 32  #: the longest name in a note


def gaps_text(analysis: Analysis, selection: Selection, top: int, width: int) -> str:
    """Return the table of gaps; at most `top`, 0 for all."""
    return "\n".join(gap_section(analysis, selection, top).text(width)) + "\n"


def hotspots_text(analysis: Analysis, selection: Selection, top: int | None, width: int) -> str:
    """Return the tables of lines of Python by idle time and of synchronisations, where there are any.

    `top` rows of each, 0 for all, None for 20 and 5.
    """
    rows = LineRows(analysis, selection, TOP_LINES if top is None else top)
    lines = line_section(rows).text(width)
    for note in line_notes(rows):
        lines += ["", *wrap_sentence(note, width)]
    for section in sync_sections(analysis, selection, TOP_SYNCS if top is None else top):
        lines += ["", *section.text(width)]
    return "\n".join(lines) + "\n"


def line_section(rows: LineRows) -> TableSection:
    """Return the table of lines of Python by idle time."""
    more = hidden = ""
    if rows.hidden:
        rest = format_duration(rows.idle_ns - sum(line.idle_ns for line in rows.rows))
        count = format_count(rows.hidden)
        more = translate("{count} more, {left} together: --top 0", count=count, left=rest)
        hidden = hidden_rows(rows.hidden)
    return TableSection(
        _hotspots_title(rows), LINES, rows, more, hidden, reasons_of_rows, nothing_idle(rows.analysis)
    )


def gap_section(analysis: Analysis, selection: Selection, top: int) -> TableSection:
    """Return the table of gaps; at most `top`, 0 for all."""
    rows = GapRows(analysis, selection.gaps(analysis, top), selection.by)
    title = gaps_title(analysis, len(rows), len(selection.gaps(analysis)), selection.by)
    return TableSection(title, GAPS, rows, notes=gap_stories, nothing=nothing_idle(analysis, "No gaps."))


def gaps_title(analysis: Analysis, shown: int, total: int, by: Measure) -> str:
    """Return what a table of so many of all gaps is called, and what ranks it; marked where in doubt."""
    doubt = mark(analysis.health, "idle", "causes")
    units = "kernel" if analysis.trace.kind is TraceKind.GPU else "AICore"
    if shown < total:
        title = translate(
            "The {shown} of {total} {units} gaps with the most {measure}",
            shown=format_count(shown),
            total=format_count(total),
            units=units,
            measure=translate(MEASURES[by]),
        )
        return title + doubt
    gaps = (
        "1 {units} gap, most {measure} first" if total == 1 else "{total} {units} gaps, most {measure} first"
    )
    measure = translate(MEASURES[by].removesuffix(" time"))
    return translate(gaps, total=format_count(total), units=units, measure=measure) + doubt


def _hotspots_title(rows: LineRows) -> str:
    """Return what the table of lines is called; "(no stack)" is none of them."""
    count = sum(line.file is not None for line in rows.all_rows)
    lines = counted(count, "1 line", "{count} lines")
    title = translate(
        "Idle time by Python line: {time}, {lines}", time=format_duration(rows.idle_ns), lines=lines
    )
    return title + mark(rows.analysis.health, "idle", "causes", "lines")


def line_notes(rows: LineRows) -> list[str]:
    """Return the sentences that must be known to read a table of lines; none where it has no rows."""
    if not rows:
        return []
    peers = capped_savings(rows.analysis) if (rows.saves >= 0).any() else ""
    return [note for note in (_without_python(rows.analysis), peers, beyond_idle(rows)) if note]


def _without_python(analysis: Analysis) -> str:
    """Return what ranks the idle time instead where no Python is recorded; else nothing."""
    if analysis.has_python:
        return ""
    if analysis.has_scopes:
        return translate("No Python stack is recorded: --by scope ranks scopes of the network instead.")
    return translate("No Python stack is recorded: --by frame ranks operators of the host instead.")


def beyond_idle(rows: LineRows) -> str:
    """Return why lines can save more than their idle time; "" where no listed line can."""
    if not any(saves > line.idle_ns for line, saves in zip(rows.rows, rows.saves.tolist())):
        return ""
    return translate(
        "A line can save more than its idle time: what the host does while the device is still busy delays "
        "later launches too."
    )


def idle_reasons(row: Any) -> str:
    """Return "host.python 70 %, queue.busy 20 %; in aten::mul, aten::add" for a row of idle time."""
    operators = [cut(printable(name), NAME_CELLS) for name in row.ops if name]
    causes = largest_shares(causes_document(row.causes), 2)
    return (
        translate("{causes}; in {names}", causes=causes, names=names(operators[:OPERATORS]))
        if operators
        else causes
    )


def reasons_of_rows(rows: FirstRows) -> list[str]:
    """Return `idle_reasons` of each row."""
    return [*map(idle_reasons, rows.rows)]


def gap_stories(rows: GapRows) -> list[str]:
    """Return, for each gap, "host.sync 80 %, host.python 20 %; exposed by train.py(90); until aclnnMul".

    Or "communication.wait 96 %, transfer 4 %; for peer 5 of group 271; until aclnnMul".
    """
    ends = (GAPS.column(key).exact(rows) for key in ("exposed_by", "after"))
    return [_story(rows.by, *facts) for facts in zip(rows.causes, rows.late, *ends)]


def _story(by: Measure, causes: dict[str, int], late: str | None, line: str | None, after: str | None) -> str:
    parts = []
    if causes:
        between = names(["", ""])
        parts.append(largest_shares(causes, 2).replace(f"{between}communication.", between))
    if late is not None and by is not Measure.IDLE:
        parts.append(translate("for {rank}", rank=printable(late, NAME_CELLS)))
    if line is not None:
        parts.append(translate("exposed by {line}", line=cut(printable(path_end(line)), NAME_CELLS)))
    parts.append(
        translate("until the end") if after is None else translate("until {task}", task=printable(after))
    )
    return semicolon_list(parts)
