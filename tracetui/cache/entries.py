"""Entries of the cache: at most one of each kind for a path. Its key says from which file it was made.

The key also holds a digest of the code that makes the kind: any change of that code makes its entries void.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable

from tracetui.cache.container import Arrays, pack, read_arrays, read_document
from tracetui.cache.directory import Directory, write_entry
from tracetui.reader.source import COMPILED_FROM
from tracetui.version import __version__

#: The kinds: the columns of a trace, its digest, the events of a recording of the scheduler, and answers.
TRACE, DIGEST, RECORDING, ANSWERS = "trace", "digest", "scheduler", "answers"
_COLUMNS = ("reader", "databases", "trace", "cache")
_MAKERS = {
    TRACE: _COLUMNS,
    DIGEST: (*_COLUMNS, "siblings", "analysis", "comparison", "operations", "job"),
    RECORDING: ("databases", "siblings", "cache"),
    ANSWERS: (".",),
}


def entry_key(kind: str, path: str, stamp: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return the key of an entry, as JSON gives it back.

    Args:
        kind: what is kept, such as `TRACE`.
        path: the file that it is made from, without links.
        stamp: what `stamp_of` returns for that file.
        more: what else it is made from.
    """
    return {"path": path, "stamp": list(stamp), "program": program(kind), **more}


def read_entry(kind: str, key: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays] | None:
    """Return the document and the arrays of an entry; None where there is none of that key.

    Raises ValueError or OSError where it is damaged.
    """
    directory = Directory.open()
    if directory is None:
        return None
    with directory:
        descriptor = directory.open_entry(entry_name(kind, key["path"]))
    if descriptor is None:
        return None
    with closing(descriptor):
        document = read_document(descriptor)
        if {name: document.get(name) for name in key} != key:
            return None
        arrays = read_arrays(descriptor, document)
        with contextlib.suppress(OSError):
            os.utime(descriptor)
    return document, arrays


def keep_entry(
    kind: str,
    key: Mapping[str, Any],
    make: Callable[[], tuple[Mapping[str, Any], Arrays]],
    should_stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Keep what `make` returns, a document and arrays, for `read_entry`; return whether that was done."""

    def pieces() -> list[memoryview]:
        document, arrays = make()
        return pack({**key, **document}, arrays)

    return write_entry(entry_name(kind, key["path"]), pieces, should_stop)


@contextlib.contextmanager
def closing(descriptor: int) -> Iterator[None]:
    """Close a descriptor of an entry at the end."""
    try:
        yield
    finally:
        os.close(descriptor)


def entry_name(kind: str, path: str) -> str:
    """Return the name of the file of an entry."""
    return f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.{kind}"


@lru_cache(maxsize=4)
def program(kind: str) -> str:
    """Return a digest of the version and of the code of all packages that help to make entries of a kind."""
    return _digest(Path(__file__).parents[1], _MAKERS[kind])


def _digest(home: Path, packages: Sequence[str] = _COLUMNS) -> str:
    digest = hashlib.sha256(f"{__version__} {sys.byteorder} {COMPILED_FROM}".encode())
    for package in packages:
        for module in sorted((home / package).rglob("*.py")):
            digest.update(module.read_bytes())
    return digest.hexdigest()
