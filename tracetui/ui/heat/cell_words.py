"""Words that the maps share: moments, shares, and why a device was idle."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.fold import FoldMap
from tracetui.analysis.heat.mostly import IdleReason
from tracetui.arrays import Int64s
from tracetui.export.text import padded
from tracetui.language import clauses, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.rows import idle_key
from tracetui.ui.drawing.ticks import format_tick, tick_step
from tracetui.ui.heat.sheet import CellTarget
from tracetui.units import format_duration, format_percent, format_time

BETWEEN = " · "  #: two things that are told of a cell


def between(start_ns: int, end_ns: int) -> str:
    """Return "0.129 .. 0.131 s", with the decimals that tell the two apart; of times from any origin."""
    step = max((end_ns - start_ns) // 20, 1)
    start, end = format_time(start_ns, step), format_time(end_ns, step)
    return f"{start[:-2]} .. {end}"


def share(part_ns: int, whole_ns: int) -> str:
    """Return "1.23 ms of 2.00 ms, 61.5 %"."""
    part, whole = format_duration(part_ns), format_duration(whole_ns)
    return translate(
        "{part} of {whole}, {share}", part=part, whole=whole, share=format_percent(part_ns, whole_ns)
    )


def frame_words(frame: Frame | None) -> str:
    """Return "train.py(88) forward"; "" without a stack."""
    if frame is None:
        return ""
    if not frame.file:
        return printable(frame.function, 40)
    return printable(f"{path_end(frame.file)}({frame.line}) {frame.function}", 48)


def mostly(reason: IdleReason) -> str:
    """Return "mostly P python, train.py(88) forward"; "" of no idle time."""
    if reason.cause is None:
        return ""
    line = frame_words(reason.frame)
    cause = translate("mostly {what}", what=cause_name(reason.cause))
    return clauses([cause, line]) if line else cause


def joined(*words: str) -> str:
    """Join those that say anything, with dots between."""
    return BETWEEN.join(word for word in words if word)


def gap_target(analysis: Analysis, gap: int, start_ns: int = 0, end_ns: int = 0) -> CellTarget | None:
    """Return a gap, with the time of the cell around it; None of gap -1 and a cell without time."""
    if gap < 0:
        return CellTarget(start_ns, end_ns) if end_ns > start_ns else None
    gaps = analysis.gaps
    if int(gaps.end[gap]) - int(gaps.start[gap]) >= end_ns - start_ns:
        start_ns, end_ns = int(gaps.start[gap]), int(gaps.end[gap])
    device = analysis.devices[int(gaps.device[gap])].device
    return CellTarget(start_ns, end_ns, gap=gap, line=idle_key(device))


def device_prefix(analysis: Analysis, device: int) -> str:
    """Return the device in front of a label, where there are several."""
    return f"{printable(analysis.devices[device].device)} " if len(analysis.devices) > 1 else ""


def step_names(analysis: Analysis, steps: Iterable[int]) -> list[str]:
    """Return the numbers of steps, with their devices where there are several devices."""
    several = len(analysis.steps_by_device) > 1
    chosen = [analysis.steps[index] for index in steps]
    return [f"{step.number} {printable(step.device)}" if several else str(step.number) for step in chosen]


def line_totals(values: Int64s, rows_a_line: int) -> list[int]:
    """Return for each row the sum of the rows on its line, of which `rows_a_line` share one."""
    sums = np.add.reduceat(values, np.arange(0, len(values), rows_a_line))
    totals: list[int] = np.repeat(sums, rows_a_line)[: len(values)].tolist()
    return totals


def time_labels(edges: Int64s) -> list[str]:
    """Label the rows between edges that hold a round time, four rows apart or more."""
    step = tick_step(int(edges[-1] - edges[0]), len(edges) - 1, 4)
    return [time_label(begin, stop, step) for begin, stop in zip(edges.tolist(), edges[1:].tolist())]


def time_label(begin: int, stop: int, step: int) -> str:
    """Return a round time from the first work within a row, "" where there is none."""
    tick = -(-begin // step) * step
    if not begin <= tick < stop:
        return ""
    return f"{'-' if tick < 0 else ''}{format_tick(abs(tick), step)}" if tick else translate("first work")


def fold_label_cells(folded: FoldMap) -> int:
    """Return the cells of the longest label of a line."""
    return max((cell_len(wording(phase.name)) for phase in folded.phases), default=0) + len(" 0.12345 s")


def fold_labels(folded: FoldMap, lines: int, origin_ns: int) -> list[str]:
    """Label lines: the name of a phase before its first one, and when each begins."""
    phase, start = (of_lines.tolist() for of_lines in folded.lines(lines))
    step, cells = max(folded.line_ns(lines) // 2, 1), fold_label_cells(folded)
    labels = []
    for place, before, begin in zip(phase, [-1, *phase], start):
        time = format_time(begin - origin_ns, step)
        name = wording(folded.phases[place].name) if place != before else ""
        labels.append(f"{padded(name, cells - len(time) - 1)} {time}")
    return labels


def line_offsets(columns: int, length: int) -> tuple[str, ...]:
    """Label some columns: the time since the line began, of lines of `length` ns."""
    step = tick_step(length, columns)
    labels = [""] * columns
    for time in range(0, length, step):
        labels[time * columns // length] = f"+{format_duration(time)}" if time else "+0"
    return tuple(labels)
