"""Where the files beside a trace are, and what of them may be read: untrusted, as the trace is."""

from __future__ import annotations

import json
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from tracetui.language import state
from tracetui.units import format_bytes

_DONE = ".done"  # ends the name of an empty file that marks another one as complete
_ENDING = re.compile(r"\d{1,9}|\d{14}", re.ASCII)  # of the stem of a file: a rank, or year to second
LARGEST_DOCUMENT = 1 << 25  #: bytes of a JSON file: one of 10,000 ranks in hundreds of groups has a few MB


class Refusal(Exception):  # noqa: N818 - the name says what is wrong, "Error" would add nothing
    """A refusal to read a file beside a trace; `str()` is one sentence about it, without its name."""


def unreadable(error: Exception) -> Refusal:
    """Return what is raised where a file cannot be read: a path with a zero byte has no `strerror`."""
    reason = getattr(error, "strerror", None) or "no such file"
    return Refusal(state("cannot be read: {reason}", reason=reason))


def find_beside(trace: Path, name: str) -> Path | None:
    """Return the file of that name beside a trace; None without.

    Producers put the number of the rank after the stem, msprof the time of its export: of these,
    `operator_memory_3.csv` or `operator_memory_20250109084800.csv` counts where it is the only one.
    """
    with suppress(OSError, ValueError):
        if (trace.parent / name).exists():
            return trace.parent / name
    stem, dot, ending = name.rpartition(".")
    numbered = [
        path
        for path in files_like(trace.parent, f"{stem}_*{dot}{ending}")
        if _ENDING.fullmatch(path.stem.rpartition("_")[2]) and path.stem.rpartition("_")[0] == stem
    ]
    return numbered[0] if len(numbered) == 1 else None


def files_like(directory: Path, *patterns: str) -> list[Path]:
    """Return what in a directory matches some patterns, in their order, then by name; [] where nothing can be
    listed. The empty files that mark others as complete are left out.
    """
    try:
        found = [path for pattern in patterns for path in sorted(directory.glob(pattern))]
    except (OSError, ValueError):
        return []
    return [path for path in found if path.suffix != _DONE]


def refuse_large(path: Path, largest: int) -> None:
    """Raise Refusal unless a path is a regular file of at most so many bytes: a pipe would never end."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(error) from None
    if not stat.S_ISREG(status.st_mode):
        raise Refusal(state("is not a file"))
    if status.st_size > largest:
        raise Refusal(
            state(
                "is not read: it has {size}, more than {largest}",
                size=format_bytes(status.st_size),
                largest=format_bytes(largest),
            )
        )


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file. Raises Refusal."""
    refuse_large(path, LARGEST_DOCUMENT)
    try:
        members = json.loads(path.read_bytes())
    except OSError as error:
        raise unreadable(error) from None
    except (ValueError, RecursionError):
        raise Refusal(state("is damaged: it holds no JSON")) from None
    if not isinstance(members, dict):
        raise Refusal(state("is damaged: it holds no JSON object"))
    return members
