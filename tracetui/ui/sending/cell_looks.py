"""Styles as the codes of a terminal, and the fewest codes from one style to the next.

Knows the codes of ECMA-48 (SGR); links, which the viewer does not use, are left out.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.color import Color, ColorSystem
from rich.style import Style

#: attribute of a style, the code that turns it on, the code that turns it off
_ATTRIBUTES = (
    ("bold", "1", "22"),
    ("dim", "2", "22"),
    ("italic", "3", "23"),
    ("underline", "4", "24"),
    ("blink", "5", "25"),
    ("reverse", "7", "27"),
    ("strike", "9", "29"),
)
_OFF = {on: off for _, on, off in _ATTRIBUTES}
#: attributes that are seen on a blank
_SEEN = {"4", "7", "9"}


class CellLook(NamedTuple):
    """A style as codes; "" is the terminal's own colour."""

    attributes: tuple[str, ...] = ()
    foreground: str = ""
    background: str = ""

    @property
    def shows_blanks(self) -> bool:
        """Whether a blank in this look differs from an erased cell."""
        return bool(self.background or _SEEN.intersection(self.attributes))


PLAIN = CellLook()


def look_of(style: Style, system: ColorSystem) -> CellLook:
    """Return the look of a style where there are so many colours."""
    return CellLook(
        tuple(on for name, on, _ in _ATTRIBUTES if getattr(style, name)),
        _colour(style.color, system, foreground=True),
        _colour(style.bgcolor, system, foreground=False),
    )


def turn(old: CellLook, new: CellLook) -> str:
    """Return the shortest sequence that turns one look into another; "" where they are equal."""
    if old == new:
        return ""
    if new == PLAIN:
        return "\x1b[m"
    gone = [on for on in old.attributes if on not in new.attributes]
    off = dict.fromkeys(_OFF[on] for on in gone)
    kept = [on for on in old.attributes if on in new.attributes and _OFF[on] not in off]
    changed = [*off, *(on for on in new.attributes if on not in kept)]
    if old.foreground != new.foreground:
        changed.append(new.foreground or "39")
    if old.background != new.background:
        changed.append(new.background or "49")
    anew = ["", *new.attributes, *filter(None, (new.foreground, new.background))]
    return min((f"\x1b[{';'.join(codes)}m" for codes in (changed, anew)), key=len)


def _colour(colour: Color | None, system: ColorSystem, foreground: bool) -> str:
    if colour is None or colour.is_default:
        return ""
    return ";".join(colour.downgrade(system).get_ansi_codes(foreground))
