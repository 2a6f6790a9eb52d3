"""Pieces of advice in the language that was chosen."""

from __future__ import annotations

from dataclasses import replace

from tracetui.analysis.advice import Advice
from tracetui.analysis.idle.cause import Cause
from tracetui.export.chinese.advice import ADVICE, FIGURES, IN_ALL, PER_STEP
from tracetui.export.language import cause_facts
from tracetui.export.tables.advice import figure
from tracetui.language import names, speaks_english

#: Times of causes, by the key of the evidence that they are.
_CAUSES = {f"{cause.label.replace('.', '_')}_ns": cause for cause in Cause}


def told(advice: Advice) -> Advice:
    """Return a piece of advice in the language chosen, with the same numbers."""
    words = None if speaks_english() else ADVICE.get(advice.id)
    if words is None:
        return advice
    figures = {key: figure(key, value)[1] for key, value in advice.evidence.items()}
    figures["times"] = IN_ALL if advice.per_step_ns is None else PER_STEP
    figures["causes"] = names(
        " ".join(told_figure(key, advice.evidence[key])) for key in advice.evidence if key in _CAUSES
    )
    return replace(advice, title=words.title, text=words.text.format_map(figures), rule=words.rule)


def told_figure(key: str, value: float | str) -> tuple[str, str]:
    """Return a number of evidence, its name in the language chosen and its value: ("mean kernel", "20 ns").

    As written in the trace where it is a text: never print it unescaped.
    """
    name, shown = figure(key, value)
    if speaks_english():
        return name, shown
    return (cause_facts(_CAUSES[key]).name if key in _CAUSES else FIGURES.get(key, name)), shown
