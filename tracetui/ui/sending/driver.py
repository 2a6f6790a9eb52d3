"""The terminal's driver, which tells whether the device has taken all that was written.

Knows Textual's driver, whose thread writes: on a slow link a write waits until there is room.
"""

from __future__ import annotations

import os
import select
from codecs import getincrementaldecoder
from collections.abc import Callable
from itertools import chain
from typing import IO, Any, Protocol, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from tracetui.ui._textual import XTermParser, app_of, loop_of, wrap_output
from tracetui.ui.background import Answers
from tracetui.ui.sending.title import GIVE_TITLE, KEEP_TITLE, has_title, titled


class Served(Protocol):
    """What the driver tells the app that it serves."""

    typed: bytes  #: what was typed before the terminal was the app's

    def link_is_free(self) -> None:
        """All that was given has been taken by the device."""

    def terminal_is_gone(self) -> None:
        """Nothing can be typed any more."""


class LinkDriver(LinuxDriver):
    """Calls `link_is_free` of its app whenever nothing is left to write."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        wrap_output(self, lambda file: _Device(file, self._written))
        self._given = self._taken = 0

    @property
    def is_writing(self) -> bool:
        """Whether something that was given has not been taken by the device."""
        return self._taken < self._given

    def write(self, data: str) -> None:
        self._given += 1
        super().write(data)

    def start_application_mode(self) -> None:
        """Take the terminal, as Textual does, and name its window; its own name is kept there for later."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if has_title(os.environ):
            self.write(KEEP_TITLE + titled(app_of(self).title))

    def stop_application_mode(self) -> None:
        """Give the terminal back, with the name that it had."""
        if has_title(os.environ):
            self.write(GIVE_TITLE)
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """In a thread: read keys, as Textual does; what was typed before the viewer ran comes first.

        Answers about the background are no keys: over a slow link they come after the viewer has started.
        """
        app = cast(Served, app_of(self))
        parser, answers = XTermParser(self._debug), Answers()
        decode = getincrementaldecoder("utf-8")("replace").decode

        def take(keys: bytes) -> None:
            text = decode(keys)
            for event in chain(parser.feed(text) if text else (), parser.tick()):
                self.process_message(event)

        typed, app.typed = app.typed, b""
        take(answers.take(typed))
        while not self.exit_event.is_set():
            if not select.select([self.fileno], [], [], 0.1)[0]:
                take(answers.rest())
                continue
            keys = self._read()
            if not keys:
                loop_of(self).call_soon_threadsafe(app.terminal_is_gone)
                return
            take(answers.take(keys))

    def _read(self) -> bytes:
        """Return what was typed; nothing where nobody can type any more."""
        try:
            return os.read(self.fileno, 4096)
        except OSError:
            return b""

    def _written(self, writes: int) -> None:
        """In the thread that writes: so many writes have been taken."""
        self._taken = writes
        if not self.is_writing:
            loop_of(self).call_soon_threadsafe(cast(Served, app_of(self)).link_is_free)


class _Device:
    """A file that counts what it has taken."""

    def __init__(self, file: IO[str], written: Callable[[int], None]) -> None:
        self._file, self._written, self._writes = file, written, 0

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, text: str) -> int:
        self._writes += 1
        return self._file.write(text)

    def flush(self) -> None:
        self._file.flush()
        self._written(self._writes)
