"""In which language people read: English, or another that was chosen when the program began.

Names, numbers and documents (JSON, CSV, frames) stay as they are, whatever the language. The words of a
language are imported when it is chosen, never for English.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tracetui.analysis.idle.cause import Cause, CauseFacts
from tracetui.language import set_language, speaks_english, wording

ENGLISH, CHINESE = "en", "zh"
#: the fields of `CauseFacts` that people read outside of docs/method.md
SHOWN_FACTS = ("name", "brief", "meaning", "doing", "doing_unknown")


def choose_language(language: str) -> None:
    """Show everything in ENGLISH or CHINESE from now on."""
    if language == CHINESE:
        from tracetui.export.chinese.words import WORDS

        set_language(WORDS)
    else:
        set_language({})


def chosen_language() -> str:
    """Return ENGLISH or CHINESE: what everything is shown in now."""
    return ENGLISH if speaks_english() else CHINESE


def cause_facts(cause: Cause) -> CauseFacts:
    """Return what is known of a cause, in the language chosen; what that has no words for is English."""
    facts = cause.facts
    if speaks_english():
        return facts
    words: dict[str, Any] = {
        name: wording(getattr(facts, name), f"{facts.label}.{name}") for name in SHOWN_FACTS
    }
    return replace(facts, **words)
