"""A widget drawn line by line, without the styles that Textual would work out for each line and not need.

Knows lines of segments; not what they show. What of them is sent is decided for the whole screen
(tracetui.ui.sending).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.geometry import Region, Size
from textual.strip import Strip

from tracetui.ui._textual import TrackedWidget


class WholeStrip(Strip):
    """A strip that goes with the last who knows it.

    Textual's own keeps itself as its only part. Such rings piled up, 2,000 objects a frame, until the garbage
    collector took 0.1 s of a frame to find them.
    """

    __slots__ = ()

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        cuts = [*cuts]
        return [self] if cuts == [self.cell_length] else super().divide(cuts)


class CachedLineWidget(TrackedWidget):
    """Draws `draw_line` or `draw_lines` in all its cells: it has no border, no padding and no background."""

    _drawn: dict[int, Strip] | None = None  # lines as they were drawn last, but those to be drawn again

    @property
    def size(self) -> Size:
        # Without borders it is what it is with them; Textual asks its styles, which took 1.2 ms of a frame
        return self.outer_size

    def draw_line(self, y: int) -> Strip:
        """Return the line y as it should look now; blank where a widget draws all its lines at once."""
        return Strip.blank(self.size.width)

    def draw_lines(self, lines: Sequence[int]) -> list[Strip]:
        """Return these lines as they should look now."""
        return [self.draw_line(y) for y in lines]

    def render_line(self, y: int) -> Strip:
        return self.draw_lines([y])[0]

    def render_lines(self, crop: Region) -> list[Strip]:
        # Textual's own way, which adds styles to each line, took 2 ms of a frame for the same lines
        drawn, filters = self._drawn, self.get_line_filters()
        if drawn is None:
            drawn = self._drawn = {}
        missing = [y for y in crop.line_range if y not in drawn]
        for y, strip in zip(missing, self.draw_lines(missing)):
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, self.background_colors[1])
            drawn[y] = strip if isinstance(strip, WholeStrip) else WholeStrip(strip, strip.cell_length)
        left, right = crop.column_span
        whole = (left, right) == (0, self.size.width)
        return [drawn[y] if whole else drawn[y].crop(left, right) for y in crop.line_range]

    def redraw(self, lines: Iterable[int] | None = None) -> None:
        """Draw these lines again, or all."""
        if lines is None:
            self.refresh()
        elif regions := [Region(0, y, self.size.width, 1) for y in lines]:
            self.refresh(*regions)

    def invalidated(self, regions: Iterable[Region]) -> None:
        regions = [*regions]
        if not regions:
            self._drawn = None
        elif self._drawn:
            for y in (y for region in regions for y in region.line_range):
                self._drawn.pop(y, None)
