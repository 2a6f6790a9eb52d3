"""Ramps of eight shades for heat maps, in every palette, on dark and on light backgrounds.

A ramp goes away from the background in even steps of lightness: on dark ones more is lighter, on light ones
darker. In 256 and true colours a shade is the background of a cell, in 16 colours a mixture of two hues by a
shade character, without colours the height of a block. Level 0 is the floor, of exactly nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from rich.style import Style

from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.strips import StyledText

LEVELS = 8


class Heat(Enum):
    """What a row's time is: each has a ramp of its own."""

    LOST = "lost"  #: warm: the device does nothing, or nothing of use
    WORK = "work"  #: cool
    WAIT = "wait"  #: grey: neither
    NO_LEAD = "no lead"  #: those of LOST; without colours digits, as cells beside them have those of WORK
    LEAD = "lead"  #: the shades of WORK, then those of NO_LEAD: one row holds both


_Colours = tuple[str, ...]

#: the floor and eight shades as rgb: dark after inferno, mako and grey, light the other way round
_TRUE: dict[tuple[Heat, bool], _Colours] = {
    (Heat.LOST, False): (
        "#121217", "#420a68", "#6f196e", "#9f2a63", "#cc4248", "#e9612b", "#fb9606", "#f8cf3a", "#fcffa4",
    ),
    (Heat.WORK, False): (
        "#121217", "#1d2c54", "#22457a", "#285f93", "#317aa5", "#4196b0", "#5db2b8", "#8eccc0", "#cfe9d8",
    ),
    (Heat.WAIT, False): (
        "#121217", "#2c2f36", "#3e424b", "#515661", "#656b77", "#7a808d", "#9096a2", "#a7acb7", "#bfc4cc",
    ),
    (Heat.LOST, True): (
        "#f1f1f4", "#fbe08a", "#fbbb3a", "#f5942a", "#e46a2c", "#c8443e", "#9c2962", "#69176c", "#320a55",
    ),
    (Heat.WORK, True): (
        "#f1f1f4", "#c6e5d8", "#96cfc3", "#66b3b8", "#4796b0", "#337ba5", "#285f93", "#22457a", "#182548",
    ),
    (Heat.WAIT, True): (
        "#f1f1f4", "#d9dbe0", "#c5c8cf", "#b1b5bd", "#9da1ab", "#898e99", "#757b87", "#626874", "#505661",
    ),
}  # fmt: skip

#: the same as indices of 256 colours
_INDEXED: dict[tuple[Heat, bool], tuple[int, ...]] = {
    (Heat.LOST, False): (233, 53, 89, 125, 161, 203, 208, 220, 230),
    (Heat.WORK, False): (233, 18, 20, 24, 61, 31, 73, 79, 122),
    (Heat.WAIT, False): (233, 236, 238, 240, 242, 244, 246, 248, 250),
    (Heat.LOST, True): (255, 222, 214, 208, 202, 161, 125, 89, 53),
    (Heat.WORK, True): (255, 153, 79, 73, 67, 61, 24, 20, 17),
    (Heat.WAIT, True): (255, 252, 250, 248, 246, 244, 242, 240, 238),
}

#: three hues of the terminal's own 16 colours, from the background away
_HUES: dict[tuple[Heat, bool], tuple[str, str, str]] = {
    (Heat.LOST, False): ("red", "yellow", "bright_yellow"),
    (Heat.WORK, False): ("blue", "cyan", "bright_cyan"),
    (Heat.WAIT, False): ("bright_black", "bright_black", "white"),
    (Heat.LOST, True): ("yellow", "red", "black"),
    (Heat.WORK, True): ("cyan", "blue", "black"),
    (Heat.WAIT, True): ("bright_black", "bright_black", "black"),
}
#: how two hues mix into eight shades: character, hue in front, hue behind (None: the terminal's background)
_MIXED = (
    ("░", 0, None),
    ("▒", 0, None),
    ("▓", 0, None),
    ("█", 0, None),
    ("▒", 1, 0),
    ("█", 1, None),
    ("▒", 2, 1),
    ("█", 2, None),
)
_MIXED_GREY = (
    ("░", 0, None), ("▒", 0, None), ("▓", 0, None), ("█", 0, None),
    ("░", 2, 0), ("▒", 2, 0), ("▓", 2, 0), ("█", 2, None),
)  # fmt: skip
_ASCII_LEVELS = ".:-=+*#@"
_DIGITS = " 12345678"
_ASCII_HUES = (0, 0, 0, 1, 1, 1, 2, 2)
_PLAIN = {Heat.LOST: Style(bold=True), Heat.WORK: Style(), Heat.WAIT: Style(dim=True)}

#: what the cursor is painted with: no ramp has it
_CURSOR = {"true": "#00e5ff", "256": "color(51)", "ansi": "bright_magenta"}


@dataclass(frozen=True)
class Ramp:
    """The shades of one kind of row."""

    glyphs: str  #: nine characters (17 of LEAD); blanks where the shade is the background
    styles: tuple[Style, ...]  #: as many styles
    written: tuple[Style, ...]  #: of text on each shade
    #: as many colours, so that half a cell can have one; None where a shade is no colour
    colours: _Colours | None

    @property
    def solid(self) -> bool:
        """Whether shades are backgrounds, and two of them fit a cell."""
        return self.colours is not None

    def swatch(self, level: int, text: str, dim: Style) -> list[StyledText]:
        """Draw a sample of a shade with a text: on it where it is a background, else behind it."""
        if self.solid:
            return [(f" {text} ", self.written[level])]
        glyph = self.glyphs[level]
        return [(f"{glyph}:" if glyph.isdigit() else glyph * 2, self.styles[level]), (f"{text} ", dim)]


def ramp_of(heat: Heat, palette: str, glyphs: Glyphs, light: bool = False) -> Ramp:
    """Return the ramp of a kind of row in a palette: "ansi", "256", "true" or "none"."""
    if heat is Heat.LEAD:
        return _joined(*(ramp_of(kind, palette, glyphs, light) for kind in (Heat.WORK, Heat.NO_LEAD)))
    if heat is Heat.NO_LEAD:
        lost = ramp_of(Heat.LOST, palette, glyphs, light)
        return replace(lost, glyphs=_DIGITS) if palette == "none" else lost
    key = heat, light
    if palette == "none":
        shades = glyphs.shades if glyphs.full == "█" else " " + _ASCII_LEVELS
        return Ramp(shades, (_PLAIN[heat],) * 9, (Style(),) * 9, None)
    if palette == "ansi":
        return _mixed(heat, light, glyphs)
    colours = _TRUE[key] if palette == "true" else tuple(f"color({index})" for index in _INDEXED[key])
    styles = tuple(Style.parse(f"on {colour}") for colour in colours)
    written = tuple(
        Style.parse(f"{_ink(level, light, palette)} on {colour}") for level, colour in enumerate(colours)
    )
    return Ramp(" " * 9, styles, written, colours)


def _joined(first: Ramp, second: Ramp) -> Ramp:
    """Join the shades of one ramp and those of another, without the floor of the second."""
    colours = (*first.colours, *second.colours[1:]) if first.colours and second.colours else None
    return Ramp(
        first.glyphs + second.glyphs[1:],
        (*first.styles, *second.styles[1:]),
        (*first.written, *second.written[1:]),
        colours,
    )


def cursor_style(palette: str) -> Style:
    """Return what is painted over the cell under the cursor."""
    if palette in _CURSOR:
        return Style.parse(f"black on {_CURSOR[palette]} bold")
    return Style(reverse=True, bold=True)


def cursor_colour(palette: str) -> str:
    """Return the colour of a cell under the cursor, in all palettes but "none"."""
    return _CURSOR[palette]


def _ink(level: int, light: bool, palette: str) -> str:
    dark_ink = (level >= 5) != light
    if palette == "true":
        return "#10141a" if dark_ink else "#e8ecf2"
    return "color(16)" if dark_ink else "color(254)"


def _mixed(heat: Heat, light: bool, glyphs: Glyphs) -> Ramp:
    hues = _HUES[heat, light]
    if glyphs.full != "█":
        styles = tuple(Style.parse(hues[place]) for place in _ASCII_HUES)
        return Ramp(" " + _ASCII_LEVELS, (Style(), *styles), (Style(),) * 9, None)
    mixed = _MIXED_GREY if heat is Heat.WAIT else _MIXED
    styles = tuple(
        Style.parse(hues[front] + ("" if behind is None else f" on {hues[behind]}"))
        for _, front, behind in mixed
    )
    return Ramp(" " + "".join(glyph for glyph, _, _ in mixed), (Style(), *styles), (Style(),) * 9, None)
