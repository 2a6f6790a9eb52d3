"""The notes on one trace, in a file of the user's data directory that is called by the trace's fingerprint.

Several viewers write it at once: each holds a lock while it reads the file, puts its notes to those that are
there, and gives the new file the old name. A file that is damaged is kept beside the new one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pwd
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tracetui.new_file import new_file
from tracetui.notebook.note import NotANote, Note, format_note, parse_note
from tracetui.user_directories import user_directory

LARGEST = 16_000_000  #: bytes of a file that is read


class Contents(NamedTuple):
    """What a file of notes holds."""

    notes: tuple[Note, ...]  #: the oldest first
    unread: int = 0  #: lines that are no notes
    problem: str = ""  #: why the file cannot be read


def notes_path(fingerprint: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Return where the notes on a trace are: below $XDG_DATA_HOME, else ~/.local/share.

    Where $HOME is no absolute path, ~ is the home directory of the account.
    """
    below_home = ".local", "share"
    directory = user_directory(environ, "XDG_DATA_HOME", *below_home)
    if directory is None:
        directory = Path(_account_home(), *below_home, "tracetui")
    return directory / "notes" / f"{fingerprint}.jsonl"


def _account_home() -> str:
    """Return the home directory of the account; the root, where only root can write, if it has no entry."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


class Notebook:
    """The notes on a trace."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Contents:
        """Return the notes that are there now."""
        try:
            return read_notes(self.path)
        except FileNotFoundError:
            return Contents(())
        except OSError as error:
            return Contents((), problem=str(error.strerror or error))

    def add(self, notes: Iterable[Note]) -> int:
        """Put notes to those that are there; return how many were new. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            before = self.read()
            if before.problem:
                raise OSError(errno.EIO, before.problem, str(self.path))
            known = {note.identity for note in before.notes}
            added = {note.identity: note for note in notes if note.identity not in known}
            if before.unread:
                self._keep_aside()
            if added or before.unread:
                self._write(_by_time((*before.notes, *added.values())))
        return len(added)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _keep_aside(self) -> None:
        """Give what is there a second name, which nothing is ever written to."""
        os.link(self.path, self.path.with_suffix(f".broken-{secrets.token_hex(4)}"))

    def _write(self, notes: Iterable[Note]) -> None:
        partial = self.path.with_suffix(f".{secrets.token_hex(8)}.part")
        with new_file(partial, 0o600) as file:
            file.writelines(map(format_note, notes))
            file.flush()
            os.fsync(file.fileno())
            file.close()
            partial.replace(self.path)


def read_notes(path: Path) -> Contents:
    """Return the notes of a file, each once. Raises OSError."""
    with path.open("rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        return Contents((), problem=f"more than {LARGEST:,} bytes are no file of notes")
    notes: dict[str, Note] = {}
    unread = 0
    for line in filter(None, map(bytes.strip, raw.split(b"\n"))):
        note = _note_of(line)
        if note is None:
            unread += 1
        else:
            notes.setdefault(note.identity, note)
    return Contents(_by_time(notes.values()), unread)


def _note_of(line: bytes) -> Note | None:
    try:
        return parse_note(line)
    except NotANote:
        return None


def _by_time(notes: Iterable[Note]) -> tuple[Note, ...]:
    return tuple(sorted(notes, key=lambda note: (note.when, note.identity)))
