"""Is every step like this: steps across, the time within the step down."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.cells import HeatCells, share_columns
from tracetui.analysis.heat.step_map import StepMap
from tracetui.arrays import Int64s
from tracetui.export.sentences.health import without_steps
from tracetui.export.text import aligned
from tracetui.export.trace.selection import Selection
from tracetui.language import translate
from tracetui.ui.drawing.ramp import Heat
from tracetui.ui.drawing.ticks import format_tick
from tracetui.ui.heat.cell_words import (
    gap_target,
    joined,
    line_totals,
    mostly,
    share,
    step_names,
    time_labels,
)
from tracetui.ui.heat.sheet import AnalysisMap, AxisSpans, CellTarget, GapOfCell, Sheet, SheetRow, nothing
from tracetui.units import format_duration, format_percent

WHOLE = 2  #: rows about whole steps, above those of the time within


@dataclass(frozen=True, eq=False)
class _StepSheet(Sheet):
    """The map at one size, with what its words need."""

    down: Int64s = field(default_factory=nothing)  #: edges of the rows within a step, ns from the first work
    ns: Int64s = field(default_factory=nothing)  #: int64[rows, steps]: before steps share columns
    of: Int64s = field(default_factory=nothing)


class StepView(AnalysisMap):
    """The steps side by side, laid upon each other at their first work."""

    question = "Is every step like this?"
    heats = ((Heat.LOST, "idle"), (Heat.WAIT, "preparing"))

    def __init__(self, analysis: Analysis, all_steps: bool = False) -> None:
        """Take the steps of an analysis; what is usual is told of all of them, or of those to be believed."""
        super().__init__(analysis)
        self.label_cells = max(
            cell_len(translate(label)) for label in ("whole step", "preparing", "first work")
        )
        self._map = StepMap.from_analysis(analysis)
        believed = Selection(all_steps=all_steps).believed(analysis, self._map.step.tolist())
        self._believed = np.flatnonzero(np.isin(self._map.step, believed))  # places on the map
        self._names = step_names(analysis, self._map.step.tolist())

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        places = self._map
        down = places.edges(max(lines - WHOLE - 1, 1) * (2 if halves else 1))
        whole, within = places.whole_steps(), places.cells(down)
        stacked = HeatCells(
            *(
                np.concatenate((getattr(whole, name), getattr(within, name)))
                for name in ("ns", "capacity", "main", "share")
            )
        )
        shared = share_columns(len(places), columns)
        cells, shown = shared.columns(stacked)
        return _StepSheet(
            rows=self._rows(cells, down, 2 if halves else 1),
            cells=cells,
            columns=tuple(self._names[place] for place in shared.first[:-1].tolist()),
            axis="step",
            total_title="idle",
            dense=WHOLE,
            column_spans=AxisSpans(*shared.spans(places.start, places.end)),
            gap=GapOfCell.of_intervals(self._analysis, cells.main),
            shown=shown,
            down=down,
            ns=stacked.ns,
            of=stacked.capacity,
        )

    def _rows(self, cells: HeatCells, down: Int64s, rows_a_line: int) -> tuple[SheetRow, ...]:
        """Return rows with round times as labels, and totals of the `rows_a_line` rows that share a line."""
        ns = cells.ns.sum(axis=1)
        lines = [*ns[:WHOLE].tolist(), *line_totals(ns[WHOLE:], rows_a_line)]
        totals = [format_duration(total).rjust(self.total_cells) if total else "" for total in lines]
        whole = (
            SheetRow(translate("whole step"), totals[0], ranked=False),
            SheetRow(translate("preparing"), totals[1], Heat.WAIT),
        )
        rows = [
            SheetRow(aligned(label, self.label_cells), total)
            for label, total in zip(time_labels(down), totals[WHOLE:])
        ]
        return (*whole, rows[0]._replace(apart=True), *rows[1:])

    def answer(self) -> str:
        steps = self._analysis.steps
        idle = np.array([steps[index].idle_ns for index in self._map.step.tolist()], np.int64)
        believed = self._believed
        worst = int(believed[idle[believed].argmax()])
        between, beyond = self._map.between_ns, self._map.beyond_ns
        rest = translate("; {time} between steps", time=format_duration(between)) if between else ""
        if beyond:
            rest += translate("; {time} before or after all steps", time=format_duration(beyond))
        answer = translate(
            "{steps} steps, each idle {median} (median); most: step {worst}, {most}",
            steps=len(idle),
            median=format_duration(int(np.median(idle[believed]))),
            worst=self._names[worst],
            most=format_duration(int(idle[worst])),
        )
        left_out = {steps[index].number for index in np.delete(self._map.step, believed).tolist()}
        return f"{without_steps(answer, left_out)}{rest}"

    def words(self, sheet: Sheet, row: int, column: int) -> str:
        assert isinstance(sheet, _StepSheet)
        step = int(sheet.shown[row, column])
        name = translate("step {number}", number=self._names[step])
        ns, of = int(sheet.ns[row, step]), int(sheet.of[row, step])
        believed = self._believed
        others = believed[(believed != step) & (sheet.of[row][believed] > 0)]  # those that are there then
        rest = sheet.ns[row][others]
        median = format_duration(int(np.median(rest))) if len(rest) else ""
        usual = translate("{time} in other steps (median)", time=median) if median else ""
        shared = len(self._map) > sheet.cells.ns.shape[1]
        worst = translate("the worst of {steps}", steps=self._in_column(sheet, column)) if shared else ""
        if row < WHOLE:
            time, part = format_duration(ns), format_percent(ns, of)
            amount = (
                translate("idle {time}, {share} of its time", time=time, share=part)
                if row == 0
                else translate("preparing {time}", time=time)
            )
            return joined(name, worst, amount, usual)
        if not of:
            return joined(name, translate("it is over by then, or has not begun"))
        begin, stop = self._time(sheet, row, step)
        reason = self._reasons.between(self._device(step), begin, stop)
        base = int(self._map.base[step])
        return joined(
            name,
            worst,
            _from_first_work(begin - base, stop - base),
            translate("idle {time}", time=share(ns, of)),
            usual,
            mostly(reason),
        )

    def target(self, sheet: Sheet, row: int, column: int) -> CellTarget | None:
        assert isinstance(sheet, _StepSheet)
        step = int(sheet.shown[row, column])
        if row < WHOLE:
            whole = self._analysis.steps[int(self._map.step[step])]
            if row == 1 and whole.preparing_ns > 0:
                return CellTarget(whole.host_start_ns, whole.prepared_ns)
            return CellTarget(whole.start_ns, whole.end_ns)
        assert sheet.gap is not None
        return gap_target(self._analysis, int(sheet.gap.gap[row, column]), *self._time(sheet, row, step))

    def nothing(self) -> str:
        return "No steps in this trace."

    def _time(self, sheet: _StepSheet, row: int, step: int) -> tuple[int, int]:
        """Return the time of a row in a step, epoch ns."""
        base = int(self._map.base[step])
        return base + int(sheet.down[row - WHOLE]), base + int(sheet.down[row - WHOLE + 1])

    def _device(self, step: int) -> int:
        label = self._analysis.steps[int(self._map.step[step])].device
        return next(index for index, device in enumerate(self._analysis.devices) if device.device == label)

    def _in_column(self, sheet: Sheet, column: int) -> str:
        first_step = share_columns(len(self._map), sheet.cells.ns.shape[1]).first
        first, last = int(first_step[column]), int(first_step[column + 1]) - 1
        return translate("{low} to {high}", low=self._names[first], high=self._names[last])


def _from_first_work(begin_ns: int, stop_ns: int) -> str:
    step = max((stop_ns - begin_ns) // 10, 1)
    scale = 10 ** (len(str(step)) - 1)
    begin, stop = (sign_of(time // scale * scale, scale) for time in (begin_ns, stop_ns))
    return translate("{begin} .. {end} from its first work", begin=begin, end=stop)


def sign_of(ns: int, step_ns: int) -> str:
    """Return a distance in time with the decimals its step needs, and its sign: "-1.5 ms"."""
    return f"{'-' if ns < 0 else ''}{format_tick(abs(ns), step_ns)}"
