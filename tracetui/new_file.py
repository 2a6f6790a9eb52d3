"""A file that is filled before it has its name, so that nobody ever reads half of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def new_file(path: str | Path, mode: int, directory: int | None = None) -> Iterator[BinaryIO]:
    """Open a file that is not there yet, and remove it in the end unless it was given another name by then.

    Close it before it is given the name. Raises FileExistsError where there is one already.

    Args:
        path: of the new file.
        mode: who may read and write it, before the umask.
        directory: a descriptor that the path is relative to.
    """
    # O_EXCL: never through a link somebody planted.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, mode, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
    finally:
        with contextlib.suppress(OSError):  # the name is the new one, or the file system is gone
            os.unlink(path, dir_fd=directory)
