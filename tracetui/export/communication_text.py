"""Where the time of devices went, whom they waited for, and what moved over which link, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.export.selection import Selection
from tracetui.export.tables.communication import LINKS, PEERS, LinkRows, PeerRows
from tracetui.export.tables.shown import text_table
from tracetui.export.text import MARGIN
from tracetui.units import format_count, format_duration

TOP_PEERS, TOP_LINKS = 5, 8  #: rows listed


def split_rows(split: WindowSplit) -> Iterator[tuple[str, int]]:
    """The parts of a window and ns of each; those indented are parts of the one above, all others add up."""
    yield "computing", split.computing_ns
    if split.communication_ns:
        yield "exposed communication", split.communication_ns
        parts = (
            ("waiting", split.wait_ns),
            ("moving", split.transfer_ns),
            ("waiting or moving", split.unsplit_ns),
        )
        yield from ((f"  {label}", ns) for label, ns in parts if ns)
    if split.copy_ns:
        yield "copies", split.copy_ns
    yield "idle", split.idle_ns


def late_title(rows: PeerRows) -> str:
    """ "Late ranks: waited 95.5 ms for them, 91.7 ms of it exposed" """
    waited = format_duration(sum(late.wait_ns for late in rows.every))
    exposed = format_duration(sum(late.exposed_ns for late in rows.every))
    return f"Late ranks: waited {waited} for them, {exposed} of it exposed"


def late_lines(analysis: Analysis, width: int) -> list[str]:
    """The table of late ranks and its title, line by line; [] where nobody was late."""
    rows = PeerRows(analysis, TOP_PEERS)
    if not rows.every:
        return []
    return [late_title(rows), *text_table(PEERS, rows, width), *_more(len(rows.every) - TOP_PEERS)]


def links_title(rows: LinkRows) -> str:
    """ "Links: 7, most time first" """
    return f"Links: {format_count(len(rows.every))}, most time first"


def link_lines(analysis: Analysis, selection: Selection, width: int) -> list[str]:
    """The table of links and its title, line by line; [] where the trace does not show what moved."""
    rows = LinkRows(analysis, TOP_LINKS, selection.window)
    if not rows.every:
        return []
    return [links_title(rows), *text_table(LINKS, rows, width), *_more(len(rows.every) - TOP_LINKS)]


def _more(count: int) -> list[str]:
    return [f"{MARGIN}{format_count(count)} with less"] if count > 0 else []
