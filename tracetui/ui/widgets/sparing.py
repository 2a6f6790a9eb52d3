"""A widget drawn line by line that sends few bytes: of a line, all up to its last cell that has changed.

Knows lines of segments; not what they show. Textual compares nothing: it sends every region that is to be
drawn again, blanks included.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class SparingWidget(Widget):
    """Draws `draw_line`; `redraw` instead of `refresh` where only some of its cells may have changed."""

    _drawn: dict[int, Strip] | None = None  # what each line looked like when it was drawn last

    def draw_line(self, y: int) -> Strip:
        """The line y as it should look now."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        if self._drawn is None:
            self._drawn = {}
        strip = self._drawn[y] = self.draw_line(y)
        return strip

    def redraw(self, lines: Iterable[int] | None = None) -> None:
        """Draw again what has changed on these lines, or on all."""
        drawn = self._drawn or {}
        stops = {
            y: changed_cells(drawn.get(y), self.draw_line(y))
            for y in (range(self.size.height) if lines is None else lines)
        }
        regions = [Region(0, y, stop, 1) for y, stop in stops.items() if stop]
        if regions:
            self.refresh(*regions)


def changed_cells(old: Strip | None, new: Strip) -> int:
    """The cells of the new line up to the last one that differs from the old line; 0 where none does."""
    if old is None or old.cell_length != new.cell_length:
        return new.cell_length
    if old is new:
        return 0
    before, after = ([(text, style or None) for text, style, _ in strip] for strip in (old, new))
    while before and after:
        (was, old_style), (now, new_style) = before.pop(), after.pop()
        same = _common_end(was, now) if old_style == new_style else 0
        was, now = was[: len(was) - same], now[: len(now) - same]
        if now:
            after.append((now, new_style))
        if was and now:
            break
        if was:
            before.append((was, old_style))
    return sum(cell_len(text) for text, _ in after)


def _common_end(text: str, other: str) -> int:
    """How many characters two texts have in common at their ends."""
    for count, (character, its) in enumerate(zip(reversed(text), reversed(other))):
        if character != its:
            return count
    return min(len(text), len(other))
