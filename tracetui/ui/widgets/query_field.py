"""The line where a query is typed: tab completes the word, up and down go through what was asked before."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from tracetui.ui.query_history import QueryHistory


class QueryField(Input):
    """One line of SQL."""

    DEFAULT_CSS = "QueryField { background: ansi_default; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("tab", "complete", show=False),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]

    class Left(Message):
        """Nothing is typed any more."""

    def __init__(
        self, tables: Callable[[], Mapping[str, Sequence[str]]], history: QueryHistory, placeholder: str
    ) -> None:
        """Complete names of `tables`, the columns of each by its name."""
        super().__init__(id="query", placeholder=placeholder, compact=True)
        self._tables = tables
        self._history = history

    @property
    def completion(self) -> Completion:
        """What the word before the cursor may become."""
        return complete(self.value, self.cursor_position, self._tables())

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_complete(self) -> None:
        """Complete the word; leave where nothing is typed."""
        completion = self.completion
        if not self.value:
            self.action_leave()
        elif completion.names:
            self.value, self.cursor_position = completion.completed(self.value, self.cursor_position)

    def action_recall(self, by: int) -> None:
        """Show the query asked before (-1) or after (1)."""
        self.value = self._history.move(by)
        self.cursor_position = len(self.value)


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
