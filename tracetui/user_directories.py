"""Where the files of a user are, by the XDG Base Directory Specification. Imports nothing slow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def user_directory(environ: Mapping[str, str], variable: str, *below_home: str) -> Path | None:
    """Return the program's directory below the one that a variable names, else below the user's home.

    None where neither is an absolute path.
    """
    base, home = environ.get(variable, ""), environ.get("HOME", "")
    if base.startswith("/"):
        return Path(base, "tracetui")
    return Path(home, *below_home, "tracetui") if home.startswith("/") else None
