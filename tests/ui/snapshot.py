"""What a screen looks like, as plain text that can be compared: characters, then styles, a letter each.

Written without what differs between versions of Textual and cannot be seen: how lines are cut into segments,
the style of blanks, colours that are the terminal's own anyway.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_letters

import pytest
from rich.cells import cell_len
from rich.color import Color
from rich.style import Style

from tracetui.ui.app import TraceApp

SNAPSHOTS = Path(__file__).parent / "snapshots"
_PLAIN = "."
_FILLING = ("reverse", "underline", "on ")


def picture_of(app: TraceApp) -> str:
    """The screen in front: its lines; the same lines with a letter for each style; what the letters mean."""
    letters: dict[str, str] = {"": _PLAIN}
    texts, looks = [], []
    for strip in app.screen._compositor.render_strips():
        look = ""
        for text, style, _ in strip:
            name = _described(style)
            for character in text:
                seen = name if character != " " or any(word in name for word in _FILLING) else ""
                letter = letters.setdefault(seen, ascii_letters[len(letters) - 1])
                look += letter * cell_len(character)
        texts.append(strip.text.rstrip())
        looks.append(look.rstrip(_PLAIN))
    legend = [f"{letter} {name}" for name, letter in letters.items() if name]
    return "\n".join((*texts, "", *looks, "", *legend)) + "\n"


def check(app: TraceApp, name: str, request: pytest.FixtureRequest) -> None:
    """Assert that the screen in front looks as in its snapshot, or write that."""
    path, picture = SNAPSHOTS / f"{name}.txt", picture_of(app)
    if request.config.getoption("--update-snapshots", default=False):
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture, encoding="utf-8")
    assert picture == path.read_text(encoding="utf-8"), f"if it is meant to: see {Path(__file__).name}"


def _described(style: Style | None) -> str:
    """Attributes and colours: "bold bright_yellow"."""
    if style is None:
        return ""
    words = [word for word in ("bold", "dim", "italic", "underline", "reverse") if getattr(style, word)]
    words += [_name(style.color)] if _name(style.color) else []
    words += [f"on {_name(style.bgcolor)}"] if _name(style.bgcolor) else []
    return " ".join(words)


def _name(colour: Color | None) -> str:
    return "" if colour is None or colour.is_default else colour.name.replace("ansi_", "")
