"""Where the host waited for a device, as text: the table of synchronisations below that of the lines."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.export.selection import Selection
from tracetui.export.text import MARGIN, Column, table
from tracetui.export.words import line_name
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration


def sync_lines(analysis: Analysis, selection: Selection, top: int, width: int) -> list[str]:
    """The table of synchronisations and its title, line by line: at most `top`, 0 for all; [] without any."""
    every = selection.syncs(analysis)
    if not every:
        return []
    shown = every[:top] if top else every
    columns = [
        Column("idle\nexposed"),
        Column("calls"),
        Column("waited"),
        Column("longest"),
        Column("call", right=False, shrink_to=16),
        Column("Python line", right=False, shrink_to=16, keep_end=True),
    ]
    rows = [
        [*sync_numbers(sync), printable(sync.call), printable(line_name(sync.file, sync.line, sync.function))]
        for sync in shown
    ]
    lines = [syncs_title(every), *table(columns, rows, width)]
    if len(shown) < len(every):
        left = format_duration(sum(sync.exposed_ns for sync in every[len(shown) :]))
        lines.append(f"{MARGIN}{format_count(len(every) - len(shown))} more, exposing {left}: --top 0")
    return lines


def sync_numbers(sync: SyncCall) -> list[str]:
    """Idle time exposed, calls, time waited, the longest."""
    return [
        format_duration(sync.exposed_ns),
        format_count(sync.count),
        format_duration(sync.total_ns),
        format_duration(sync.longest_ns),
    ]


def syncs_title(syncs: Sequence[SyncCall]) -> str:
    """ "Synchronisations: 30, the host waited 44.0 ms, exposed 4.44 ms of idle time" """
    count = format_count(sum(sync.count for sync in syncs))
    waited = format_duration(sum(sync.total_ns for sync in syncs))
    exposed = format_duration(sum(sync.exposed_ns for sync in syncs))
    return f"Synchronisations: {count}, the host waited {waited}, exposed {exposed} of idle time"
