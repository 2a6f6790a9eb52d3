"""What is made for several tests, made once: by a process, or by all workers of one run."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast

Made = TypeVar("Made", bound=Callable[..., Any])


def once(make: Made) -> Made:
    """Make the same once, however a call spells its arguments, and whether it leaves out those usual.

    To `functools.cache` an argument that is left out and one given as its default are two calls.
    """
    usual, made = signature(make), cache(make)

    @wraps(make)
    def known(*arguments: Any, **named: Any) -> Any:
        given = usual.bind(*arguments, **named)
        given.apply_defaults()
        return made(*given.args, **given.kwargs)

    return cast(Made, known)


_shared: list[Path] = []


def share(directory: Path) -> None:
    """Keep what `made_by_any` makes in a directory that the workers of this run have in common."""
    directory.mkdir(exist_ok=True)
    _shared[:] = [directory]


def made_by_any(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the bytes of that name, from whichever worker of this run has made them first."""
    if not _shared:
        return make()
    path = _shared[0] / sha256(name.encode()).hexdigest()
    if path.exists():
        return path.read_bytes()
    content = make()
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(path)
    return content
