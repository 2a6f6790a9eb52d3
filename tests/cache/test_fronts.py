"""What asks for a trace gets it from the cache, unless it is told not to."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from textual.message import Message

import tracetui
from tests.cache.files import found, read, read_and_keep, same
from tests.forks import fork
from tracetui.cache.keeping import finish
from tracetui.cache.traces import cached_traces
from tracetui.cli import main
from tracetui.cli.command_line import parse_arguments
from tracetui.cli.parser import UsageError
from tracetui.reader.source import TraceFile
from tracetui.ui.loading import load_session
from tracetui.ui.messages import TraceLoaded
from tracetui.ui.options import ViewerOptions
from tracetui.ui.session import Session

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch, path: Path) -> Path:
    """A trace that is kept, and that nobody may read again."""
    read_and_keep(path)

    def read_again(*_: object, **__: object) -> NoReturn:
        raise AssertionError("read again")

    monkeypatch.setattr(TraceFile, "read", read_again)
    return path


def test_a_script_finds_what_a_script_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uncached = tracetui.load(path, cache=False)
    assert cached_traces() == []
    before = tracetui.load(path)
    finish(patience=300)
    assert len(cached_traces()) == 1
    monkeypatch.delattr(TraceFile, "read")
    after = tracetui.load(path)
    assert same(before.trace, after.trace)
    assert same(uncached.trace, after.trace)


def test_a_script_reads_anew(unread: Path) -> None:
    with pytest.raises(AssertionError, match="read again"):
        tracetui.load(unread, cache=False)


@pytest.mark.parametrize("command", ["summary", "gaps", "hotspots", "advice"])
def test_a_table_is_the_same(
    unread: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([command, str(unread), "--json"]) == 0
    cached = capsys.readouterr()
    assert main([command, "--no-cache", str(unread), "--json"]) == 1
    assert "read again" in capsys.readouterr().err
    monkeypatch.undo()
    assert main([command, "--no-cache", str(unread), "--json"]) == 0
    assert capsys.readouterr().out == cached.out


def test_no_cache_reads_and_keeps_nothing(path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", "--no-cache", str(path)]) == 0
    assert not home.exists()
    first = capsys.readouterr()
    assert main(["summary", str(path)]) == 0
    finish(patience=300)
    assert home.exists()
    assert main(["summary", str(path)]) == 0
    assert capsys.readouterr().out == 2 * first.out


def test_the_viewer_shows_what_was_kept(unread: Path) -> None:
    posted: list[Message] = []
    with TraceFile(unread) as trace_file:
        load_session(Session(unread), trace_file, posted.append)
    (message,) = posted
    assert isinstance(message, TraceLoaded)
    assert same(message.trace, found(unread))
    with TraceFile(unread) as trace_file, pytest.raises(AssertionError, match="read again"):
        load_session(Session(unread, ViewerOptions(cache=False)), trace_file, posted.append)


def test_the_viewer_keeps_what_it_reads(path: Path) -> None:
    posted: list[Message] = []
    for cache in (False, True):
        with TraceFile(path) as trace_file:
            load_session(Session(path, ViewerOptions(cache=cache)), trace_file, posted.append)
        assert (found(path) is not None) is cache
    assert same(found(path), read(path))


def test_the_list(path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "list"]) == 0
    assert capsys.readouterr().out == f"0 entries cached in {home}\n"
    hostile = path.rename(path.with_name("a\x1b[2J\nb.json"))
    read_and_keep(hostile)
    (home / f"{'0' * 32}.trace").write_bytes(b"nothing")
    assert main(["cache", "list"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert len(out.splitlines()) == 5
    assert out.splitlines()[0].split() == ["last", "used", "trace", "cached", "state", "path"]
    assert "ready" in out
    assert "damaged, or not yours" in out
    assert "2 entries cached" in out
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out.startswith("2 entries removed from the cache: ")
    assert list(home.iterdir()) == []


def test_arguments(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    command, request = parse_arguments(["cache", "clear"])
    assert (command.name, request.action) == ("cache", "clear")
    command, request = parse_arguments(["--no-cache", "t"])
    assert (command.name, request.path, request.cache) == ("", "t", False)
    command, request = parse_arguments(["./cache"])
    assert (command.name, request.path, request.cache) == ("", "./cache", True)
    for wrong in (["cache"], ["cache", "empty"], ["cache", "list", "t"]):
        with pytest.raises(UsageError, match="tracetui cache --help"):
            parse_arguments(wrong)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        parse_arguments(["cache", "--help"])
    out = capsys.readouterr().out
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= 80


def test_a_process_keeps_before_it_ends(path: Path, tmp_path: Path) -> None:
    program = "from tracetui.cache import traces; traces.SMALLEST = 0; import tracetui; tracetui.load({!r})"
    (tmp_path / "loading.py").write_text(program.format(str(path)))
    process = fork("loading", cwd=tmp_path, imports=("tracetui.api", "tracetui.cache.traces"))
    assert process.communicate(timeout=300) == (b"", b"")
    assert process.returncode == 0
    assert [cached.path for cached in cached_traces()] == [str(path)]
