"""An app that sends of each frame the cells that changed, and no frame while the link is busy with another.

Knows Textual's compositor and drivers, and the link by its environment; not what the app shows. Textual
queues every frame: on a slow link what is seen lags behind by all that is queued.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Mapping

from textual.app import ReturnType
from textual.driver import Driver

from tracetui.ui._textual import HookedApp, Update, color_system, strips_of
from tracetui.ui.sending.terminal_cells import TerminalCells
from tracetui.ui.sending.title import has_title, titled

#: bytes that a terminal which answers may have before it: two dense frames, 0.1 s of 4 Mbit/s
WINDOW = 40_000
#: bytes after which the terminal is asked whether it has come so far
ASK_AFTER = 4_000
#: an answer that took longer is lost
LOST_S = 2.0
#: what a remote terminal that does not answer is taken to carry: 4 Mbit/s; and how far ahead it may be sent
RATE, AHEAD_S = 500_000, 0.05


class FramePace:
    """Frames sent and not yet shown, as far as one can know.

    A local terminal takes what it shows: there, only what is not written yet counts. Behind a remote one lie
    buffers of unknown size, so it is asked for answers, and where it gives none a slow link is assumed.
    """

    def __init__(self, remote: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._remote = remote
        self._clock = clock
        self._answers = False
        self._asked: deque[tuple[float, int]] = (
            deque()
        )  # moment, bytes up to the question since the one before
        self._unasked = 0  # bytes since the last question
        self._free_at = 0.0  # when the assumed link will have carried all

    def wait_s(self, is_writing: bool) -> float | None:
        """Return seconds until a frame may be sent; None: when nothing is being written any more."""
        if is_writing:
            return None
        if not self._remote:
            return 0.0
        now = self._clock()
        if not self._answers:
            return max(self._free_at - now - AHEAD_S, 0.0)
        if self._asked and now - self._asked[0][0] >= LOST_S:
            self._asked.clear()
        under_way = sum(size for _, size in self._asked)
        return self._asked[0][0] + LOST_S - now if under_way >= WINDOW else 0.0

    def sent(self, size: int) -> bool:
        """Count a frame of so many bytes as sent; return whether to ask the terminal after it."""
        now = self._clock()
        self._free_at = max(self._free_at, now) + size / RATE
        self._unasked += size
        if not (self._remote and self._answers) or self._unasked < ASK_AFTER:
            return False
        self._asked.append((now, self._unasked))
        self._unasked = 0
        return True

    def answered(self) -> None:
        """Take note that the terminal has come to a question."""
        self._answers = True
        if self._asked:
            self._asked.popleft()


#: a question that Textual asks as well, and whose answer it understands: can frames be shown at once
ASK = "\x1b[?2026$p"


#: status of a program that its terminal has left, as of one that SIGHUP ends
HUNG_UP = 129


class LinkApp(HookedApp[ReturnType]):
    """Sends what the terminal can show by the time it is sent."""

    def __init__(self, *, ansi_color: bool) -> None:
        super().__init__(ansi_color=ansi_color)
        self.pace = FramePace(is_remote(os.environ))
        self._cells: TerminalCells | None = None
        self._cursor = (0, 0)  # column and line that the terminal's own was put on
        self._wake: asyncio.TimerHandle | None = None
        self.typed = b""  #: what was typed before the terminal was the app's

    def get_driver_class(self) -> type[Driver]:
        usual = super().get_driver_class()
        if usual.__name__ != "LinuxDriver":
            return usual
        from tracetui.ui.sending.driver import LinkDriver  # of POSIX terminals

        return LinkDriver

    def take(self, update: Update) -> None:
        """Have an update in the next frame."""
        system = color_system(self)
        if self._cells is None or not self._cells.suits(*self.size, system):
            self._cells = TerminalCells(*self.size, system)
        self._cells.put(strips_of(update))

    def frame(self) -> str:
        """Return what is to be sent so that the terminal shows all updates; "" where it does."""
        changes = self._cells.changes() if self._cells is not None else ""
        before, self._cursor = self._cursor, self.screen.outer_size.clamp_offset(self.cursor_position)
        if not changes and self._cursor == before:
            return ""
        x, y = self._cursor
        return self.at_once(f"{changes}\x1b[{y + 1};{x + 1}H")

    def redraw(self) -> None:
        """Send all that is meant to be seen: nobody knows what the terminal shows."""
        if self._cells is not None and (self._cells.width, self._cells.height) == self.size:
            self._cells.forget()
            self.link_is_free()

    def watch_title(self, title: str) -> None:
        """Name the window of the terminal, whose name is that of the app."""
        driver = self.sending_driver()
        if driver is not None and has_title(os.environ):
            driver.write(titled(title))

    def on_resize(self) -> None:
        """Send everything again: terminals move what they show, and tell their size when resumed."""
        self.redraw()

    def terminal_is_gone(self) -> None:
        """Leave: nothing can be typed any more, and no signal has said so."""
        self.leave(HUNG_UP)

    def leave(self, code: int) -> None:
        """End with an exit status."""
        self.exit(return_code=code)

    def link_is_free(self) -> None:
        """Send what has changed meanwhile, or come back when the link can carry more."""
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        driver = self.sending_driver()
        if driver is None:
            return
        wait_s = self.pace.wait_s(bool(getattr(driver, "is_writing", False)))
        if wait_s is None:
            return
        if wait_s > 0:
            self._wake = asyncio.get_running_loop().call_later(wait_s, self.link_is_free)
        elif frame := self.frame():
            driver.write(frame + ASK if self.pace.sent(len(frame.encode())) else frame)

    def show_update(self, update: Update) -> None:
        self.take(update)
        self.link_is_free()

    def terminal_answered(self) -> None:
        self.pace.answered()
        self.link_is_free()


def is_remote(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is at the other end of a network."""
    return any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"))
