"""The tables of a job: why ranks were late, what each rank did, the links between them, the stages."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.idle.cause import Cause
from tracetui.export.sentences.job import job_time, loss_sentences
from tracetui.export.sentences.notes import job_notes
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import (
    LINES,
    PRINTED_MEASURES,
    RANKS,
    ROOTS,
    VIEWED_MEASURES,
    JobRows,
    RankRows,
    RootRows,
)
from tracetui.export.tables.job_links import LINKS, STAGES
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job
from tracetui.job.losses import find_job_losses
from tracetui.job.network_links import JobLink, job_links
from tracetui.job.rank_table import DIFFERS, RankRow, differing, rank_rows
from tracetui.job.stages import Stage, job_stages
from tracetui.job.whatif.fixes import Fix, Target
from tracetui.job.whatif.row_fixes import RowFixes, link_fix
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.glyphs import BLOCKS, Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import wrapped
from tracetui.ui.tables.columns import GAP, UNKNOWN, ViewColumn, with_line_number
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out
from tracetui.units import format_count, format_duration

#: How important the measures of a rank are, and short titles of those that are not printed.
_IMPORTANCE = (1, 2, 3, 3, 4, 6, 2, 5, 6, 7, 7, 7)
_TITLES = {**PRINTED_MEASURES, "iteration_gap": "iter. gap", "forward_backward": "fwd+bwd"}
_MEASURES = tuple(
    ColumnLook(f"{name}_ns", rank, title=_TITLES.get(name, ""), write=format_duration)
    for name, rank in zip(VIEWED_MEASURES, _IMPORTANCE)
)
#: Stands for the column of what a step gains by the fix of each row.
_SAVES = ColumnLook("saves_ns", 0)
_SAVES_CELLS = 14


class _JobTable(NamedTuple):
    """A table of a job, and what its rows stand for."""

    table: Table[Any]
    rows: JobRows
    fix: Callable[[Any], Fix | None]
    rank: Callable[[Any], int | None]  #: number of the rank that a row is about
    places: tuple[ColumnPlace, ...]  #: of the columns that come first


class RankTables:
    """What the tables of a job are made of."""

    def __init__(
        self, job: Job, palette: Palette, unread: frozenset[int] = frozenset(), glyphs: Glyphs = BLOCKS
    ) -> None:
        """Lay out the tables of a job; `unread`: numbers of ranks that are there and not read."""
        self.job, self._palette, self._unread, self._glyphs = job, palette, unread, glyphs
        self.saves: dict[str, dict[Fix, int] | None] = {}  #: by table; None: no replay tells
        self.error = 0.0  #: of the replay that tells
        self._place: dict[int | None, int] = {rank.number: place for place, rank in enumerate(job.ranks)}

    @cached_property
    def rows(self) -> tuple[RankRow, ...]:
        """The ranks."""
        return rank_rows(self.job)

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
        job, rows = self.job, self.rows
        losses = find_job_losses(job, rows, job.waits, self.links, self.stages)
        return [*loss_sentences(job, rows, job.root_breakdown, job.waits, losses, self._unread)]

    def finding(self, table: str) -> str:
        """Return what a table has found, "2 slow", to be shown with its name; "" where nothing."""
        if table == "links":
            slow = sum(link.slow for link in self.links)
            return translate("{count} slow", count=format_count(slow)) if slow else ""
        if table == "stages":
            uneven = any(stage.imbalance * 100 > DIFFERS for stage in self.stages)
            return translate("uneven") if uneven else ""
        if table == "ranks":
            return translate("differ") if differing(self.rows) else ""
        return ""

    @cached_property
    def notes(self) -> list[str]:
        """What must be known to read the numbers."""
        return job_notes(self.job)

    @property
    def agreement(self) -> str:
        """What is said where there are no notes."""
        missing = len(self.job.missing)
        if self.job.is_whole:
            return translate("All ranks are here and agree.")
        if not missing:
            return translate("The ranks here agree; whether there are more is not known.")
        state = "not here" if not self._unread else "not read"
        of_world = "The ranks read agree; {missing} of {world} are {state}."
        if self.job.world_is_least:
            of_world = "The ranks read agree; {missing} of at least {world} are {state}."
        return translate(
            of_world,
            missing=format_count(missing),
            world=format_count(self.job.world or 0),
            state=translate(state),
        )

    def fixes(self, table: str) -> list[Fix | None]:
        """Return the fix that each row of a table stands for; None where no fix is known."""
        found = self._tables.get(table)
        return [] if found is None else [*map(found.fix, found.rows.rows)]

    def _saves(self, table: str) -> ViewColumn:
        """Return the column of what a step gains by the fix of each row, as replayed."""
        fixes, saves = self.fixes(table), self.saves.get(table)
        known = [None if fix is None or saves is None else saves.get(fix) for fix in fixes]
        values = np.array([np.nan if ns is None else max(ns, 0) for ns in known], np.float64)
        waits = table not in self.saves
        words = ["…" if fix is not None and waits else UNKNOWN for fix in fixes]
        title = (
            translate("saves")
            if saves is None
            else translate("saves ±{error} %", error=f"{self.error * 100:.1f}")
        )

        def draw(row: int, _: int) -> str:
            ns = known[row]
            return words[row] if ns is None else format_duration(max(ns, 0))

        width = max(cell_len(title) + 2, _SAVES_CELLS)
        return ViewColumn(
            "saves_ns",
            title,
            values,
            draw,
            width,
            style=self._palette.style_of(Role.GOOD),
            plain=known.__getitem__,
        )

    def columns(self, table: str, width: int) -> tuple[list[ViewColumn], int]:
        """Return the columns of a table of a width by its name, and how many rows it has."""
        if table == "notes":
            return self._notes(width)
        found = self._tables[table]
        places = [self._saves(table) if place is _SAVES else place for place in found.places]
        columns = laid_out(found.table, found.rows, [*places, ...])
        ellipsis = self._glyphs.ellipsis
        return [
            with_line_number(column, ellipsis) if column.key == "line" else column for column in columns
        ], len(found.rows.rows)

    def contents(self, table: str) -> tuple[Table[Any], JobRows] | None:
        """Return a table by its name, and its rows; None of what has no ids."""
        found = self._tables.get(table)
        return None if found is None else (found.table, found.rows)

    @cached_property
    def _tables(self) -> dict[str, _JobTable]:
        """The tables by their names; notes are none."""
        job, idle = self.job, self._palette.style_of(Role.IDLE)
        warning = self._palette.style_of(Role.WARNING)
        fixes, several = RowFixes(job, self.stages), len(self.rows) > 1
        names = {cause.label: cause_name(cause) for cause in Cause}
        return {
            "why": _JobTable(
                ROOTS,
                RootRows(job, job.root_breakdown.roots, job_time(self.rows), self._unread),
                fixes.of_root,
                lambda root: root.rank,
                (
                    ColumnLook("rank", 1),
                    ColumnLook("did", 0, width=34, title="did longer"),
                    ColumnLook("line", 1, width=44),
                    ColumnLook("lost_ns", 0, style=idle, title="lost by others"),
                    _SAVES,
                    ColumnLook("share", 1),
                    ColumnLook("collectives", 2, title="collectives"),
                ),
            ),
            "lines": _JobTable(
                LINES,
                JobRows(job, job_lines(job)),
                fixes.of_line,
                lambda line: job.ranks[line.worst].number,
                (
                    ColumnLook("idle_ns", 0, style=idle, title="idle, all ranks"),
                    _SAVES,
                    ColumnLook("whose", 1, width=18),
                    ColumnLook("line", 0, width=44),
                    ColumnLook("cause", 2, least=13, show=lambda label: names.get(label, label)),
                    ColumnLook("worst_ns", 3, title="the worst"),
                ),
            ),
            "ranks": _JobTable(
                RANKS,
                RankRows(job, self.rows),
                lambda row: Fix(Target.RANK, rank=row.rank.number) if several else None,
                lambda row: row.rank.number,
                (
                    ColumnLook("rank", 0),
                    ColumnLook("host", 4, width=20),
                    ColumnLook("pp", 5),
                    ColumnLook("cost_ns", 0, style=idle, title="cost others", write=format_duration),
                    ColumnLook("lost_ns", 0, title="waited", write=format_duration),
                    _SAVES,
                    *_MEASURES,
                ),
            ),
            "links": _JobTable(
                LINKS,
                JobRows(job, self.links),
                link_fix,
                lambda link: link.ends.src,
                (
                    ColumnLook("src", 0),
                    ColumnLook("dst", 0),
                    ColumnLook("transport", 0, width=10),
                    ColumnLook("bytes", 0, title="bytes"),
                    ColumnLook("ns", 0, title="time"),
                    ColumnLook("gb_per_s", 0, width=7),
                    ColumnLook("nominal_share", 4),
                    ColumnLook("slow", 0, width=14, style=warning, title="beside others"),
                    _SAVES,
                ),
            ),
            "stages": _JobTable(
                STAGES,
                JobRows(job, self.stages),
                lambda stage: Fix(Target.STAGE, stage=stage.number),
                lambda stage: stage.ranks[0],
                (
                    ColumnLook("stage", 0),
                    ColumnLook("ranks", 3, width=24),
                    ColumnLook("computing_max_ns", 1, title="computing, most"),
                    ColumnLook("computing_sum_ns", 1),
                    ColumnLook("bubble_ns", 1),
                    ColumnLook("receive_ns", 1, title="receives"),
                    ColumnLook("exposed_ns", 1),
                    ColumnLook("imbalance", 0, title="uneven"),
                    _SAVES,
                ),
            ),
        }

    def rank_at(self, table: str, row: int) -> int:
        """Return the place in the job of the rank that a row is about, -1 where it is not here."""
        found = self._tables.get(table)
        number = None if found is None else found.rank(found.rows.rows[row])
        return self._place.get(number, -1)

    def _notes(self, width: int) -> tuple[list[ViewColumn], int]:
        """Return the notes in as many lines as they take, and how many these are."""
        cells = len(str(len(self.notes)))
        room = max(width - cells - GAP, 20)
        lines = [
            ("" if at else str(number), text)
            for number, note in enumerate(self.notes, 1)
            for at, text in enumerate(wrapped(printable(note), room))
        ]
        order = np.arange(len(lines))
        title = "what must be known to read the numbers"
        return [
            ViewColumn("number", "", order, lambda row, _: lines[row][0], cells),
            ViewColumn("note", title, order, lambda row, _: lines[row][1], room, right=False),
        ], len(lines)
