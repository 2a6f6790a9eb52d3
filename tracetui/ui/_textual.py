"""All the private API of Textual that the viewer uses, each with its reason. Whatever else it uses is public.

Knows nothing of the viewer. The version of Textual is capped below the next major one for these.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, Union, cast

from rich.color import ColorSystem
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual._dispatch_key import dispatch_key
from textual._xterm_parser import XTermParser  # keys from bytes: drivers have it only inside
from textual.app import App, ReturnType
from textual.css.query import QueryError
from textual.driver import Driver
from textual.events import Key
from textual.filter import LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.messages import TerminalSupportsSynchronizedOutput
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.timer import Timer, TimerCallback
from textual.widget import AwaitMount, MountError, Widget

if TYPE_CHECKING:
    from io import TextIOWrapper

    from textual.drivers.linux_driver import LinuxDriver

Update = Union[LayoutUpdate, ChopsUpdate]


class Punctual(MessagePump):
    """What is called after a while is called, however late.

    Textual skips ticks that are late, and with them the only one where the process is held up as a timer
    begins. With one the switch to another screen ends, and with one a new size counts: a viewer on a busy
    host stood still.
    """

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False
        return timer


class SequenceParser(XTermParser):
    """Makes events of whole sequences, one at a time.

    Textual's own waits for the rest of one that it does not know, swallows the keys that follow as long as
    they come fast, and then takes all of it for keys.
    """

    def read(self, piece: str) -> Iterator[Message]:
        """Yield the events of plain text, of escape alone, or of one sequence; none of an unknown one."""
        if piece == "\x1b":
            yield Key("escape", piece)
            return
        yield from self.feed(piece)
        if self._awaiting.timeout is not None:
            self._gen = self.parse(self._tokens.append)
            self._awaiting = next(self._gen)


class HookedApp(Punctual, App[ReturnType]):
    """An app with hooks where Textual has none: before a frame is written, at an answer, at a fault."""

    def show_update(self, update: Update) -> None:
        """Show what the compositor has drawn anew; it is not written otherwise."""

    def terminal_answered(self) -> None:
        """Take note that the terminal shows frames at once, which Textual asks it when it starts."""

    def key_was_left(self, key: Key) -> None:
        """Handle a key that nothing took: no binding of what has the focus, of the screen, or of the app."""

    async def _on_key(self, event: Key) -> None:
        event.prevent_default()  # what follows is all that Textual's own does
        if not await self._check_bindings(event.key) and not await dispatch_key(self, event):
            self.key_was_left(event)

    def fault(self, error: Exception) -> None:
        """Handle an error; the terminal is not restored yet. Textual's own report prints local variables."""
        super()._handle_exception(error)

    def end_after_fault(self) -> None:
        """Restore the terminal and end, with status 1 and without a report, which `exit` would not."""
        self._return_code = 1
        self._close_messages_no_wait()

    @property
    def is_leaving(self) -> bool:
        """Whether `exit` was called, and with it the exit status is known."""
        return self._exit

    def _get_screen(self, screen: Screen[Any] | str) -> tuple[Screen[Any], AwaitMount]:
        found, mounted = super()._get_screen(screen)
        if found._css_update_count < 0:  # a new one has the rules of now: Textual would parse them all again
            found._css_update_count = self._css_update_count
        return found, mounted

    def sending_driver(self) -> Driver | None:
        """Return what writes to the terminal; None where writing raises: before the start and at the end."""
        return self._driver if self._running and not self._closed and not self.is_headless else None

    def at_once(self, frame: str) -> str:
        """Wrap a frame so that the terminal shows it at once, if it can."""
        return f"{SYNC_START}{frame}{SYNC_END}" if self._sync_available else frame

    def screens_by_mode(self) -> Iterator[tuple[str, Sequence[Screen[Any]]]]:
        """Yield each mode that was shown, with its screens. Textual itself gives only those of the mode in
        front.
        """
        yield from self._screen_stacks.items()

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if self.is_headless or self.is_inline or not isinstance(renderable, (LayoutUpdate, ChopsUpdate)):
            super()._display(screen, renderable)
            return
        self.show_update(renderable)
        self.post_display_hook()

    def _on_terminal_supports_synchronized_output(self, message: TerminalSupportsSynchronizedOutput) -> None:
        super()._on_terminal_supports_synchronized_output(message)
        self.terminal_answered()

    def _handle_exception(self, error: Exception) -> None:
        """Ignore what was mounting when `exit` was called: it finds nothing mounted any more."""
        if not (self.is_leaving and isinstance(error, (MountError, QueryError))):
            self.fault(error)


def color_system(app: App[Any]) -> ColorSystem:
    """Return how many colours are sent."""
    return app.console._color_system or ColorSystem.TRUECOLOR


def set_color_system(app: App[Any], system: ColorSystem) -> None:
    """Send this many colours. Rich takes the number from the environment and has no other way to set it
    later.
    """
    app.console._color_system = system


def add_filter(app: App[Any], line_filter: LineFilter) -> None:
    """Change every line that is drawn; Textual has filters of its own only."""
    app._filters.append(line_filter)


def strips_of(update: Update) -> Iterator[tuple[int, int, Strip]]:
    """Yield line, first cell and strip of all that an update touches.

    Textual gives more of a line that is touched: beside what is drawn anew, blanks in place of neighbours.
    """
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in strips:
                yield y, x, strip
                x += strip.cell_length
        return
    for y, first, stop in update.spans:
        for end, (x, part) in zip(update.chop_ends[y], update.chops[y].items()):
            if part is not None and x < stop and first < end:
                yield y, x, part


def wrap_output(driver: LinuxDriver, wrap: Callable[[IO[str]], object]) -> None:
    """Put a file in front of the one that a driver writes to, in a thread of its own."""
    driver._file = cast("TextIOWrapper", wrap(cast("IO[str]", driver._file)))


def app_of(driver: Driver) -> App[Any]:
    """Return the app that a driver serves."""
    return driver._app


def loop_of(driver: Driver) -> asyncio.AbstractEventLoop:
    """Return the event loop of a driver's app, for its threads."""
    return driver._loop


class WholeScreen(Punctual, Screen[ScreenResultType]):
    """A screen that forgets no widget: Textual drops those to be drawn where it draws a part of the screen.

    It does so whenever something behind a panel changes, and the widget stays as it was until the next time.
    """

    def _on_timer_update(self) -> None:
        if self._repaint_required:
            self._compositor.update_widgets(self._dirty_widgets)
        super()._on_timer_update()


class SeeThrough(Punctual, Screen[ScreenResultType]):
    """A screen that shows the one below where it has no widgets.

    Textual sends all lines of that one through Rich, three times while a panel opens: a fifth of the time.
    """

    _seen: list[Strip] | None = None  # the lines of the screen below, as long as they are as they were

    def _set_dirty(self, *regions: Region) -> None:
        super()._set_dirty(*regions)
        self._seen = None

    def render_line(self, y: int) -> Strip:
        screens = self.app.screen_stack
        place = screens.index(self) if self in screens else 0
        if not place:
            return super().render_line(y)
        if self._seen is None:
            self._seen = screens[place - 1]._compositor.render_strips()
        width = self.size.width
        line = self._seen[y] if y < len(self._seen) else Strip.blank(width)
        return line.adjust_cell_length(width)


class TrackedWidget(Punctual, Widget):
    """A widget that learns which of its regions are to be drawn again, also where Textual asks for it."""

    @abstractmethod
    def invalidated(self, regions: Iterable[Region]) -> None:
        """Take note that regions are to be drawn again; all where none are given."""

    def _set_dirty(self, *regions: Region) -> None:
        super()._set_dirty(*regions)
        self.invalidated(regions)
