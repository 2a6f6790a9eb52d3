"""One step (or a trace without steps) as a page of text: time from left to right, then down."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.fold import FoldMap, FoldPhase
from tracetui.analysis.heat.mostly import IdleReasons
from tracetui.arrays import Int64s
from tracetui.export.text import padded
from tracetui.language import clauses, translate, wording
from tracetui.ui.drawing.ramp import Heat
from tracetui.ui.heat.cell_words import between, gap_target, joined, line_offsets, mostly, share
from tracetui.ui.heat.sheet import CELL_TIME, AxisSpans, CellTarget, GapOfCell, Sheet, SheetRow, nothing
from tracetui.units import format_duration, format_time


@dataclass(frozen=True, eq=False)
class _FoldSheet(Sheet):
    """The map at one size."""

    times: Int64s = field(default_factory=nothing)  #: int64[rows, columns + 1], ns: the edges of the cells
    phase: Int64s = field(default_factory=nothing)  #: int64[rows]


class FoldView:
    """The phases of the only step, each beginning a line."""

    unit = CELL_TIME
    heats = ((Heat.LOST, "idle"), (Heat.WAIT, "preparing"))
    total_cells = len("1234 ms")

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._map = FoldMap.from_analysis(analysis)
        self._reasons = IdleReasons(analysis)
        one = len(analysis.steps) == 1
        self.question = "When in the step is it idle?" if one else "When is it idle? (no steps to compare)"
        names = [wording(phase.name) for phase in self._map.phases]
        self.label_cells = max((cell_len(name) for name in names), default=0) + len(" 0.12345 s")

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        if not self._map.phases:
            return None
        lines = max(lines, 1)
        length, (phase, start) = self._map.line_ns(lines), self._map.lines(lines)
        cells, edges = self._map.cells(lines, columns), self._map.edges(lines, columns)
        return _FoldSheet(
            rows=self._rows(cells.ns.sum(axis=1).tolist(), phase.tolist(), start.tolist(), length),
            cells=cells,
            columns=line_offsets(cells.ns.shape[1], length),
            axis="time, line by line",
            total_title="idle",
            row_spans=AxisSpans(edges[:, 0], edges[:, -1]),
            gap=GapOfCell.of_intervals(self._analysis, cells.main),
            times=edges,
            phase=phase,
        )

    def _rows(self, idle: list[int], phase: list[int], start: list[int], length: int) -> tuple[SheetRow, ...]:
        rows, before = [], -1
        for place, begin, ns in zip(phase, start, idle):
            line_phase = self._map.phases[place]
            name = wording(line_phase.name) if place != before else ""
            time = format_time(begin - self._analysis.trace.start_ns, max(length // 2, 1))
            heat = Heat.WAIT if line_phase.preparing else Heat.LOST
            is_idle = ns and not line_phase.preparing  # totals add up to the idle time
            total = format_duration(ns).rjust(self.total_cells) if is_idle else ""
            rows.append(
                SheetRow(
                    f"{padded(name, self.label_cells - len(time) - 1)} {time}",
                    total,
                    heat,
                    place != before >= 0,
                )
            )
            before = place
        return tuple(rows)

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
