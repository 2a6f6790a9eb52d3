"""Where the time of devices went, whom they waited for, and what moved over which link, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.analysis.health.finding import Health
from tracetui.export.sentences.health import mark
from tracetui.export.sentences.late_ranks import capped_savings
from tracetui.export.tables.communication import LINKS, PEERS, LinkRows, PeerRows
from tracetui.export.tables.shown import text_table
from tracetui.export.text import MARGIN, wrap_sentence
from tracetui.export.trace.selection import Selection
from tracetui.language import counted, translate
from tracetui.units import format_count, format_duration

TOP_PEERS, TOP_LINKS = 5, 8  #: rows listed


def split_rows(split: WindowSplit, health: Health) -> Iterator[tuple[str, int]]:
    """Return the parts of a window with their ns; an indented one is part of the one above.

    Those that findings put in doubt are marked.
    """
    yield translate("computing") + mark(health, "operators"), split.computing_ns
    if split.communication_ns:
        yield translate("exposed communication") + mark(health, "communication"), split.communication_ns
        parts = (
            (translate("waiting"), split.wait_ns),
            (translate("moving"), split.transfer_ns),
            (translate("waiting or moving"), split.unsplit_ns),
        )
        yield from ((f"  {label}", ns) for label, ns in parts if ns)
    if split.copy_ns:
        yield translate("copies"), split.copy_ns
    yield translate("idle") + mark(health, "idle"), split.idle_ns


def late_title(rows: PeerRows) -> str:
    """Return "Late ranks: waited 95.5 ms for them, 91.7 ms of it exposed"."""
    waited = format_duration(sum(late.wait_ns for late in rows.all_rows))
    exposed = format_duration(sum(late.exposed_ns for late in rows.all_rows))
    return translate(
        "Late ranks: waited {waited} for them, {exposed} of it exposed", waited=waited, exposed=exposed
    )


def late_lines(analysis: Analysis, width: int) -> list[str]:
    """Return the table of late ranks and its title, line by line; [] where nobody was late."""
    rows = PeerRows(analysis, TOP_PEERS)
    if not rows.all_rows:
        return []
    table = text_table(PEERS, rows, width)
    note = wrap_sentence(capped_savings(analysis), width, MARGIN, MARGIN)
    return [late_title(rows), *table, *_more(rows.hidden), "", *note]


def links_title(rows: LinkRows) -> str:
    """Return "Links: 7, most time first"."""
    return translate("Links: {count}, most time first", count=format_count(len(rows.all_rows)))


def link_lines(analysis: Analysis, selection: Selection, width: int) -> list[str]:
    """Return the table of links and its title, line by line; [] where the trace does not show what moved."""
    rows = LinkRows(analysis, TOP_LINKS, selection.window)
    if not rows.all_rows:
        return []
    return [links_title(rows), *text_table(LINKS, rows, width), *_more(rows.hidden)]


def _more(count: int) -> list[str]:
    return [MARGIN + counted(count, "1 with less", "{count} with less")] if count > 0 else []
