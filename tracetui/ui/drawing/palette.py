"""The only place where colours are named: styles of activities, families and roles, in four palettes.

`ansi` uses the terminal's own 16 colours (the fewest bytes over a slow link), `256` and `true` are calmer,
`none` has no colour: what a colour says is said by bold, dim, reverse and underline as well. Nothing paints a
background but slices wide enough for their name, and what is selected.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from rich.color import ColorSystem
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
    HOST_PYTHON = "host python"  #: idle because Python ran
    HOST_OPERATOR = "host operator"  #: idle because the framework worked
    HOST_WAIT = "host wait"  #: idle because the host waited or cleaned up: what can often be left out
    QUEUED = "queued"  #: idle while the task was in the task queue
    LAUNCHING = "launching"  #: idle while the task was being launched
    LAUNCHED = "launched"  #: idle after the launch
    UNLINKED = "unlinked"  #: idle, and the trace does not tell why
    HOST = "host"  #: host operators and calls, where no hue of their own is wanted
    FRAME = "frame"  #: Python frames
    COUNTER = "counter"
    UNREAD = "unread"  #: what was only sampled
    SELECTED = "selected"  #: the selected slice or table row
    CURSOR = "cursor"  #: the row of the timeline that holds the cursor
    WINDOW = "window"  #: the window of time
    HIT = "hit"  #: what a search or a filter found
    FLOW = "flow"  #: the line from the host to the device
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
_ORANGE = ("bright_yellow", "color(215)", "#ffa94d")
_BRIGHT_CYAN = ("bright_cyan", "color(123)", "#6fe7f2")
_BRIGHT_GREEN = ("bright_green", "color(156)", "#a8f28a")
_BRIGHT_MAGENTA = ("bright_magenta", "color(219)", "#f5a3ff")
_WHITE = ("bright_white", "color(255)", "#f2f4f8")

#: colour triple and attributes
_ROLES: Mapping[Role | Activity, tuple[tuple[str, str, str], str]] = {
    Role.TEXT: (_PLAIN, ""),
    Role.DIM: (_GREY, "dim"),
    Role.TITLE: (_PLAIN, "bold"),
    Role.NUMBER: (_PLAIN, "bold"),
    Role.KEY: (_YELLOW, "bold"),
    Role.RULE: (_GREY, "dim"),
    Role.IDLE: (_YELLOW, "bold"),
    Role.HOST_PYTHON: (_YELLOW, "bold"),
    Role.HOST_OPERATOR: (_ORANGE, "bold"),
    Role.HOST_WAIT: (_RED, "bold"),
    Role.QUEUED: (_BRIGHT_CYAN, "bold"),
    Role.LAUNCHING: (_BRIGHT_GREEN, "bold"),
    Role.LAUNCHED: (_BRIGHT_MAGENTA, "bold"),
    Role.UNLINKED: (_WHITE, "bold"),
    Role.HOST: (_CYAN, ""),
    Role.FRAME: (_GREY, ""),
    Role.COUNTER: (_GREEN, "dim"),
    Role.UNREAD: (_GREY, ""),
    Role.SELECTED: (_PLAIN, "reverse"),
    Role.CURSOR: (_PLAIN, "bold"),
    Role.WINDOW: (_YELLOW, "underline"),
    Role.HIT: (_YELLOW, "bold underline"),
    Role.FLOW: (_PLAIN, "bold"),
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

#: fill and text of a slice wide enough for its name, in 256 and true colours. In 16 colours the fill is the
#: ink reversed, which is the fewest bytes and legible with every terminal's own colours
_FILLS: Mapping[Role | Activity, tuple[tuple[str, str], tuple[str, str]]] = {
    Role.IDLE: (("color(221)", "color(16)"), ("#ffd35c", "#1a1400")),
    Role.HOST_PYTHON: (("color(221)", "color(16)"), ("#ffd35c", "#1a1400")),
    Role.HOST_OPERATOR: (("color(215)", "color(16)"), ("#ffa94d", "#1a0f00")),
    Role.HOST_WAIT: (("color(203)", "color(16)"), ("#ff6b6b", "#1a0000")),
    Role.QUEUED: (("color(123)", "color(16)"), ("#6fe7f2", "#001a1c")),
    Role.LAUNCHING: (("color(156)", "color(16)"), ("#a8f28a", "#0a1a00")),
    Role.LAUNCHED: (("color(219)", "color(16)"), ("#f5a3ff", "#18001c")),
    Role.UNLINKED: (("color(255)", "color(16)"), ("#f2f4f8", "#10141a")),
    Role.FRAME: (("color(238)", "color(250)"), ("#3b424e", "#c3cad6")),
    Role.HOST: (("color(66)", "color(16)"), ("#3f7f86", "#e8f4f5")),
    Role.SELECTED: (("color(231)", "color(16)"), ("#ffffff", "#10141a")),
    Activity.NONE: (("color(66)", "color(16)"), ("#3f7f86", "#e8f4f5")),
    Activity.AICORE: (("color(67)", "color(231)"), ("#2f6fb3", "#eaf2fb")),
    Activity.AICPU: (("color(62)", "color(231)"), ("#5a5fd6", "#eeeefc")),
    Activity.COMMUNICATION: (("color(96)", "color(231)"), ("#8e4a9e", "#f8edfa")),
    Activity.COPY: (("color(65)", "color(231)"), ("#3f8550", "#ecf7ee")),
    Activity.COMMUNICATION_TASK: (("color(60)", "color(252)"), ("#5b4468", "#e3d8e8")),
    Activity.WAIT: (("color(236)", "color(246)"), ("#2c313a", "#8b93a1")),
    Activity.EVENT: (("color(236)", "color(246)"), ("#2c313a", "#8b93a1")),
    Activity.OTHER: (("color(240)", "color(252)"), ("#4a515d", "#dde2ea")),
}

#: hues of host operators, ansi name and (fill, text): apart from each other, quieter than idle
_HUES: tuple[tuple[str, tuple[str, str], tuple[str, str]], ...] = (
    ("cyan", ("color(66)", "color(231)"), ("#2f6f75", "#e6f3f4")),
    ("blue", ("color(61)", "color(231)"), ("#44609a", "#e9eef8")),
    ("green", ("color(65)", "color(231)"), ("#4c7a58", "#ebf4ed")),
    ("cyan", ("color(242)", "color(231)"), ("#5b6472", "#eceff4")),
    ("green", ("color(96)", "color(231)"), ("#75557f", "#f3ecf5")),
    ("blue", ("color(95)", "color(231)"), ("#85585a", "#f7eeee")),
)
#: hues of Python frames, one per file: quieter still
_FILE_HUES: tuple[tuple[str, tuple[str, str], tuple[str, str]], ...] = (
    ("bright_black", ("color(238)", "color(250)"), ("#363d48", "#c3cad6")),
    ("bright_black", ("color(237)", "color(250)"), ("#2f3d45", "#bfd0d8")),
    ("bright_black", ("color(239)", "color(250)"), ("#3a3a50", "#c8c8dc")),
    ("bright_black", ("color(240)", "color(251)"), ("#404236", "#d2d4c2")),
)


@dataclass(frozen=True)
class Paint:
    """How a slice is drawn."""

    ink: Style  #: glyphs that show a share of a cell
    box: Style  #: text on the slice: it fills its cells
    edge: Style  #: glyphs that show the part of a cell before the slice starts


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
        self._paints = {what: self._paint(_ROLES[what][0][0], *fills) for what, fills in _FILLS.items()}
        if name in ("ansi", "none"):
            selected = Style(reverse=True, bold=True, underline=name == "none")
            self._paints[Role.SELECTED] = Paint(Style(bold=True), selected, selected)
        self._hues = [self._paint(*hue) for hue in _HUES]
        self._file_hues = [self._paint(*hue) for hue in _FILE_HUES]

    @property
    def color_system(self) -> ColorSystem | None:
        """The most colours this palette needs; None for none."""
        systems = {"ansi": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "true": ColorSystem.TRUECOLOR}
        return systems.get(self.name)

    def style_of(self, what: Role | Activity) -> Style:
        """The style of text of a role or an activity."""
        return self._styles[what]

    def paint_of(self, what: Role | Activity) -> Paint:
        """How slices of an activity (or IDLE, FRAME, HOST, SELECTED) are drawn."""
        return self._paints[what]

    def hue(self, name: str) -> Paint:
        """Of a host operator or call: the same name has the same colour in every run."""
        return self._hues[_stable(name) % len(self._hues)]

    def file_hue(self, file: str) -> Paint:
        """Of the Python frames of a file."""
        return self._file_hues[_stable(file) % len(self._file_hues)]

    def _paint(self, ansi: str, indexed: tuple[str, str], true: tuple[str, str]) -> Paint:
        if self.name in ("ansi", "none"):
            ink = Style.parse(ansi) if self.name == "ansi" else Style()
            if ansi == "bright_black":  # reversed, black on dark grey cannot be read
                box = ink + Style(underline=True)
                return Paint(ink, box, ink + Style(reverse=True))
            return Paint(ink, ink + Style(reverse=True), ink + Style(reverse=True))
        fill, text = indexed if self.name == "256" else true
        return Paint(Style.parse(fill), Style.parse(f"{text} on {fill}"), Style.parse(f"{fill} reverse"))

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
