"""What scanned events refer to, numbered: texts, threads, counters and their series."""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Bools, Int32s
from tracetui.reader.decode import strict
from tracetui.reader.normalise import flow_id
from tracetui.reader.scan.rows import RowTable
from tracetui.reader.scan.texts import Texts

_HALF = np.uint64(32)


class Known:
    """Numbers from 0 on for all that was met since this was made."""

    def __init__(self) -> None:
        self.texts = Texts()
        self.thread_texts: list[tuple[int, int]] = []  #: of each thread: process and thread, as texts
        self.counter_names: list[tuple[int, int]] = []  #: of each counter: thread, and its name as a text
        self.series_keys: list[tuple[int, str]] = []  #: of each series: counter, and key
        self._threads, self._counters, self._series = RowTable(1), RowTable(1), RowTable(1)
        self.flow_ids: list[str] = []  #: of more than 63 bits
        self._whole = np.empty(0, np.bool_)  # of each thread: whether both texts are integers
        self._flow_numbers: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._lists: dict[int, bool] = {}

    def threads(self, pids: Int32s, tids: Int32s) -> tuple[Int32s, Bools]:
        """The thread of each pair of texts, and whether both of these are integers."""
        threads = _numbers(self._threads, pids, tids, self.thread_texts)
        fresh = self.thread_texts[len(self._whole) :]
        if fresh:
            whole = [all(map(self.texts.is_whole, pair)) for pair in fresh]
            self._whole = np.concatenate([self._whole, np.array(whole, np.bool_)])
        return threads, self._whole.take(threads)

    def counters(self, threads: Int32s, names: Int32s) -> Int32s:
        """The counter of each pair of a thread and the text of a name."""
        return _numbers(self._counters, threads, names, self.counter_names)

    def series(self, counters: Int32s, key: str) -> Int32s:
        """The series with this key of each of the counters."""
        number = self._keys.setdefault(key, len(self._keys))
        pairs: list[tuple[int, int]] = []
        series = _numbers(self._series, counters, np.full(len(counters), number, np.int32), pairs)
        self.series_keys += [(counter, key) for counter, _ in pairs]
        return series

    def flow_number(self, text: str) -> int:
        """The id of a flow that is written so; of more than 63 bits -2 - its place in `flow_ids`."""
        number = self._flow_numbers.get(text)
        if number is None:
            id_ = flow_id(text)
            if isinstance(id_, str):
                self.flow_ids.append(id_)
                id_ = -1 - len(self.flow_ids)
            number = self._flow_numbers[text] = id_
        return number

    def lists(self, texts: Int32s) -> Bools:
        """Whether each of the texts is a JSON list."""
        lists = self._lists
        for text in np.unique(texts).tolist():
            if text not in lists:
                lists[text] = strict(self.texts.raw[text]) is not None
        return np.array([lists[text] for text in texts.tolist()], np.bool_)


def _numbers(table: RowTable, first: Int32s, second: Int32s, pairs: list[tuple[int, int]]) -> Int32s:
    """The number of each pair; new ones are added to `pairs`."""
    words = (first.astype(np.uint64) << _HALF) | second.astype(np.uint64)
    numbers, new = table.numbers(words[None, :])
    pairs += [(int(first[row]), int(second[row])) for row in new]
    return numbers
