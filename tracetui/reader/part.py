"""What is read of a part of a file, with numbers of its own. Knows not how it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int32s, Int64s
from tracetui.reader.events import Metadata
from tracetui.reader.phases import TABLES

#: columns of strings
STRINGS = ("name", "category", "task_type", "direction", "stack")
_NEVER = np.iinfo(np.int64).max


@dataclass
class Part:
    """The columns of a part of the file, with the part's own numbers of strings, threads and series."""

    events: int  #: elements decoded
    strings: list[str | None]  #: None stands for no string
    threads: list[tuple[str, str]]
    series: list[tuple[int, str, str]]  #: (thread, name, key)
    flow_ids: list[str]  #: ids that don't fit 63 bits: -2 - index in the column
    columns: dict[str, NDArray[Any]]  #: by "table.column" of `events`
    metadata: list[Metadata]
    skipped: int
    unknown_phases: dict[str, int]


def number_by_use(part: Part) -> None:
    """Number strings, threads, series and long ids in the order of the events that have them.

    So the numbers of a part depend on its events alone: not on how they were read, nor on what was read
    before.
    """
    columns = part.columns
    strings, threads = _FirstUse(len(part.strings)), _FirstUse(len(part.threads))
    of_strings: list[str] = []
    for table in TABLES:
        if f"{table}.event" not in columns:
            continue
        places = columns[f"{table}.event"] * len(STRINGS)
        for place, name in enumerate(STRINGS):
            if f"{table}.{name}" in columns:
                of_strings.append(f"{table}.{name}")
                strings.note(columns[of_strings[-1]], places + place)
        if table != "counter":
            threads.note(columns[f"{table}.thread"], columns[f"{table}.event"])
    if "counter.series" in columns:
        series = _FirstUse(len(part.series))
        series.note(columns["counter.series"], columns["counter.event"])
        used, new = series.order()
        part.series = [part.series[number] for number in used]
        columns["counter.series"] = new[columns["counter.series"]]
        own = np.array([thread for thread, _, _ in part.series], np.int32)
        threads.note(own, series.places(np.array(used, np.int64)))
    used, new = threads.order()
    part.threads = [part.threads[number] for number in used]
    part.series = [(int(new[thread]), name, key) for thread, name, key in part.series]
    for table in TABLES:
        if f"{table}.thread" in columns:
            columns[f"{table}.thread"] = new[columns[f"{table}.thread"]]
    used, new = strings.order()
    part.strings = [part.strings[number] for number in used]
    for name in of_strings:
        columns[name] = new[columns[name]]
    if "flow.id" in columns and part.flow_ids:
        _number_ids_by_use(part)
    for table in ("flow", "counter"):
        columns.pop(f"{table}.event", None)


def _number_ids_by_use(part: Part) -> None:
    ids = part.columns["flow.id"].copy()
    long = (ids < 0).nonzero()[0]
    big = _FirstUse(len(part.flow_ids))
    big.note(-2 - ids[long], part.columns["flow.event"][long])
    used, new = big.order()
    part.flow_ids = [part.flow_ids[number] for number in used]
    ids[long] = -2 - new[-2 - ids[long]]
    part.columns["flow.id"] = ids


class _FirstUse:
    """Where each of `count` numbers is first used."""

    def __init__(self, count: int) -> None:
        self._first: Int64s = np.full(count, _NEVER)

    def note(self, numbers: NDArray[Any], places: Int64s) -> None:
        """Numbers from 0 on are used at these places, which ascend."""
        first = np.full(len(self._first), _NEVER)
        first[numbers[::-1]] = places[::-1]
        np.minimum(self._first, first, out=self._first)

    def places(self, numbers: NDArray[Any]) -> Int64s:
        """Where each of the numbers is first used."""
        places: Int64s = self._first[numbers]
        return places

    def order(self) -> tuple[list[int], Int32s]:
        """The numbers that are used, in the order of their first use; and the new number of each."""
        used = np.flatnonzero(self._first != _NEVER)
        used = used[np.argsort(self._first[used], kind="stable")]
        new: Int32s = np.zeros(len(self._first), np.int32)
        new[used] = np.arange(len(used))
        return used.tolist(), new
