"""The ranks of a job as a heat map: ranks down, steps across, or time where there are no steps to compare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.heat.cells import HeatCells, share_columns
from tracetui.analysis.raster import even_edges
from tracetui.export.sentences.job import late_words, passes_on, root_with_line
from tracetui.export.sentences.rank_labels import IDLE_BY_TIME, LEGENDS, QUESTIONS, absent_label, labels
from tracetui.job.absent_ranks import absent_ranks
from tracetui.job.grids import GridMeasure, job_span, measure_by_step, measure_by_time
from tracetui.job.job import Job
from tracetui.job.roots import Root
from tracetui.language import translate, wording
from tracetui.trace.clean import printable
from tracetui.ui.drawing.ramp import Heat
from tracetui.ui.heat.cell_words import between, joined, share
from tracetui.ui.heat.sheet import CELL_TIME, Map, Sheet, SheetRow
from tracetui.units import format_duration, format_percent

AROUND = 4  #: times a cell of time that is shown before and after it


class MeasureWords(NamedTuple):
    """How a measure is spoken of."""

    name: str  #: in the list of maps
    time_words: str  #: what its time is
    unit: str = CELL_TIME
    heat: Heat = Heat.LOST


WORDS = {
    GridMeasure.COST: MeasureWords("late", "others waited for it", "of the time of the others"),
    GridMeasure.WAITED: MeasureWords("waits", "it waited for others"),
    GridMeasure.IDLE: MeasureWords("idle", "idle"),
    GridMeasure.COMMUNICATION: MeasureWords("communication", "exposed communication"),
    GridMeasure.COPY: MeasureWords("copies", "exposed copies"),
    GridMeasure.COMPUTING: MeasureWords("computing", "computing", heat=Heat.WORK),
}


class RankPlace(NamedTuple):
    """What a cell stands for."""

    rank: int  #: place in the job
    start_ns: int  #: on the clock of the rank
    end_ns: int


def place_of_step(job: Job, rank: int, step: int) -> RankPlace:
    """Return a step of a rank (its place in the job), by number; all of the rank where it lacks the step.

    With its preparing, for a rank is most often late by what lies before its first task.
    """
    digest = job.ranks[rank].digest
    steps = digest.steps.at(digest.steps.number == step)
    if not len(steps):
        return RankPlace(rank, digest.start, digest.end)
    return RankPlace(rank, int(steps.start[0] - steps.preparing[0]), int(steps.end[0]))


class RankView(Map):
    """One measure of all ranks."""

    total_cells = len("1234 ms 100.0 %")

    def __init__(self, job: Job, measure: GridMeasure, answer: str, unread: frozenset[int]) -> None:
        """Show one measure of a job.

        Args:
            answer: what is to be said of the job above the map.
            unread: numbers of ranks that are there and not read.
        """
        self.job, self.measure, self._unread = job, measure, unread
        self.absent = absent_ranks(job) if measure is GridMeasure.COST else ()
        self._absent = [rank.waits for rank in self.absent]
        self._answer = answer
        self._words = WORDS[measure]
        self.whole = job_span(job)  #: from the first moment of any rank to the last one, aligned ns
        self._by_step = len(job.steps) > 1
        self._ns, self._of = measure_by_step(job, measure, self._absent)
        if not self._by_step:
            edges = np.array(self.whole, np.int64)
            self._ns, self._of = measure_by_time(job, measure, edges, self._absent)
            if measure is GridMeasure.IDLE:
                self._words = self._words._replace(time_words=IDLE_BY_TIME)
        self.question, self.unit = QUESTIONS[measure], self._words.unit
        self.heats = ((self._words.heat, LEGENDS.get(measure, self._words.time_words)),)
        self.labels = labels(job) + tuple(absent_label(rank, unread) for rank in self.absent)
        self.label_cells = max(map(cell_len, self.labels))
        sums = zip(self._ns.sum(axis=1).tolist(), self._of.sum(axis=1).tolist())
        totals = (f"{format_duration(ns):>7} {format_percent(ns, max(of, 1)):>7}" for ns, of in sums)
        self._rows = tuple(
            SheetRow(name, total, self._words.heat) for name, total in zip(self.labels, totals)
        )
        self._moments = _moments(job)
        self._gained: dict[int, list[Root]] = {}  # what each rank did longer, by its number, most first
        for root in job.root_breakdown.roots:
            if root.rank is not None:
                self._gained.setdefault(root.rank, []).append(root)

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet:
        total_title = self._words.name
        if not self._by_step:
            edges = even_edges(*self.whole, columns)
            ns, of = measure_by_time(self.job, self.measure, edges, self._absent)
            return Sheet(self._rows, HeatCells.of_totals(ns, of), edges, axis="time", total_title=total_title)
        shared = share_columns(len(self.job.steps), columns)
        cells, shown = shared.columns(HeatCells.of_totals(self._ns, self._of))
        names = tuple(str(self.job.steps[place]) for place in shared.first[:-1].tolist())
        return Sheet(self._rows, cells, columns=names, axis="step", total_title=total_title, shown=shown)

    def answer(self) -> str:
        return self._answer

    def words(self, sheet: Sheet, row: int, column: int) -> str:
        ns, of = int(sheet.cells.ns[row, column]), int(sheet.cells.capacity[row, column])
        if sheet.edges is not None:
            start = int(sheet.edges[0])
            where = between(*(time - start for time in sheet.time_of(column)))
        else:
            step = int(sheet.shown[row, column])
            where = translate("step {number}", number=self.job.steps[step])
            if self._ns.shape[1] > sheet.cells.ns.shape[1]:
                where += translate(", the worst of its column")
            ns, of = int(self._ns[row, step]), int(self._of[row, step])
        what = f"{wording(self._words.time_words)} {share(ns, of)}" if of else translate("not recorded")
        return joined(self._name(row), where, what, self._why(row))

    def _why(self, row: int) -> str:
        """Say what made the rank late most of all."""
        if self.measure is not GridMeasure.COST or row >= len(self.job.ranks):
            return ""
        gained = self._gained.get(self.job.ranks[row].number, [])
        if passes_on(int(self._ns[row].sum()), gained):
            waited = self.job.waits.wait_ns[self.job.waits.rank_place == row].any()
            return translate("mostly because it waited itself") if waited else ""
        if not gained:
            return ""
        return printable(translate("mostly {why}", why=root_with_line(gained[0])), 80)

    def _name(self, row: int) -> str:
        """Name the rank of a row; of a missing one also its group."""
        here = len(self.job.ranks)
        if row < here:
            return self.labels[row]
        return printable(late_words(self.absent[row - here].late, self._unread), 80)

    def place(self, sheet: Sheet, row: int, column: int) -> RankPlace | None:
        """Return what a cell opens; None of a missing rank."""
        if row >= len(self.job.ranks):
            return None
        ahead = int(self.job.clocks.offset[row])
        if sheet.edges is not None:
            start, end = sheet.time_of(column)
            around = AROUND * (end - start)
            return RankPlace(row, start + ahead - around, end + ahead + around)
        return place_of_step(self.job, row, self.job.steps[int(sheet.shown[row, column])])

    def moment(self, sheet: Sheet, column: int) -> tuple[int, int]:
        """Return from when to when any rank was in the step of a column; all where columns are time."""
        if not self._by_step:
            return self.whole
        row = np.argmax(sheet.cells.capacity[:, column])
        return self._moments[int(sheet.shown[row, column])]


def _moments(job: Job) -> list[tuple[int, int]]:
    """Return from when to when any rank was in each step of a job, aligned ns."""
    steps = np.array(job.steps, np.int64)
    first, last = (np.full(len(steps), bound, np.int64) for bound in (_LATEST, -_LATEST))
    for rank, ahead in zip(job.ranks, job.clocks.offset.tolist()):
        rank_steps = rank.digest.steps
        place = np.searchsorted(steps, rank_steps.number)
        np.minimum.at(first, place, rank_steps.start - ahead)
        np.maximum.at(last, place, rank_steps.end - ahead)
    return list(zip(first.tolist(), last.tolist()))


_LATEST = np.iinfo(np.int64).max
