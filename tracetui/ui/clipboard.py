"""A file with what was copied last: the clipboard of a terminal (OSC 52) may refuse without a word."""

from __future__ import annotations

import os
from pathlib import Path

from tracetui.user_directories import user_directory


def keep_copy(text: str) -> Path | None:
    """Write the text below $XDG_CACHE_HOME, else ~/.cache, readable by the user only.

    Return where it is; None where that failed.
    """
    directory = user_directory(os.environ, "XDG_CACHE_HOME", ".cache")
    if directory is None:
        return None
    path = directory / "copied.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
    except OSError:
        return None
    return path
