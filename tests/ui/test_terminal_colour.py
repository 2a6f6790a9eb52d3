"""The background of the terminal: asked for without losing a key, whatever the terminal answers, and when."""

from __future__ import annotations

import os
import pty
import select
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.rest import PATIENCE_S
from tests.ui.terminal import viewer
from tracetui.ui import terminal_colour
from tracetui.ui.terminal_colour import ASK, Answers, asked, is_light, light_by_environment

WHITE, BLACK = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", b"\x1b]11;rgb:0000/0000/0000\x07"
KIND = b"\x1b[?62;22c"
LEGEND = {True: b"\x1b[31m", False: b"\x1b[1;93m"}  #: the ink of keys


@pytest.mark.parametrize(
    ("answer", "light"),
    [
        (WHITE, True),
        (BLACK, False),
        (b"\x1b]11;rgb:fd/f6/e3\x1b\\", True),
        (b"\x1b]11;rgba:1e1e/1e1e/1e1e/ffff\x07", False),
        (b"\x1b]11;rgb:f/f/f\x07", True),
        (b"\x1b]11;?\x07", None),
        (b"", None),
    ],
)
def test_answers(answer: bytes, light: bool | None) -> None:
    answers = Answers()
    answers.take(answer + KIND)
    assert (answers.light, answers.complete) == (light, True)


KEYS = st.lists(
    st.sampled_from(
        [b"x", b"G", b"\x1b", b"\x1b[A", b"\x1bOP", b"\r", b"\x1b[<0;3;4M", "é".encode(), b"11;?"]
    )
)


@given(KEYS, KEYS, KEYS, st.sampled_from([WHITE, BLACK, b""]), st.lists(st.integers(0, 60)))
def test_keys_come_through_in_their_order(
    before: list[bytes], between: list[bytes], after: list[bytes], colour: bytes, cuts: list[int]
) -> None:
    typed = b"".join((*before, *between, *after))
    data = b"".join((*before, colour, *between, KIND, *after))
    places = sorted({min(cut, len(data)) for cut in (0, *cuts, len(data))})
    # Where an answer is cut behind its first character, that is the escape key, as it is to Textual.
    starts = {len(b"".join(before)), len(b"".join((*before, colour, *between)))}
    places = [place for place in places if place - 1 not in starts and place - 2 not in starts]
    answers = Answers()
    keys = b"".join(answers.take(data[first:last]) for first, last in zip(places, [*places[1:], len(data)]))
    assert keys + answers.rest() == typed
    assert answers.light == {WHITE: True, BLACK: False, b"": None}[colour]


def test_luminance_decides() -> None:
    assert is_light(1, 1, 1) and is_light(0.99, 0.96, 0.89) and not is_light(0, 0.17, 0.21)
    assert is_light(0, 1, 0) and not is_light(0, 0, 1)


@pytest.mark.parametrize(
    ("value", "light"),
    [
        ("0;15", True),
        ("0;default;15", True),
        ("15;0", False),
        ("7;8", False),
        ("15;default", False),
        ("", False),
    ],
)
def test_the_environment_tells_where_the_terminal_does_not(value: str, light: bool) -> None:
    assert light_by_environment({"COLORFGBG": value}) is light
    assert not light_by_environment({})


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def test_the_modes_of_the_terminal_are_as_before(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_colour, "LIMIT_S", PATIENCE_S)
    master, slave = terminal
    before = termios.tcgetattr(slave)
    with asked(slave, slave) as question:
        assert os.read(master, 100) == ASK
        assert termios.tcgetattr(slave) != before
        os.write(master, b"x" + WHITE + b"\r" + KIND + b"y")
        assert question.wait() is True
    assert question.typed == b"x\ry"
    assert termios.tcgetattr(slave) == before
    with pytest.raises(KeyboardInterrupt), asked(slave, slave):
        raise KeyboardInterrupt
    assert termios.tcgetattr(slave) == before


def test_the_modes_are_as_before_whenever_an_interrupt_comes(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, slave = terminal
    before = termios.tcgetattr(slave)
    change = termios.tcsetattr

    def interrupted(*arguments: Any) -> None:
        change(*arguments)
        if termios.tcgetattr(slave) != before:
            raise KeyboardInterrupt

    monkeypatch.setattr(termios, "tcsetattr", interrupted)
    with pytest.raises(KeyboardInterrupt), asked(slave, slave):
        pass
    assert termios.tcgetattr(slave) == before


def test_an_answer_counts_that_came_while_nobody_looked(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal_colour, "LIMIT_S", -1)
    master, slave = terminal
    with asked(slave, slave) as question:
        os.write(master, WHITE + KIND)
        assert select.select([slave], [], [], PATIENCE_S)[0]
        assert question.wait() is True


def test_a_terminal_that_never_answers(terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_colour, "LIMIT_S", 0.05)
    master, slave = terminal
    with asked(slave, slave) as question:
        os.write(master, b"G\x1b]11;rgb:ff")
        assert select.select([slave], [], [], PATIENCE_S)[0]
        assert question.wait() is None
    assert question.typed == b"G\x1b]11;rgb:ff"  # the rest may come later


@pytest.fixture(scope="module")
def moba(samples: Path) -> Path:
    return samples / "moba" / "trace_view.json"


@pytest.mark.parametrize(("colour", "light"), [(WHITE, True), (BLACK, False)], ids=["light", "dark"])
def test_the_viewer_suits_the_background_and_keeps_what_is_typed(
    moba: Path, colour: bytes, light: bool
) -> None:
    patch = "from tracetui.ui import terminal_colour; terminal_colour.LIMIT_S = 300"
    with viewer(moba, patch=patch, TERM="xterm") as terminal:
        terminal.wait_for(ASK)
        terminal.send(b"G" + colour + KIND)
        terminal.wait_for(b"Gap 1 of 150")  # on the screen that G opens
        assert LEGEND[light] in terminal.output
        assert LEGEND[not light] not in terminal.output


def test_the_viewer_of_a_mute_terminal_asks_the_environment(moba: Path) -> None:
    with viewer(moba, TERM="xterm", COLORFGBG="0;15") as terminal:
        terminal.wait_for(ASK)
        terminal.wait_for(b"worst gaps")
        assert LEGEND[True] in terminal.output
        terminal.send(BLACK + KIND)  # too late, and no keys
        terminal.send(b"I")
        terminal.wait_for(b"Steps")
        assert terminal.process.poll() is None
        assert b"rgb:" not in terminal.output


@pytest.mark.parametrize("palette", ["ansi,light", "dark"])
def test_a_palette_that_says_all_asks_for_nothing(moba: Path, palette: str) -> None:
    with viewer(moba, "--palette", palette, TERM="xterm") as terminal:
        terminal.wait_for(b"worst gaps")
        assert ASK not in terminal.output
        assert (LEGEND[True] in terminal.output) is ("light" in palette)
