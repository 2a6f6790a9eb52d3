"""The editor is started without a shell, at the line, and a file name is never an option."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from textual.app import App, SuspendNotSupported

from tracetui.trace.source_files import SourceFile
from tracetui.ui.editor import NoEditor, editor_command, open_in_editor


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory to be PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    return directory


def install(programs: Path, name: str, script: str = "") -> str:
    path = programs / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vim", ["+12", "/src/a b.py"]),
        ("nano", ["+12", "/src/a b.py"]),
        ("emacs", ["+12", "/src/a b.py"]),
        ("less", ["+12", "/src/a b.py"]),
        ("unheard-of", ["+12", "/src/a b.py"]),
        ("code", ["-g", "/src/a b.py:12"]),
        ("hx", ["/src/a b.py:12"]),
        ("pycharm", ["--line", "12", "/src/a b.py"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_own_way(
    programs: Path, editor: str, arguments: list[str]
) -> None:
    install(programs, editor)
    command = editor_command(Path("/src/a b.py"), 12, {"EDITOR": editor, "PATH": str(programs)})
    assert command == [editor, *arguments]


def test_visual_wins_and_may_have_arguments(programs: Path) -> None:
    path = install(programs, "vim")
    environ = {"VISUAL": f"'{path}' -u 'my rc'", "EDITOR": "nano", "PATH": str(programs)}
    assert editor_command(Path("/a.py"), 0, environ) == [path, "-u", "my rc", "+1", "/a.py"]


@pytest.mark.parametrize("name", ["-c:!sh.py", "+q", "--cmd", "; rm -rf $HOME.py", "$(id).py"])
def test_a_file_name_is_one_argument_and_no_option(programs: Path, name: str) -> None:
    install(programs, "vi")
    command = editor_command(Path(name), 3, {"PATH": str(programs)})
    assert command == ["vi", "+3", f"{Path.cwd()}/{name}"]


def test_a_missing_editor_is_said_in_a_sentence(programs: Path) -> None:
    for environ, sentence in [
        ({}, "set $EDITOR"),
        ({"EDITOR": "no-such-editor"}, "$EDITOR names no-such-editor, which is not installed"),
        ({"VISUAL": "vim 'unclosed"}, "$VISUAL has an unclosed quote"),
    ]:
        with pytest.raises(NoEditor) as raised:
            editor_command(Path("/a.py"), 1, {**environ, "PATH": str(programs)})
        assert sentence in str(raised.value)


class Terminal:
    """An app whose terminal can be handed over, or not."""

    def __init__(self, can_suspend: bool = True) -> None:
        self.can_suspend = can_suspend
        self.suspended = self.resumed = 0

    @contextmanager
    def suspend(self) -> Iterator[None]:
        if not self.can_suspend:
            raise SuspendNotSupported
        self.suspended += 1
        yield
        self.resumed += 1  # not where something is raised, as in Textual


def opened(terminal: Terminal) -> str:
    source = SourceFile(Path("/a.py"), ("x",), None, False)
    return open_in_editor(cast("App[Any]", terminal), source, 7)


def test_the_terminal_is_handed_over_while_the_editor_runs(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = install(programs, "ed", f'echo "$@" > {tmp_path}/seen; kill -INT $PPID')
    monkeypatch.setenv("VISUAL", editor)
    before = signal.getsignal(signal.SIGINT)
    terminal = Terminal()
    assert opened(terminal) == ""  # the interrupt was the editor's
    assert (terminal.suspended, terminal.resumed) == (1, 1)
    assert (tmp_path / "seen").read_text() == "+7 /a.py\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_what_goes_wrong_is_said(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", install(programs, "ed", "exit 3"))
    assert opened(Terminal()) == "ed ended with status 3."
    assert opened(Terminal(can_suspend=False)) == "This terminal cannot be handed to an editor."
    (programs / "ed").write_bytes(b"\x7fELF")
    terminal = Terminal()
    assert "did not start" in opened(terminal)
    assert terminal.resumed == 1
