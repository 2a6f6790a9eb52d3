"""Where the time of devices went, whom they waited for, and what moved over which link, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.analysis.health.finding import Health
from tracetui.export.sentences.health import mark
from tracetui.export.tables.communication import LINKS, PEERS, LinkRows, PeerRows
from tracetui.export.tables.shown import TableSection
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


def _late_title(rows: PeerRows) -> str:
    """Return "Late ranks: waited 95.5 ms for them, 91.7 ms of it exposed"."""
    waited = format_duration(sum(late.wait_ns for late in rows.all_rows))
    exposed = format_duration(sum(late.exposed_ns for late in rows.all_rows))
    return translate(
        "Late ranks: waited {waited} for them, {exposed} of it exposed", waited=waited, exposed=exposed
    )


def communication_sections(analysis: Analysis, selection: Selection) -> Iterator[TableSection]:
    """Yield the table of late ranks, where somebody was late, and that of links, where any is shown."""
    late, links = PeerRows(analysis, TOP_PEERS), LinkRows(analysis, TOP_LINKS, selection.window)
    if late:
        yield TableSection(_late_title(late), PEERS, late, _more(late.hidden))
    if links:
        title = translate("Links: {count}, most time first", count=format_count(len(links.all_rows)))
        yield TableSection(title, LINKS, links, _more(links.hidden))


def _more(count: int) -> str:
    return counted(count, "1 with less", "{count} with less") if count else ""
