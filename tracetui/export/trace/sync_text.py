"""Where the host waited for a device, as text: the table of synchronisations below that of the lines."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.export.tables.shown import text_table
from tracetui.export.tables.syncs import SYNCS, SyncRows
from tracetui.export.text import MARGIN
from tracetui.export.trace.selection import Selection
from tracetui.language import translate
from tracetui.units import format_count, format_duration


def sync_lines(analysis: Analysis, selection: Selection, top: int, width: int) -> list[str]:
    """Return the title and table of synchronisations: at most `top` rows, 0 for all; [] without any."""
    rows = SyncRows(analysis, selection, top)
    if not rows.all_rows:
        return []
    lines = [syncs_title(rows.all_rows), *text_table(SYNCS, rows, width)]
    more = rows.hidden
    if more:
        rest = format_duration(sum(sync.exposed_ns for sync in rows.all_rows[len(rows.rows) :]))
        lines.append(
            MARGIN + translate("{count} more, exposing {left}: --top 0", count=format_count(more), left=rest)
        )
    return lines


def syncs_title(syncs: Sequence[SyncCall]) -> str:
    """Return "Synchronisations: 30, the host waited 44.0 ms, exposed 4.44 ms of idle time"."""
    count = format_count(sum(sync.count for sync in syncs))
    waited = format_duration(sum(sync.total_ns for sync in syncs))
    exposed = format_duration(sum(sync.exposed_ns for sync in syncs))
    return translate(
        "Synchronisations: {count}, the host waited {waited}, exposed {exposed} of idle time",
        count=count,
        waited=waited,
        exposed=exposed,
    )
