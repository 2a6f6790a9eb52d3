"""In which language causes and advice are told: English, or another that was chosen when the program began.

Names, numbers and documents (JSON, CSV, frames) stay as they are, whatever the language.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from tracetui.analysis.idle.cause import Cause, CauseFacts
from tracetui.export.chinese.causes import CAUSES

ENGLISH, CHINESE = "en", "zh"
_chosen = ENGLISH


def choose_language(language: str) -> None:
    """Tell everything in ENGLISH or CHINESE from now on."""
    global _chosen
    _chosen = language
    cause_facts.cache_clear()


def is_chinese() -> bool:
    """Return whether Chinese was chosen."""
    return _chosen == CHINESE


@cache
def cause_facts(cause: Cause) -> CauseFacts:
    """Return what is known of a cause, in the language chosen."""
    return replace(cause.facts, **CAUSES[cause.label]._asdict()) if is_chinese() else cause.facts
