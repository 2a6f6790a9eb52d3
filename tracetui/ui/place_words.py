"""Finding the place in a text that somebody pastes: the place alone, or the command that opens it."""

from __future__ import annotations

from tracetui.places import NotAPlace, SharedPlace, parse_place
from tracetui.ui.screen_specs import SCREENS

AT = "--at"  #: the option of the command line that takes a place


def place_in(text: str) -> SharedPlace | None:
    """Return the place of a text, or of a command line that opens one; None where there is none."""
    words = text.split()
    if AT in words[:-1]:
        words = words[words.index(AT) + 1 :][:1]
    if len(words) != 1 or not set("@#") & set(words[0]):
        return None
    try:
        place = parse_place(words[0].strip("'\""))
    except NotAPlace:
        return None
    return place if place.screen in SCREENS else None
