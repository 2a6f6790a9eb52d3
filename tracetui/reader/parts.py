"""Which files together are one trace, in their order: what msprof exports in parts.

One file for each iteration of a graph, `msprof_<device>_<model>_<iteration>.json`; or slices of some size,
`msprof_slice_<k>_<time>.json`, cut at any event. Each repeats the metadata. Knows names, not what is in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tracetui.language import state

_NAME = re.compile(r"msprof_(slice_)?(\d{1,20}(?:_\d{1,20})*)\.json(?:\.gz)?", re.ASCII)
_TIME = 12  #: digits: a longer number is the time of the export
_MOST_ENTRIES = 100_000  #: entries of a directory that are looked at


class _NamedTrace(NamedTuple):
    """What the name of a part tells."""

    exported: str  #: digits of the time of the export, "" where it tells none
    whole: bool  #: no slice
    device: int  #: -1 where it tells none
    order: tuple[int, ...]  #: of parts of one trace: model and iteration, or the number of the slice


class TraceParts(NamedTuple):
    """The files of one trace."""

    files: tuple[Path, ...]  #: in the order of the trace
    sentences: tuple[str, ...]  #: sentences about files beside them that are not read


def parts_of(path: Path) -> TraceParts:
    """Return the files of the trace that a file is of: mostly itself alone."""
    named_trace = _parse_name(path)
    if named_trace is None:
        return TraceParts((path,), ())
    neighbours = [(named, file) for file in _files(path.parent) if (named := _parse_name(file)) is not None]
    trace = _trace_of(named_trace)
    files = sorted((named.order, file.name, file) for named, file in neighbours if _trace_of(named) == trace)
    exports = {named.exported for named, _ in neighbours if named.device == named_trace.device} - {
        named_trace.exported
    }
    other_count = sum(named.exported in exports for named, _ in neighbours)
    template = "{count} files of other exports beside it are not read"
    if other_count == 1:
        template = "a file of another export beside it is not read"
    sentences = (state(template, count=f"{other_count:,}"),) if other_count else ()
    return TraceParts(tuple(file for *_, file in files) or (path,), sentences)


def first_parts(files: Iterable[Path]) -> list[Path]:
    """Return the first file of each trace that some files are of; of one device the latest export counts."""
    latest: dict[tuple[Path, int], tuple[tuple[str, bool], list[tuple[tuple[int, ...], str, Path]]]] = {}
    for file in files:
        named = _parse_name(file)
        if named is None:
            continue
        key, export = (file.parent, named.device), (named.exported, named.whole)
        part = (named.order, file.name, file)
        newest = latest.get(key)
        if newest is None or export > newest[0]:
            latest[key] = (export, [part])
        elif export == newest[0]:
            newest[1].append(part)
    return [min(parts)[-1] for _, parts in latest.values()]


def is_part(path: Path) -> bool:
    """Return whether a file is a trace, or a part of one, that msprof exports."""
    return _parse_name(path) is not None


def _parse_name(path: Path) -> _NamedTrace | None:
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    numbers = match[2].split("_")
    exported = numbers.pop() if len(numbers[-1]) >= _TIME else ""
    order = [int(number) for number in numbers]
    device = order.pop(0) if order and not match[1] else -1
    return _NamedTrace(exported, match[1] is None, device, tuple(order))


def _trace_of(named: _NamedTrace) -> tuple[str, bool, int]:
    return named.exported, named.whole, named.device


def _files(directory: Path) -> list[Path]:
    files: list[Path] = []
    try:
        for number, path in enumerate(directory.iterdir()):
            if number == _MOST_ENTRIES:
                break
            if path.is_file():
                files.append(path)
    except OSError:
        return []
    return files
