"""The only place where colours are named: styles of activities, families and roles, in four palettes.

`ansi` uses the terminal's own 16 colours (the fewest bytes over a slow link), `256` and `true` are calmer,
`none` has no colour: what a colour says is said by bold, dim, reverse and underline as well. No style paints
a background, except of what is selected.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

from rich.style import Style

from tracetui.trace.model import Activity


class Role(Enum):
    """What something on screen is, beside the activity of a device slice."""

    TEXT = "text"  #: ordinary text
    DIM = "dim"  #: what may be overlooked: rules, units, labels of the second rank
    TITLE = "title"  #: the name of a pane, of a group of tracks
    NUMBER = "number"  #: the number a pane is about
    KEY = "key"  #: a key to press, in the footer and the help
    RULE = "rule"
    IDLE = "idle"  #: device idle: the brightest ink there is
    HOST = "host"  #: host operators and calls, where no hue of their own is wanted
    FRAME = "frame"  #: Python frames
    COUNTER = "counter"
    SELECTED = "selected"  #: the selected slice or table row
    CURSOR = "cursor"  #: the row of the timeline that holds the cursor
    WINDOW = "window"  #: the window of time
    HIT = "hit"  #: what a search or a filter found
    STEP = "step"  #: boundaries of steps
    USER_LINE = "user line"  #: the user's own frame of a stack, a line of their source
    WARNING = "warning"
    ERROR = "error"
    GOOD = "good"


#: one colour per palette: ansi name, 256 index, rgb. "" leaves the terminal's own foreground
_PLAIN = ("", "", "")
_GREY = ("bright_black", "color(242)", "#6c7380")
_YELLOW = ("bright_yellow", "color(221)", "#ffd35c")
_BLUE = ("blue", "color(67)", "#4f8fd0")
_BRIGHT_BLUE = ("bright_blue", "color(75)", "#7c9cff")
_MAGENTA = ("magenta", "color(133)", "#b565c9")
_GREEN = ("green", "color(71)", "#5fae6b")
_CYAN = ("cyan", "color(73)", "#4fb0b0")
_RED = ("bright_red", "color(203)", "#ff6b6b")

#: colour triple and attributes
_ROLES: Mapping[Role | Activity, tuple[tuple[str, str, str], str]] = {
    Role.TEXT: (_PLAIN, ""),
    Role.DIM: (_GREY, "dim"),
    Role.TITLE: (_PLAIN, "bold"),
    Role.NUMBER: (_PLAIN, "bold"),
    Role.KEY: (_YELLOW, "bold"),
    Role.RULE: (_GREY, "dim"),
    Role.IDLE: (_YELLOW, "bold"),
    Role.HOST: (_CYAN, ""),
    Role.FRAME: (_GREY, ""),
    Role.COUNTER: (_GREEN, "dim"),
    Role.SELECTED: (_PLAIN, "reverse"),
    Role.CURSOR: (_PLAIN, "bold"),
    Role.WINDOW: (_YELLOW, "underline"),
    Role.HIT: (_YELLOW, "bold underline"),
    Role.STEP: (_GREY, ""),
    Role.USER_LINE: (_YELLOW, "bold"),
    Role.WARNING: (_YELLOW, "bold"),
    Role.ERROR: (_RED, "bold"),
    Role.GOOD: (_GREEN, ""),
    Activity.NONE: (_CYAN, ""),
    Activity.AICORE: (_BLUE, ""),
    Activity.AICPU: (_BRIGHT_BLUE, "bold"),
    Activity.COMMUNICATION: (_MAGENTA, ""),
    Activity.COPY: (_GREEN, ""),
    Activity.COMMUNICATION_TASK: (_MAGENTA, "dim"),
    Activity.WAIT: (_GREY, "dim"),
    Activity.EVENT: (_GREY, "dim"),
    Activity.OTHER: (_GREY, ""),
}

#: hues of host operators: apart from each other, quieter than idle
_HUES: tuple[tuple[str, str, str], ...] = (
    ("cyan", "color(73)", "#5aa9a9"),
    ("blue", "color(68)", "#6b93c9"),
    ("green", "color(108)", "#87af87"),
    ("white", "color(146)", "#a9aec8"),
    ("red", "color(138)", "#b08a8a"),
    ("magenta", "color(139)", "#a98bb0"),
)
#: hues of Python frames, one per file: quieter still
_FILE_HUES: tuple[tuple[str, str, str], ...] = (
    ("bright_black", "color(242)", "#6c7380"),
    ("cyan", "color(66)", "#5f8787"),
    ("blue", "color(60)", "#5f6b97"),
    ("green", "color(65)", "#5f7f63"),
    ("magenta", "color(96)", "#80648a"),
)

PALETTES = ("ansi", "256", "true", "none")


class Palette:
    """The styles of one palette: "ansi", "256", "true" or "none"."""

    def __init__(self, name: str) -> None:
        if name not in PALETTES:
            raise ValueError(f"palette {name!r}: not one of {', '.join(PALETTES)}")
        self.name = name
        self._styles = {
            role: self._style(colour, attributes) for role, (colour, attributes) in _ROLES.items()
        }
        self._hues = [self._style(colour, "") for colour in _HUES]
        self._file_hues = [self._style(colour, "dim" if name == "none" else "") for colour in _FILE_HUES]

    def style_of(self, what: Role | Activity) -> Style:
        """The style of a role or an activity."""
        return self._styles[what]

    def hue(self, name: str) -> Style:
        """The style of a host operator or call: the same name is the same colour in every run."""
        return self._hues[_stable(name) % len(self._hues)]

    def file_hue(self, file: str) -> Style:
        """The style of Python frames of a file."""
        return self._file_hues[_stable(file) % len(self._file_hues)]

    def _style(self, colour: tuple[str, str, str], attributes: str) -> Style:
        text = "" if self.name == "none" else colour[("ansi", "256", "true").index(self.name)]
        wanted = attributes.split()
        if text and self.name != "ansi":
            wanted = [word for word in wanted if word != "dim"]  # the colour is dim enough by itself
        return Style.parse(" ".join([*wanted, text]))


def choose_palette(asked: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """What is asked for, else none with NO_COLOR, few bytes over SSH, else what TERM can do."""
    if asked is not None:
        return asked
    if environ.get("NO_COLOR"):
        return "none"
    if environ.get("SSH_CONNECTION"):
        return "ansi"
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "true"
    return "256" if "256" in environ.get("TERM", "") else "ansi"


@lru_cache(maxsize=65536)
def _stable(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))
