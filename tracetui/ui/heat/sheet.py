"""What a heat map hands to the widget that draws it, and what it tells about a cell. Knows no widget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.cells import HeatCells
from tracetui.analysis.heat.mostly import IdleReasons
from tracetui.analysis.search import pick
from tracetui.arrays import Floats, Int64s
from tracetui.ui.drawing.ramp import LEVELS, Heat
from tracetui.ui.state import TrackKey

#: the percentages that the fullest shade may stand for
_TOPS = (1, 2, 5, 10, 20, 50, 100)
#: the upper bounds of the shades, per cent of that: finer where little is, as most cells have little
_BOUNDS = (2, 5, 10, 20, 35, 50, 75, 100)

CELL_TIME = "of the time of a cell"  #: what the shares of most maps are of


class SheetRow(NamedTuple):
    """One row of a map, beside its cells."""

    label: str  #: printable
    total: str = ""
    heat: Heat = Heat.LOST
    apart: bool = False  #: a blank line stands before it, where there is room
    ranked: bool = True  #: whether its cells are among those of which one is the worst


class AxisSpans(NamedTuple):
    """The time that each column (or row) stands for, ns; marks of the timeline are put where they lie."""

    start: Int64s
    end: Int64s

    @classmethod
    def between(cls, edges: Int64s) -> AxisSpans:
        """Return the time between each edge and the next one."""
        return cls(edges[:-1], edges[1:])


def nothing() -> Int64s:
    """Return an empty grid: what of a sheet is not known before it is filled."""
    return np.empty((0, 0), np.int64)


@dataclass(frozen=True, eq=False)
class Sheet:
    """One map at one size."""

    rows: tuple[SheetRow, ...]
    cells: HeatCells
    edges: Int64s | None = None  #: int64[columns + 1], ns: the columns are time; None: they have labels
    columns: tuple[str, ...] = ()  #: printable labels of columns
    axis: str = ""  #: what the columns are, in front of them
    total_title: str = ""  #: over the totals
    dense: int | None = None  #: from this row on two rows may share a line; None: none may
    column_spans: AxisSpans | None = None
    row_spans: AxisSpans | None = None
    gap: GapOfCell | None = None
    #: int64[rows, columns]: the place of the step that each cell shows; empty where columns are time
    shown: Int64s = field(default_factory=nothing)

    def time_of(self, column: int) -> tuple[int, int]:
        """Return when a column of time begins and ends, ns."""
        assert self.edges is not None
        return int(self.edges[column]), int(self.edges[column + 1])

    @property
    def bounds(self) -> Floats:
        """float64[8]: the highest share of each shade. The last is that of the fullest cell, rounded up."""
        fullest = float(np.fmax.reduce(self.cells.share, axis=None, initial=0.0))
        top = next(top for top in _TOPS if top / 100 >= min(fullest, 1.0))
        return np.array(_BOUNDS) * top / 10_000

    @property
    def levels(self) -> Int64s:
        """int64[rows, columns]: the shade of each cell, 0 of exactly nothing, -1 where there is no cell."""
        share = self.cells.share
        known = ~np.isnan(share)
        filled = np.where(known, share, 0.0)
        level = np.minimum(np.searchsorted(self.bounds, filled) + 1, LEVELS)
        return np.where(known, np.where(filled > 0, level, 0), -1).astype(np.int64)

    @cached_property
    def ranked(self) -> Int64s:
        """The cells of lost time (row * columns + column), the worst first.

        Where cells know the gap with most of them, of those with the same gap the one with the most lost time
        counts, and cells are in the order of their gaps' idle time; else of their own.
        """
        about = np.array([row.heat in (Heat.LOST, Heat.LEAD) and row.ranked for row in self.rows], np.bool_)
        ns = np.where(about[:, None], self.cells.ns, 0).ravel()
        (cells,) = np.nonzero(ns)
        if self.gap is None:
            return cells[np.argsort(-ns[cells], kind="stable")].astype(np.int64)
        gap, worth = (grid.ravel()[cells] for grid in self.gap)
        order = np.lexsort((cells, -ns[cells], gap, -worth))
        _, first = np.unique(gap[order], return_index=True)
        return cells[order[np.sort(first)]].astype(np.int64)


class GapOfCell(NamedTuple):
    """The gap with most of each cell, and its idle ns; -1 for none, (rows, columns) each."""

    gap: Int64s
    idle: Int64s

    @classmethod
    def of_intervals(cls, analysis: Analysis, interval: Int64s) -> GapOfCell:
        """Describe the idle interval with most of each cell."""
        gap = pick(analysis.idle.gap, interval)
        return cls(gap, pick(analysis.gaps.idle, gap))


class CellTarget(NamedTuple):
    """What a cell opens in the timeline."""

    start_ns: int
    end_ns: int
    row: int = -1  #: a slice to select
    gap: int = -1  #: a gap to select
    line: TrackKey = ()  #: the line to go to where neither is selected


class Map(ABC):
    """One map: what it asks, its cells at any size, and what they tell."""

    question: str  #: the title
    unit = CELL_TIME  #: what the shades are shares of
    label_cells: int  #: of the longest label
    total_cells = len("1234 ms")  #: of the longest total
    heats: tuple[tuple[Heat, str], ...]  #: the ramps it uses and what each means

    @abstractmethod
    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        """Return the map in at most so many columns and lines; None where there is nothing to show.

        halves : whether dense rows may share a line, so that twice as many fit.
        """

    @abstractmethod
    def answer(self) -> str:
        """Return the answer to the question in one sentence."""

    @abstractmethod
    def words(self, sheet: Sheet, row: int, column: int) -> str:
        """Describe a cell in words and numbers."""


class AnalysisMap(Map):
    """One map of an analysis."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._reasons = IdleReasons(analysis)

    @abstractmethod
    def target(self, sheet: Sheet, row: int, column: int) -> CellTarget | None:
        """Return what a cell opens; None where it opens nothing."""

    @abstractmethod
    def nothing(self) -> str:
        """Say why there is no map."""
