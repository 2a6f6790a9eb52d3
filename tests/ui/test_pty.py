"""The viewer in a terminal of its own: it leaves it as it found it, however it ends, and sends few bytes."""

from __future__ import annotations

import json
import os
import re
import signal
import termios
from pathlib import Path

import pytest

from tests.ui.rest import PATIENCE_S
from tests.ui.terminal import modes, viewer
from tracetui.ui.screen_specs import SCREENS

ESCAPE = "\x1b[27u"  #: as terminals send it that can tell it from what begins with it
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture(scope="module")
def moba(samples: Path) -> Path:
    return samples / "moba" / "trace_view.json"


#: reads until it is told to stop
READING = """
import time
from tracetui.reader.source import TraceFile
def read(self, on_progress=None, should_stop=None, first=0):
    while not should_stop():
        time.sleep(0.01)
    raise OSError("stopped")
TraceFile.read = read
"""


@pytest.mark.parametrize(
    "end, code, reading, anew",
    [
        (signal.SIGTERM, 143, False, True),
        (signal.SIGINT, 130, False, False),
        (b"\x03", 130, False, False),
        (signal.SIGTERM, 143, True, False),
        (signal.SIGHUP, 129, True, False),
        (b"q", 0, True, False),
    ],
    ids=["SIGTERM", "SIGINT", "ctrl+c", "SIGTERM while reading", "SIGHUP while reading", "q while reading"],
)
def test_the_terminal_is_left_as_it_was(
    moba: Path, end: int | bytes, code: int, reading: bool, anew: bool
) -> None:
    """Leaving stops the reading, too: it would go on for ever."""
    with viewer(moba, "--no-cache", patch=READING if reading else "", anew=anew) as terminal:
        terminal.wait_for(b"reading" if reading else b"worst gaps")
        assert modes(terminal.slave) != terminal.before
        if isinstance(end, bytes):
            terminal.send(end)
        else:
            terminal.process.send_signal(end)
        assert terminal.exit_code() == code
        assert modes(terminal.slave) == terminal.before
        assert terminal.output.rfind(LEAVE) > terminal.output.rfind(ENTER) >= 0
        assert b"\x1b[?25h" in terminal.output[terminal.output.rfind(LEAVE) - 200 :]  # the cursor is back
        assert b"Traceback" not in terminal.output


#: analyses for ever, as numpy does for seconds: nothing can interrupt it
ANALYSING = """
import threading
from tracetui.ui import analysing
def analyse(*_):
    threading.Event().wait()
analysing.analyse = analyse
"""


def test_an_analysis_that_goes_on_does_not_hold_up_the_end(moba: Path) -> None:
    with viewer(moba, "--no-cache", patch=ANALYSING) as terminal:
        terminal.wait_for(b"analysing")
        terminal.send(b"q")
        assert terminal.exit_code() == 0
        assert modes(terminal.slave) == terminal.before
        assert b"Traceback" not in terminal.output


def test_a_process_that_others_stopped_has_its_terminal_again_and_its_window_its_name(moba: Path) -> None:
    with viewer(moba) as terminal:
        terminal.wait_for(b"worst gaps")
        taken = modes(terminal.slave)
        for shell in (False, True):  # where nobody has touched the terminal meanwhile, or a shell has used it
            terminal.process.send_signal(signal.SIGSTOP)
            terminal.stopped()
            terminal.read(0)
            if shell:
                termios.tcsetattr(
                    terminal.slave,
                    termios.TCSANOW,
                    [*terminal.before, *termios.tcgetattr(terminal.slave)[4:]],
                )
            shown = len(terminal.output)
            terminal.process.send_signal(signal.SIGCONT)
            if shell:
                terminal.wait_for(ENTER, shown)
            terminal.wait_for(b"worst gaps", shown)
            assert modes(terminal.slave) == taken, f"used by a shell: {shell}"
            terminal.rest()
        terminal.send(b"q")
        assert terminal.exit_code() == 0
        assert modes(terminal.slave) == terminal.before
        left = terminal.output.rfind(LEAVE)
        assert left > terminal.output.rfind(ENTER) >= 0
        kept, named = (terminal.output.find(text) for text in (b"\x1b[22;2t", b"\x1b]2;moba - tracetui\x07"))
        assert 0 <= kept < named < terminal.output.rfind(b"\x1b[23;2t") < left


@pytest.mark.parametrize("shell", [False, True])
def test_keys_typed_while_others_stopped_the_viewer_reach_it(moba: Path, shell: bool) -> None:
    with viewer(moba) as terminal:
        terminal.wait_for(b"worst gaps")
        terminal.process.send_signal(signal.SIGSTOP)
        terminal.stopped()
        if shell:  # which has given the terminal its modes back
            attributes = termios.tcgetattr(terminal.slave)
            termios.tcsetattr(terminal.slave, termios.TCSANOW, [*terminal.before, *attributes[4:]])
        terminal.send(b"q")
        terminal.process.send_signal(signal.SIGCONT)
        assert terminal.exit_code() == 0
        assert modes(terminal.slave) == terminal.before


def test_a_terminal_without_windows_is_told_no_name(moba: Path) -> None:
    with viewer(moba, TERM="linux") as terminal:
        terminal.wait_for(b"worst gaps")
        terminal.send(b"q")
        terminal.exit_code()
        assert b"\x1b]2;" not in terminal.output and b";2t" not in terminal.output


def test_a_terminal_that_goes_without_a_signal_is_left(moba: Path) -> None:
    """As under nohup, or of a process that is in a session of its own: it would wait for keys for ever."""
    with viewer(moba) as terminal:
        terminal.wait_for(b"worst gaps")
        os.close(terminal.slave)
        terminal.slave = os.open(os.devnull, os.O_RDONLY)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, terminal.master)
        os.close(nothing)
        assert terminal.process.wait(timeout=PATIENCE_S) == 129


#: what has something fail
FAILING = """
from {module} import {holder}
def fail(*_):
    raise RuntimeError("\\x1b]0;owned\\x07")
{holder}.{name} = fail
"""


@pytest.mark.parametrize(
    ("module", "holder", "name"),
    [("tracetui.ui", "loading", "build_trace"), ("tracetui.ui.app", "TraceApp", "action_next_gap")],
)
def test_a_fault_of_the_viewer_is_one_sentence(moba: Path, module: str, holder: str, name: str) -> None:
    patch = FAILING.format(module=module, holder=holder, name=name)
    with viewer(moba, "--no-cache", patch=patch) as terminal:
        if name == "action_next_gap":
            terminal.wait_for(b"worst gaps")
            terminal.send(b"x")
        assert terminal.exit_code() == 1
        assert modes(terminal.slave) == terminal.before
        left = terminal.output[terminal.output.rfind(LEAVE) :]
        assert b"tracetui: unexpected RuntimeError: " in left
        assert b"owned" in left and b"\x1b]0;" not in terminal.output
        assert b"Traceback" not in terminal.output


def test_a_frame_of_the_ansi_palette_is_small(moba: Path) -> None:
    with viewer(moba, size=(200, 60), SSH_CONNECTION="1.2.3.4 5 6.7.8.9 22") as terminal:
        terminal.wait_for(b"worst gaps")
        assert len(terminal.after(b"w")) < 40_000
        assert b"38;2;" not in terminal.output and b"38;5;" not in terminal.output
        assert len(terminal.after(b"j")) < 2000


def test_without_colour_there_is_none_and_the_mouse_is_left_alone_if_asked(moba: Path) -> None:
    with viewer(moba, "--no-mouse", NO_COLOR="1") as terminal:
        terminal.wait_for(b"worst gaps")
        terminal.after(b"x")
        codes = {
            int(code)
            for sgr in re.findall(rb"\x1b\[([\d;]*)m", terminal.output)
            for code in sgr.split(b";")
            if code
        }
        attributes = {*range(10), *range(21, 30)}  # on, and off again
        assert codes <= attributes | {39, 49}, "attributes and the default colours only"
        assert b"\x1b[?1000h" not in terminal.output


def test_nothing_but_ascii_is_written_if_asked(moba: Path, tmp_path: Path) -> None:
    document = json.loads(moba.read_bytes())
    events = document["traceEvents"] if isinstance(document, dict) else document
    for number, event in enumerate(events):
        if event.get("ph") == "X" and number % 3:
            event["name"] += " µs→漢字\u0301é\x1b[2J"
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    screens = [spec.key for spec in SCREENS.values() if len(spec.key) == 1]
    assert {"T", "G", "H", "M", "O", "I"} <= set(screens)
    with viewer(path, "--ascii") as terminal:
        terminal.wait_for(b"worst gaps")
        for screen in screens:
            for keys in (screen, "x", "\t", "j", "p"):  # the worst gap or first row, other panes, the stack
                terminal.send(keys.encode())
                terminal.read(0.04)
        for keys in ("T", "?", ESCAPE, ":", "é", ESCAPE, "/", "漢", "\r", "e", ESCAPE, "t", ESCAPE, "="):
            terminal.send(keys.encode())
            terminal.read(0.06)
        terminal.send(ESCAPE.encode())
        assert terminal.process.poll() is None
        terminal.send(b"GT")
        terminal.wait_for(b"us>??")
    assert terminal.output.isascii(), sorted({*terminal.output.decode()} - {*map(chr, range(128))})


@pytest.mark.parametrize("cut", [b"\x1b[<0;12", b"\x1b[<", b"\x1b[1;5", b"\x1b[200~", b"\x1b]0;x"])
def test_what_was_cut_of_a_sequence_takes_no_key_with_it(moba: Path, cut: bytes) -> None:
    """A mouse on a slow link, or a paste without its end, kept q and ctrl+c from the viewer."""
    with viewer(moba) as terminal:
        terminal.wait_for(b"worst gaps")
        terminal.send(cut)
        terminal.rest()
        terminal.send(b"q")
        assert terminal.exit_code() == 0


def test_a_cut_answer_does_not_take_keys_while_they_follow_each_other(
    moba: Path,
) -> None:
    """A key that is held down repeats sooner than a cut answer is given up for silence."""
    with viewer(moba) as terminal:
        terminal.wait_for(b"worst gaps")
        terminal.send(b"\x1b]0;x")
        for _ in range(100):
            if terminal.process.poll() is not None:
                break
            terminal.send(b"q")
            terminal.read(0.02)
        assert terminal.exit_code() == 0
