"""Opening a database that somebody else owns: read only, and nothing in its directory is touched.

A file that nobody writes to is opened as immutable: without locks, and so without files beside it. One with
something in its `-wal` or `-journal` is not whole without that: a private copy of all of them is read. SQLite
refuses a file that was cut: its tables are looked for all the same, and those that are whole are read.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from tracetui.language import state

MAGIC = b"SQLite format 3\0"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_BESIDE = ("-wal", "-journal")
_COPIES = 3  # a writer may change the file while it is copied
_HEADER = 100  # bytes
_LFS = b"version https://git-lfs"
#: What SQLite raises; its messages quote a damaged schema, and those that are no UTF-8 fail to be made.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
_AT_WORK = state("a writer is at work on it, or died: read is what it had written when it was opened")
_CUT = state("the file is cut: what is left of it is read")


class Refused(Exception):  # noqa: N818 - the name says what is wrong, "Error" would add nothing
    """A file that cannot be read as a database; `str()` says why, without its name."""


class OpenedDatabase(NamedTuple):
    """A connection, and what has to be said of the file."""

    connection: sqlite3.Connection
    problems: tuple[str, ...]
    being_written: bool  #: it is not yet as it will be


def files_of(path: Path) -> list[Path]:
    """Return the files that a database consists of: itself, and those that a writer left beside it."""
    return [path, *(Path(f"{path}{ending}") for ending in _BESIDE if file_size(Path(f"{path}{ending}")))]


@contextlib.contextmanager
def open_database(path: Path) -> Iterator[OpenedDatabase]:
    """Give a connection to the database at a path; raises Refused where there is none."""
    _refuse_others(path)
    with contextlib.ExitStack() as stack:
        problems: tuple[str, ...] = ()
        being_written = _is_unfinished(path)
        source = path
        if being_written:
            source = stack.enter_context(_copy_beside(path))
            problems = (_AT_WORK,)
        connection = _connect(source, immutable=not being_written)
        stack.callback(connection.close)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except SQLITE_ERRORS as error:
            if isinstance(error, sqlite3.Error) and "malformed" not in str(error):
                raise Refused(f"cannot be read as a database: {_error_text(error)}") from None
            connection.execute("PRAGMA writable_schema=ON")
            if not is_cut(source):
                problems += (state("the database is damaged: what is left of it is read"),)
            _require_tables(connection)
        if is_cut(source):
            problems += (_CUT,)
        yield OpenedDatabase(connection, problems, being_written)


def _connect(path: Path, immutable: bool) -> sqlite3.Connection:
    # A private copy is opened for writing: SQLite has to bring its log, or its journal, into it.
    mode = "mode=ro&immutable=1" if immutable else "mode=rw"
    try:
        connection = sqlite3.connect(
            f"file:{quote(os.fspath(path.absolute()))}?{mode}",
            uri=True,
            check_same_thread=False,
            isolation_level=None,
        )
    except (sqlite3.Error, ValueError, UnicodeError) as error:
        raise Refused(f"cannot be read as a database: {_error_text(error)}") from None
    try:
        # A schema may hold expressions of its own, and what is called a table may be none.
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA cell_size_check=ON")
    except SQLITE_ERRORS as error:
        connection.close()
        raise Refused(f"cannot be read as a database: {_error_text(error)}") from None
    connection.text_factory = _text
    return connection


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _require_tables(connection: sqlite3.Connection) -> None:
    try:
        count = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except SQLITE_ERRORS as error:
        raise Refused(f"is damaged from its beginning: {_error_text(error)}") from None
    if not count:
        raise Refused("holds no tables")


def _refuse_others(path: Path) -> None:
    """Raise Refused unless the file begins as a database of SQLite does."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Refused("is not a regular file")
        with path.open("rb") as file:
            head = file.read(4096)
    except PermissionError:
        raise Refused("no permission to read it") from None
    except (OSError, ValueError) as error:
        raise Refused(f"cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    if not head:
        raise Refused("the file is empty")
    if head.startswith(MAGIC):
        if len(head) < _HEADER:
            raise Refused("is cut: nothing is left of it but the start of its header")
        return
    if head.startswith(_LFS):
        raise Refused("is a pointer of Git LFS only: git lfs pull fetches the file itself")
    if head.lstrip()[:1] in (b"{", b"["):
        raise Refused("is called a database and holds JSON: rename it to end in .json")
    if b"\0" not in head and 8 * sum(byte > 127 for byte in head) < len(head):
        raise Refused("is called a database and holds text")
    raise Refused("is not a database of SQLite, or it is encrypted")


def _is_unfinished(path: Path) -> bool:
    """Return whether files beside a database hold what is not yet in it, or what has to be undone."""
    if file_size(Path(f"{path}-wal")):
        return True
    try:
        with Path(f"{path}-journal").open("rb") as journal:
            return journal.read(len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC
    except OSError:
        return False


@contextlib.contextmanager
def _copy_beside(path: Path) -> Iterator[Path]:
    """Give a private copy of a database and of what lies beside it, made at one moment."""
    try:
        with tempfile.TemporaryDirectory(prefix="tracetui-") as directory:
            copy = Path(directory) / "copy.db"
            for _ in range(_COPIES):
                stamps = _stamps(path)
                for file in files_of(path):
                    target = Path(f"{copy}{os.fspath(file)[len(os.fspath(path)) :]}")
                    with contextlib.suppress(FileNotFoundError):
                        shutil.copyfile(file, target)
                        _forget_other_journals(target)
                if _stamps(path) == stamps:
                    break
            else:
                raise Refused("a writer is at work on it: try again when it is done")
            yield copy
    except OSError as error:
        raise Refused(f"a writer is at work on it, and no copy can be made: {error.strerror}") from None


def _forget_other_journals(copy: Path) -> None:
    """Take out of a copied journal the name of a file that SQLite deletes once the journal is undone.

    A journal that ends with the magic number names the journal of a transaction over several databases.
    Whoever wrote this one could name any file.
    """
    size = copy.stat().st_size
    if not copy.name.endswith("-journal") or size < len(_JOURNAL_MAGIC):
        return
    with copy.open("r+b") as journal:
        journal.seek(size - len(_JOURNAL_MAGIC))
        if journal.read() == _JOURNAL_MAGIC:
            journal.seek(size - len(_JOURNAL_MAGIC))
            journal.write(bytes(len(_JOURNAL_MAGIC)))


def _stamps(path: Path) -> list[tuple[int, int]]:
    stamps = []
    for file in (path, *(Path(f"{path}{ending}") for ending in _BESIDE)):
        with contextlib.suppress(OSError):
            status = file.stat()
            stamps.append((status.st_size, status.st_mtime_ns))
    return stamps


def is_cut(path: Path) -> bool:
    """Return whether a file has fewer pages than its header says."""
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if header[24:28] != header[92:96]:
        return False  # written by a version that did not keep the number
    page = int.from_bytes(header[16:18], "big")
    return (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big") > path.stat().st_size


def file_size(path: Path) -> int:
    """Return the bytes of a file; 0 where it is gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _error_text(error: Exception) -> str:
    text = str(error)
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
