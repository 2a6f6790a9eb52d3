"""The spellings of all producers as one table, and patterns of it, compiled once."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracetui.trace import dialects
from tracetui.trace.dialects.dialect import Purpose, merge_dialects

KNOWN = merge_dialects(dialects.DIALECTS)


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern that fits where one of some does; where there are none, it fits nowhere."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or "(?!)")


def by_purpose(patterns: Iterable[tuple[Purpose, str]]) -> tuple[tuple[Purpose, re.Pattern[str]], ...]:
    """Return the pattern of each purpose that has one, in the order of their precedence."""
    table: dict[Purpose, list[str]] = {}
    for purpose, pattern in patterns:
        table.setdefault(purpose, []).append(pattern)
    return tuple((purpose, any_of(table[purpose])) for purpose in Purpose if purpose in table)
