"""The colours of the palettes, by name, for dark backgrounds and light ones. Knows nothing of what they say.

Text has a contrast of 4.5 or more with its background (WCAG 2, AA): a test holds that on black, the usual
dark grey, white and the cream of Solarized. The 16 colours are the terminal's own. On light backgrounds most
themes have only red, blue and magenta that can be read, and many show bold ones brighter. Grey is the default
colour, dim, since "bright black" is the background itself in some themes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Ink(NamedTuple):
    """The colour of text and glyphs: a style of 16 colours, an index of 256, and rgb."""

    ansi: str
    indexed: str
    true: str


class Fill(NamedTuple):
    """A slice wide enough for its name. In 16 colours it is its ink, reversed."""

    indexed: tuple[str, str]  #: the fill, the text on it
    true: tuple[str, str]


class Hue(NamedTuple):
    """One of several that tell names apart."""

    ansi: str
    fill: Fill


@dataclass(frozen=True)
class Colours:
    """All colours on one kind of background."""

    inks: Mapping[str, Ink]
    fills: Mapping[str, Fill]
    hues: tuple[Hue, ...]  #: of host operators: apart from each other, quieter than idle
    file_hues: tuple[Hue, ...]  #: of Python frames, one per file: quieter still


def _fill(indexed: tuple[int, int], true: tuple[str, str]) -> Fill:
    return Fill((f"color({indexed[0]})", f"color({indexed[1]})"), true)


def _ink(ansi: str, indexed: int, true: str) -> Ink:
    return Ink(ansi, f"color({indexed})", true)


_NONE = Ink("", "", "")  #: the terminal's own

#: The device's activities and the host's names: text is light on them, on every background.
_MID = {
    "blue": _fill((67, 16), ("#2f6fb3", "#f2f7fc")),
    "bright blue": _fill((62, 231), ("#5a5fd6", "#f4f4fd")),
    "magenta": _fill((96, 231), ("#934ea4", "#f8edfa")),
    "green": _fill((65, 16), ("#3a7c4a", "#f4faf5")),
    "cyan": _fill((66, 16), ("#39777d", "#f2f9fa")),
}
_HUES = (
    Hue("cyan", _fill((66, 16), ("#2f6f75", "#e6f3f4"))),
    Hue("bright_blue", _fill((61, 231), ("#44609a", "#e9eef8"))),
    Hue("green", _fill((65, 16), ("#47745a", "#eef6f0"))),
    Hue("cyan", _fill((242, 231), ("#5b6472", "#eceff4"))),
    Hue("green", _fill((96, 231), ("#75557f", "#f3ecf5"))),
    Hue("bright_blue", _fill((95, 231), ("#85585a", "#f7eeee"))),
)

DARK = Colours(
    inks={
        "": _NONE,
        "grey": _ink("dim", 245, "#8a92a0"),
        "yellow": _ink("bright_yellow", 221, "#ffd35c"),
        "orange": _ink("bright_yellow", 215, "#ffa94d"),
        "red": _ink("bright_red", 203, "#ff6b6b"),
        "blue": _ink("bright_blue", 68, "#5596d4"),
        "bright blue": _ink("bright_blue", 75, "#7c9cff"),
        "magenta": _ink("magenta", 140, "#bd71d0"),
        "quiet magenta": _ink("magenta", 140, "#bd71d0"),
        "green": _ink("green", 71, "#5fae6b"),
        "cyan": _ink("cyan", 73, "#4fb0b0"),
        "bright cyan": _ink("bright_cyan", 123, "#6fe7f2"),
        "bright green": _ink("bright_green", 156, "#a8f28a"),
        "bright magenta": _ink("bright_magenta", 219, "#f5a3ff"),
        "pink": _ink("bright_magenta", 205, "#ff6ac1"),
        "white": _ink("bright_white", 255, "#f2f4f8"),
    },
    fills={
        **_MID,
        "yellow": _fill((221, 16), ("#ffd35c", "#1a1400")),
        "orange": _fill((215, 16), ("#ffa94d", "#1a0f00")),
        "red": _fill((203, 16), ("#ff6b6b", "#1a0000")),
        "bright cyan": _fill((123, 16), ("#6fe7f2", "#001a1c")),
        "bright green": _fill((156, 16), ("#a8f28a", "#0a1a00")),
        "bright magenta": _fill((219, 16), ("#f5a3ff", "#18001c")),
        "pink": _fill((205, 16), ("#ff6ac1", "#1a000d")),
        "white": _fill((255, 16), ("#f2f4f8", "#10141a")),
        "selected": _fill((231, 16), ("#ffffff", "#10141a")),
        "quiet magenta": _fill((60, 255), ("#5b4468", "#e3d8e8")),
        "frame": _fill((238, 250), ("#3b424e", "#c3cad6")),
        "faint": _fill((236, 248), ("#2c313a", "#979fac")),
        "grey": _fill((240, 253), ("#4a515d", "#dde2ea")),
    },
    hues=_HUES,
    file_hues=(
        Hue("dim", _fill((238, 250), ("#363d48", "#c3cad6"))),
        Hue("dim", _fill((237, 250), ("#2f3d45", "#bfd0d8"))),
        Hue("dim", _fill((239, 252), ("#3a3a50", "#c8c8dc"))),
        Hue("dim", _fill((240, 253), ("#404236", "#d2d4c2"))),
    ),
)

LIGHT = Colours(
    inks={
        "": _NONE,
        "grey": _ink("dim", 241, "#5f6773"),
        "yellow": _ink("red not bold", 160, "#c01f1b"),
        "orange": _ink("red not bold", 94, "#a34d06"),
        "red": _ink("magenta not bold", 125, "#a8125a"),
        "blue": _ink("blue not bold", 25, "#1f5fa8"),
        "bright blue": _ink("blue not bold", 61, "#4a42c4"),
        "magenta": _ink("magenta not bold", 90, "#8636a0"),
        "quiet magenta": _ink("magenta not bold", 96, "#75557f"),
        "green": _ink("", 22, "#2a6b3b"),
        "cyan": _ink("blue not bold", 23, "#0f6670"),
        "bright cyan": _ink("blue not bold", 24, "#00617d"),
        "bright green": _ink("", 22, "#3d6b00"),
        "bright magenta": _ink("magenta not bold", 127, "#a01bb0"),
        "pink": _ink("magenta not bold", 92, "#7a1fd6"),
        "white": _ink("", 235, "#1f2733"),
    },
    fills={
        **_MID,
        "yellow": _fill((160, 231), ("#cc241e", "#ffffff")),
        "orange": _fill((94, 231), ("#b45309", "#ffffff")),
        "red": _fill((125, 231), ("#a8125a", "#ffffff")),
        "bright cyan": _fill((24, 231), ("#00617d", "#ffffff")),
        "bright green": _fill((22, 231), ("#3d6b00", "#ffffff")),
        "bright magenta": _fill((127, 231), ("#a01bb0", "#ffffff")),
        "pink": _fill((92, 231), ("#7a1fd6", "#ffffff")),
        "white": _fill((235, 231), ("#1f2733", "#ffffff")),
        "selected": _fill((16, 231), ("#10141a", "#ffffff")),
        "quiet magenta": _fill((182, 16), ("#cbb4d6", "#33203d")),
        "frame": _fill((252, 236), ("#d3d9e2", "#333b47")),
        "faint": _fill((254, 240), ("#e2e5ea", "#555d69")),
        "grey": _fill((249, 235), ("#bcc3cd", "#2b313b")),
    },
    hues=tuple(
        Hue(ansi, hue.fill)
        for ansi, hue in zip(("blue", "blue", "magenta", "blue", "magenta", "blue"), _HUES)
    ),
    file_hues=(
        Hue("dim", _fill((252, 236), ("#d3d9e2", "#333b47"))),
        Hue("dim", _fill((253, 236), ("#cddce3", "#2f3d45"))),
        Hue("dim", _fill((251, 236), ("#d6d6ea", "#3a3a50"))),
        Hue("dim", _fill((250, 235), ("#dbddc8", "#404236"))),
    ),
)
