"""Pieces of advice in the language that was chosen."""

from __future__ import annotations

from dataclasses import replace

from tracetui.analysis.advice import Advice
from tracetui.analysis.idle.cause import Cause
from tracetui.export.tables.advice import figure
from tracetui.language import names, speaks_english, wording

#: Times of causes, by the key of the evidence that they are.
_CAUSES = {f"{cause.label.replace('.', '_')}_ns": cause for cause in Cause}


def advice_in_language(advice: Advice) -> Advice:
    """Return a piece of advice in the language chosen, with the same numbers."""
    if speaks_english():
        return advice
    text = wording("", f"advice.{advice.id}.text")
    if not text:
        return replace(advice, title=wording(advice.title))
    figures = {key: figure(key, value)[1] for key, value in advice.evidence.items()}
    figures["times"] = wording("", "advice.in_all" if advice.per_step_ns is None else "advice.per_step")
    figures["causes"] = names(
        " ".join(figure_in_language(key, advice.evidence[key])) for key in advice.evidence if key in _CAUSES
    )
    return replace(
        advice,
        title=wording(advice.title, f"advice.{advice.id}.title"),
        text=text.format_map(figures),
        rule=wording(advice.rule, f"advice.{advice.id}.rule"),
    )


def figure_in_language(key: str, value: float | str) -> tuple[str, str]:
    """Return a number of evidence, its name in the language chosen and its value: ("mean kernel", "20 ns").

    As written in the trace where it is a text: never print it unescaped.
    """
    name, shown = figure(key, value)
    return wording(name, f"{_CAUSES[key].label}.name" if key in _CAUSES else f"figure.{key}"), shown
