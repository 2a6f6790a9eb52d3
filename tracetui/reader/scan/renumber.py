"""Scanned rows of a part with the part's own numbers, and put among its decoded rows.

The scanner numbers what it has met in all parts; a part numbers only what is in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int32s
from tracetui.reader.part import STRINGS
from tracetui.reader.scan.known import Known

Table = dict[str, NDArray[Any]]

_TEXTS = ("name", "category", "task_type", "stack", "direction")


class Renumbering:
    """The rows of one part as they come from the scanner."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._rows: defaultdict[str, list[Table]] = defaultdict(list)

    def add(self, table: str, columns: Table) -> None:
        """Take rows of a table with the numbers of `known`."""
        if table != "counter":
            self._rows[table].append(columns)
            return
        place = 0
        while f"series{place}" in columns:
            row = {"time": columns["time"], "event": columns["event"]}
            row["series"], row["value"] = columns[f"series{place}"], columns[f"value{place}"]
            self._rows[table].append(row)
            place += 1

    def tables(
        self,
        strings: dict[Any, int],
        threads: dict[Any, int],
        series: dict[Any, int],
        flow_ids: dict[str, int],
    ) -> dict[str, Table]:
        """The columns of each table, with the numbers that these give; they number what is new to them."""
        known, texts = self._known, self._known.texts

        def thread_of(thread: int) -> int:
            pid, tid = known.thread_texts[thread]
            return threads[texts.string(pid), texts.string(tid)]

        def series_of(number: int) -> int:
            counter, key = known.series_keys[number]
            thread, name = known.counter_names[counter]
            return series[thread_of(thread), texts.string(name), key]

        of_texts = _Numbers(len(texts), lambda text: strings[texts.string(text)], strings[None])
        of_threads = _Numbers(len(known.thread_texts), thread_of)
        of_series = _Numbers(len(known.series_keys), series_of)
        tables: dict[str, Table] = {}
        for name, rows in self._rows.items():
            columns = {column: np.concatenate([row[column] for row in rows]) for column in rows[0]}
            for column in columns:
                if column in STRINGS:
                    columns[column] = of_texts.of(columns[column])
            if "thread" in columns:
                columns["thread"] = of_threads.of(columns["thread"])
            if "series" in columns:
                columns["series"] = of_series.of(columns["series"])
            if "id" in columns:
                long = (columns["id"] < 0).nonzero()[0]
                of_long = (known.flow_ids[-2 - number] for number in columns["id"][long].tolist())
                columns["id"][long] = [-2 - flow_ids[id_] for id_ in of_long]
            tables[name] = columns
        return tables


class _Numbers:
    """Other numbers for numbers from 0 on, -1 included, asked for once each."""

    def __init__(self, count: int, number_of: Callable[[int], int], none: int = -1) -> None:
        self._number_of = number_of
        self._numbers: Int32s = np.full(count + 1, -2, np.int32)
        self._numbers[-1] = none

    def of(self, numbers: Int32s) -> Int32s:
        others: Int32s = self._numbers.take(numbers, mode="wrap")
        missing = numbers[others == -2]
        if len(missing):
            for number in np.flatnonzero(np.bincount(missing)).tolist():
                self._numbers[number] = self._number_of(number)
            others = self._numbers.take(numbers, mode="wrap")
        return others


def merged(decoded: Table, scanned: Table) -> Table:
    """Rows of one table in the order of their events."""
    if not scanned:
        return decoded
    if decoded:
        scanned = {name: np.concatenate([values, decoded[name]]) for name, values in scanned.items()}
    order = np.argsort(scanned["event"], kind="stable")
    return {name: values.take(order) for name, values in scanned.items()}
