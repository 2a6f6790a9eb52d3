"""The tables of a job: why ranks were late, what each rank did, the links between them, the stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tracetui.arrays import Int64s
from tracetui.export.job_words import root_words, short_line, verdict, whose
from tracetui.job.job import Job
from tracetui.job.lines import JobLine, job_lines
from tracetui.job.links import Ends, JobLink, job_links
from tracetui.job.roots import Root
from tracetui.job.sayings import sayings
from tracetui.job.stages import Stage, job_stages
from tracetui.job.tables import RankRow, rank_rows
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.tables.columns import LONGEST, UNKNOWN, Column, name_column, number_column
from tracetui.units import format_bytes, format_count, format_duration, format_percent

#: measures of a rank: title, key, importance
_MEASURES = (
    ("stage", "stage", 1),
    ("computing", "computing", 2),
    ("comm wait", "communication_wait", 3),
    ("comm move", "communication_transfer", 3),
    ("comm", "communication_unsplit", 4),
    ("copies", "copy", 6),
    ("idle", "idle", 2),
    ("preparing", "preparing", 5),
    ("bubble", "bubble", 6),
    ("iter. gap", "iteration_gap", 7),
    ("fwd+bwd", "forward_backward", 7),
    ("tail", "tail", 7),
)


class RankTables:
    """What the tables of a job are made of."""

    def __init__(self, job: Job, palette: Palette, unread: frozenset[int] = frozenset()) -> None:
        """`unread`: numbers of ranks that are there and not read."""
        self.job, self._palette, self._unread = job, palette, unread
        self._place = {rank.number: place for place, rank in enumerate(job.ranks)}

    @cached_property
    def rows(self) -> tuple[RankRow, ...]:
        """The ranks."""
        return rank_rows(self.job)

    @cached_property
    def lines(self) -> tuple[JobLine, ...]:
        """The lines that ranks were idle for."""
        return job_lines(self.job)

    @cached_property
    def links(self) -> tuple[JobLink, ...]:
        """The links."""
        return job_links(self.job)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The stages."""
        return job_stages(self.job, self.rows)

    @cached_property
    def verdict(self) -> list[str]:
        """Who made others wait, in sentences."""
        return [*verdict(self.job, self.rows, self.job.roots, self.job.waits, self._unread)]

    @cached_property
    def notes(self) -> list[str]:
        """What must be known to read the numbers."""
        return sayings(self.job)

    @property
    def agreement(self) -> str:
        """What is said where there are no notes."""
        missing = len(self.job.missing)
        if not missing:
            return "All ranks are here and agree."
        state = "not here" if not self._unread else "not read"
        others = f"{format_count(missing)} of {format_count(self.job.world or 0)}"
        return f"The ranks read agree; {others} are {state}."

    @property
    def roots(self) -> tuple[Root, ...]:
        """Why ranks were late."""
        return self.job.roots.roots

    def columns(self, table: str) -> tuple[list[Column], int]:
        """The columns of a table by its name, and how many rows it has."""
        made: dict[str, tuple[Callable[[], list[Column]], Sequence[Any]]] = {
            "why": (self._why, self.roots),
            "lines": (self._lines, self.lines),
            "ranks": (self._ranks, self.rows),
            "links": (self._links, self.links),
            "stages": (self._stages, self.stages),
            "notes": (self._notes, self.notes),
        }
        columns, rows = made[table]
        return columns(), len(rows)

    def rank_at(self, table: str, row: int) -> int:
        """The place in the job of the rank that a row is about, -1 where it is not one that is here."""
        if table == "why":
            number = self.roots[row].rank
        elif table == "lines":
            number = self.job.ranks[self.lines[row].worst].number
        elif table == "ranks":
            number = self.rows[row].rank.number
        elif table == "links":
            number = self.links[row].ends.src
        elif table == "stages":
            number = self.stages[row].ranks[0]
        else:
            number = None
        return -1 if number is None else self._place.get(number, -1)

    def _why(self) -> list[Column]:
        roots, total = self.roots, self.job.roots.total_ns
        lost = np.array([root.lost_ns for root in roots], np.int64)
        idle = self._palette.style_of(Role.IDLE)
        return [
            _ranks_column([root.rank for root in roots]),
            _names("did", "did longer", [root_words(root, self._unread) for root in roots], width=34),
            _names("line", "Python line", [short_line(root.line) for root in roots], width=44, rank=1),
            number_column("lost_ns", "lost by others", lost, format_duration, rank=0, style=idle),
            number_column("share", "share", lost, lambda ns: format_percent(int(ns), max(total, 1)), rank=1),
            number_column(
                "collectives", "in", np.array([r.operations for r in roots], np.int64), format_count, rank=2
            ),
        ]

    def _lines(self) -> list[Column]:
        lines, job = self.lines, self.job
        idle = np.array([line.idle_ns for line in lines], np.int64)
        worst = np.array([int(line.by_rank[line.worst]) for line in lines], np.int64)
        style = self._palette.style_of(Role.IDLE)
        named = [short_line(told.line) or "(no line)" for told in lines]
        return [
            number_column("idle_ns", "idle, all ranks", idle, format_duration, style=style),
            _names("whose", "whose", [whose(job, line) for line in lines], width=18),
            _names("line", "Python line", named, width=44, rank=1),
            _names("cause", "cause", [next(iter(line.causes)) for line in lines], width=22, rank=2),
            number_column("worst_ns", "the worst", worst, format_duration, rank=3),
        ]

    def _ranks(self) -> list[Column]:
        rows = self.rows
        hosts = [row.rank.digest.identity.host for row in rows]
        columns = [_ranks_column([row.rank.number for row in rows])]
        if len(set(hosts)) > 1:
            columns.append(_names("host", "host", hosts, width=20, rank=4))
        if any(row.stage_number is not None for row in rows):
            numbers = [-1 if row.stage_number is None else row.stage_number for row in rows]
            columns.append(_known("pp", "pp", numbers, format_count, 5))
        cost = np.array([row.cost_ns for row in rows], np.int64)
        lost = np.array([row.lost_ns for row in rows], np.int64)
        idle = self._palette.style_of(Role.IDLE)
        columns.append(number_column("cost_ns", "cost others", cost, format_duration, style=idle))
        columns.append(number_column("lost_ns", "waited", lost, format_duration))
        for title, measure, rank in _MEASURES:
            means = [-1 if (mean := row.mean(measure)) is None else mean for row in rows]
            if max(means, default=-1) > 0:
                columns.append(_known(f"{measure}_ns", title, means, format_duration, rank))
        return columns

    def _links(self) -> list[Column]:
        links = self.links
        marks = ["slow" if link.slow else "" for link in links]
        style = self._palette.style_of(Role.WARNING)
        shares = np.array([np.nan if link.nominal_share is None else link.nominal_share for link in links])
        nominal = number_column(
            "nominal_share",
            "of nominal",
            shares,
            lambda share: UNKNOWN if np.isnan(share) else f"{100 * share:.0f} %",
            rank=4,
        )
        slow = [_names("slow", "beside others", marks, width=14, style=style)] if any(marks) else []
        speeds = np.array([np.nan if link.gb_per_s is None else link.gb_per_s for link in links])
        sizes = np.array([link.bytes for link in links], np.int64)
        times = np.array([link.ns for link in links], np.int64)
        return [
            _names("src", "from", [_end(link.ends, link.ends.src, link.ends.group_src) for link in links]),
            _names("dst", "to", [_end(link.ends, link.ends.dst, link.ends.group_dst) for link in links]),
            _names("transport", "by", [link.ends.transport for link in links], width=10),
            number_column("bytes", "bytes", sizes, format_bytes),
            number_column("ns", "time", times, format_duration),
            number_column(
                "gb_per_s",
                "GB/s",
                speeds,
                lambda speed: UNKNOWN if np.isnan(speed) else f"{speed:.1f}",
                width=7,
            ),
            *([] if np.isnan(shares).all() else [nominal]),
            *slow,
        ]

    def _notes(self) -> list[Column]:
        numbers = np.arange(1, len(self.notes) + 1)
        told = _names("note", "what must be known to read the numbers", self.notes, width=LONGEST)
        return [number_column("number", "", numbers, str), told]

    def _stages(self) -> list[Column]:
        stages = self.stages
        numbers = np.array([stage.number for stage in stages], np.int64)
        uneven = np.array([stage.imbalance for stage in stages])
        columns = [
            number_column("stage", "stage", numbers, format_count),
            _names("ranks", "ranks", [_listed(stage) for stage in stages], width=24, rank=3),
        ]
        for title, key in (
            ("computing, most", "computing_max_ns"),
            ("of all", "computing_sum_ns"),
            ("bubble", "bubble_ns"),
            ("receives", "receive_ns"),
            ("communication", "exposed_ns"),
        ):
            values = np.array([getattr(stage, key) for stage in stages], np.int64)
            columns.append(number_column(key, title, values, format_duration, rank=1))
        columns.append(number_column("imbalance", "uneven", uneven, lambda share: f"{100 * share:+.1f} %"))
        return columns


def _ranks_column(numbers: Sequence[int | None]) -> Column:
    known = [-1 if number is None else number for number in numbers]
    return _known("rank", "rank", known, lambda number: str(int(number)), 0)


def _known(key: str, title: str, values: Sequence[int], write: Callable[[Any], str], rank: int) -> Column:
    """A column of numbers; below 0: not known."""
    told: Int64s = np.array(values, np.int64)
    return number_column(key, title, told, lambda value: UNKNOWN if value < 0 else write(value), rank=rank)


def _names(key: str, title: str, texts: Sequence[str], **more: Any) -> Column:
    used = sorted({text for text in texts if text})
    place = {text: at for at, text in enumerate(used)}
    codes = np.array([place.get(text, -1) for text in texts], np.int32)
    return name_column(key, title, codes, used, **more)


def _end(ends: Ends, rank: int | None, group_rank: int) -> str:
    return f"rank {rank}" if rank is not None else f"peer {group_rank} of {ends.group}"


def _listed(stage: Stage) -> str:
    return ", ".join(map(str, stage.ranks))
