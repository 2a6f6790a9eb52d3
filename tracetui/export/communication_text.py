"""Where the time of devices went, whom they waited for, and what moved over which link, as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.analyse import WindowSplit
from tracetui.analysis.communication.lines import LatePeer
from tracetui.analysis.communication.links import Link
from tracetui.export.ranks import group_key, group_words, rank_words
from tracetui.export.text import MARGIN, Column, table
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count, format_duration

TOP_PEERS, TOP_LINKS = 5, 8  #: rows listed
PEER_TITLES = ("waited", "exposed", "longest", "collectives", "for")
LINK_TITLES = ("moved", "in", "GB/s", "by", "link")


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


def late_title(peers: Sequence[LatePeer]) -> str:
    """ "Late ranks: waited 95.5 ms for them, 91.7 ms of it exposed" """
    waited, exposed = (sum(map(attrgetter(key), peers)) for key in ("wait_ns", "exposed_ns"))
    return f"Late ranks: waited {format_duration(waited)} for them, {format_duration(exposed)} of it exposed"


def late_row(analysis: Analysis, late: LatePeer) -> list[str]:
    """The cells of PEER_TITLES; the last is as written in the trace: never print it unescaped."""
    return [
        format_duration(late.wait_ns),
        format_duration(late.exposed_ns),
        format_duration(late.longest_ns),
        format_count(late.operations),
        rank_words(_group(analysis, late.group), late.peer, late.global_rank, late.ring),
    ]


def late_lines(analysis: Analysis, width: int) -> list[str]:
    """The table of late ranks and its title, line by line; [] where nobody was late."""
    peers = analysis.communication.late_peers
    if not peers:
        return []
    columns = [Column(title) for title in PEER_TITLES[:-1]] + [Column("for", right=False, shrink_to=16)]
    rows = [_printable(late_row(analysis, late)) for late in peers[:TOP_PEERS]]
    return [late_title(peers), *table(columns, rows, width), *_more(len(peers) - TOP_PEERS)]


def links_between_ranks(analysis: Analysis) -> list[Link]:
    """The links that lead to another rank, those first whose transfers took longest."""
    links = (link for link in analysis.communication.link_table if link.src != link.dst)
    return sorted(links, key=lambda link: (-link.ns, link.group, link.src, link.dst))


def links_title(links: Sequence[Link]) -> str:
    """ "Links: 7, most time first" """
    return f"Links: {format_count(len(links))}, most time first"


def link_row(analysis: Analysis, link: Link) -> list[str]:
    """The cells of LINK_TITLES; the last is as written in the trace: never print it unescaped."""
    speed = link.gb_per_s
    return [
        format_bytes(link.bytes),
        format_duration(link.ns),
        "-" if speed is None else f"{speed:.1f}",
        link.transport,
        _link_words(analysis, link),
    ]


def link_lines(analysis: Analysis, width: int) -> list[str]:
    """The table of links and its title, line by line; [] where the trace does not show what moved."""
    links = links_between_ranks(analysis)
    if not links:
        return []
    columns = [*map(Column, LINK_TITLES[:3]), Column("by", right=False)]
    columns.append(Column("link", right=False, shrink_to=16))
    rows = [_printable(link_row(analysis, link)) for link in links[:TOP_LINKS]]
    return [links_title(links), *table(columns, rows, width), *_more(len(links) - TOP_LINKS)]


def _link_words(analysis: Analysis, link: Link) -> str:
    """ "peer 0 to 5 of group 271", "rank 8 to 13 of dp group" """
    group = analysis.communication.groups.get(link.group)
    ends = (link.src, link.dst)
    known = [None if group is None else group.global_rank(end) for end in ends]
    src, dst = ends if None in known else known
    return f"{'peer' if None in known else 'rank'} {src} to {dst} of {_group(analysis, link.group)}"


def _group(analysis: Analysis, track: int) -> str:
    group = analysis.communication.groups.get(track)
    return "no group" if group is None else group_words(group_key(analysis.trace, group), group.name)


def _printable(row: list[str]) -> list[str]:
    return [*row[:-1], printable(row[-1])]


def _more(count: int) -> list[str]:
    return [f"{MARGIN}{format_count(count)} with less"] if count > 0 else []
