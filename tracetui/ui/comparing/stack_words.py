"""What is said of two runs one above the other: of the step in both, and of what is selected in each."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.export.sentences.comparison import signed_ms, vendor_name
from tracetui.language import clauses, heading, translate
from tracetui.trace.clean import printable
from tracetui.ui.comparing.stacked_runs import NAMES, Chosen, StackedRuns
from tracetui.ui.drawing.causes import cause_name, cause_style
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Line, Pen
from tracetui.units import format_duration, format_exact, format_ms, format_percent, format_time

_NAME = 80  #: characters of a name
_CAUSES = 3  #: of a gap that are told


def compared_step_words(stack: StackedRuns, step: int, device: int, glyphs: Glyphs) -> str:
    """Return how long a step is in both, and what most of the difference is: one sentence."""
    if not len(stack.axis.steps[0]):
        lacking = [name for side, name in enumerate(NAMES) if not stack.sides[side].run.numbers]
        if len(lacking) == len(NAMES):
            return translate("BASE and OTHER without steps: both begin at once")
        return translate("{run} without steps: both begin at once", run=lacking[0])
    if step < 0:
        return translate("before the first step: it begins at once in both")
    numbers = [stack.step_number(side, step) for side in (0, 1)]
    for number, name, other in zip(numbers, NAMES, (numbers[1], numbers[0])):
        if number is None:
            return translate("step {number}: {run} has no such step to compare", number=other, run=name)
    found = stack.step_rows(step, device)
    which = translate("step {number}", number=numbers[0])
    if numbers[0] != numbers[1]:
        which = translate("step {number} and {other}", number=numbers[0], other=numbers[1])
    if found is None:
        return translate("{steps}: not on both devices", steps=which)
    whole, parts = found
    base, other = round(whole.base_ns), round(whole.other_ns)
    times = translate(
        "{steps}: {base} {arrow} {other} ms",
        steps=which,
        base=format_ms(base),
        arrow=glyphs.arrow,
        other=format_ms(other),
    )
    if base == other:
        return clauses((times, translate("as long")))
    share = format_percent(abs(other - base), base)
    change = translate("{change} ms ({share})", change=signed_ms(whole.delta_ns), share=share)
    agreeing = (part for part in parts if part.delta_ns * whole.delta_ns > 0)
    largest_part = next(agreeing, None)
    largest = (
        [] if largest_part is None else [f"{vendor_name(largest_part)} {signed_ms(largest_part.delta_ns)}"]
    )
    return clauses((times, change, *largest))


def chosen_lines(
    stack: StackedRuns, chosen: tuple[Chosen, Chosen], active: int, waiting: bool, pen: Pen
) -> list[Line]:
    """Return a line for what is selected in each run, and how they differ."""
    if not any(chosen):
        sentence = translate("Nothing is selected: arrows go from slice to slice, x to the worst gap.")
        return [[pen.text(f" {sentence}", Role.DIM)]]
    lines = []
    for side, selected in enumerate(chosen):
        if selected:
            lines.append(_selected_line(stack, side, selected, pen))
        else:
            absence = "the device has no gap there" if chosen[active].gap >= 0 else "nothing there matches it"
            sentence = "looking for what matches it" if waiting else absence
            lines.append([pen.label(NAMES[side]), pen.text(translate(sentence), Role.DIM)])
    if all(chosen):
        lines.append([pen.label(heading("change")), pen.text(_change(stack, chosen), Role.NUMBER)])
    return lines


def _change(stack: StackedRuns, chosen: tuple[Chosen, Chosen]) -> str:
    """Say "OTHER takes 1.24 ms longer and begins 3.1 µs earlier in its step"."""
    spans = (side.span_of(item) for side, item in zip(stack.sides, chosen))
    base, other = (end - start for start, end in spans)
    length = _more(other - base, "OTHER takes {time} longer", "OTHER takes {time} shorter")
    length = length or translate("OTHER takes as long")
    before, after = (_into_step(stack, side, item) for side, item in enumerate(chosen))
    if before is None or after is None:
        return length
    begin = _more(after - before, "begins {time} later in its step", "begins {time} earlier in its step")
    begin = begin or translate("begins at the same time in its step")
    return translate("{length} and {begin}", length=length, begin=begin)


def _more(ns: int, more: str, less: str) -> str:
    return translate(more if ns > 0 else less, time=format_exact(abs(ns))) if ns else ""


def _into_step(stack: StackedRuns, side: int, chosen: Chosen) -> int | None:
    """Return how long after the start of its step something begins, ns; None where it is in none."""
    steps, (start, _) = stack.steps(side), stack.sides[side].span_of(chosen)
    at = int(np.searchsorted(steps.start, start, "right")) - 1
    return start - int(steps.start[at]) if at >= 0 and start < steps.end[at] else None


def _selected_line(stack: StackedRuns, side: int, chosen: Chosen, pen: Pen) -> Line:
    """Say how long something is, when it is, and what it is."""
    lanes, label = stack.sides[side], pen.label(NAMES[side])
    analysis = lanes.analysis
    start, end = lanes.span_of(chosen)
    steps, into = stack.steps(side), _into_step(stack, side, chosen)
    when = translate("at {time}", time=format_time(start - analysis.trace.start_ns))
    if into is not None:
        number = int(steps.number[int(np.searchsorted(steps.start, start, "right")) - 1])
        when = translate("{time} into step {number}", time=format_duration(into), number=number)
    if chosen.gap >= 0:
        idle = translate("gap, idle {time}", time=format_duration(int(analysis.gaps.idle[chosen.gap])))
        line: Line = [
            label,
            pen.text(format_exact(end - start), Role.TITLE),
            pen.text(f"  {when}  {idle}"),
        ]
        for cause, ns in _causes(analysis, chosen.gap)[:_CAUSES]:
            line.append((f"  {cause_name(cause)}", cause_style(cause, pen.palette)))
            line.append(pen.text(f" {format_duration(ns)}"))
        return line
    trace, chains = analysis.trace, analysis.launch_chains
    name = printable(trace.name(chosen.row), _NAME)
    line = [label, pen.text(format_exact(end - start), Role.TITLE), pen.text(f"  {when}  {name}")]
    at = int(np.searchsorted(chains.tasks, chosen.row))
    if at < len(chains.tasks) and chains.tasks[at] == chosen.row and chains.operator[at] >= 0:
        operator = printable(trace.name(int(chains.operator[at])), _NAME)
        line.append(pen.text(f"  {translate('of {operator}', operator=operator)}", Role.DIM))
    return line


def _causes(analysis: Analysis, gap: int) -> list[tuple[Cause, int]]:
    """Return the causes of the idle time of a gap with the ns of each, most first."""
    causes, ns = analysis.causes, np.zeros(len(Cause), np.int64)
    places = causes.of_gap(gap)
    np.add.at(ns, causes.cause[places], causes.ns[places])
    return [(Cause(cause), int(ns[cause])) for cause in np.argsort(-ns, kind="stable").tolist() if ns[cause]]
