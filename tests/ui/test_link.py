"""A slow link is never given more than it carries in a fraction of a second: keys coalesce, frames wait."""

from __future__ import annotations

import asyncio
import os
import pty
import time
import tty
from collections.abc import Callable

import pytest
from rich.segment import Segment
from textual.app import ComposeResult
from textual.events import Key
from textual.strip import Strip
from textual.widget import Widget

from tests.ui.rest import PATIENCE_S
from tracetui.ui.sending.driver import CountingFile, LinkDriver
from tracetui.ui.sending.link import (
    AHEAD_S,
    ASK,
    ASK_AFTER,
    LOST_S,
    RATE,
    WINDOW,
    FramePace,
    LinkApp,
    is_remote,
)

DENSE = 30_000


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_keys_that_nobody_has_read_are_kept_when_the_terminal_is_given_back() -> None:
    """As those typed behind the key that opens an editor."""
    app: LinkApp[None] = LinkApp(ansi_color=False)
    driver = LinkDriver(app)
    keys, driver.fileno = pty.openpty()
    tty.setraw(driver.fileno)
    os.write(keys, b"jj")
    app.typed = b"G"
    driver.disable_input()
    assert app.typed == b"Gjj"
    os.close(keys)
    os.close(driver.fileno)


def test_nothing_is_sent_while_something_is_written() -> None:
    pace = FramePace(remote=False)
    assert pace.wait_s(is_writing=True) is None
    assert pace.wait_s(is_writing=False) == 0


def test_a_local_terminal_gets_frames_as_fast_as_it_takes_them() -> None:
    pace = FramePace(remote=False, clock=Clock())
    for _ in range(100):
        assert pace.wait_s(is_writing=False) == 0
        assert not pace.sent(DENSE)


def test_a_remote_terminal_that_does_not_answer_gets_as_much_as_a_slow_link_carries() -> None:
    clock = Clock()
    pace, sent, keys = FramePace(remote=True, clock=clock), 0, 90
    for _ in range(keys):
        if pace.wait_s(is_writing=False) == 0:
            assert not pace.sent(DENSE)
            sent += DENSE
        assert sent - (clock.now - 100.0) * RATE <= AHEAD_S * RATE + DENSE
        clock.now += 1 / 30
    assert keys / 30 * RATE * 0.9 < sent, "the link is used"


def test_a_remote_terminal_that_answers_sets_the_pace() -> None:
    clock = Clock()
    pace = FramePace(remote=True, clock=clock)
    pace.answered()
    assert pace.sent(DENSE)
    assert pace.wait_s(is_writing=False) == 0
    assert pace.sent(DENSE)
    assert 2 * DENSE >= WINDOW
    clock.now += 1.0
    assert pace.wait_s(is_writing=False) == pytest.approx(LOST_S - 1.0)
    pace.answered()
    assert pace.wait_s(is_writing=False) == 0
    pace.sent(DENSE)
    clock.now += LOST_S
    assert pace.wait_s(is_writing=False) == 0, "answers that are lost do not stop the screen"


def test_small_frames_are_not_asked_about_one_by_one() -> None:
    pace = FramePace(remote=True, clock=Clock())
    pace.answered()
    assert [pace.sent(ASK_AFTER // 4) for _ in range(8)] == [False, False, False, True] * 2


class Device:
    """In place of the driver: keeps what is written, and is busy until it is told that it has taken it."""

    is_inline = is_headless = False

    def __init__(self) -> None:
        self.written: list[str] = []
        self.is_writing = False

    def write(self, text: str) -> None:
        self.written.append(text)
        self.is_writing = True


class Counter(Widget):
    """Shows how many keys there were."""

    keys = 0

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(f"key {self.keys}" if y == 0 else "")]).adjust_cell_length(self.size.width)


class Counting(LinkApp[None]):
    def __init__(self) -> None:
        super().__init__(ansi_color=True)
        self.device: Device | None = None

    def compose(self) -> ComposeResult:
        yield Counter()

    def on_key(self, event: Key) -> None:
        counter = self.query_one(Counter)
        counter.keys += 1
        counter.refresh()

    @property
    def is_headless(self) -> bool:
        return self.device is None


async def until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < end, "nothing comes"
        await asyncio.sleep(0.005)


async def test_keys_coalesce_while_the_link_is_busy() -> None:
    app = Counting()
    async with app.run_test(size=(20, 3)) as pilot:
        await pilot.pause()
        device = app.device = Device()
        driver, app._driver = app._driver, device  # type: ignore[assignment]
        try:
            app.simulate_key("d")
            await until(lambda: bool(device.written))
            for _ in range(29):
                app.simulate_key("d")
                await asyncio.sleep(0.002)
            await until(lambda: app.query_one(Counter).keys == 30)
            await asyncio.sleep(0.05)
            assert len(device.written) == 1, "one frame is under way, whatever keys come"
            device.is_writing = False
            app.link_is_free()
            await until(lambda: len(device.written) > 1)
        finally:
            app._driver, app.device = driver, None
    first, last = device.written
    assert "key 1" in first
    assert "30" in last and ASK not in last, "the state as it is then, in one frame"


def test_what_is_written_to_a_terminal_that_is_gone_vanishes() -> None:
    """The thread that writes would end, and who gives it more wait for ever."""
    master, slave = pty.openpty()
    written: list[int] = []
    with os.fdopen(slave, "w") as file:
        device = CountingFile(file, written.append)
        os.close(master)
        for _ in range(3):
            device.write("x" * 9000)
            device.flush()
    assert written == [1, 2, 3]


def test_a_terminal_behind_a_network_is_known_by_the_environment() -> None:
    assert is_remote({"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"})
    assert not is_remote({"TERM": "xterm-256color", "SSH_CONNECTION": ""})
