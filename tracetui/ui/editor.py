"""Opening a source file in the user's editor, without a shell. Knows how editors are told a line."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.source_files import SourceFile

_USUAL = ("sensible-editor", "vim", "vi", "nano", "less")  # tried where neither VISUAL nor EDITOR is set
_GOTO = frozenset({"code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"})  # -g FILE:LINE
_COLON = frozenset({"hx", "helix", "subl", "sublime_text", "zed"})  # FILE:LINE
_LINE_OPTION = frozenset({"pycharm", "idea", "kate"})  # --line LINE FILE


class NoEditor(Exception):  # noqa: N818 - it says what is wrong
    """There is no editor to start; one sentence for the user."""


def editor_command(path: Path, line: int, environ: Mapping[str, str]) -> list[str]:
    """Return the argument list that opens `path` at `line` in $VISUAL, else $EDITOR, else a usual editor.

    The path is made absolute, so a name that starts with a dash is never an option. Raises NoEditor.
    """
    editor = _editor(environ)
    program = Path(editor[0]).name
    file = str(path.absolute())
    line = max(line, 1)
    if program in _GOTO:
        return [*editor, "-g", f"{file}:{line}"]
    if program in _COLON:
        return [*editor, f"{file}:{line}"]
    if program in _LINE_OPTION:
        return [*editor, "--line", str(line), file]
    return [*editor, f"+{line}", file]


def open_in_editor(app: App[Any], source: SourceFile, line: int) -> str:
    """Hand the terminal to the editor until it ends; a sentence that says what went wrong, or ""."""
    try:
        command = editor_command(source.path, line, os.environ)
    except NoEditor as reason:
        return str(reason)
    name = printable(Path(command[0]).name)
    try:
        with app.suspend(), _interrupts_for_the_editor():
            return _run(command, name)  # and raises nothing: Textual would not take the terminal back
    except SuspendNotSupported:
        return translate("This terminal cannot be handed to an editor.")


def _run(command: Sequence[str], name: str) -> str:
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        return translate("{name} did not start: {reason}.", name=name, reason=error.strerror)
    return translate("{name} ended with status {status}.", name=name, status=status) if status else ""


def _editor(environ: Mapping[str, str]) -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        value = environ.get(variable, "").strip()
        if not value:
            continue
        try:
            editor = shlex.split(value)
        except ValueError:
            raise NoEditor(translate("${variable} has an unclosed quote.", variable=variable)) from None
        if editor and shutil.which(editor[0], path=environ.get("PATH")):
            return editor
        raise NoEditor(
            translate(
                "${variable} names {program}, which is not installed.",
                variable=variable,
                program=printable(value),
            )
        )
    for program in _USUAL:
        if shutil.which(program, path=environ.get("PATH")):
            return [program]
    raise NoEditor(translate("No editor found: set $EDITOR."))


@contextmanager
def _interrupts_for_the_editor() -> Iterator[None]:
    """Leave ctrl+c to the editor: the terminal sends it to both.

    A handler that does nothing, not SIG_IGN, because an ignored signal stays ignored in the editor.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
