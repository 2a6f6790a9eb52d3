"""Completing a query as it is typed: which names may stand where the cursor is. Knows no screen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_WORD = re.compile(r"\w+")
_TABLE_NEXT = re.compile(r"\b(?:from|join)\s+$", re.IGNORECASE)
_KEYWORDS = ("select", "from", "where", "group by", "order by", "limit", "join", "desc", "count(*)", "sum(")


class Completion(NamedTuple):
    """What a word that is typed may become."""

    start: int  #: where the word begins
    names: tuple[str, ...]  #: that begin with it, the likeliest first

    def completed(self, text: str, cursor: int) -> tuple[str, int]:
        """Return the text with the first name in place of the word, and where the cursor is then."""
        name = self.names[0]
        return text[: self.start] + name + text[cursor:], self.start + len(name)


def complete(text: str, cursor: int, tables: Mapping[str, Sequence[str]]) -> Completion:
    """Return what the word before the cursor may become.

    After `from` and `join` that is a table, elsewhere a column of the tables that stand in the query, of all
    where none does, then a keyword or a table.

    Args:
        text: the query.
        cursor: place in `text`.
        tables: the columns of each table, by its name.
    """
    before = text[:cursor]
    start = cursor
    while start and (before[start - 1].isalnum() or before[start - 1] == "_"):
        start -= 1
    word = before[start:].lower()
    if _TABLE_NEXT.search(before[:start]):
        names = [*sorted(tables)]
    elif not word and not before.strip():
        names = ["select"]
    else:
        named = [name for name in _WORD.findall(text.lower()) if name in tables] or sorted(tables)
        columns = dict.fromkeys(column for name in named for column in tables[name])
        names = [*columns, *_KEYWORDS, *sorted(tables)]
    found = tuple(name for name in names if name.lower().startswith(word) and name.lower() != word)
    return Completion(start, found)
