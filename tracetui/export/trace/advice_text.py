"""Advice as plain text: what `tracetui advice` prints, and the first of it for the summary."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.analysis.advice import Advice
from tracetui.export.sentences.advice import NOTHING, advice_words
from tracetui.export.sentences.causes import line_name, micro
from tracetui.export.text import MARGIN, aligned, cell_width, cut, wrap_sentence
from tracetui.language import counted, names, translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.units import format_duration

TITLE = "Advice, by the time it is about"
LONGEST_LINE = 100  #: cells of running text, however wide the terminal is
SUBJECTS = 5  #: names, at most


def advice_text(advice: Sequence[Advice], width: int) -> str:
    """Return pieces of advice, each as a title, its text, where it points and its condition."""
    if not advice:
        return translate(NOTHING) + "\n"
    pieces = counted(len(advice), "1 piece of advice", "{count} pieces of advice")
    last = translate(", notes last") if advice[-1].cost_ns is None else ""
    lines = [pieces]
    if len(advice) > 1:
        head = "{pieces} by lost time{last}; some are about the same time"
        lines = [translate(head, pieces=pieces, last=last)]
    margin = " " * (len(str(len(advice))) + len(MARGIN))
    for number, piece in enumerate(advice, 1):
        lines += ["", *_advice(piece, f"{number}{MARGIN}".rjust(len(margin)), margin, width)]
    return "\n".join(lines) + "\n"


def first_advice(advice: Sequence[Advice], limit: int, width: int) -> list[str]:
    """Return the advice about the most time, a line each, under a title; no line without any. No notes."""
    costly = [(piece, piece.cost_ns) for piece in advice if piece.cost_ns is not None]
    if not costly:
        return []
    title = translate(TITLE)
    if len(costly) > limit:
        title = translate(
            "Advice: the {most} of {all} about the most time (tracetui advice shows all)",
            most=limit,
            all=len(costly),
        )
    lines = [title]
    for piece, cost_ns in costly[:limit]:
        title_with_line = advice_words(piece).title
        if piece.file:
            place = f"{printable(path_end(piece.file))}({piece.line})"
            title_with_line = translate("{advice}: {place}", advice=title_with_line, place=place)
        lines.append(cut(f"{MARGIN}{format_duration(cost_ns):>7}{MARGIN}{title_with_line}", width))
    return lines


def cost_words(advice: Advice) -> str:
    """Return what advice is about: "2.32 ms, 1.16 ms a step"; "note" of the recording."""
    cost, per_step = advice.cost_ns, advice.per_step_ns
    if cost is None:
        return translate("note")
    words = format_duration(cost)
    if per_step in (None, cost):
        return words
    return translate("{cost}, {mean} a step", cost=words, mean=format_duration(per_step))


def _advice(advice: Advice, number: str, margin: str, width: int) -> list[str]:
    cost, words = cost_words(advice), advice_words(advice)
    title = number + words.title
    lines = [title + aligned(cost, max(width - cell_width(title), cell_width(cost) + 2))]
    room = min(width, LONGEST_LINE)
    lines += wrap_sentence(printable(micro(words.text)), room, margin, margin)
    if advice.file is not None:
        label = f"{margin}{translate('at')}{MARGIN}"
        line = printable(line_name(advice.file, advice.line, advice.function))
        lines.append(f"{label}{cut(line, width - cell_width(label), keep_end=True)}")
    if advice.subjects:
        lines.append(cut(f"{margin}{translate('of')}{MARGIN}{_subjects(advice)}", width))
    label = f"{margin}{translate('if')}{MARGIN}"
    return lines + wrap_sentence(printable(micro(words.rule)), room, label, " " * cell_width(label))


def _subjects(advice: Advice) -> str:
    """Return "aten::mul, aten::add and 2 more"."""
    listed = names(printable(subject, 60) for subject in advice.subjects[:SUBJECTS])
    more = len(advice.subjects) - SUBJECTS
    return translate("{names} and {count} more", names=listed, count=more) if more > 0 else listed
