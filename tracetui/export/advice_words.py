"""Pieces of advice in the language that was chosen."""

from __future__ import annotations

from dataclasses import replace

from tracetui.analysis.advice import Advice
from tracetui.export.chinese.advice import ADVICE
from tracetui.export.language import is_chinese
from tracetui.export.tables.advice import figure


def told(advice: Advice) -> Advice:
    """Return a piece of advice in the language chosen, with the same numbers."""
    words = ADVICE.get(advice.id) if is_chinese() else None
    if words is None:
        return advice
    figures = {key: figure(key, value)[1] for key, value in advice.evidence.items()}
    return replace(advice, title=words.title, text=words.text.format_map(figures), rule=words.rule)
