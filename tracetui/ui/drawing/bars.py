"""Shares as bars inside one line, in eighths of a cell or several stacked; and as times that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style

from tracetui.trace.model import Activity
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.units import format_exact


@dataclass(frozen=True)
class BarInk:
    """How one part of a stacked bar is drawn: colour and character both tell it from the others."""

    glyph: str
    style: Style


@dataclass(frozen=True)
class TimeInks:
    """The inks of what device time goes to."""

    idle: BarInk
    preparing: BarInk
    communication: BarInk
    beside_cores: BarInk
    copy: BarInk
    compute: BarInk


def time_inks(palette: Palette, glyphs: Glyphs) -> TimeInks:
    """Return the inks for a terminal; idle is the full and bright one."""
    marks = "█▓▒░━" if glyphs.full == "█" else "#%:.="
    return TimeInks(
        idle=BarInk(marks[0], palette.style_of(Role.IDLE)),
        preparing=BarInk(marks[2], palette.style_of(Role.HOST_WAIT)),
        communication=BarInk(marks[1], palette.style_of(Activity.COMMUNICATION)),
        beside_cores=BarInk(marks[2], palette.style_of(Activity.AICPU)),
        copy=BarInk(marks[3], palette.style_of(Activity.COPY)),
        compute=BarInk(marks[4], palette.style_of(Activity.COMPUTE)),
    )


def share_bar(part: float, whole: float, width: int, glyphs: Glyphs) -> str:
    """Draw a bar as long as part / whole of `width` cells, in eighths; something never looks like nothing."""
    if whole <= 0 or part <= 0 or width <= 0:
        return ""
    eighths = max(min(int(part / whole * width * 8 + 0.5), width * 8), 1)
    full, eighth = divmod(eighths, 8)
    bar = glyphs.full * full + (glyphs.eighths[eighth] if eighth else "")
    return bar.rstrip() or glyphs.sliver


def stacked_bar(parts: Sequence[tuple[int, BarInk]], whole: int, width: int) -> list[tuple[str, Style]]:
    """Draw the parts of a whole in whole cells, together as long as their sum: large remainders round up."""
    if whole <= 0 or width <= 0:
        return []
    exact = [min(part, whole) * width for part, _ in parts]
    cells = [product // whole for product in exact]
    rest = min((sum(exact) + whole // 2) // whole, width) - sum(cells)
    for place in sorted(range(len(parts)), key=lambda place: -(exact[place] % whole))[: max(rest, 0)]:
        cells[place] += 1
    return [(ink.glyph * count, ink.style) for count, (_, ink) in zip(cells, parts) if count]


DIGITS = 4  #: of the whole


def unit_of(whole_ns: int) -> int:
    """Return the power of ten of ns that leaves `whole_ns` with at most DIGITS digits."""
    return int(10 ** max(len(str(whole_ns)) - DIGITS, 0))


def apportion(parts: Sequence[int], whole: int) -> list[int]:
    """Return integers in proportion to `parts` that sum to `whole`: each is its share rounded down or up.

    The largest remainders round up, the first of equals.
    """
    total = sum(parts)
    if total <= 0:
        return [0] * len(parts)
    shares = [part * whole // total for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda place: -(parts[place] * whole % total))
    for place in by_remainder[: whole - sum(shares)]:
        shares[place] += 1
    return shares


def format_share(units: int, unit_ns: int) -> str:
    """Return "93.2 µs"; what rounds to nothing is "<0.1 µs"."""
    return format_exact(units * unit_ns) if units else f"<{format_exact(unit_ns)}"
