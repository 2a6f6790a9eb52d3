"""The viewer in a pseudo-terminal of its own: keys go in, bytes come out."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.forks import Forked, fork
from tests.ui.rest import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
_TURN_S = 0.05
_QUIET = 8  #: turns without output, after which there is no more of an answer
#: what the viewer has imported once its timeline is shown
_IMPORTED = (
    "numpy.ma",
    "textual.layouts.factory",
    "tracetui.cli.trace_reading",
    "tracetui.cli.entry",
    "tracetui.ui.app",
    "tracetui.ui.screens.timeline",
    "tracetui.ui.sending.driver",
)


class Terminal:
    """A process on a pseudo-terminal, and what it has written."""

    def __init__(
        self, process: subprocess.Popen[bytes] | Forked, master: int, slave: int, before: list[int]
    ) -> None:
        self.process, self.master, self.slave = process, master, slave
        self.before = before  #: the modes that the process found
        self.output = b""

    def read(self, seconds: float) -> bytes:
        """What comes in so many seconds, and all that is there by then, however late it is."""
        start = len(self.output)
        until = time.monotonic() + seconds
        while True:
            left = max(until - time.monotonic(), 0)
            if not select.select([self.master], [], [], min(left, _TURN_S))[0]:
                if not left:
                    break
                continue
            try:
                chunk = os.read(self.master, 1 << 16)
            except OSError:
                break
            if not chunk:
                break
            self.output += chunk
        return self.output[start:]

    def after(self, keys: bytes) -> bytes:
        """What comes once something does, after some keys, until nothing more does."""
        self.rest()
        start, until = len(self.output), time.monotonic() + PATIENCE_S
        self.send(keys)
        while not self.read(_TURN_S):
            assert self.process.poll() is None and time.monotonic() < until, "nothing comes"
        self.rest()
        return self.output[start:]

    def rest(self) -> None:
        """Read until nothing comes any more from a process that only waits.

        In turns, not by the clock: a machine that stands still is not a process that has nothing to do.
        """
        quiet, until = 0, time.monotonic() + PATIENCE_S
        while quiet < _QUIET:
            quiet = 0 if self.read(_TURN_S) or not self._waits() else quiet + 1
            assert time.monotonic() < until, "never at rest"

    def stopped(self) -> None:
        """Wait until the process is stopped."""
        until = time.monotonic() + PATIENCE_S
        while not self._is_all("T"):
            assert time.monotonic() < until, "never stopped"
            time.sleep(0.001)

    def _waits(self) -> bool:
        """Whether no thread of the process works, or would if a processor were free."""
        return self._is_all("SZX")

    def _is_all(self, states: str) -> bool:
        """Whether each thread of the process is in one of these states."""
        with suppress(OSError):  # of a thread that has just ended
            return all(
                (task / "stat").read_text().rpartition(")")[2].split()[0] in states
                for task in Path(f"/proc/{self.process.pid}/task").iterdir()
            )
        return False

    def wait_for(self, text: bytes, since: int = 0) -> None:
        """Read until a text has come, at or after so many bytes."""
        until = time.monotonic() + PATIENCE_S
        while text not in self.output[since:]:
            ended = self.process.poll() is not None
            self.read(0.1)
            assert not ended and time.monotonic() < until, self.output[-2000:]

    def send(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def exit_code(self) -> int:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            self.read(0.05)
            code = self.process.poll()
            if code is not None:
                self.read(0.1)
                return code
        raise AssertionError(f"still running: {self.output[-500:]!r}")


def modes(slave: int) -> list[int]:
    """The flags of a line discipline: echo, line mode and signals among them."""
    return list(termios.tcgetattr(slave)[:4])


@contextmanager
def viewer(
    path: Path,
    *arguments: str,
    size: tuple[int, int] = (120, 36),
    patch: str = "",
    anew: bool = False,
    **environ: str,
) -> Iterator[Terminal]:
    """The viewer of a trace, with a patch run before it; in a fork (`tests/forks.py`), or in Python anew."""
    imports = () if anew else _IMPORTED
    module = ["tests.ui.patched", patch] if patch else ["tracetui"]
    with program(*module, *arguments, str(path), size=size, imports=imports, **environ) as terminal:
        yield terminal


@contextmanager
def program(
    module: str,
    *arguments: str,
    size: tuple[int, int] = (120, 36),
    imports: Sequence[str] = (),
    **environ: str,
) -> Iterator[Terminal]:
    """A module run as a program, which is killed in the end if it is still there.

    With `imports`, in a fork of a process that has imported them.
    """
    master, slave = pty.openpty()
    width, height = size
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        **environ,
    }
    for name in ("NO_COLOR", "SSH_CONNECTION", "COLORTERM"):
        if name not in environ:
            environment.pop(name, None)
    before = modes(slave)
    process: subprocess.Popen[bytes] | Forked
    if imports:
        process = fork(
            module,
            *arguments,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            imports=imports,
        )
    else:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
    terminal = Terminal(process, master, slave, before)
    try:
        yield terminal
    finally:
        process.kill()
        process.wait()
        os.close(terminal.master)
        os.close(terminal.slave)
