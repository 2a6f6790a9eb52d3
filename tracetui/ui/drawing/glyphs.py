"""The characters the viewer draws with: block elements, or ASCII where the terminal has no UTF-8."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """One set of characters, each one cell wide but `at_most`; block elements unless given."""

    shades: str = " ▁▂▃▄▅▆▇█"  #: 9 levels of a column, from nothing (a space) to full
    unread: str = " ░▒▓"  #: 4 levels of a column that was only sampled, from nothing (a space) to busy
    eighths: str = " ▏▎▍▌▋▊▉"  #: 8 widths of a cell filled from the left, index k = k / 8; blanks in ASCII
    full: str = "█"
    sliver: str = "▏"  #: the least there is to see; the line between two slices that touch
    folded: str = "▸"  #: marks a group that is folded
    unfolded: str = "▾"
    rule: str = "─"  #: horizontal rule between panes
    bar: str = "│"  #: vertical rule
    tick: str = "╵"  #: a tick of the ruler
    cursor: str = "▼"  #: where the selection is, in the ruler
    hit: str = "▪"  #: where a hit of the search is, in the ruler and the map
    note: str = "¶"  #: where somebody wrote a note, in the ruler and in tables
    left: str = "▐"  #: left edge of a window or viewport
    right: str = "▌"
    ellipsis: str = "…"
    arrow: str = "→"  #: one hop of a chain
    corners: str = "╭╰╮╯"  #: of a line from below and from above that goes right; the same to the left
    to_right: str = "▸"  #: the end of a line
    to_left: str = "◂"
    here: str = "›"  #: the line that the cursor is on
    pin: str = "◆"
    dot: str = "·"  #: separates items of one line
    up: str = "▲"  #: sorted ascending
    down: str = "▼"
    warning: str = "!"
    at_most: str = "≤"  #: before a bound
    waits: str = "▚"  #: a device that waits for another rank
    moves: str = "═"  #: one that moves data to or from others
    communicates: str = "─"  #: one that does either


BLOCKS = Glyphs()
ASCII = Glyphs(
    shades=" ..::==##",
    unread=" ~x%",
    eighths="        ",
    full="#",
    sliver="|",
    folded="+",
    unfolded="-",
    rule="-",
    bar="|",
    tick="'",
    cursor="v",
    hit="*",
    note="N",
    left="[",
    right="]",
    ellipsis="~",
    arrow=">",
    corners="++++",
    to_right=">",
    to_left="<",
    here=">",
    pin="*",
    dot="-",
    up="^",
    down="v",
    warning="!",
    at_most="<=",
    waits="/",
    moves="=",
    communicates="_",
)


def glyphs(ascii_only: bool) -> Glyphs:
    """Return the set for a terminal."""
    return ASCII if ascii_only else BLOCKS
