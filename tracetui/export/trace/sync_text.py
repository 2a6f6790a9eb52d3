"""Where the host waited for a device, as text: the table of synchronisations below that of the lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.export.sentences.trace import hidden_rows
from tracetui.export.tables.shown import TableSection
from tracetui.export.tables.syncs import SYNCS, SyncRows
from tracetui.export.trace.selection import Selection
from tracetui.language import translate
from tracetui.units import format_count, format_duration


def sync_sections(analysis: Analysis, selection: Selection, top: int) -> Iterator[TableSection]:
    """Yield the table of synchronisations where there are any: at most `top` rows, 0 for all."""
    rows = SyncRows(analysis, selection, top)
    more = hidden = ""
    if rows.hidden:
        rest = format_duration(sum(sync.exposed_ns for sync in rows.all_rows[len(rows) :]))
        count = format_count(rows.hidden)
        more = translate("{count} more, exposing {left}: --top 0", count=count, left=rest)
        hidden = hidden_rows(rows.hidden)
    if rows:
        yield TableSection(syncs_title(rows.all_rows), SYNCS, rows, more, hidden)


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
