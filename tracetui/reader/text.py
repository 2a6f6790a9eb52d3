"""The text of a trace file by offset: plain, or gzip inflated as a stream.

Knows bytes only. All offsets are offsets in the inflated text, after a byte order mark.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, NamedTuple, Protocol

from tracetui.language import state
from tracetui.reader.errors import Reason, UnreadableTrace

_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"
_MEMBER = _GZIP_MAGIC + b"\x08"  # how a member begins: deflate is the only method there is
_INFLATE_STEP = 1 << 18  # compressed bytes per read
_FED = 1 << 14  # of them to the stream at a time, which copies what it leaves
_INFLATED = 1 << 22  # bytes of text that it may make at a time
_KEPT = 1 << 20  # bytes of text before what is read that are not dropped: events there may be read next
_USUAL_RATIO = 8  # of text to what gzip makes of a trace
_CHECKPOINT = 1 << 26  # text bytes between two places where inflating can start again


class Stamp(NamedTuple):
    """What tells a file from all others, and from itself after a change."""

    size: int  #: bytes
    modified: int  #: mtime, ns
    changed: int  #: ctime, ns: no program can set it back
    inode: int

    @classmethod
    def from_status(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    @classmethod
    def of_files(cls, paths: Sequence[Path]) -> Stamp:
        """Return the stamp of some files together, one at least. Raises OSError."""
        return cls.joined([cls.from_status(path.stat()) for path in paths])

    @classmethod
    def joined(cls, stamps: Sequence[Stamp]) -> Stamp:
        """Return what tells some files, in their order, from all others; of one file its own stamp."""
        if len(stamps) == 1:
            return stamps[0]
        size, modified, changed, _ = zip(*stamps)
        digest = hashlib.sha256(repr([tuple(stamp) for stamp in stamps]).encode()).digest()
        return cls(sum(size), max(modified), max(changed), int.from_bytes(digest[:7], "big"))


@dataclass(frozen=True)
class Loan:
    """Text that lies in an open file, for another process to read."""

    fd: int
    shift: int  #: of the text's offsets to those of the file
    end: int  #: offset in the text after the last byte that is lent
    last: bool  #: the text ends there


class LentText:
    """The text of a loan. Raises EOFError for what is after it."""

    def __init__(self, loan: Loan, on_read: Callable[[], None] | None = None) -> None:
        self._loan = loan
        self._on_read = on_read
        self.problem: str | None = None  #: why there is less text than there should be

    def read(self, offset: int, length: int) -> bytes:
        """Read as `Text.read` does."""
        loan = self._loan
        if offset + length > loan.end and not loan.last:
            raise EOFError
        text, problem = _pread(loan.fd, min(length, loan.end - offset), offset + loan.shift)
        self.problem = self.problem or problem
        if self._on_read is not None:
            self._on_read()
        return text


class Text(Protocol):
    """The bytes of a trace; `read` may be called from several threads."""

    size: int  #: bytes of the file on disk when it was opened
    stamp: Stamp  #: of that moment
    likely: int  #: bytes of text, about
    loan: Loan | None  #: all of the text, for other processes; None: it is inflated, or in several files

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`: fewer only at the end of the text."""

    def disk_offset(self, offset: int) -> int:
        """Return about where in the file on disk the text at `offset` is, which was read last."""

    def problem(self) -> str | None:
        """Return what went wrong below the JSON, e.g. a gzip stream that is cut, else None."""

    def report(self, problem: str) -> None:
        """Take note of a problem that another process met."""

    def changed(self) -> bool:
        """Return whether the file isn't the one that was opened any more (it may have grown)."""

    def close(self) -> None: ...


def open_text(path: Path) -> Text:
    """Open `path`; its size is fixed from here on, also if the file grows.

    Raises UnreadableTrace for anything but a regular file that may be read and isn't empty.
    """
    try:
        # A pipe would block in open(): O_NONBLOCK returns, and the check below refuses it.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableTrace(Reason.MISSING, state("{path}: no such file", path=path)) from None
    except PermissionError:
        raise UnreadableTrace(
            Reason.PERMISSION, state("{path}: no permission to read it", path=path)
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableTrace(
            Reason.MISSING, state("{path}: cannot be opened: {reason}", path=path, reason=reason)
        ) from None
    try:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableTrace(Reason.DIRECTORY, state("{path}: is a directory", path=path))
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableTrace(Reason.NOT_A_TRACE, state("{path}: is not a regular file", path=path))
        if status.st_size == 0:
            raise UnreadableTrace(Reason.EMPTY, state("{path}: the file is empty", path=path))
        try:
            head = os.pread(fd, 4, 0)
        except OSError as error:
            raise UnreadableTrace(
                Reason.PERMISSION, state("{path}: cannot be read: {reason}", path=path, reason=error.strerror)
            ) from None
        if head.startswith(_GZIP_MAGIC):
            return GzipText(fd, status, path)
        return PlainText(fd, status, path, skip=len(_BOM) if head.startswith(_BOM) else 0)
    except BaseException:
        os.close(fd)
        raise


class _File:
    """The open file itself."""

    def __init__(self, fd: int, status: os.stat_result, path: Path) -> None:
        self.size = status.st_size
        self.stamp = Stamp.from_status(status)
        self._fd = fd
        self._path = path
        self._modified = status.st_mtime_ns
        self._closed = False
        self._problem: str | None = None

    def _pread(self, length: int, offset: int) -> bytes:
        if self._closed:
            return b""
        piece, problem = _pread(self._fd, min(length, self.size - offset), offset)
        if problem:
            self._problem = problem
        return piece

    def report(self, problem: str) -> None:
        self._problem = problem

    def problem(self) -> str | None:
        return self._problem

    def changed(self) -> bool:
        if self._closed:
            return True
        try:
            status = os.fstat(self._fd)
        except OSError:
            return True
        return status.st_size < self.size or (
            status.st_size == self.size and status.st_mtime_ns != self._modified
        )

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            os.close(self._fd)


class PlainText(_File):
    """Text as it is on disk."""

    def __init__(self, fd: int, status: os.stat_result, path: Path, skip: int) -> None:
        super().__init__(fd, status, path)
        self._skip = skip
        self.likely = self.size
        self.loan: Loan | None = Loan(fd, skip, self.size - skip, True)

    def read(self, offset: int, length: int) -> bytes:
        return self._pread(length, offset + self._skip)

    def disk_offset(self, offset: int) -> int:
        return min(offset + self._skip, self.size)


class GzipText(_File):
    """Inflated text. Reading forward is one stream; reading back starts from the nearest checkpoint."""

    loan: Loan | None = None

    def __init__(self, fd: int, status: os.stat_result, path: Path) -> None:
        super().__init__(fd, status, path)
        self.likely = self.size * _USUAL_RATIO
        self._lock = threading.Lock()
        self._checkpoints: list[_Inflater] = []
        self._at = _Inflater()
        first = self._at.more(self)
        if not first:
            raise UnreadableTrace(
                Reason.NOT_A_TRACE,
                state("{path}: is named as gzip by its first bytes, but nothing can be inflated", path=path),
            )
        self._skip = len(_BOM) if first.startswith(_BOM) else 0
        self._window = deque([first])  # the text from _window_start to _window_end, which is inflated
        self._window_start, self._window_end = 0, len(first)
        self._checkpoints.append(_Inflater())

    def read(self, offset: int, length: int) -> bytes:
        with self._lock:
            start = offset + self._skip
            if start < self._window_start or start > self._window_end + _CHECKPOINT:
                self._restart(start)
            while self._window_end < start + length:
                piece = self._at.more(self)
                if not piece:
                    break
                self._window.append(piece)
                self._window_end += len(piece)
                while self._window and self._window_start + len(self._window[0]) < start - _KEPT:
                    self._window_start += len(self._window.popleft())
                if self._at.text_offset - self._checkpoints[-1].text_offset >= _CHECKPOINT:
                    self._checkpoints.append(self._at.copy())
            return self._excerpt(start, start + length)

    def _excerpt(self, start: int, stop: int) -> bytes:
        """Return the text of the window from `start` to `stop`, copied once."""
        parts, at = [], self._window_start
        for piece in self._window:
            if at < stop and at + len(piece) > start:
                parts.append(memoryview(piece)[max(start - at, 0) : stop - at])
            at += len(piece)
        return b"".join(parts)

    def _restart(self, start: int) -> None:
        earlier = [point for point in self._checkpoints if point.text_offset <= start]
        nearest = earlier[-1]
        if nearest.text_offset <= self._at.text_offset <= start:
            nearest = self._at
        self._at = nearest.copy()
        self._window = deque()
        self._window_start = self._window_end = self._at.text_offset

    def disk_offset(self, offset: int) -> int:
        return self._at.disk_offset

    def fetch(self, offset: int) -> bytes:
        """Return the next compressed bytes."""
        return self._pread(_INFLATE_STEP, offset)


class _Inflater:
    """A position in a gzip file of one or more members."""

    def __init__(self) -> None:
        from tracetui.reader.inflating import ZLIB

        self._zlib = ZLIB
        self.text_offset = 0  #: of the next byte that `more` returns
        self.disk_offset = 0  #: of the next compressed byte to fetch
        self._stream = self._zlib.decompressobj(wbits=31)
        self._pending = memoryview(b"")
        self._lost = False  # `pending` begins in no member

    def copy(self) -> _Inflater:
        twin = _Inflater.__new__(_Inflater)
        twin.__dict__.update(self.__dict__)
        twin._stream = self._stream.copy()
        return twin

    def more(self, file: GzipText) -> bytes:
        """Return the next piece of text, at most 4 MB; empty at the end.

        Text counts whatever its check sum is, and also after a damaged member.
        """
        while self._fetch(file):
            if self._lost or self._stream.eof:
                self._find_member(file)
                continue
            piece = self._inflate(file)
            if piece:
                self.text_offset += len(piece)
                return piece
        return b""

    def _fetch(self, file: GzipText) -> bool:
        """Return whether compressed bytes are left; fetch more where a member's first bytes may be cut."""
        if len(self._pending) < len(_MEMBER):
            fetched = file.fetch(self.disk_offset)
            self.disk_offset += len(fetched)
            self._pending = memoryview(bytes(self._pending) + fetched)
        if not self._pending and not (self._lost or self._stream.eof):
            file.report(state("the gzip stream is cut off"))
        return len(self._pending) > 0

    def _find_member(self, file: GzipText) -> None:
        """Go on to the next member, or to where it may begin that is not fetched yet."""
        pending = bytes(self._pending)
        start = pending.find(_MEMBER)
        has_member = start >= 0
        if not has_member:
            start = max(len(pending) - len(_MEMBER) + 1, 0) or len(pending)
        if not self._lost and pending[:start].strip(b"\0"):  # zeros are padding
            file.report(state("bytes behind the gzip stream are left out"))
        self._pending = self._pending[start:]
        if has_member:
            self._stream = self._zlib.decompressobj(wbits=31)
            self._lost = False

    def _inflate(self, file: GzipText) -> bytes:
        """Inflate some of what is pending, to the end of the member or its first damaged byte."""
        saved_stream = self._stream.copy()
        fed = self._pending[:_FED]
        try:
            piece: bytes = self._stream.decompress(fed, _INFLATED)
        except self._zlib.error as error:
            wrong_sum = str(error).endswith(("incorrect data check", "incorrect length check"))
            damage = state("the gzip stream is damaged")
            file.report(state("the gzip stream has a wrong check sum") if wrong_sum else damage)
            self._lost = True
            return self._inflate_bytewise(saved_stream)
        rest = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
        self._pending = self._pending[len(fed) - len(rest) :]
        return piece

    def _inflate_bytewise(self, stream: Any) -> bytes:
        """Inflate up to the damaged byte: zlib drops the text of all bytes that it is fed with it."""
        pieces: list[bytes] = []
        with contextlib.suppress(self._zlib.error):
            while self._pending:
                byte, self._pending = self._pending[:1], self._pending[1:]
                pieces.append(stream.decompress(byte))
        return b"".join(pieces)


def _pread(fd: int, length: int, offset: int) -> tuple[bytes, str | None]:
    """Return up to `length` bytes of a file, and what went wrong where they are fewer."""
    # pread and not mmap: a page of a file that shrank meanwhile kills the process with SIGBUS.
    pieces: list[bytes] = []
    problem = None
    while length > 0:
        try:
            piece = os.pread(fd, length, offset)
        except OSError as error:
            problem = state(
                "the file cannot be read beyond byte {offset}: {reason}",
                offset=f"{offset:,}",
                reason=error.strerror,
            )
            break
        if not piece:
            problem = state("the file has become shorter while it was read")
            break
        pieces.append(piece)
        offset += len(piece)
        length -= len(piece)
    return b"".join(pieces), problem
