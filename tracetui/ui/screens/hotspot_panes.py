"""The panes of the hotspots: table and story, stacks, source; how they are laid out and which the keys go to.

Knows nothing of what they show.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tracetui.language import wording
from tracetui.ui.drawing.palette import Role
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.source import SourcePane
from tracetui.ui.widgets.stack_tree import StackTree
from tracetui.ui.widgets.table import Table

WIDE = 120  #: cells from which the source stands beside the table and the stacks
SHORT = 20  #: lines of a terminal that has none for the story


class HotspotPanes(TableScreen):
    """A table, below it the story of its row and a tree of stacks; beside them, or below, the source."""

    DEFAULT_CSS = """
    HotspotPanes #panes { height: 1fr; }
    HotspotPanes #left { width: 3fr; }
    HotspotPanes #story { height: 9; }
    HotspotPanes SourcePane { width: 2fr; margin-left: 2; }
    HotspotPanes.narrow #panes { layout: vertical; }
    HotspotPanes.narrow #story { height: 7; }
    HotspotPanes.narrow #left { width: 1fr; height: 2fr; }
    HotspotPanes.narrow SourcePane { width: 1fr; height: 1fr; margin-left: 0; }
    """

    def body(self) -> Iterable[Widget]:
        viewer = self.viewer
        table, *filter_field = super().body()
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield table
                yield Lines(viewer.glyphs, id="story")
                yield StackTree(viewer.palette, viewer.glyphs)
            yield SourcePane(viewer.palette, viewer.glyphs)
        yield Lines(viewer.glyphs, id="note")
        yield from filter_field

    @property
    def stacks(self) -> StackTree:
        """The tree of stacks, shown in place of the table or beside it."""
        return self.query_one(StackTree)

    @property
    def source(self) -> SourcePane:
        """The pane that shows the line of source."""
        return self.query_one(SourcePane)

    @property
    def story(self) -> Lines:
        """What is said of the row under the cursor."""
        return self.query_one("#story", Lines)

    def note(self, said: str, role: Role = Role.DIM) -> None:
        self.query_one("#note", Lines).show([[(wording(said), self.style_of(role))]])

    def tell_story(self) -> None:
        """Show the story of the row under the cursor of the table."""
        raise NotImplementedError

    def show_source(self) -> None:
        """Show the source of what is under the cursor of the left pane."""
        raise NotImplementedError

    # ---------------------------------------------------------------- layout

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < WIDE, "narrow")
        self._arrange()
        self.call_after_refresh(self.tell_story)

    def _arrange(self) -> None:
        """In a narrow terminal the table, with the story, and the stacks take turns."""
        narrow = self.has_class("narrow")
        on_stacks = self.left is self.stacks
        self.table.display = not (narrow and on_stacks)
        self.story.display = self.table.display and self.size.height >= SHORT
        self.stacks.display = not narrow or on_stacks

    @property
    def left(self) -> Table | StackTree:
        """The pane that says what the source shows."""
        return self.stacks if self.has_class("on-stacks") else self.table

    @property
    def _pane(self) -> Table | StackTree | SourcePane:
        """The pane that keys go to."""
        return self.source if self.source.has_focus else self.left

    def focus_pane(self, pane: Table | StackTree | SourcePane) -> None:
        """Give the keys to a pane."""
        if pane is not self.source:
            self.set_class(pane is self.stacks, "on-stacks")
            self._arrange()
        pane.focus()
        self.show_source()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """A click may focus a pane too."""
        if event.widget in (self.table, self.stacks) and event.widget is not self.left:
            self.set_class(event.widget is self.stacks, "on-stacks")
            self._arrange()
            self.show_source()

    # --------------------------------------------------------------- actions

    def action_next_pane(self, step: int) -> None:
        panes = (self.table, self.stacks, self.source)
        self.focus_pane(panes[(panes.index(self._pane) + step) % len(panes)])

    def action_cursor(self, rows: int) -> None:
        self._pane.action_cursor(rows)

    def action_page(self, pages: int) -> None:
        self._pane.action_page(pages)

    def action_first(self) -> None:
        self._pane.action_first()

    def action_last(self) -> None:
        self._pane.action_last()

    def action_activate(self) -> None:
        self._pane.action_activate()

    def action_toggle_frame(self) -> None:
        if self._pane is self.stacks:
            self.stacks.action_activate()

    def action_longest(self) -> None:
        self.focus_pane(self.stacks)
        self.stacks.action_longest()

    def action_parent(self) -> None:
        if self.left is self.stacks:
            self.stacks.action_parent()

    def action_threshold(self, steps: int) -> None:
        self.stacks.action_threshold(steps)

    def action_fold_frames(self) -> None:
        self.stacks.action_folds()
