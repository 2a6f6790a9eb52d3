"""What names the window of a terminal, as xterm and those like it understand it."""

from __future__ import annotations

from collections.abc import Mapping

#: the name that the window has is put aside, and given back
KEEP_TITLE, GIVE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_WITHOUT = ("linux", "vt", "ansi", "cons")  # what begins the names of those that would show the sequence


def has_title(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal has a window with a name."""
    return not environ.get("TERM", "").startswith(_WITHOUT)


def titled(name: str) -> str:
    """Return what names the window; the name is printable."""
    return f"\x1b]2;{name}\x07"
