"""The spellings of all producers as one table, and how to compile the patterns in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracetui.trace import dialects
from tracetui.trace.dialects.dialect import Purpose, merge_dialects

KNOWN = merge_dialects(dialects.DIALECTS)


def compile_any(patterns: Iterable[str]) -> re.Pattern[str]:
    """Compile a pattern that matches where any of `patterns` does; nowhere if there are none."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or "(?!)")


def by_purpose(patterns: Iterable[tuple[Purpose, str]]) -> tuple[tuple[Purpose, re.Pattern[str]], ...]:
    """Compile one pattern for each purpose that has any, in the order in which purposes are tried."""
    table: dict[Purpose, list[str]] = {}
    for purpose, pattern in patterns:
        table.setdefault(purpose, []).append(pattern)
    return tuple((purpose, compile_any(table[purpose])) for purpose in Purpose if purpose in table)
