"""How far ahead is the host: warm where it has no lead, cool where it has one, the more the brighter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.counter_tracks import LEAD, LEAD_TIME
from tracetui.analysis.heat.cells import share_columns
from tracetui.analysis.heat.fold import FoldMap
from tracetui.analysis.heat.lead_map import lead_of_lines, lead_of_steps
from tracetui.analysis.heat.step_map import StepMap
from tracetui.arrays import Floats, Int64s
from tracetui.export.text import aligned
from tracetui.language import clauses, translate, wording
from tracetui.ui.drawing.ramp import LEVELS, Heat
from tracetui.ui.heat.cell_words import (
    between,
    fold_label_cells,
    fold_labels,
    joined,
    line_offsets,
    line_totals,
    mostly,
    share,
    step_names,
    time_labels,
)
from tracetui.ui.heat.sheet import AnalysisMap, AxisSpans, CellTarget, Sheet, SheetRow, nothing
from tracetui.units import format_duration, format_percent


@dataclass(frozen=True, eq=False)
class _LeadSheet(Sheet):
    """The map at one size."""

    count: Floats = field(default_factory=lambda: np.empty((0, 0)))  #: float64[rows, columns]: mean, tasks
    work: Floats = field(default_factory=lambda: np.empty((0, 0)))  #: mean, ns of work
    start: Int64s = field(default_factory=nothing)  #: int64[rows, columns], ns: the time of each cell
    end: Int64s = field(default_factory=nothing)
    without_ns: Int64s = field(default_factory=nothing)  #: int64[rows, columns]: without a lead in that time
    thing: Int64s = field(default_factory=nothing)  #: int64[rows, columns]: the step, or the phase

    @property
    def levels(self) -> Int64s:
        """int64[rows, columns]: 1 to 8 of a lead, each twice the one before; from 9 on the more without."""
        starves = super().levels
        largest = float(np.nanmax(self.work, initial=1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = LEVELS + np.ceil(np.log2(self.work / largest))
        leads = np.clip(np.nan_to_num(ahead, nan=1.0, neginf=1.0), 1, LEVELS).astype(np.int64)
        return np.where(starves > 0, LEVELS + starves, np.where(starves == 0, leads, -1))


class LeadView(AnalysisMap):
    """The lead of the host in the steps side by side; of one step, or without any, line by line."""

    question = "How far ahead is the host?"
    heats = ((Heat.NO_LEAD, "without a lead"), (Heat.WORK, "ahead, each shade twice as far"))

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._steps = StepMap.from_analysis(analysis) if len(analysis.steps) > 1 else None
        self._fold = FoldMap.from_analysis(analysis)
        if self._steps is not None:
            self._names = step_names(analysis, self._steps.step.tolist())
            self.label_cells = cell_len(translate("first work"))
        else:
            self._names = [wording(phase.name) for phase in self._fold.phases]
            self.label_cells = fold_label_cells(self._fold)

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        if not any(len(lead.time) for lead in self._analysis.leads):
            return None
        if self._steps is not None:
            return self._sheet_of_steps(self._steps, columns, lines, 2 if halves else 1)
        return self._sheet_of_lines(columns, lines) if self._fold.phases else None

    def _sheet_of_steps(self, steps: StepMap, columns: int, lines: int, rows_a_line: int) -> Sheet:
        """Return the map by step, of which `rows_a_line` rows share a line."""
        down = steps.edges(max(lines, 1) * rows_a_line)
        lead = lead_of_steps(steps, down)
        shared = share_columns(len(steps), columns)
        cells, shown = shared.columns(lead.cells)
        totals = line_totals(cells.ns.sum(axis=1), rows_a_line)
        return _LeadSheet(
            rows=tuple(self._row(label, total) for label, total in zip(time_labels(down), totals)),
            cells=cells,
            columns=tuple(self._names[place] for place in shared.first[:-1].tolist()),
            axis="step",
            total_title="without",
            dense=0,
            column_spans=AxisSpans(*shared.spans(steps.start, steps.end)),
            without_ns=np.take_along_axis(lead.cells.ns, shown, axis=1),
            thing=shown,
            count=np.take_along_axis(lead.count, shown, axis=1),
            work=np.take_along_axis(lead.work, shown, axis=1),
            start=np.take_along_axis(lead.start, shown, axis=1),
            end=np.take_along_axis(lead.end, shown, axis=1),
        )

    def _sheet_of_lines(self, columns: int, lines: int) -> Sheet:
        lines = max(lines, 1)
        lead = lead_of_lines(self._fold, lines, columns)
        phase, _ = self._fold.lines(lines)
        labels = fold_labels(self._fold, lines, self._analysis.trace.start_ns)
        rows = []
        for label, place, total in zip(labels, phase.tolist(), lead.cells.ns.sum(axis=1).tolist()):
            preparing = self._fold.phases[place].preparing  # before the window that totals add up to
            rows.append(self._row(label, 0 if preparing else total)._replace(ranked=not preparing))
        thing = np.broadcast_to(phase[:, None], lead.cells.ns.shape)
        return _LeadSheet(
            rows=tuple(rows),
            cells=lead.cells,
            columns=line_offsets(lead.cells.ns.shape[1], self._fold.line_ns(lines)),
            axis="time, line by line",
            total_title="without",
            row_spans=AxisSpans(lead.start[:, 0], lead.end[:, -1]),
            without_ns=lead.cells.ns,
            thing=thing,
            count=lead.count,
            work=lead.work,
            start=lead.start,
            end=lead.end,
        )

    def _row(self, label: str, total: int) -> SheetRow:
        total_text = format_duration(total).rjust(self.total_cells) if total else ""
        return SheetRow(aligned(label, self.label_cells), total_text, Heat.LEAD)

    def answer(self) -> str:
        without_ns = window = 0
        work = 0.0
        for device, lead in zip(self._analysis.devices, self._analysis.leads):
            edges = np.array([device.start_ns, device.end_ns], np.int64)
            without_ns += int(np.diff(lead.empty_before(edges))[0])
            window += device.window_ns
            work += float(lead.mean_of(edges[:1], edges[1:])[1][0]) * device.window_ns
        ahead = format_duration(round(work / max(window, 1)))
        return translate(
            "no lead for {time}, {share} of the window; {ahead} of work ahead on average",
            time=format_duration(without_ns),
            share=format_percent(without_ns, window),
            ahead=ahead,
        )

    def words(self, sheet: Sheet, row: int, column: int) -> str:
        assert isinstance(sheet, _LeadSheet)
        begin, stop = int(sheet.start[row, column]), int(sheet.end[row, column])
        name = self._names[int(sheet.thing[row, column])]
        name = translate("step {number}", number=name) if self._steps is not None else name
        if stop <= begin:
            return joined(name, translate("it is over by then, or has not begun"))
        origin = self._analysis.trace.start_ns
        length = (stop - begin) * (len(self._analysis.devices) if self._steps is None else 1)
        without_ns = int(sheet.without_ns[row, column])
        count, work = float(sheet.count[row, column]), round(float(sheet.work[row, column]))
        reasons = [self._reasons.between(index, begin, stop) for index in self._devices(sheet, row, column)]
        reason = max(reasons, key=lambda candidate: candidate.idle_ns)
        return joined(
            name,
            between(begin - origin, stop - origin),
            translate("no lead {share}", share=share(without_ns, length)),
            translate("mean {count} tasks, {time}", count=f"{count:,.1f}", time=format_duration(work)),
            clauses([translate("idle {time}", time=format_duration(reason.idle_ns)), mostly(reason)])
            if reason.idle_ns
            else "",
        )

    def target(self, sheet: Sheet, row: int, column: int) -> CellTarget | None:
        """Return the time of the cell, on the line of the lead."""
        assert isinstance(sheet, _LeadSheet)
        begin, stop = int(sheet.start[row, column]), int(sheet.end[row, column])
        if stop <= begin:
            return None
        device = self._analysis.devices[self._devices(sheet, row, column)[0]].device
        return CellTarget(begin, stop, line=("curve", LEAD, device, LEAD_TIME))

    def nothing(self) -> str:
        return "Nothing tells when the tasks of this trace were enqueued."

    def _devices(self, sheet: _LeadSheet, row: int, column: int) -> list[int]:
        """Return the devices that a cell tells of."""
        labels = [device.device for device in self._analysis.devices]
        if self._steps is None:
            return [*range(len(labels))]
        step = int(self._steps.step[int(sheet.thing[row, column])])
        return [labels.index(self._analysis.steps[step].device)]
