"""In which language causes and advice are told: English, or another that was chosen when the program began.

Names, numbers and documents (JSON, CSV, frames) stay as they are, whatever the language.
"""

from __future__ import annotations

from dataclasses import replace

from tracetui.analysis.idle.cause import Cause, CauseFacts
from tracetui.export.chinese.causes import CAUSES
from tracetui.export.chinese.words import WORDS
from tracetui.language import speak, speaks_english

ENGLISH, CHINESE = "en", "zh"
_CHINESE_FACTS = {cause: replace(cause.facts, **CAUSES[cause.label]._asdict()) for cause in Cause}


def choose_language(language: str) -> None:
    """Tell everything in ENGLISH or CHINESE from now on."""
    speak(WORDS if language == CHINESE else {})


def cause_facts(cause: Cause) -> CauseFacts:
    """Return what is known of a cause, in the language chosen."""
    return cause.facts if speaks_english() else _CHINESE_FACTS[cause]
