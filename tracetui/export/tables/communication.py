"""The tables of communication: the ranks that came late, and what moved over which link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.speeds import link_parts, nominal_speeds, slow_links
from tracetui.arrays import Bools, Floats
from tracetui.export.sentences.ranks import group_key, group_words, rank_words
from tracetui.export.tables.column import Column, Form, Table, count, data, duration, listed, size, worded
from tracetui.export.tables.common import (
    FirstRows,
    flag_column,
    optional_floats,
    optional_numbers,
    share_words,
    texts_by,
    texts_of,
    values_of,
)
from tracetui.language import translate


class _GroupRows(FirstRows):
    """Rows that are of communication groups."""

    def __init__(self, analysis: Analysis, all_rows: Sequence[Any], top: int) -> None:
        super().__init__(all_rows, top)
        self.analysis = analysis

    def keys(self) -> list[str | None]:
        """Return the number of the group of each row; None where it is not known."""
        groups = self.analysis.communication.groups
        found = [groups.get(row.group) for row in self.rows]
        return [None if group is None else group_key(self.analysis.trace, group) for group in found]

    def names(self) -> list[str | None]:
        """Return what the group of each row is for, None where nothing tells."""
        groups = self.analysis.communication.groups
        return [groups[row.group].name or None if row.group in groups else None for row in self.rows]

    def groups(self) -> list[str]:
        """Return what the group of each row is called: never print it unescaped."""
        return [group_words(key, name) for key, name in zip(self.keys(), self.names())]


class PeerRows(_GroupRows):
    """The ranks that were late, those first that were waited for longest."""

    def __init__(self, analysis: Analysis, top: int = 0) -> None:
        super().__init__(analysis, analysis.communication.late_peers, top)

    def peer_names(self) -> list[str | None]:
        """Return what each rank is called, "peer 5 of group 271"."""
        return [
            rank_words(group, late.peer, late.global_rank, late.ring)
            for group, late in zip(self.groups(), self.rows)
        ]


class LinkRows(_GroupRows):
    """The links that lead to another rank, those first whose transfers took longest."""

    def __init__(self, analysis: Analysis, top: int = 0, window: tuple[int, int] | None = None) -> None:
        """Take the links of the transfers that start in `window`, [start, end) in epoch ns; None: of all."""
        communication = analysis.communication
        table = communication.link_table if window is None else communication.links_in_window(*window)
        links = (link for link in table if link.src != link.dst)
        ranked = sorted(links, key=lambda link: (-link.ns, link.group, link.src, link.dst))
        super().__init__(analysis, ranked, top)

    def ranks(self, end: str) -> list[int | None]:
        """Return the rank in the job of one end of each, `src` or `dst`; None where not known."""
        groups = self.analysis.communication.groups
        found = [(groups.get(link.group), getattr(link, end)) for link in self.rows]
        return [None if group is None else group.global_rank(rank) for group, rank in found]

    @cached_property
    def nominal(self) -> Floats:
        """float64[rows]: GB/s that each is built for; -1 where no table tells."""
        return optional_floats(nominal_speeds(self.analysis.trace, self.all_rows))[: len(self.rows)]

    @cached_property
    def share(self) -> Floats:
        """float64[rows]: the speed of each beside that; -1 where either is not known."""
        known = (self.nominal > 0) & (self.speed >= 0)
        return np.where(known, self.speed / np.where(known, self.nominal, 1), -1)

    @cached_property
    def speed(self) -> Floats:
        """float64[rows]: GB/s of each; -1 where it took no time."""
        return optional_floats(link.gb_per_s for link in self.rows)

    @cached_property
    def slow(self) -> Bools:
        """bool[rows]: which are slower than those alike."""
        return np.array(slow_links([*map(link_parts, self.all_rows)]), np.bool_)[: len(self.rows)]

    def link_names(self) -> list[str | None]:
        """Return where each link leads: "peer 0 to 5 of group 271", "rank 8 to 13 of dp group"."""
        words: list[str | None] = []
        for link, src, dst, group in zip(self.rows, self.ranks("src"), self.ranks("dst"), self.groups()):
            path, ends = "rank {src} to {dst} of {group}", (src, dst)
            if None in ends:
                path, ends = "peer {src} to {dst} of {group}", (link.src, link.dst)
            words.append(translate(path, src=ends[0], dst=ends[1], group=group))
        return words


def _group_columns() -> tuple[Column[Any], ...]:
    return (
        data("group", lambda rows: listed(rows.keys())),
        data("group_name", lambda rows: listed(rows.names())),
    )


def _number(key: str, numbers: Callable[[Any], Sequence[int | None]]) -> Column[Any]:
    return data(key, lambda rows: optional_numbers(numbers(rows)), optional=True)


PEERS: Table[PeerRows] = Table(
    columns=(
        *_group_columns(),
        data("group_rank", values_of("peer")),
        _number("rank", lambda rows: [late.global_rank for late in rows.rows]),
        flag_column("ring"),
        count("operations", "collectives", values_of("operations")),
        duration("wait_ns", "waited", values_of("wait_ns")),
        duration("exposed_ns", "exposed", values_of("exposed_ns")),
        duration("longest_ns", "longest", values_of("longest_ns")),
        Column("called", "for", lambda rows: listed(rows.peer_names()), forms=Form.SHOWN),
    ),
    order=("wait_ns", "exposed_ns", "longest_ns", "operations", ..., "called"),
    kind="peer",
    identity=("group", "group_rank"),
)
LINKS: Table[LinkRows] = Table(
    columns=(
        *_group_columns(),
        data("src", values_of("src")),
        data("dst", values_of("dst")),
        _number("src_rank", lambda rows: rows.ranks("src")),
        _number("dst_rank", lambda rows: rows.ranks("dst")),
        Column("transport", "by", texts_of("transport"), trusted=True),
        data("link_type", texts_by(lambda link: link.link_type or None)),
        size("bytes", "moved", values_of("bytes")),
        duration("dur_ns", "in", values_of("ns")),
        Column("gb_per_s", "GB/s", lambda rows: rows.speed, lambda speed, _: f"{speed:.1f}", optional=True),
        data("nominal_gb_per_s", lambda rows: rows.nominal, optional=True),
        Column(
            "nominal_share",
            "of nominal",
            lambda rows: rows.share,
            lambda share, _: share_words(share),
            optional=True,
            stacked="of\nnominal",
            when=lambda rows, _: bool((rows.share >= 0).any()),
        ),
        data("slow", lambda rows: rows.slow),
        worded(
            "slowness",
            "slow",
            lambda rows: ["slow" if slow else "" for slow in rows.slow.tolist()],
            when=lambda rows, _: bool(rows.slow.any()),
        ),
        Column("called", "link", lambda rows: listed(rows.link_names()), forms=Form.SHOWN),
    ),
    order=("bytes", "dur_ns", "gb_per_s", "nominal_share", ..., "transport", "slowness", "called"),
    kind="link",
    identity=("group", "src", "dst"),
)
