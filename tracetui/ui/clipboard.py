"""A file with what was copied last: the clipboard of a terminal (OSC 52) may refuse without a word."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def copy_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where copies are kept: below $XDG_CACHE_HOME, else ~/.cache."""
    cache = environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if cache.startswith("/") else Path(environ.get("HOME", "/tmp")) / ".cache"
    return base / "tracetui" / "copied.txt"


def keep_copy(text: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Write the text, readable by the user only; where to, or None where that failed."""
    path = copy_path(environ)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
    except OSError:
        return None
    return path
