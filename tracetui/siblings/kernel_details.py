"""`kernel_details.csv`: the type, the shapes and the unit of each kernel, as the producer tells them.

It lies beside `trace_view.json`. Whatever it holds may be missing, cut or of another kind: rows that cannot
be read are left out, and nothing here fails.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tracetui.arrays import Bools, Int64s

NAME = "kernel_details.csv"
_START, _KERNEL, _TYPE, _SHAPES = "Start Time(us)", "Name", "Type", "Input Shapes"
#: Columns of which any above zero says that a kernel runs on the cube units.
_CUBE = ("mac_time(us)", "aic_mac_time(us)", "aicore_time(us)")
_UNKNOWN = "N/A"


@dataclass(frozen=True, eq=False)
class KernelDetails:
    """Kernels by their start, as columns; length n."""

    start: Int64s  #: ns, sorted
    name: tuple[str, ...]
    type: tuple[str, ...]
    shapes: tuple[str, ...]  #: of the inputs: "32,3,224,224;64,3,11,11", "" where not told
    cube: Bools

    def places(self, starts: Int64s, names: Sequence[str]) -> Int64s:
        """The place of the kernel of each start and name; -1 where it is not told."""
        found = np.full(len(starts), -1, np.int64)
        first = np.searchsorted(self.start, starts)
        for at, (place, start, name) in enumerate(zip(first.tolist(), starts.tolist(), names)):
            while place < len(self.start) and self.start[place] == start:
                if self.name[place] == name:
                    found[at] = place
                    break
                place += 1
        return found


def kernel_details(trace: Path) -> KernelDetails | None:
    """The kernels that are told of beside the trace at a path; None where nothing is."""
    rows: list[tuple[int, str, str, str, bool]] = []
    try:
        with (trace.parent / NAME).open(encoding="utf-8", errors="replace", newline="") as file:
            rows.extend(_rows(csv.reader(file)))
    except (OSError, csv.Error):  # what was read so far is good
        pass
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    start, name, kind, shapes, cube = zip(*rows)
    return KernelDetails(np.array(start, np.int64), name, kind, shapes, np.array(cube, np.bool_))


def _rows(lines: Iterator[list[str]]) -> Iterator[tuple[int, str, str, str, bool]]:
    head = {title.strip(): place for place, title in enumerate(next(lines, []))}
    if not {_START, _KERNEL, _TYPE} <= head.keys():
        return
    start, name, kind = head[_START], head[_KERNEL], head[_TYPE]
    shapes, cube = head.get(_SHAPES), [head[title] for title in _CUBE if title in head]
    known: dict[str, str] = {}
    for line in lines:
        if len(line) < len(head) or line[kind] == _UNKNOWN:
            continue
        try:
            ns = _nanoseconds(line[start].strip())
            on_cube = any(float(line[place]) > 0 for place in cube if line[place] not in ("", _UNKNOWN))
        except ValueError:
            continue
        shape = "" if shapes is None or line[shapes] == _UNKNOWN else line[shapes].strip('"')
        texts = (known.setdefault(text, text) for text in (line[name], line[kind], shape))
        yield (ns, *texts, on_cube)  # type: ignore[misc]


def _nanoseconds(text: str) -> int:
    """The ns of µs as text: "1736412474730135.222". Raises ValueError."""
    whole, _, part = text.partition(".")
    ns = int(whole) * 1000 + int(part[:3].ljust(3, "0"))
    if not 0 <= ns < 1 << 62:
        raise ValueError(text)
    return ns
