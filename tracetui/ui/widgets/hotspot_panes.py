"""The panes of the hotspots: table and story, stacks, source; how they are laid out and which the keys go to.

Knows nothing of what they show.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from textual import events
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.source import SourcePane
from tracetui.ui.widgets.stack_tree import StackTree
from tracetui.ui.widgets.table import TableWidget

WIDE = 120  #: cells from which the source stands beside the table and the stacks
SHORT = 20  #: lines of a terminal that has none for the story

Pane = Union[TableWidget, StackTree, SourcePane]


class HotspotPanes(Horizontal):
    """A table, below it the story of its row and a tree of stacks; beside them, or below, the source."""

    DEFAULT_CSS = """
    HotspotPanes { height: 1fr; }
    HotspotPanes #left { width: 3fr; }
    HotspotPanes #story { height: 9; }
    HotspotPanes SourcePane { width: 2fr; margin-left: 2; }
    HotspotPanes.narrow { layout: vertical; }
    HotspotPanes.narrow #story { height: 7; }
    HotspotPanes.narrow #left { width: 1fr; height: 2fr; }
    HotspotPanes.narrow SourcePane { width: 1fr; height: 1fr; margin-left: 0; }
    """

    class Turned(Message):
        """Keys go to another pane: the source may be of something else."""

    def __init__(self) -> None:
        super().__init__()
        self.table = TableWidget()
        self.story = Lines(id="story")
        self.stacks = StackTree()  #: shown in place of the table or beside it
        self.source = SourcePane()
        self._on_stacks = False  # the keys went to the stacks last, rather than to the table
        self._height = 0  # lines of the terminal

    def compose(self) -> Iterable[Widget]:
        with Vertical(id="left"):
            yield self.table
            yield self.story
            yield self.stacks
        yield self.source

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for the source beside the table."""
        return self.has_class("narrow")

    @property
    def left(self) -> TableWidget | StackTree:
        """The pane that says what the source shows."""
        return self.stacks if self._on_stacks else self.table

    @property
    def focused(self) -> Pane:
        """The pane that keys go to."""
        return self.source if self.source.has_focus else self.left

    def fit(self, width: int, height: int) -> None:
        """Lay the panes out for a terminal of so many cells and lines."""
        self._height = height
        self.set_class(width < WIDE, "narrow")
        self._arrange()

    def _arrange(self) -> None:
        """Let the table, with the story, and the stacks take turns in a narrow terminal."""
        self.table.display = not (self.is_narrow and self._on_stacks)
        self.story.display = self.table.display and self._height >= SHORT
        self.stacks.display = not self.is_narrow or self._on_stacks

    def focus_pane(self, pane: Pane) -> None:
        """Give the keys to a pane."""
        if pane is not self.source:
            self._turn_to(pane is self.stacks)
        pane.focus()
        self.post_message(self.Turned())

    def focus_next(self, step: int) -> None:
        """Give the keys to the next pane, or to the one before (-1)."""
        panes = (self.table, self.stacks, self.source)
        self.focus_pane(panes[(panes.index(self.focused) + step) % len(panes)])

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Follow a click, which may focus a pane too."""
        if event.widget in (self.table, self.stacks) and event.widget is not self.left:
            self._turn_to(event.widget is self.stacks)
            self.post_message(self.Turned())

    def _turn_to(self, on_stacks: bool) -> None:
        self._on_stacks = on_stacks
        self._arrange()
