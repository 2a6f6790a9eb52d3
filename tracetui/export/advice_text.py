"""Advice as plain text: what `tracetui advice` prints, and the first of it for the summary."""

from __future__ import annotations

from tracetui.analysis.advice import Advice
from tracetui.analysis.analyse import Analysis
from tracetui.export.advice_words import told
from tracetui.export.text import MARGIN, cell_width, cut, wrapped
from tracetui.export.words import line_name, micro
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.units import format_count, format_duration

NOTHING = "Nothing in this trace calls for advice."
TITLE = "Advice, by the time it is about"
LONGEST_LINE = 100  #: cells of running text, however wide the terminal is
SUBJECTS = 5  #: names, at most


def advice_text(analysis: Analysis, width: int) -> str:
    """All advice, each as a title, its text, where it points and the condition that it follows from."""
    every = [*map(told, analysis.advice)]
    if not every:
        return NOTHING + "\n"
    count = "1 piece" if len(every) == 1 else f"{format_count(len(every))} pieces"
    last = ", notes last" if every[-1].cost_ns is None else ""
    lines = [f"{count} of advice, most time first{last}; some are about the same time"]
    margin = " " * (len(str(len(every))) + len(MARGIN))
    for number, advice in enumerate(every, 1):
        lines += ["", *_advice(advice, f"{number}{MARGIN}".rjust(len(margin)), margin, width)]
    return "\n".join(lines) + "\n"


def first_advice(analysis: Analysis, most: int, width: int) -> list[str]:
    """The advice about the most time, a line each, under a title; nothing where there is none. No notes."""
    every = [(advice, advice.cost_ns) for advice in map(told, analysis.advice) if advice.cost_ns is not None]
    if not every:
        return []
    title = TITLE
    if len(every) > most:
        title = f"Advice: the {most} of {len(every)} about the most time (tracetui advice shows all)"
    lines = [title]
    for advice, cost_ns in every[:most]:
        line = f"{MARGIN}{format_duration(cost_ns):>7}{MARGIN}{advice.title}"
        if advice.file:
            line += f": {printable(path_end(advice.file))}({advice.line})"
        lines.append(cut(line, width))
    return lines


def cost_words(advice: Advice) -> str:
    """What advice is about: "2.32 ms, 1.16 ms a step"; "note" of the recording."""
    cost, per_step = advice.cost_ns, advice.per_step_ns
    if cost is None:
        return "note"
    words = format_duration(cost)
    return words if per_step in (None, cost) else f"{words}, {format_duration(per_step)} a step"


def _advice(advice: Advice, number: str, margin: str, width: int) -> list[str]:
    cost = cost_words(advice)
    title = number + advice.title
    lines = [title + cost.rjust(max(width - cell_width(title), len(cost) + 2))]
    room = min(width, LONGEST_LINE)
    lines += wrapped(printable(micro(advice.text)), room, margin, margin)
    if advice.file is not None:
        line = printable(line_name(advice.file, advice.line, advice.function))
        lines.append(f"{margin}at  {cut(line, width - len(margin) - 4, keep_end=True)}")
    if advice.subjects:
        names = ", ".join(printable(subject, 60) for subject in advice.subjects[:SUBJECTS])
        left = len(advice.subjects) - SUBJECTS
        lines.append(cut(f"{margin}of  {names}" + (f" and {left} more" if left > 0 else ""), width))
    return lines + wrapped(printable(micro(advice.rule)), room, f"{margin}if  ", f"{margin}    ")
