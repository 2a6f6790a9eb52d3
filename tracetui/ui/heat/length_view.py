"""Many small gaps or few large: the length of gaps down, time across."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tracetui.analysis.heat.lengths import LengthMap, half_of_idle
from tracetui.analysis.raster import even_edges
from tracetui.arrays import Int64s
from tracetui.language import translate
from tracetui.ui.drawing.ramp import Heat
from tracetui.ui.heat.cell_words import between, gap_target, joined, line_totals, mostly, share
from tracetui.ui.heat.sheet import AnalysisMap, AxisSpans, CellTarget, GapOfCell, Sheet, SheetRow, nothing
from tracetui.units import format_count, format_duration

#: gaps for each line of the screen from which two rows share a line
MANY = 40


@dataclass(frozen=True, eq=False)
class _LengthSheet(Sheet):
    """The map at one size."""

    lengths: Int64s = field(default_factory=nothing)  #: int64[rows + 1], ns: see `LengthMap`


class LengthView(AnalysisMap):
    """Idle time by the length of its gap over time."""

    question = "Many small gaps or few large?"
    heats = ((Heat.LOST, "idle"),)
    label_cells = len(">= 1.00 ms")
    total_cells = len("123,456 gaps 1234 ms")

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        trace = self._analysis.trace
        many = halves and len(self._analysis.gaps) >= MANY * lines
        lengths = LengthMap.from_analysis(self._analysis, lines * 2 if many else lines)
        if not len(lengths.gaps):
            return None
        edges = even_edges(trace.start_ns, trace.end_ns, columns)
        cells = lengths.cells(edges)
        return _LengthSheet(
            rows=tuple(self._rows(lengths, 2 if many else 1)),
            cells=cells,
            edges=edges,
            axis="length",
            total_title="gaps    idle",
            dense=0 if many else None,
            column_spans=AxisSpans.between(edges),
            gap=GapOfCell.of_intervals(self._analysis, cells.main),
            lengths=lengths.bounds,
        )

    def _rows(self, lengths: LengthMap, rows_a_line: int) -> Iterator[SheetRow]:
        """Yield rows with round lengths as labels, and totals of the `rows_a_line` rows that share a line."""
        bounds = lengths.bounds.tolist()
        totals = (line_totals(values, rows_a_line) for values in (lengths.gaps, lengths.idle))
        for high, low, gaps, idle in zip(bounds, bounds[1:], *totals):
            power = 10 ** (len(str(high - 1)) - 1)
            label = next((factor * power for factor in (5, 2, 1) if low <= factor * power < high), None)
            text = "" if label is None else format_duration(label).rjust(self.label_cells - 2)
            total = f"{format_count(gaps):>7} {format_duration(idle):>8}" if gaps else ""
            yield SheetRow(text, total)

    def answer(self) -> str:
        count, shortest = half_of_idle(self._analysis)
        gaps = int(np.count_nonzero(self._analysis.gaps.idle))
        whole = format_duration(self._analysis.idle_ns)
        if not count:
            return translate("never idle")
        if gaps == 1:
            return translate("all {whole} idle is in one gap", whole=whole)
        return translate(
            "half of {whole} idle is in the longest of {gaps} idle gaps, {shortest} and more"
            if count == 1
            else "half of {whole} idle is in the {count} longest of {gaps} idle gaps, {shortest} and more",
            whole=whole,
            count=format_count(count),
            gaps=format_count(gaps),
            shortest=format_duration(shortest),
        )

    def words(self, sheet: Sheet, row: int, column: int) -> str:
        assert isinstance(sheet, _LengthSheet)
        begin, stop = sheet.time_of(column)
        origin, ns = self._analysis.trace.start_ns, int(sheet.cells.ns[row, column])
        low, high = (format_duration(int(bound)) for bound in sheet.lengths[[row + 1, row]])
        detail = ""
        interval = int(sheet.cells.main[row, column])
        if interval >= 0:
            idle = self._analysis.idle
            gap = int(idle.gap[interval])
            device = int(idle.device[interval])
            start, end = max(begin, int(idle.start[interval])), min(stop, int(idle.end[interval]))
            longest = format_duration(int(self._analysis.gaps.idle[gap]))
            detail = joined(
                translate("most in one of {time}", time=longest),
                mostly(self._reasons.between(device, start, end)),
            )
        return joined(
            translate("gaps of {low} to {high}", low=low, high=high),
            between(begin - origin, stop - origin),
            translate("idle {time}", time=share(ns, int(sheet.cells.capacity[row, column]))),
            detail,
        )

    def target(self, sheet: Sheet, row: int, column: int) -> CellTarget | None:
        assert sheet.gap is not None
        gap = int(sheet.gap.gap[row, column])
        return gap_target(self._analysis, gap, *sheet.time_of(column))

    def nothing(self) -> str:
        return "No gap: the devices were never idle."
