"""How the viewer suits its terminal: the colours and characters it sends, the signals that end it.

What was copied last is kept in a file: the clipboard of a terminal (OSC 52) may refuse without a word.

Knows Textual's app and nothing of traces and screens.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter, NoColor

from tracetui.background import LeavableThreads
from tracetui.export.text import to_ascii
from tracetui.ui._textual import add_filter, set_color_system
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS
from tracetui.ui.sending.link import HUNG_UP
from tracetui.user_directories import user_directory

#: the terminal's own colours: the name they have in Textual, and the one they had until 8.2.4
_THEMES = ("ansi-dark", "textual-ansi")
#: signals that leave the viewer in order, and its exit codes then
_SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: HUNG_UP}
CANCELLED = 130  #: exit code of ctrl+c
#: threads that work at once, as many as the event loop has on two cores; and seconds for which the end of the
#: viewer waits for them: what is told to stop does so within 0.1 s
_THREADS, _PATIENCE_S = 6, 0.5
_LIKENESS = {
    ord(character): like
    for glyphs, plain in (*zip(astuple(BLOCKS), astuple(ASCII)), ("←↑↓━≤±", "<^v-<~"))
    for character, like in zip(glyphs, plain)
    if not character.isascii()
}


def leave_threads() -> None:
    """Have the app that runs end while its threads work."""
    asyncio.get_running_loop().set_default_executor(LeavableThreads(_THREADS, _PATIENCE_S))


def leave_at_signals(leave: Callable[[int], None]) -> None:
    """Have a function end the app that runs, with an exit code, when a signal says so."""
    loop = asyncio.get_running_loop()
    for number, code in _SIGNALS.items():
        loop.add_signal_handler(number, leave, code)

    def interrupt(*_: object) -> None:
        if not loop.is_running():
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(leave, CANCELLED)

    # Not a handler of the loop's: it would hear, once it goes on, of an interrupt that was an editor's.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)


def configure_terminal(app: App[Any], color_system: ColorSystem | None, ascii_only: bool) -> None:
    """Send so many colours (None: no colour), and only ASCII if asked. The app is about to draw."""
    app.theme = next(theme for theme in _THEMES if theme in app.available_themes)
    if ascii_only:
        add_filter(app, AsciiOnly())
    if color_system is None:
        add_filter(app, NoColor())
    else:
        set_color_system(app, color_system)


class AsciiOnly(LineFilter):
    """Puts ASCII characters in place of all others, in as many cells."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(in_ascii(segment.text), segment.style, segment.control)
            for segment in segments
        ]


def in_ascii(text: str) -> str:
    """Return the text in ASCII and as many cells: glyphs as their ASCII counterparts, unknown characters as
    "?".
    """
    return set_cell_size(to_ascii(text.translate(_LIKENESS)), cell_len(text))


def keep_copy(text: str) -> Path | None:
    """Write the text below $XDG_CACHE_HOME, else ~/.cache, readable by the user only.

    Return where it is; None where that failed.
    """
    directory = user_directory(os.environ, "XDG_CACHE_HOME", ".cache")
    if directory is None:
        return None
    path = directory / "copied.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
    except OSError:
        return None
    return path
