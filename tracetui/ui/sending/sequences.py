"""Whole escape sequences out of what a terminal sends, and plain text between them.

A sequence may arrive in parts, or be cut for good: by a mouse on a slow link, by a program that leaves the
terminal. What begins one is held back for a moment; what does not go on as a sequence is dropped, and what
follows it are keys. Knows neither Textual nor what a sequence means.
"""

from __future__ import annotations

import re

HELD_S = 0.05  #: seconds for which the rest of a sequence, or of a paste, may be missing
ESC = "\x1b"
PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"

#: the last character of those sequences that terminals send for keys and answers: other letters are keys
_FINAL = "[A-FHIOP-SZtuym~^@]"
_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[<\d{1,6};-?\d{1,6};-?\d{1,6}[Mm]"  # the mouse
    r"|\[M[\s\S]{3}"  # the mouse, as old terminals have it
    r"|\[\d[\d;]{0,24}[M$]"  # the mouse of urxvt, and its keys with shift
    r"|\[\?[\d;]{1,24}\$y"  # the report of a mode
    rf"|\[[?>=]?[\d;:]{{0,64}}{_FINAL}"
    r"|O[\d;]{0,8}[A-Za-z~]"
    r"|[\]P_^X][^\x1b\x07]{0,4096}(?:\x07|\x1b\\)"  # answers with a text
    r")"
)
_START = re.compile(
    r"\x1b(?:"
    r"\[<[\d;-]{0,24}"
    r"|\[M[\s\S]{0,2}"
    r"|\[[?>=]?[\d;:]{0,64}\$?"
    r"|O[\d;]{0,8}"
    r"|[\]P_^X][^\x1b\x07]{0,4096}\x1b?"
    r")?"
)
_BY_HAND = re.compile(r"\x1b[OP_^X]")  #: escape and a letter, in one packet of a slow link


class KeySequences:
    """Cuts what is typed into pieces: plain text, ESC alone, whole sequences; a paste is between two."""

    def __init__(self) -> None:
        self._held = ""
        self._pasting = False

    @property
    def waits(self) -> bool:
        """Whether something is held back that `rest` gives or drops unless more comes within `HELD_S`."""
        return bool(self._held) or self._pasting

    def take(self, text: str) -> list[str]:
        """Return the whole pieces of what was held back and of what has come now."""
        text, self._held = self._held + text, ""
        pieces: list[str] = []
        place = 0
        while place < len(text):
            if self._pasting:
                place = self._take_pasted(text, place, pieces)
            else:
                place = self._take_typed(text, place, pieces)
        return [piece for piece in pieces if piece]

    def rest(self) -> list[str]:
        """Return what was typed by hand of that which is held back; nothing has come since for `HELD_S`."""
        held, self._held = self._held, ""
        if self._pasting:
            self._pasting = False
            return [PASTE_END]
        if held == ESC:
            return [ESC]
        return list(held) if _BY_HAND.fullmatch(held) else []

    def _take_pasted(self, text: str, place: int, pieces: list[str]) -> int:
        """Add what was pasted; return the place after it."""
        end = text.find(PASTE_END, place)
        if end >= 0:
            self._pasting = False
            pieces += [text[place:end], PASTE_END]
            return end + len(PASTE_END)
        kept = next((size for size in range(len(PASTE_END) - 1, 0, -1) if text.endswith(PASTE_END[:size])), 0)
        stop = max(len(text) - kept, place)
        pieces.append(text[place:stop])
        self._held = text[stop:]
        return len(text)

    def _take_typed(self, text: str, place: int, pieces: list[str]) -> int:
        """Add the text up to the next escape, or the sequence that begins here; return the place after it."""
        escape = text.find(ESC, place)
        if escape != place:
            stop = len(text) if escape < 0 else escape
            pieces.append(text[place:stop])
            return stop
        sequence = _SEQUENCE.match(text, place)
        if sequence:
            pieces.append(sequence[0])
            self._pasting = sequence[0] == PASTE_START
            return sequence.end()
        start = _START.match(text, place)
        assert start is not None
        if start.end() == len(text):
            self._held = start[0]
        elif start[0] == ESC:
            pieces.append(ESC)
        return start.end()
