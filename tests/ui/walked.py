"""The viewer as a program that tells, beside what it sends, what a full repaint of its screen would show.

It stays whatever key is pressed, and writes files only below the working directory. `tests.ui.walking`
presses keys in it and sends marks behind them: reports of the cursor, on line 2 where debounces and threads
are to be waited for, too. Once all before a mark is done, it is answered on the socket given, with each line
of the screen drawn without any cache, and in the output, with a title.

python -m tests.ui.walked FD TRACE PALETTE     a directory is a job of the ranks in it
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from textual._context import visible_screen_stack
from textual._styles_cache import StylesCache
from textual.cache import LRUCache
from textual.driver import Driver
from textual.events import CursorPosition
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from tests.ui.rest import CALM, has_work, thread_runs, timer_runs
from tracetui.cli.entry import collect_rarely
from tracetui.job.load import find_ranks
from tracetui.reader.source import TraceFile
from tracetui.ui.app import TraceApp
from tracetui.ui.job_app import JobApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.sending.driver import LinkDriver
from tracetui.ui.sending.link import HUNG_UP
from tracetui.ui.session import Session

_TURN_S = 0.001
_SOON_S = 0.3
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class MarkedDriver(LinkDriver):
    """Tells its app of marks in the input."""

    def process_message(self, message: Message) -> None:
        if isinstance(message, CursorPosition):
            self._loop.call_soon_threadsafe(self._app.reached, message.x, message.y > 0)  # type: ignore[attr-defined]
        else:
            super().process_message(message)


class WalkedApp(TraceApp):
    """Leaves for no key and no signal, and answers marks on the socket given."""

    _answers: socket.socket

    def answer_on(self, answers: socket.socket) -> None:
        """Where marks are answered."""
        self._answers, self._answering = answers, set[Any]()

    def get_driver_class(self) -> type[Driver]:
        return MarkedDriver

    def leave(self, code: int) -> None:
        """Stay, unless there is no terminal any more."""
        if code == HUNG_UP:
            super().leave(code)

    def reached(self, mark: int, at_rest: bool) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(mark, at_rest))
        self._answering.add(task)
        task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._answering.discard(task)
        if error := task.exception():
            self._handle_exception(cast(Exception, error))

    async def _answer(self, mark: int, at_rest: bool) -> None:
        for field in self.screen.query(Input):
            field.cursor_blink = False
        calm = 0
        while calm < CALM:
            await asyncio.sleep(0 if calm else _TURN_S)
            calm = calm + 1 if self._is_calm() and not (at_rest and self._expects()) else 0
        panels = [type(screen).__name__ for screen in self.screen_stack]
        answer = {"mark": mark, "screen": self.shown, "panels": panels, "lines": repainted(self)}
        assert self._driver is not None
        self._driver.write(f"\x1b]2;mark {mark}\x07")
        content = json.dumps(answer).encode() + b"\n"
        await asyncio.get_running_loop().run_in_executor(None, self._answers.sendall, content)

    def _is_calm(self) -> bool:
        """Whether nothing is left to do but what timers and threads will bring."""
        driver = self._driver
        assert isinstance(driver, LinkDriver)
        return not (has_work(self) or driver.is_writing or self._wake is not None)

    def _expects(self) -> bool:
        """Whether a timer that runs soon or a thread will bring something."""
        return thread_runs(self) or timer_runs(self, _SOON_S)


class WalkedJob(WalkedApp, JobApp):
    """The same of the ranks of a job."""


def repainted(app: TraceApp) -> list[str]:
    """The screen's lines as Rich would send them, each drawn anew."""
    widgets = (widget for screen in app.screen_stack for widget in (screen, *screen.query(Widget)))
    visible_screen_stack.set(app._background_screens)
    with app._context(), _without_caches(widgets):
        strips = app.screen._compositor.render_strips()
    system = app.console._color_system
    return [
        "".join(
            style.render(text, color_system=system, legacy_windows=False) if style else text
            for text, style, _ in strip
        )
        for strip in strips
    ]


@contextlib.contextmanager
def _without_caches(widgets: Iterator[Widget]) -> Iterator[None]:
    """Widgets that draw everything anew, and know afterwards what they knew before."""
    kept: list[tuple[Widget, dict[str, Any]]] = []
    for widget in widgets:
        held = vars(widget)
        empty: dict[str, Any] = {
            "_styles_cache": StylesCache(),
            "_dirty_regions": {widget.outer_size.region},
            "_render_cache": widget._render_cache,
            "_layout_cache": {},
        }
        for name in ("_drawn", "_seen"):
            if name in held:
                empty[name] = None
        if "_shown" in held and isinstance(held["_shown"], dict):
            empty["_shown"] = {**held["_shown"]}
        if isinstance(held.get("_strips"), LRUCache):
            empty["_strips"] = LRUCache(held["_strips"].maxsize)
        kept.append((widget, {name: held[name] for name in empty}))
        held.update(empty)
    try:
        yield
    finally:
        for widget, before in kept:
            vars(widget).update(before)


def _write_here_only(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to open a file for writing that is not below the working directory: any name may be typed."""
    if event != "open" or not isinstance(arguments[0], str) or not arguments[2] & _WRITES:
        return
    path = Path.cwd() / arguments[0]
    if path != Path(os.devnull) and (Path.cwd() not in path.parents or ".." in path.parts):
        raise PermissionError(errno.EACCES, "not below the working directory", arguments[0])


def main() -> None:
    descriptor, path, palette = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    sys.addaudithook(_write_here_only)
    with socket.socket(fileno=descriptor) as answers, contextlib.ExitStack() as opened:
        collect_rarely()
        options = ViewerOptions(palette=palette, jobs=1)
        if path.is_dir():
            app: WalkedApp = WalkedJob(find_ranks([path]), options)
        else:
            trace_file = opened.enter_context(TraceFile(path, jobs=1))
            app = WalkedApp([Session(path, options, trace_file)], options)
        app.answer_on(answers)
        app.run()
        if app.failure is not None:
            traceback.print_exception(type(app.failure), app.failure, app.failure.__traceback__)


if __name__ == "__main__":
    main()
