"""Which cause, when: causes down, steps across, or time where there are no steps to compare."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.cause_map import CauseMap
from tracetui.analysis.heat.cells import HeatCells, share_columns
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.raster import even_edges
from tracetui.language import clauses, translate
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.ramp import Heat
from tracetui.ui.heat.cell_words import between, frame_words, gap_target, joined, share, step_names
from tracetui.ui.heat.sheet import AnalysisMap, AxisSpans, CellTarget, Sheet, SheetRow
from tracetui.units import format_duration, format_percent


class CauseView(AnalysisMap):
    """The causes of idle time by step, or by time."""

    question = "Which cause, when?"
    heats = ((Heat.LOST, "idle"),)
    total_cells = len("1234 ms 100.0 %")

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._map = CauseMap(analysis)
        self._causes = list(self._map.causes)
        self._by_step = len(analysis.steps) > 1
        whole = analysis.idle_ns
        self._rows = tuple(
            SheetRow(cause_name(cause), f"{format_duration(ns):>7} {format_percent(ns, whole):>7}")
            for cause, ns in self._map.causes.items()
        )
        self.label_cells = max((cell_len(row.label) for row in self._rows), default=0)

    @cached_property
    def _names(self) -> list[str]:
        names = step_names(self._analysis, range(len(self._analysis.steps)))
        return [*names, translate("no step")]

    @cached_property
    def _steps(self) -> HeatCells:
        return self._map.by_step()

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        if not self._causes:
            return None
        return self._sheet_of_steps(columns) if self._by_step else self._sheet_of_time(columns)

    def _sheet_of_steps(self, columns: int) -> Sheet:
        shared = share_columns(self._steps.ns.shape[1], columns)
        cells, shown = shared.columns(self._steps)
        starts = np.array([step.start_ns for step in self._analysis.steps] + [0], np.int64)
        ends = np.array([step.end_ns for step in self._analysis.steps] + [0], np.int64)
        names = tuple(self._names[place] for place in shared.first[:-1].tolist())
        spans = AxisSpans(*shared.spans(starts, ends))
        return Sheet(
            self._rows, cells, columns=names, axis="step", total_title="idle", column_spans=spans, shown=shown
        )

    def _sheet_of_time(self, columns: int) -> Sheet:
        trace = self._analysis.trace
        edges = even_edges(trace.start_ns, trace.end_ns, columns)
        spans, cells = AxisSpans.between(edges), self._map.by_time(edges)
        return Sheet(self._rows, cells, edges, axis="time", total_title="idle", column_spans=spans)

    def answer(self) -> str:
        whole = self._analysis.idle_ns
        ranked = [
            f"{cause_name(cause)} {format_percent(ns, whole)}" for cause, ns in self._map.causes.items()
        ]
        return translate("of {time} idle: {causes}", time=format_duration(whole), causes=clauses(ranked[:3]))

    def words(self, sheet: Sheet, row: int, column: int) -> str:
        cause, gap = self._causes[row], int(sheet.cells.main[row, column])
        if sheet.edges is not None:
            begin, stop = sheet.time_of(column)
            origin = self._analysis.trace.start_ns
            ns, capacity = int(sheet.cells.ns[row, column]), int(sheet.cells.capacity[row, column])
            where = between(begin - origin, stop - origin)
            amount = share(ns, capacity)
        else:
            step = int(sheet.shown[row, column])
            where = (
                translate("step {number}", number=self._names[step])
                if step < len(self._analysis.steps)
                else self._names[-1]
            )
            if self._steps.ns.shape[1] > sheet.cells.ns.shape[1]:
                where += translate(", the worst of its column")
            ns, idle = int(self._steps.ns[row, step]), int(self._steps.ns[:, step].sum())
            amount = translate(
                "{time}, {share} of its idle time", time=format_duration(ns), share=format_percent(ns, idle)
            )
        return joined(cause_name(cause), where, amount, self._worst(cause, gap))

    def _worst(self, cause: Cause, gap: int) -> str:
        if gap < 0:
            return ""
        gaps = self._analysis.gaps
        start, end = int(gaps.start[gap]), int(gaps.end[gap])
        reason = self._reasons.between(int(gaps.device[gap]), start, end, only=cause)
        return joined(
            translate("worst gap {time}", time=format_duration(reason.idle_ns)), frame_words(reason.frame)
        )

    def target(self, sheet: Sheet, row: int, column: int) -> CellTarget | None:
        gap = int(sheet.cells.main[row, column])
        if sheet.edges is not None:
            return gap_target(self._analysis, gap, *sheet.time_of(column))
        if gap >= 0:
            return gap_target(self._analysis, gap)
        place = int(sheet.shown[row, column])
        if place >= len(self._analysis.steps):
            return None
        step = self._analysis.steps[place]
        return CellTarget(step.start_ns, step.end_ns)

    def nothing(self) -> str:
        return "No idle time: there is nothing to explain."
