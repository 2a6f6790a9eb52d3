"""Walks through the viewer in a terminal of its own, which is compared with what a full repaint would show.

The terminal is an emulator (pyte) fed with the bytes that the driver sends; the program is `tests.ui.walked`.
A shell holds it as its job, so that it can be stopped and come back.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import select
import socket
import struct
import subprocess
import sys
import termios
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Union

import pyte
from pyte.screens import Char

from tests.ui.terminal import ROOT
from tracetui.ui.actions import ACTIONS, key_label

SIZES = ((80, 24), (120, 36), (200, 60), (40, 10))

#: what a terminal sends for keys that are no characters; escape as terminals do that can tell it from others
_SEQUENCES = {
    "escape": "\x1b[27u",
    "enter": "\r",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "space": " ",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
}
KEYS = tuple(dict.fromkeys(key for action in ACTIONS for key in action.keys))  #: all that are bound
LETTERS = tuple("aemopstu_.: ")  #: what is typed into fields
SUSPEND = "ctrl+z"
_NOTHING = b"\x1b[24~"  #: F12, which does nothing
_RESTS, _REDRAWS, _RESIZES, _SUSPENSIONS = 0.3, 0.03, 0.02, 0.005  #: how likely at each step
_NOT_HANDED_ON = {"NO_COLOR", "SSH_CONNECTION", "COLORTERM", "COLUMNS", "LINES"}
_MANY = 6  #: differences that are told
_ANSWER_S = 300.0
_SHELL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
script = 'set -m; "$@"; while echo "$ fg, said the shell"; do fg || [ $? -gt 128 ] || exit; done'
os.execv('/bin/sh', ['sh', '-c', script, 'sh', *sys.argv[1:]])
"""
_EDITOR = """#!/bin/sh
for line in 1 2 3 4 5 6 7 8 9; do printf '\\033[%s;3H\\033[7mthe editor was here\\033[m' $line; done
"""

#: a cell: its character and how it is drawn
Cell = tuple[str, tuple[Any, ...]]
#: a key, a size, or what is typed at once
Step = Union[str, tuple[int, int], list[str]]


def encoded(key: str) -> bytes:
    """What a terminal sends for a key."""
    label = key_label(key)
    if key in _SEQUENCES:
        return _SEQUENCES[key].encode()
    if key.startswith("ctrl+"):
        return bytes([ord(key[-1]) & 0x1F])
    assert len(label) == 1, key
    return label.encode()


class Emulator(pyte.Screen):
    """A terminal that knows dim text, too: pyte does not, so it stands as blinking."""

    def select_graphic_rendition(self, *codes: int, **options: Any) -> None:
        given, known = list(codes or (0,)), []
        while given:
            code = given.pop(0)
            if code in (38, 48):
                count = 2 if given[:1] == [5] else 4
                known += [code, *given[:count]]
                del given[:count]
            else:
                known += {2: [5], 22: [22, 25]}.get(code, [code])
        super().select_graphic_rendition(*known)

    def set_mode(self, *modes: int, **options: Any) -> None:
        super().set_mode(*modes, **options)
        if options.get("private") and 1049 in modes:
            self.scribble()

    def scribble(self) -> None:
        """Show what nobody knows of."""
        for y in range(self.lines):
            for x in range(self.columns):
                self.buffer[y][x] = Char("?", reverse=True)

    def resized(self, width: int, height: int) -> None:
        self.resize(height, width)
        self.scribble()

    def cells(self) -> list[list[Cell]]:
        return [_cells(self.buffer[y], self.columns) for y in range(self.lines)]


def _cells(line: Any, columns: int) -> list[Cell]:
    cells = []
    for x in range(columns):
        text, *style = line[x]
        if text == " " and not (line[x].underscore or line[x].strikethrough or line[x].reverse):
            style = ["default", line[x].bg]  # no more of it can be seen
        cells.append((text, tuple(style)))
    return cells


@lru_cache(maxsize=20_000)
def drawn(line: str, width: int) -> list[Cell]:
    """The cells of a line as Rich sends it."""
    screen = Emulator(width, 1)
    screen.reset_mode(7 << 5)
    pyte.Stream(screen).feed("\x1b[?7l" + line)
    return _cells(screen.buffer[0], width)


class Difference(NamedTuple):
    """A run of cells that the terminal shows otherwise than a full repaint."""

    y: int
    x: int
    shown: str
    meant: str

    def __str__(self) -> str:
        return f"line {self.y} cell {self.x}: {self.shown!r} is shown, {self.meant!r} is meant"


def differences(shown: Sequence[Sequence[Cell]], meant: Sequence[Sequence[Cell]]) -> list[Difference]:
    """Where they differ; styles are told where texts are equal."""
    found = []
    if len(shown) != len(meant):
        return [Difference(-1, -1, f"{len(shown)} lines", f"{len(meant)} lines")]
    for y, (has, should) in enumerate(zip(shown, meant)):
        if has == should:
            continue
        places = [x for x in range(len(has)) if has[x] != should[x]]
        first, last = places[0], places[-1] + 1
        texts = ["".join(text for text, _ in line[first:last]) for line in (has, should)]
        if texts[0] == texts[1]:
            texts = [f"{text} as {line[first][1]}" for text, line in zip(texts, (has, should))]
        found.append(Difference(y, first, *texts))
    return found


class Gone(Exception):  # noqa: N818 - it says what happened
    """The viewer has ended."""


class Walker:
    """The viewer, and the terminal it draws on."""

    def __init__(
        self, process: subprocess.Popen[bytes], terminal: tuple[int, int], answers: socket.socket
    ) -> None:
        self.process = process
        self._master, self._slave = terminal
        self._answers = answers.makefile("rb")
        self._socket = answers
        self._mark = 0
        self.pressed = 0  #: keys
        self.bytes = 0
        self.answer: dict[str, Any] = {}
        width, height = os.get_terminal_size(self._master)
        self.screen = Emulator(width, height)
        self._stream = pyte.ByteStream(self.screen)

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    @property
    def size(self) -> tuple[int, int]:
        return self.screen.columns, self.screen.lines

    def take(self, step: Step) -> None:
        """Press a key, press some at once, or resize."""
        self.pressed += len(step) if isinstance(step, list) else 1
        if isinstance(step, tuple):
            self.resize(*step)
        elif step == SUSPEND:
            self.suspend()
        else:
            os.write(self._master, b"".join(map(encoded, [step] if isinstance(step, str) else step)))

    def resize(self, width: int, height: int) -> None:
        """Resize the terminal; nobody is told of a size that it has, and draws anew."""
        if (width, height) != self.size:
            fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
            self.screen.resized(width, height)

    def suspend(self) -> None:
        """Stop the viewer and have it back."""
        os.write(self._master, encoded(SUSPEND))
        self._read_until(rb"said the shell.*\x1b\[\?1049h")

    def settle(self, at_rest: bool = True) -> None:
        """Wait until all keys are answered and their bytes have come; at rest: debounces and threads, too."""
        self._mark += 1
        mark = self._mark % 200 + 1
        os.write(self._master, f"\x1b[{1 + at_rest};{mark + 1}R".encode())
        self._read_until(rb"\x1b]2;mark %d\x07" % mark)
        while True:
            line = self._answers.readline()
            if not line:
                raise Gone
            self.answer = json.loads(line)
            if self.answer["mark"] == mark:
                return

    def differences(self) -> list[Difference]:
        """Where the terminal shows something else than a full repaint."""
        lines, width = self.answer["lines"], self.screen.columns
        return differences(self.screen.cells(), [drawn(line, width) for line in lines])

    def lasting_differences(self) -> list[Difference]:
        """Those that are still there when all is at rest."""
        found = self.differences()
        for _ in range(2):
            if found:
                self.settle()
                found = self.differences()
        return found

    def redrawn(self) -> list[Difference]:
        """What differs from what is shown once everything has been laid out and drawn anew."""
        found: list[Difference] = []
        for _ in range(2):  # what was said for a while may have gone meanwhile, but only once
            # What was said goes with the next key, and that it does nothing is not said twice at once.
            os.write(self._master, _NOTHING * 2)
            self.settle()
            before = self.screen.cells()
            self.take("ctrl+l")
            self.settle()
            found = self.differences() or differences(before, self.screen.cells())
            if not found:
                break
        return found

    @property
    def has_panel(self) -> bool:
        return len(self.answer["panels"]) > 1

    @property
    def where(self) -> str:
        """The screen and what is open over it."""
        return " < ".join([self.answer["screen"], *self.answer["panels"][1:]])

    def _read_until(self, pattern: bytes) -> None:
        """Feed the terminal until something has come; raises Gone."""
        until = time.monotonic() + _ANSWER_S
        came = b""
        while not re.search(pattern, came, re.DOTALL):
            if not select.select([self._master], [], [], 0.2)[0]:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise Gone(_told(came))
                continue
            try:
                chunk = os.read(self._master, 1 << 16)
            except OSError:
                raise Gone(_told(came)) from None
            self.bytes += len(chunk)
            came += chunk
            self._stream.feed(chunk)


def _told(output: bytes) -> str:
    """The end of an output, without escape sequences."""
    return re.sub(r"\x1b[\[\]][^A-Za-z]*[A-Za-z]", " ", output[-20_000:].decode(errors="replace"))[-3000:]


class Stumble(NamedTuple):
    """Where a walk ended too early."""

    steps: Sequence[Step]  #: the latest ones
    size: tuple[int, int]
    screen: str
    found: Sequence[object]

    def __str__(self) -> str:
        width, height = self.size
        return f"{self.screen} at {width}x{height} after {[*self.steps]}:\n" + "\n".join(
            map(str, self.found[:_MANY])
        )


def walk(walker: Walker, rng: random.Random, keys: int, burst: int = 1) -> Stumble | None:
    """Press keys at random, so many at once at most, in terminals of random sizes that are left at times.

    After each, the terminal must show what a full repaint shows; at times, what it shows once redrawn.
    """
    steps: deque[Step] = deque(maxlen=60)
    try:
        while walker.pressed < keys:
            step = _step(rng, walker, burst)
            steps.append(step)
            walker.take(step)
            walker.settle(at_rest=rng.random() < _RESTS)
            found: Sequence[object] = walker.lasting_differences()
            if not found and rng.random() < _REDRAWS:
                found = walker.redrawn()
            if found:
                return Stumble(steps, walker.size, walker.where, found)
    except Gone as end:
        return Stumble(steps, walker.size, walker.where, [f"The viewer has ended: {end}"])
    return None


def _step(rng: random.Random, walker: Walker, burst: int) -> Step:
    chance = rng.random()
    if chance < _RESIZES:
        return rng.choice([size for size in SIZES if size != walker.size])
    if chance < _RESIZES + _SUSPENSIONS:
        return SUSPEND
    keys = [_key(rng, walker.has_panel) for _ in range(rng.randint(1, burst))]
    return keys if burst > 1 else keys[0]


def _key(rng: random.Random, typing: bool) -> str:
    if typing and rng.random() < 0.3:
        return rng.choice(LETTERS)
    key = rng.choice(KEYS)
    return "j" if key == SUSPEND else key


@contextmanager
def walker(
    trace: Path, directory: Path, palette: str = "256", size: tuple[int, int] = (80, 24)
) -> Iterator[Walker]:
    """The viewer of a trace, settled, which writes files into an empty directory only."""
    editor = directory / "editor"
    editor.write_text(_EDITOR)
    editor.chmod(0o755)
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    ours, child_end = socket.socketpair()
    here = str(directory)
    program = [
        sys.executable,
        "-m",
        "tests.ui.walked",
        str(child_end.fileno()),
        str(trace.absolute()),
        palette,
    ]
    environ = {
        **{name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON},
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "EDITOR": str(editor),
        **dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), here),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", _SHELL, *program],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environ,
        cwd=directory,
        pass_fds=(child_end.fileno(),),
    )
    child_end.close()
    found = Walker(process, (master, slave), ours)
    try:
        found.settle()
        yield found
    finally:
        _end(process)
        found.close()
        os.close(master)
        os.close(slave)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the shell and its job: both are of one session."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                session = int((entry / "stat").read_text().rpartition(")")[2].split()[3])
            except (OSError, ValueError, IndexError):
                continue
            if session == process.pid:
                os.kill(int(entry.name), 9)
    process.wait()
