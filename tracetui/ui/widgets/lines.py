"""Lines of styled text, each cut to the width: answers, footers, readouts, stories; some that scroll.

Knows no markup: a piece is text and a style, so nothing from a trace is ever parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.style import Style
from textual.message import Message
from textual.strip import Strip

from tracetui.language import wording
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import StyledText, first_clauses, fitted
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget
from tracetui.ui.widgets.scrolling import Scrolling

Pieces = Sequence[StyledText]

PLAIN = Style.null()


def key_pieces(keys: Iterable[tuple[str, str]], palette: Palette) -> list[StyledText]:
    """Return keys and what each does, one after the other."""
    line: list[StyledText] = []
    for key, does in keys:
        gap = "  " if line else ""
        line.append((gap + wording(key), palette.style_of(Role.KEY)))
        line.append((f" {wording(does, f'key.{does}')}", palette.style_of(Role.DIM)))
    return line


class Lines(InViewer, CachedLineWidget):
    """Lines of pieces, each cut to the width; those that do not fit the height are not shown."""

    DEFAULT_CSS = "Lines { width: 1fr; height: 1; }"

    lines: Sequence[Pieces] = ()
    right: Pieces = ()

    def show(self, lines: Iterable[Pieces], right: Pieces = ()) -> None:
        """Show other lines; `right` stands at the right end of the first one and is the last to be cut."""
        shown = [*lines], right
        if shown != (self.lines, self.right):
            self.lines, self.right = shown
            self.redraw()

    def show_whole(self, lines: Sequence[Pieces], right: Pieces = ()) -> None:
        """Show other lines in the height that they take."""
        self.styles.height = len(lines)
        self.show(lines, right)

    @property
    def text(self) -> str:
        """All that is said, without styles and at any length."""
        return "\n".join("".join(text for text, _ in line) for line in [*self.lines, self.right] if line)

    def shortened(self, line: Pieces, width: int) -> Pieces:
        """Return a line as it is drawn in so many cells, with what is cut left out."""
        return line

    def draw_line(self, y: int) -> Strip:
        width, ellipsis = self.size.width, self.glyphs.ellipsis
        if y >= len(self.lines):
            return Strip.blank(width)
        right = self.right if y == 0 else ()
        if not right:
            return fitted(self.shortened(self.lines[y], width), width, ellipsis)
        width_taken = sum(cell_len(text) for text, _ in right) + 1
        room = max(width - width_taken, 0)
        left = fitted(self.shortened(self.lines[y], room), room, ellipsis)
        return Strip.join(
            [left, fitted([(" ", PLAIN), *right], min(width_taken, width), self.glyphs.ellipsis)]
        )


class AnswerLine(Lines):
    """A sentence, its last piece: where it does not fit its last clauses go, not the end of a word."""

    def shortened(self, line: Pieces, width: int) -> Pieces:
        if not line:
            return line
        *first, (text, style) = line
        room = width - sum(cell_len(text) for text, _ in first)
        return [*first, (first_clauses(text, room, self.glyphs.ellipsis), style)]


class Pager(InViewer, Scrolling, can_focus=True):
    """Lines that scroll, from `top` on.

    Textual's `VerticalScroll` around a `Static` scrolls as fast, with the same bytes (4 ms, 6.2 kB), but
    draws all lines before the first is seen: showing other ones, at each move of the cursor in the advice,
    took 37 ms (this: 6 ms).
    """

    DEFAULT_CSS = "Pager { width: 1fr; height: 1fr; }"

    lines: Sequence[Pieces] = ()

    class Resized(Message):
        """There is more room or less: what was broken into lines for it may fit no longer."""

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def show(self, lines: Sequence[Pieces]) -> None:
        """Show other lines, at the same position as far as they reach."""
        self.lines = lines
        self.action_cursor(0)
        self.refresh()

    @property
    def rows(self) -> int:
        return len(self.lines)

    @property
    def place(self) -> str:
        """The rows on screen, "12-34/80", or "" where all are."""
        last = min(self.top + self.size.height, len(self.lines))
        return f"{self.top + 1}-{last}/{len(self.lines)}" if self.size.height < len(self.lines) else ""

    def render_line(self, y: int) -> Strip:
        place = self.top + y
        if place >= len(self.lines):
            return Strip.blank(self.size.width)
        return fitted(self.lines[place], self.size.width, self.glyphs.ellipsis)
