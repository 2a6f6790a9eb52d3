"""The viewer or text, the colours and the glyphs, by environment and streams."""

from __future__ import annotations

import io

import pytest

from tests.synthetic import event_table
from tracetui.cli.progress import ProgressLine
from tracetui.cli.terminal import (
    Front,
    choose_front,
    choose_palette,
    is_terminal,
    prepare_viewer,
    speaks_unicode,
)
from tracetui.reader.source import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TTY, FILE = Terminal(), io.StringIO()
XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "streams", "front"),
    [
        (XTERM, (TTY, TTY, TTY), Front.VIEWER),
        (XTERM, (TTY, FILE, TTY), Front.SUMMARY),
        (XTERM, (FILE, TTY, TTY), Front.SUMMARY),
        (XTERM, (None, TTY, TTY), Front.SUMMARY),
        (XTERM, (TTY, TTY, FILE), Front.HIDDEN),
        (XTERM, (TTY, TTY, None), Front.HIDDEN),
        ({"TERM": "dumb"}, (TTY, TTY, TTY), Front.DUMB),
        ({"TERM": ""}, (TTY, TTY, TTY), Front.DUMB),
        ({}, (TTY, TTY, TTY), Front.DUMB),
        ({}, (FILE, FILE, FILE), Front.SUMMARY),
    ],
)
def test_front(environ: dict[str, str], streams: tuple[io.StringIO, ...], front: Front) -> None:
    assert choose_front(environ, *streams) is front


@pytest.mark.parametrize(
    ("environ", "palette"),
    [
        ({"TERM": "xterm"}, "ansi"),
        (XTERM, "256"),
        ({**XTERM, "COLORTERM": "truecolor"}, "true"),
        ({"TERM": "xterm-direct"}, "true"),
        ({**XTERM, "COLORTERM": "truecolor", "SSH_CONNECTION": "a b"}, "ansi"),
        ({**XTERM, "NO_COLOR": "1", "SSH_CONNECTION": "a b"}, "none"),
        ({**XTERM, "NO_COLOR": ""}, "256"),
        ({"TERM": "vt100"}, "none"),
        ({"TERM": "xterm-mono"}, "none"),
        ({}, "ansi"),
    ],
)
def test_palette(environ: dict[str, str], palette: str) -> None:
    assert choose_palette(environ) == palette


def test_over_ssh_fewer_frames_unless_the_user_says_otherwise() -> None:
    local, remote = {"TERM": "xterm"}, {"SSH_CONNECTION": "a b"}
    chosen = {"SSH_CONNECTION": "a b", "TEXTUAL_FPS": "60"}
    for environ in (local, remote, chosen):
        prepare_viewer(environ)
    assert local == {"TERM": "xterm"}
    assert remote == {"SSH_CONNECTION": "a b", "TEXTUAL_FPS": "15", "TEXTUAL_ANIMATIONS": "none"}
    assert chosen["TEXTUAL_FPS"] == "60"


@pytest.mark.parametrize(
    ("encoding", "speaks"),
    [("utf-8", True), ("UTF8", True), ("ascii", False), ("latin-1", False), ("gbk", False)],
)
def test_glyphs_need_unicode(encoding: str, speaks: bool) -> None:
    assert speaks_unicode(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) is speaks


def test_a_closed_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert not is_terminal(closed)
    assert not speaks_unicode(None)


def test_progress_leaves_an_empty_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetui.cli.progress.FIRST", 0)
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        line.show(progress(50, events=7))
        line.show(progress(60, events=8))  # too soon after the first
    drawn, erased = stream.getvalue().split("\r")[1:3]
    assert drawn == "reading 50 %  50 B of 100 B  7 events"
    assert erased == " " * len(drawn)
    assert stream.getvalue().endswith("\r")
    with ProgressLine(None) as line:
        line.show(progress(50, events=7))


def test_silence_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetui.cli.progress.FIRST", 60)
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.show(progress(50, events=7))
    assert not stream.getvalue()
    for seconds in (3, 4, 0):
        line.show(progress(50, events=7, silent_s=seconds))
    so_far = "reading 50 %  50 B of 100 B  7 events"
    drawn = [text.rstrip() for text in stream.getvalue().split("\r")[1:]]
    assert drawn == [f"{so_far}, nothing for 3 s", f"{so_far}, nothing for 4 s", so_far]


def progress(done: int, events: int, silent_s: int = 0) -> Progress:
    return Progress(done, 100, events, lambda: event_table([]), silent_s)
