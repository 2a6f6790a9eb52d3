"""Files that are there whole or not at all. Knows nothing of what is in them."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from shutil import SameFileError
from typing import BinaryIO, Union

from tracetui.new_file import new_file

StrPath = Union[str, "os.PathLike[str]"]

#: What a file system without hard links answers to os.link (FAT, some network mounts).
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def write_atomically(
    path: StrPath, write: Callable[[BinaryIO], None], force: bool, source: StrPath | None = None
) -> None:
    """Let `write` fill a file beside `path`, then give it that name; whatever fails leaves nothing behind.

    Raises SameFileError, whatever `force`, where `path` is the file `source`, which was read for this;
    FileExistsError without `force` where the name is taken, also when it is taken meanwhile; and OSError of
    the file system. A symbolic link is followed, unless it leads nowhere. A pipe or a device such as
    /dev/null is written to as it is.
    """
    _spare(path, source)
    _refuse_dangling(path)
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        with target.open("wb") as stream:
            write(stream)
        return
    _refuse(path, mode, force)
    partial = target.parent / f".tracetui-{secrets.token_hex(8)}.part"
    try:
        with new_file(partial, 0o666) as stream:
            write(stream)
            stream.close()
            if force:
                partial.replace(target)
            else:
                _claim(partial, target)
    except OSError as error:
        if error.filename == os.fspath(partial):
            error.filename = os.fspath(path)  # the name that the user knows
        raise


def refuse_to_overwrite(path: StrPath, force: bool, source: StrPath | None = None) -> None:
    """Raise now what `write_atomically` would raise for the name, before the work that fills the file."""
    _spare(path, source)
    _refuse_dangling(path)
    mode = _mode(Path(os.path.realpath(path)))
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        _refuse(path, mode, force)


def _spare(path: StrPath, source: StrPath | None) -> None:
    """Raise SameFileError where both are one file, by whichever names."""
    with contextlib.suppress(FileNotFoundError):
        if source is not None and Path(path).samefile(source):
            raise SameFileError(f"{os.fspath(path)} is what is read")


def _refuse_dangling(path: StrPath) -> None:
    """Raise FileNotFoundError where a link leads to no file: it would be made wherever the link says."""
    if os.path.islink(path) and not os.path.exists(path):  # noqa: PTH110, PTH114 - any path, also of bytes
        raise FileNotFoundError(errno.ENOENT, "is a link to a file that does not exist", os.fspath(path))


def _refuse(path: StrPath, mode: int, force: bool) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if mode and not (force and stat.S_ISREG(mode)):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))


def _mode(target: Path) -> int:
    """Return the st_mode of a path, 0 where there is nothing."""
    try:
        return target.lstat().st_mode
    except FileNotFoundError:
        return 0


def _claim(partial: Path, target: Path) -> None:
    """Give a file a name that must be free, in one step."""
    try:
        os.link(partial, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        partial.replace(target)
