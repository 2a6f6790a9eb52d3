"""The terminal's driver, which tells whether the device has taken all that was written.

Knows Textual's driver, whose thread writes: on a slow link a write waits until there is room.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from tracetui.ui._textual import SequenceParser, app_of, loop_of, wrap_output
from tracetui.ui.sending.sequences import HELD_S, KeySequences
from tracetui.ui.sending.title import GIVE_TITLE, KEEP_TITLE, has_title, titled
from tracetui.ui.terminal_colour import Answers

_MOST_KEPT = 1 << 16  #: bytes: somebody may go on typing for ever


class Served(Protocol):
    """What the driver tells the app that it serves."""

    typed: bytes  #: what was typed before the terminal was the app's

    def link_is_free(self) -> None:
        """Take note that the device has taken all that was given."""

    def terminal_is_gone(self) -> None:
        """Take note that nothing can be typed any more."""

    def redraw(self) -> None:
        """Send everything again: nobody knows what the terminal shows."""


class LinkDriver(LinuxDriver):
    """Calls `link_is_free` of its app whenever nothing is left to write.

    It stops and goes on between two turns of the event loop, and only while the terminal is its own. Textual
    does so in handlers that Python runs anywhere, also within a write, which then waits for itself; and where
    others stopped the process it takes the terminal a second time, and cannot give it back.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        wrap_output(self, lambda file: CountingFile(file, self._written))
        self._given = self._taken = 0
        self._modes: list[Any] | None = None  # of the terminal, while it is the viewer's
        for number in (signal.SIGTSTP, signal.SIGCONT):
            signal.signal(number, signal.SIG_DFL)

    @property
    def is_writing(self) -> bool:
        """Whether something that was given has not been taken by the device."""
        return self._taken < self._given

    def write(self, data: str) -> None:
        self._given += 1
        super().write(data)

    def start_application_mode(self) -> None:
        """Take the terminal, as Textual does, and name its window; its own name is kept there for later."""
        self._wait_for_foreground()
        loop = loop_of(self)
        loop.add_signal_handler(signal.SIGTSTP, self._stop)
        loop.add_signal_handler(signal.SIGCONT, self._go_on)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._modes = self._modes_now()
        if has_title(os.environ):
            self.write(KEEP_TITLE + titled(app_of(self).title))

    def stop_application_mode(self) -> None:
        """Give the terminal back, with the name that it had."""
        if has_title(os.environ):
            self.write(GIVE_TITLE)
        super().stop_application_mode()
        self._modes = None
        for number in (signal.SIGTSTP, signal.SIGCONT):
            loop_of(self).remove_signal_handler(number)

    def _stop(self) -> None:
        """Give the terminal back, stop, and take it again when the process goes on.

        At once where no shell is there that could have it go on: the system does not stop it then.
        """
        if self._modes is None:
            return
        self.suspend_application_mode()
        os.kill(os.getpid(), signal.SIGTSTP)
        self.resume_application_mode()

    def _go_on(self) -> None:
        """Show everything anew: others stopped the process, and somebody may have had the terminal since."""
        if self._modes is None:
            return
        if self._modes_now() == self._modes:
            cast(Served, app_of(self)).redraw()
        else:
            self.suspend_application_mode()
            self.resume_application_mode()

    def disable_input(self) -> None:
        """Stop reading keys; those that nobody has read are the next that are taken.

        Textual's throws them away, and those that come meanwhile.
        """
        if self.exit_event.is_set():
            return
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        if self._writer_thread is not None:
            self._disable_mouse_support()
        cast(Served, app_of(self)).typed += self._left_keys()

    def _left_keys(self) -> bytes:
        """Return the keys that were typed and not read, also while others had the terminal."""
        self.exit_event.set()  # the thread that reads keys would take some of them
        if self._key_thread is not None:
            self._key_thread.join()
        self.exit_event.clear()
        try:
            found = termios.tcgetattr(self.fileno)
            modes = [*(self._modes or found[:4]), *found[4:]]
            termios.tcsetattr(self.fileno, termios.TCSANOW, modes)
        except termios.error:
            return b""
        typed = b""
        while len(typed) < _MOST_KEPT and select.select([self.fileno], [], [], 0)[0]:
            keys = self._read()
            if not keys:
                break
            typed += keys
        return typed.replace(b"\n", b"\r")  # the key enter, to which a shell's terminal gives an end of line

    def _wait_for_foreground(self) -> None:
        """Stop for as long as the terminal is another job's."""
        with contextlib.suppress(OSError):  # no terminal that controls jobs, or none any more
            while os.tcgetpgrp(self.fileno) != os.getpgrp():
                os.kill(os.getpid(), signal.SIGSTOP)

    def _modes_now(self) -> list[Any]:
        """Return the flags of the terminal's line discipline, none where it is gone."""
        try:
            return list(termios.tcgetattr(self.fileno)[:4])
        except termios.error:
            return []

    def run_input_thread(self) -> None:
        """Read keys in a thread, as Textual does; what was typed before the viewer ran comes first.

        Answers about the background are no keys: over a slow link they come after the viewer has started.
        """
        app = cast(Served, app_of(self))
        parser, sequences, answers = SequenceParser(self._debug), KeySequences(), Answers()
        decode = getincrementaldecoder("utf-8")("replace").decode

        def show(pieces: list[str]) -> None:
            for piece in pieces:
                for event in parser.read(piece):
                    self.process_message(event)

        def take(keys: bytes) -> bool:
            """Show what is whole; return whether anything was."""
            pieces = sequences.take(decode(keys))
            show(pieces)
            return bool(pieces)

        typed, app.typed = app.typed, b""
        take(answers.take(typed))
        held_since = time.monotonic()
        while not self.exit_event.is_set():
            waits = answers.waits or sequences.waits
            ready = select.select([self.fileno], [], [], HELD_S if waits else 0.1)[0]
            # This thread may wake late, and keys may come one after the other: what is held goes before them.
            if not ready or (waits and time.monotonic() - held_since >= HELD_S):
                take(answers.rest())
                show(sequences.rest())
                waits = False
            if not ready:
                continue
            keys = self._read()
            if not keys:
                loop_of(self).call_soon_threadsafe(app.terminal_is_gone)
                return
            if take(answers.take(keys)) or not waits:
                held_since = time.monotonic()

    def _read(self) -> bytes:
        """Return what was typed; nothing where nobody can type any more."""
        try:
            return os.read(self.fileno, 4096)
        except OSError:
            return b""

    def _written(self, writes: int) -> None:
        """Take note, in the thread that writes, that so many writes have been taken."""
        self._taken = writes
        if not self.is_writing:
            loop_of(self).call_soon_threadsafe(cast(Served, app_of(self)).link_is_free)


class CountingFile:
    """A file that counts what it has taken, and takes everything once nobody is there to see it.

    A write that raised would end the thread that writes, and whoever gives it more would wait for ever.
    """

    def __init__(self, file: IO[str], written: Callable[[int], None]) -> None:
        self._file, self._written, self._writes = file, written, 0

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, text: str) -> int:
        self._writes += 1
        with self._or_nowhere():
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        with self._or_nowhere():
            self._file.flush()
        self._written(self._writes)

    @contextlib.contextmanager
    def _or_nowhere(self) -> Iterator[None]:
        """Let what cannot be written vanish, and all that follows."""
        try:
            yield
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._file.fileno())
            os.close(null)
