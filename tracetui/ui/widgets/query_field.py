"""The line where a query is typed: tab completes the word, up and down go through what was asked before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from tracetui.ui.query_history import QueryHistory
from tracetui.ui.query_names import Completion, complete


class QueryField(Input):
    """One line of SQL."""

    DEFAULT_CSS = """
    QueryField { background: ansi_default; }
    """
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
        self.value = self._history.beside(by)
        self.cursor_position = len(self.value)
