"""The styles of activities, families and roles, in four palettes, on dark and light backgrounds.

`ansi` uses the terminal's own 16 colours (the fewest bytes over a slow link), `256` and `true` are calmer,
`none` has no colour: what a colour says is said by bold, dim, reverse and underline as well. Nothing paints a
background but slices wide enough for their name, and what is selected.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from rich.color import ColorSystem
from rich.style import Style

from tracetui.trace.model import Activity
from tracetui.ui.drawing.colours import DARK, LIGHT, Fill, Ink


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
    WAITING = "waiting"  #: the device waits for another rank: lost, so as bright as idle
    HOST = "host"  #: host operators and calls, where no hue of their own is wanted
    FRAME = "frame"  #: Python frames
    COUNTER = "counter"
    SPREAD = "spread"  #: of a curve: from the least to the most of a column
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


#: name of the colour, and attributes; "" leaves the terminal's own foreground
_ROLES: Mapping[Role | Activity, tuple[str, str]] = {
    Role.TEXT: ("", ""),
    Role.DIM: ("grey", "dim"),
    Role.TITLE: ("", "bold"),
    Role.NUMBER: ("", "bold"),
    Role.KEY: ("yellow", "bold"),
    Role.RULE: ("grey", "dim"),
    Role.IDLE: ("yellow", "bold"),
    Role.HOST_PYTHON: ("yellow", "bold"),
    Role.HOST_OPERATOR: ("orange", "bold"),
    Role.HOST_WAIT: ("red", "bold"),
    Role.QUEUED: ("bright cyan", "bold"),
    Role.LAUNCHING: ("bright green", "bold"),
    Role.LAUNCHED: ("bright magenta", "bold"),
    Role.UNLINKED: ("white", "bold"),
    Role.WAITING: ("pink", "bold"),
    Role.HOST: ("cyan", ""),
    Role.FRAME: ("grey", ""),
    Role.COUNTER: ("green", "dim"),
    Role.SPREAD: ("grey", ""),
    Role.UNREAD: ("grey", ""),
    Role.SELECTED: ("", "reverse"),
    Role.CURSOR: ("", "bold"),
    Role.WINDOW: ("yellow", "underline"),
    Role.HIT: ("yellow", "bold underline"),
    Role.FLOW: ("", "bold"),
    Role.STEP: ("grey", ""),
    Role.USER_LINE: ("yellow", "bold"),
    Role.WARNING: ("yellow", "bold"),
    Role.ERROR: ("red", "bold"),
    Role.GOOD: ("green", ""),
    Activity.NONE: ("cyan", ""),
    Activity.COMPUTE: ("blue", ""),
    Activity.AICPU: ("bright blue", "bold"),
    Activity.COMMUNICATION: ("magenta", ""),
    Activity.COPY: ("green", ""),
    Activity.COMMUNICATION_TASK: ("quiet magenta", "dim"),
    Activity.WAIT: ("grey", "dim"),
    Activity.EVENT: ("grey", "dim"),
    Activity.OTHER: ("grey", ""),
}

#: what has a fill of another name than its ink
_FILLS: Mapping[Role | Activity, str] = {
    Role.FRAME: "frame",
    Role.SELECTED: "selected",
    Activity.WAIT: "faint",
    Activity.EVENT: "faint",
}
#: what slices are
_PAINTED: tuple[Role | Activity, ...] = (
    Role.IDLE,
    Role.HOST_PYTHON,
    Role.HOST_OPERATOR,
    Role.HOST_WAIT,
    Role.QUEUED,
    Role.LAUNCHING,
    Role.LAUNCHED,
    Role.UNLINKED,
    Role.WAITING,
    Role.HOST,
    Role.FRAME,
    Role.SELECTED,
    *Activity,
)


@dataclass(frozen=True)
class Paint:
    """How a slice is drawn."""

    ink: Style  #: glyphs that show a share of a cell
    box: Style  #: text on the slice: it fills its cells
    edge: Style  #: glyphs that show the part of a cell before the slice starts


PALETTES = ("ansi", "256", "true", "none")


class Palette:
    """The styles of one palette: "ansi", "256", "true" or "none", on a dark or a light background."""

    def __init__(self, name: str, light: bool = False) -> None:
        if name not in PALETTES:
            raise ValueError(f"palette {name!r}: not one of {', '.join(PALETTES)}")
        self.name = name
        self.light = light
        colours = LIGHT if light and name != "none" else DARK
        inks = {what: colours.inks[colour] for what, (colour, _) in _ROLES.items()}
        fills = {what: colours.fills[_FILLS.get(what, _ROLES[what][0])] for what in _PAINTED}
        self._styles = {what: self._style(inks[what], _ROLES[what][1]) for what in _ROLES}
        self._paints = {what: self._paint(inks[what].ansi, fill) for what, fill in fills.items()}
        if name in ("ansi", "none"):
            selected = Style(reverse=True, bold=True, underline=name == "none")
            self._paints[Role.SELECTED] = Paint(Style(bold=True), selected, selected)
        self._hues = [self._paint(*hue) for hue in colours.hues]
        self._file_hues = [self._paint(*hue) for hue in colours.file_hues]

    @property
    def color_system(self) -> ColorSystem | None:
        """The most colours this palette needs; None for none."""
        systems = {"ansi": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "true": ColorSystem.TRUECOLOR}
        return systems.get(self.name)

    def style_of(self, what: Role | Activity) -> Style:
        """Return the style of text of a role or an activity."""
        return self._styles[what]

    def paint_of(self, what: Role | Activity) -> Paint:
        """Return how slices of an activity (or IDLE, FRAME, HOST, SELECTED) are drawn."""
        return self._paints[what]

    def hue(self, name: str) -> Paint:
        """Return the paint of a host operator or call: a name has the same colour in every run."""
        return self._hues[_stable(name) % len(self._hues)]

    def file_hue(self, file: str) -> Paint:
        """Return the paint of the Python frames of a file."""
        return self._file_hues[_stable(file) % len(self._file_hues)]

    def _paint(self, ansi: str, fill: Fill) -> Paint:
        if self.name == "none":
            loud = Style(underline=True) if ansi == "dim" else Style(reverse=True)
            return Paint(Style(), loud, Style(reverse=True))
        if self.name == "ansi":
            if ansi == "dim":  # reversed, it would be the brightest of all
                ink = Style.parse("bright_black")
                return Paint(ink, Style(dim=True, underline=True), ink + Style(reverse=True))
            ink = Style.parse(ansi)
            return Paint(ink, ink + Style(reverse=True), ink + Style(reverse=True))
        colour, text = fill.indexed if self.name == "256" else fill.true
        return Paint(
            Style.parse(colour), Style.parse(f"{text} on {colour}"), Style.parse(f"{colour} reverse")
        )

    def _style(self, ink: Ink, attributes: str) -> Style:
        if self.name == "none":
            return Style.parse(attributes)
        colour = {"ansi": ink.ansi, "256": ink.indexed, "true": ink.true}[self.name]
        # A grey is dim enough by itself; in 16 colours it is "dim".
        wanted = [word for word in attributes.split() if word != "dim"]
        return Style.parse(" ".join([*wanted, colour]))


@lru_cache(maxsize=65536)
def _stable(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))
