"""The directory of cached traces: where it is, whose it is, what is in it, and how large it may get.

Knows files and their owners, nothing of what is in them. All is done through one open descriptor of the
directory, so that it cannot be exchanged between a check and its use.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Callable, NamedTuple

from tracetui.new_file import new_file
from tracetui.user_directories import user_directory

_ENTRY = re.compile(r"[0-9a-f]{32}\.(?:trace|digest|scheduler|answers)")
_PARTIAL = re.compile(r"[0-9a-f]{16}\.part")
_LARGEST = 10_000_000_000  # bytes of all entries
_SHARE = 5  # the cache takes at most a fifth of what would be free without it
_ABANDONED = 3600  # seconds: whoever wrote an older partial file was stopped
_PIECE = 1 << 23  # bytes per write: how often to ask whether to stop


class Entry(NamedTuple):
    """One file of the directory."""

    name: str
    size: int  #: bytes
    used_ns: int  #: when it was last written or read


def cache_path() -> Path | None:
    """Return where cached traces are: below $XDG_CACHE_HOME, else ~/.cache; None where there is neither."""
    directory = user_directory(os.environ, "XDG_CACHE_HOME", ".cache")
    return None if directory is None else directory / "traces"


class Directory:
    """The directory, held open; a context manager. It is the user's own, and nobody else may write to it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls, create: bool = False) -> Directory | None:
        """Return the directory of this user; None where there is none, or where others may write to it."""
        path = cache_path()
        if path is None:
            return None
        try:
            if create:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    path.mkdir(mode=0o700)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        if not _is_own(os.fstat(descriptor)):
            os.close(descriptor)
            return None
        return cls(descriptor)

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *_error: object) -> None:
        os.close(self._descriptor)

    def entries(self) -> list[Entry]:
        """Return all cached traces, the least recently used first."""
        return sorted(self._named(_ENTRY), key=lambda entry: (entry.used_ns, entry.name))

    def open_entry(self, name: str) -> int | None:
        """Return a descriptor to read an entry; None where there is none, or where it may be another's."""
        try:
            # O_NONBLOCK: a pipe in its place would block in open().
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(name, flags, dir_fd=self._descriptor)
        except OSError:
            return None
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and _is_own(status):
            return descriptor
        os.close(descriptor)
        return None

    def write(
        self, name: str, pieces: Iterable[memoryview], should_stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Write an entry as a whole or, where it is stopped, not at all. Raises OSError where that fails."""
        partial = f"{secrets.token_hex(8)}.part"
        with new_file(partial, 0o600, self._descriptor) as stream:
            for piece in pieces:
                for start in range(0, len(piece), _PIECE):
                    if should_stop():
                        return False
                    _write(stream.fileno(), piece[start : start + _PIECE])
            stream.close()
            os.replace(partial, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        return True

    def remove(self, name: str) -> bool:
        """Remove a file; False where it is not there or cannot be removed."""
        try:
            os.unlink(name, dir_fd=self._descriptor)
        except OSError:
            return False
        return True

    def make_room(self, size: int, replaced: str) -> bool:
        """Remove the least recently used entries until one more of `size` bytes fits; False if it never will.

        `replaced` is its name: an entry that has this name now does not count.
        """
        self.sweep(_ABANDONED)
        entries = self.entries()
        limit = self._limit(sum(entry.size for entry in entries))
        remaining = [entry for entry in entries if entry.name != replaced]
        used_bytes = sum(entry.size for entry in remaining)
        if size > limit:
            return False
        for entry in remaining:
            if used_bytes + size <= limit:
                break
            if self.remove(entry.name):
                used_bytes -= entry.size
        return used_bytes + size <= limit

    def sweep(self, age: int) -> None:
        """Remove what a killed process left behind at least `age` seconds ago."""
        limit_ns = time.time_ns() - age * 1_000_000_000
        for partial in self._named(_PARTIAL):
            if partial.used_ns <= limit_ns:
                self.remove(partial.name)

    def _named(self, pattern: re.Pattern[str]) -> list[Entry]:
        entries = []
        with os.scandir(self._descriptor) as files:
            for file in files:
                if pattern.fullmatch(file.name):
                    with contextlib.suppress(OSError):  # removed meanwhile
                        status = file.stat(follow_symlinks=False)
                        entries.append(Entry(file.name, status.st_size, status.st_mtime_ns))
        return entries

    def _limit(self, used_bytes: int) -> int:
        """Return how many bytes all entries together may have; now they have `used_bytes`."""
        setting = os.environ.get("TRACETUI_CACHE_MB", "")
        if setting.isascii() and setting.isdigit() and len(setting) < 12:
            return int(setting) * 1_000_000
        disk = os.fstatvfs(self._descriptor)
        return min(_LARGEST, (disk.f_bavail * disk.f_frsize + used_bytes) // _SHARE)


def _is_own(status: os.stat_result) -> bool:
    """Return whether nobody but this user (and root) can have written it."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _write(descriptor: int, piece: memoryview) -> None:
    while len(piece):
        piece = piece[os.write(descriptor, piece) :]


def write_entry(
    name: str, pieces_of: Callable[[], Sequence[memoryview]], should_stop: Callable[[], bool] = lambda: False
) -> bool:
    """Write an entry into the directory of this user, once there is room for it; whether that was done.

    `pieces_of` makes its bytes, where there is a directory to write to. Raises OSError.
    """
    directory = Directory.open(create=True)
    if directory is None:
        return False
    with directory:
        pieces = pieces_of()
        if should_stop() or not directory.make_room(sum(map(len, pieces)), name):
            return False
        return directory.write(name, pieces, should_stop)
