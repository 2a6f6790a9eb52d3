"""Whether the background of the terminal is light: asked of the terminal, else told by COLORFGBG.

Knows terminals by their codes (OSC 11: the colour of the background; DA1: the kind of terminal, which hardly
any terminal leaves unanswered, so that nobody waits for an answer that will not come). Imports no Textual:
the terminal answers while that is imported.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

ASK = b"\x1b]11;?\x1b\\\x1b[c"
#: Seconds from the question on in which the answer has to come; it takes one round trip.
LIMIT_S = 0.5
#: A grey of this luminance has the same contrast with black and with white.
_MIDDLE = 0.179

_PARTS = b"/".join([rb"([0-9a-fA-F]{1,4})"] * 3)
_COLOUR = rb"\x1b\]11;rgba?:" + _PARTS + rb"[^\x07\x1b]*(?:\x07|\x1b\\)"
_KIND = rb"\x1b\[\?[0-9;]*c"
_ANSWER = re.compile(_COLOUR + b"|" + _KIND)
#: what may be the start of an answer whose rest is still to come
_PART = re.compile(rb"\x1b\](?:1(?:1(?:;[^\x07\x1b]*\x1b?)?)?)?\Z|\x1b\[\?[0-9;]*\Z")
#: terminals that would print the question
_MUTE = ("linux", "dumb", "")


@dataclass
class Answers:
    """Takes the answers of a terminal out of what is typed."""

    light: bool | None = None  #: None: not known
    complete: bool = False  #: whether no answer is still to come
    _held: bytes = field(default=b"", repr=False)

    def take(self, data: bytes) -> bytes:
        """Return the keys in what has been read; an answer that is not whole yet is held back."""
        data = self._held + data
        for answer in _ANSWER.finditer(data):
            if answer[1] is not None:
                self.light = is_light(*(int(part, 16) / (16 ** len(part) - 1) for part in answer.groups()))
            else:
                self.complete = True
        keys = _ANSWER.sub(b"", data)
        part = _PART.search(keys)
        self._held = part[0] if part else b""
        return keys[: part.start()] if part else keys

    @property
    def waits(self) -> bool:
        """Whether the start of an answer is held back."""
        return bool(self._held)

    def rest(self) -> bytes:
        """Return the input that was held back. Nothing more has come, so somebody typed it."""
        held, self._held = self._held, b""
        return held


@dataclass
class ColourQuestion:
    """What a terminal was asked, and what was typed meanwhile."""

    fileno: int  #: where the answer comes
    typed: bytes = b""
    answers: Answers = field(default_factory=Answers)
    until: float = field(default_factory=lambda: time.monotonic() + LIMIT_S)

    def wait(self) -> bool | None:
        """Wait for the answer until the time is over; whether the background is light, None if unknown."""
        while not self.answers.complete:
            left = max(0, self.until - time.monotonic())  # what is there already is read in any case
            if not select.select([self.fileno], [], [], left)[0]:
                break
            data = os.read(self.fileno, 4096)
            if not data:
                break
            self.typed += self.answers.take(data)
        self.typed += self.answers.rest()
        return self.answers.light


@contextlib.contextmanager
def asked(source: int = 0, target: int = 2) -> Iterator[ColourQuestion]:
    """Ask the terminal that is read from and written to by these, and keep it from echoing the answer."""
    import termios

    before = termios.tcgetattr(source)
    raw = [*before[:6], list(before[6])]
    raw[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
    raw[3] &= ~(termios.ICANON | termios.ECHO)
    raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
    try:
        termios.tcsetattr(source, termios.TCSANOW, raw)
        os.write(target, ASK)
        yield ColourQuestion(source)
    finally:
        termios.tcsetattr(source, termios.TCSANOW, before)


def can_ask(environ: Mapping[str, str]) -> bool:
    """Return whether there is a terminal that takes the question for one."""
    return os.isatty(0) and os.isatty(2) and environ.get("TERM", "") not in _MUTE


def light_by_environment(environ: Mapping[str, str]) -> bool:
    """Return whether COLORFGBG, "0;15" or "0;default;15", names a light background; False without it."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "9", "10", "11", "12", "13", "14", "15")


def is_light(red: float, green: float, blue: float) -> bool:
    """Return whether black reads better than white on a colour of parts from 0 to 1, by luminance (WCAG)."""
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > _MIDDLE
