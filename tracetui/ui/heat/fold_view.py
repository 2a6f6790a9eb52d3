"""One step (or a trace without steps) as a page of text: time from left to right, then down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.fold import FoldMap, FoldPhase
from tracetui.arrays import Int64s
from tracetui.language import clauses, translate, wording
from tracetui.ui.drawing.ramp import Heat
from tracetui.ui.heat.cell_words import (
    between,
    fold_label_cells,
    fold_labels,
    gap_target,
    joined,
    line_offsets,
    mostly,
    share,
)
from tracetui.ui.heat.sheet import AnalysisMap, AxisSpans, CellTarget, GapOfCell, Sheet, SheetRow, nothing
from tracetui.units import format_duration


@dataclass(frozen=True, eq=False)
class _FoldSheet(Sheet):
    """The map at one size."""

    times: Int64s = field(default_factory=nothing)  #: int64[rows, columns + 1], ns: the edges of the cells
    phase: Int64s = field(default_factory=nothing)  #: int64[rows]


class FoldView(AnalysisMap):
    """The phases of the only step, each beginning a line."""

    heats = ((Heat.LOST, "idle"), (Heat.WAIT, "preparing"))

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._map = FoldMap.from_analysis(analysis)
        one = len(analysis.steps) == 1
        self.question = "When in the step is it idle?" if one else "When is it idle? (no steps to compare)"
        self.label_cells = fold_label_cells(self._map)

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        if not self._map.phases:
            return None
        lines = max(lines, 1)
        phase, _ = self._map.lines(lines)
        cells, edges = self._map.cells(lines, columns), self._map.edges(lines, columns)
        return _FoldSheet(
            rows=tuple(self._rows(cells.ns.sum(axis=1).tolist(), phase.tolist(), lines)),
            cells=cells,
            columns=line_offsets(cells.ns.shape[1], self._map.line_ns(lines)),
            axis="time, line by line",
            total_title="idle",
            row_spans=AxisSpans(edges[:, 0], edges[:, -1]),
            gap=GapOfCell.of_intervals(self._analysis, cells.main),
            times=edges,
            phase=phase,
        )

    def _rows(self, idle: list[int], phase: list[int], lines: int) -> Iterator[SheetRow]:
        labels = fold_labels(self._map, lines, self._analysis.trace.start_ns)
        for label, place, before, ns in zip(labels, phase, [-1, *phase], idle):
            preparing = self._map.phases[place].preparing  # totals add up to the idle time
            total = format_duration(ns).rjust(self.total_cells) if ns and not preparing else ""
            yield SheetRow(label, total, Heat.WAIT if preparing else Heat.LOST, apart=place != before >= 0)

    def answer(self) -> str:
        idle = translate("{time} idle", time=format_duration(self._analysis.idle_ns))
        phases = (phase for phase in self._map.phases if phase.name and not phase.preparing)
        phrases = (self._phase_words(phase) for phase in phases)
        words = clauses(text for text in phrases if text)
        return translate("{idle}: {phases}", idle=idle, phases=words) if words else idle

    def _phase_words(self, phase: FoldPhase) -> str:
        """Return "9.18 ms of 12.6 ms forward"; "" where it is never idle."""
        span = phase.start_ns, phase.end_ns
        ns = sum(device.idle.clip(*span).total for device in self._analysis.devices)
        of = (span[1] - span[0]) * len(self._analysis.devices)
        if not ns:
            return ""
        part, whole = format_duration(ns), format_duration(of)
        return translate("{part} of {whole} {phase}", part=part, whole=whole, phase=wording(phase.name))

    def words(self, sheet: Sheet, row: int, column: int) -> str:
        assert isinstance(sheet, _FoldSheet)
        begin, stop = sheet.times[row, column : column + 2].tolist()
        phase = self._map.phases[int(sheet.phase[row])]
        if stop <= begin:
            return translate("{phase} is over", phase=wording(phase.name))
        ns, of = int(sheet.cells.ns[row, column]), int(sheet.cells.capacity[row, column])
        origin = self._analysis.trace.start_ns
        reasons = [self._reasons.between(index, begin, stop) for index in range(len(self._analysis.devices))]
        reason = max(reasons, key=lambda candidate: candidate.idle_ns)
        what = translate("does nothing") if phase.preparing else translate("idle")
        return joined(
            wording(phase.name),
            between(begin - origin, stop - origin),
            f"{what} {share(ns, of)}",
            mostly(reason),
        )

    def target(self, sheet: Sheet, row: int, column: int) -> CellTarget | None:
        assert isinstance(sheet, _FoldSheet) and sheet.gap is not None
        begin, stop = sheet.times[row, column : column + 2].tolist()
        return gap_target(self._analysis, int(sheet.gap.gap[row, column]), begin, stop)

    def nothing(self) -> str:
        return "The devices do nothing in this trace."
