"""A file with what was copied last: the clipboard of a terminal (OSC 52) may refuse without a word."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tracetui.user_directories import user_directory


def copy_path(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return where copies are kept: below $XDG_CACHE_HOME, else ~/.cache; None without either."""
    directory = user_directory(environ, "XDG_CACHE_HOME", ".cache")
    return None if directory is None else directory / "copied.txt"


def keep_copy(text: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Write the text, readable by the user only; where to, or None where that failed."""
    path = copy_path(environ)
    if path is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
    except OSError:
        return None
    return path
