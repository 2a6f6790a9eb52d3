"""What to do about lost time: advice that follows from evidence, each with its numbers and its condition."""

from __future__ import annotations

from tracetui.analysis.advice.model import Advice
from tracetui.analysis.advice.rules import find_advice

__all__ = ["Advice", "find_advice"]
