"""Text of a trace made safe for a terminal. A trace is untrusted: names may hold escapes and overrides."""

from __future__ import annotations

import re

#: Printable by Unicode, yet drawn as nothing: fillers, joiners, variation selectors.
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
#: Halves of flags and tones of skin: terminals differ in how many cells these take.
_UNEVEN = "\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff"
_REPLACED_PATTERN = re.compile(f"[{_UNSEEN}{_UNEVEN}]")
_REPLACEMENT = "\ufffd"
_CUT = "…"
LONGEST_KEPT = 1000  #: characters of a text that are kept beyond its trace
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def shortened(text: str) -> str:
    """Return a text as it is kept beyond its trace: of what JSON can hold, not longer than people read."""
    if len(text) <= LONGEST_KEPT and not _LONE_SURROGATES.search(text):
        return text  # itself: a statement keeps what it is made of
    return _LONE_SURROGATES.sub(_REPLACEMENT, text[:LONGEST_KEPT])


def printable(text: str, limit: int | None = None) -> str:
    """Return the text on one line, without anything that a terminal obeys or hides.

    Line breaks, tabs and odd spaces become a space (CR LF one). Control characters of C0 become their picture
    (ESC: U+241B); C1, bidi overrides, zero-width characters, lone surrogates, unassigned characters and those
    that are as wide as the terminal likes become U+FFFD.

    Args:
        text: any text.
        limit: the most characters to return; a longer text ends in "…". None for no limit.
    """
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + _CUT[:limit]
    if text.isprintable() and (text.isascii() or not _REPLACED_PATTERN.search(text)):
        return text
    return "".join(map(_shown, text.replace("\r\n", "\n")))


def _shown(character: str) -> str:
    if character.isprintable():
        return _REPLACEMENT if _REPLACED_PATTERN.match(character) else character
    if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
        return " "
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else _REPLACEMENT
