"""What the values of a layout mean: the columns of the events that have it.

Takes the ordinary: events with all that their phase needs, in the types that producers write. For others
there is no recipe, and a value that isn't plain is left to the careful way, so that both give the same.
Strings, threads and series have the numbers of `Known`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Int64s
from tracetui.reader.normalise import CORRELATION_KEYS
from tracetui.reader.phases import COUNTER, FINISH, INSTANT, NOT_A_SERIES, SLICE, START, STEP, kinds_of
from tracetui.reader.scan.known import Known
from tracetui.reader.scan.layout import Hole, Key, Layout
from tracetui.reader.scan.numbers import decimals, plain_numbers, powers
from tracetui.reader.scan.words import Words
from tracetui.reader.timestamps import LIMIT, LONGEST_FIXED, fixed_width_times

_TABLE = {SLICE: "slice", COUNTER: "counter", START: "flow", STEP: "flow", FINISH: "flow", INSTANT: "instant"}
_NONE_ID = 0xFFFFFFFF
_LONGEST_ID = 400  # digits: `normalise` takes no more
_EXACT = 1 << 53  # integers below are floats without loss
_LONGEST_DUR = 10**12  # units of the last digit: a float of it is near enough to be rounded to the same

_NAME, _PID, _TID, _TS, _CAT, _DUR, _ID = ((key,) for key in ("name", "pid", "tid", "ts", "cat", "dur", "id"))
_ARGS: dict[str, tuple[Key, ...]] = {
    "correlation": tuple(("args", key) for key in CORRELATION_KEYS),
    "task_type": (("args", "Task Type"),),
    "stack": (("args", "Call stack"),),
    "direction": (("args", "memcpy direction"), ("args", "operation")),
    "python_id": (("args", "Python id"),),
}
_TEXTS = ("task_type", "stack", "direction")
#: columns whose holes are no texts that are numbered, by what is read of them
_ROLES = {role: role for role in ("pid", "tid", "time", "dur", "id", "correlation", "python_id")}
#: beside the thread: type, and value where an event has none
_COLUMNS: dict[str, dict[str, tuple[type[np.generic], int]]] = {
    "slice": {
        "time": (np.int64, 0),
        "name": (np.int32, -1),
        "category": (np.int32, -1),
        "dur": (np.int64, 0),
        "correlation": (np.int64, -1),
        "task_type": (np.int32, -1),
        "direction": (np.int32, -1),
        "stack": (np.int32, -1),
        "python_id": (np.int32, -1),
    },
    "flow": {"time": (np.int64, 0), "category": (np.int32, -1), "id": (np.int64, 0)},
    "instant": {"time": (np.int64, 0), "name": (np.int32, -1)},
    "counter": {"time": (np.int64, 0), "name": (np.int32, -1)},
}
Table = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Recipe:
    """How the events of a layout become rows of a table."""

    kind: int
    holes: dict[str, int]  #: the index of the layout's hole by column, or by the part of it that it gives
    series: tuple[tuple[str, int], ...]  #: key and hole of each series of a counter
    unread: tuple[tuple[str, int], ...]  #: what is in the holes that give no column: "number" or "list"
    whole_thread: bool  #: process and thread are numbers without quotes

    @property
    def table(self) -> str:
        """The table of the rows."""
        return _TABLE[self.kind]


def recipe_of(layout: Layout) -> Recipe | None:
    """The recipe of a layout; None where its events need the careful way."""
    event = layout.event
    phase = event.get("ph")
    kind = kinds_of([phase])[0] if isinstance(phase, str) else -1
    if kind not in _TABLE:
        return None
    wanted: dict[str, Key] = {"pid": _PID, "tid": _TID, "time": _TS}
    wanted.update({"name": _NAME} if kind not in (START, STEP, FINISH) else {"id": _ID})
    if "cat" in event:
        wanted["category"] = _CAT
    if kind == SLICE:
        if "dur" in event:
            wanted["dur"] = _DUR
        for column, keys in _ARGS.items():
            present = [key for key in keys if _at(event, key) is not _ABSENT]
            if len(present) > 1:
                return None
            if present:
                wanted[column] = present[0]
    args = event.get("args", {})
    if type(args) is not dict:
        return None
    series: list[Key] = []
    if kind == COUNTER:
        if "args" not in event:
            return None
        series = [("args", key) for key in args]
    places: dict[Key | None, int] = {}
    needed = {*wanted.values(), *series}
    for place, hole in enumerate(layout.holes):
        if hole.key in places and hole.key in needed:
            return None
        places[hole.key] = place
    for column, key in (*wanted.items(), *(("value", key) for key in series)):
        if key not in places or not _suits(column, layout.holes[places[key]], _at(event, key)):
            return None
    used = needed - {key for key in series if key[1] in NOT_A_SERIES}
    threads = {layout.holes[places[key]].what for key in (_PID, _TID)}
    if len(threads) > 1:
        return None
    return Recipe(
        kind,
        {column: places[key] for column, key in wanted.items()},
        tuple((key[1], places[key]) for key in series if key in used),
        tuple(
            (hole.what, place)
            for place, hole in enumerate(layout.holes)
            if hole.what != "string" and hole.key not in used
        ),
        threads == {"number"},
    )


_ABSENT = object()


def _at(event: dict[str, Any], key: Key) -> Any:
    value: Any = event
    for step in key:
        value = value.get(step, _ABSENT) if isinstance(value, dict) else _ABSENT
    return value


def _suits(column: str, hole: Hole, value: Any) -> bool:
    """Whether a value of this column stands in a hole that it can be read from."""
    if column in ("name", "category", *_TEXTS):
        return hole.what == "string" and isinstance(value, str)
    if column in ("correlation", "python_id", "value"):
        return hole.what == "number" and isinstance(value, (int, float))
    return hole.what in ("string", "number") and isinstance(value, (str, int, float))


@dataclass
class _Spans:
    """Where values of one role stand, of the events of all layouts of a text one after the other."""

    start: list[Int64s] = field(default_factory=list)
    end: list[Int64s] = field(default_factory=list)
    count: int = 0

    def add(self, start: Int64s, end: Int64s) -> slice:
        self.start.append(start)
        self.end.append(end)
        self.count += len(start)
        return slice(self.count - len(start), self.count)

    @property
    def all(self) -> tuple[Int64s, Int64s]:
        """(starts, ends) of all that was added."""
        if not self.start:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate(self.start), np.concatenate(self.end)


@dataclass
class _Group:
    """The events of one layout."""

    recipe: Recipe
    rows: Int64s
    slices: dict[str, slice]  # by column, of the spans of its role
    series: list[tuple[str, slice]]  # key, and slice of the values
    spans: list[tuple[str, slice]]  # all of them with their roles


class Rows:
    """The rows of all events of a text whose layout is known: values of one role are read all at once."""

    def __init__(self, words: Words, known: Known) -> None:
        self._words = words
        self._known = known
        self._spans: defaultdict[str, _Spans] = defaultdict(_Spans)
        self._groups: list[_Group] = []

    def add(self, recipe: Recipe, rows: Int64s, start: Int64s, end: Int64s) -> None:
        """Take the events of one layout: their indices, and where each of its holes begins and ends."""

        spans: list[tuple[str, slice]] = []

        def spanned(role: str, hole: int) -> slice:
            spans.append((role, self._spans[role].add(start[hole], end[hole])))
            return spans[-1][1]

        slices = {column: spanned(_ROLES.get(column, "text"), hole) for column, hole in recipe.holes.items()}
        series = [(key, spanned("value", hole)) for key, hole in recipe.series]
        for what, hole in recipe.unread:
            spanned(what, hole)
        self._groups.append(_Group(recipe, rows, slices, series, spans))

    def tables(self) -> Iterator[tuple[str, Int64s, Table]]:
        """(table, the events' indices, columns) of each layout.

        Events that have a value which isn't plain are left out.
        """
        read = {role: self._read(role, *spans.all) for role, spans in self._spans.items()}
        if not read:
            return
        threads, whole = self._known.threads(read["pid"][0], read["tid"][0])
        values = {**{role: values for role, (values, _) in read.items()}, "thread": threads}
        doubtful = {role: ok for role, (_, ok) in read.items() if not ok.all()}
        for group in self._groups:
            columns, rows = self._columns(group, values), group.rows
            oks = [doubtful[role][own] for role, own in group.spans if role in doubtful]
            if group.recipe.whole_thread and not whole.all():
                oks.append(whole[group.slices["pid"]])
            ok = np.logical_and.reduce(oks) if oks else None
            if ok is not None and not ok.all():
                rows = rows[ok]
                columns = {name: values[ok] for name, values in columns.items()}
            yield group.recipe.table, rows, columns

    def _columns(self, group: _Group, read: dict[str, NDArray[Any]]) -> Table:
        recipe, count = group.recipe, len(group.rows)
        columns: Table = {"thread": read["thread"][group.slices["pid"]]}
        for column, (of_type, absent) in _COLUMNS[recipe.table].items():
            if column in group.slices:
                columns[column] = read[_ROLES.get(column, "text")][group.slices[column]].astype(
                    of_type, copy=False
                )
            else:
                columns[column] = np.full(count, absent, of_type)
        if recipe.table == "flow":
            columns["phase"] = np.full(count, recipe.kind - START, np.int8)
        elif recipe.table == "counter":
            counter = self._known.counters(columns.pop("thread"), columns.pop("name"))
            for place, (key, own) in enumerate(group.series):
                columns[f"series{place}"] = self._known.series(counter, key)
                columns[f"value{place}"] = read["value"][own]
        return columns

    def _read(self, role: str, start: Int64s, end: Int64s) -> tuple[NDArray[Any], Bools]:
        """The values of a role, and whether each is plain."""
        words, known = self._words, self._known
        if role == "number":
            ok = plain_numbers(words, start, end)
            return ok, ok
        if role in ("text", "pid", "tid", "list"):
            texts = known.texts.numbers(words, start, end)
            return texts, known.lists(texts) if role == "list" else np.ones(len(texts), np.bool_)
        if role == "time":
            nanoseconds = _same_length_times(words, start, end)
            if nanoseconds is not None:
                return nanoseconds, np.ones(len(start), np.bool_)
        number, places, ok = decimals(words, start, end)
        values, ok = _OF_DECIMALS[role](number, places, ok)
        others = (~ok).nonzero()[0]
        if role == "id":
            self._long_ids(start, end, others, values, ok)
        elif role == "value" and len(others):
            others = others[plain_numbers(words, start[others], end[others])]
            values[others] = [float(raw) for raw in self._raw(start, end, others)]
            ok[others] = True
        return values, ok

    def _raw(self, start: Int64s, end: Int64s, rows: Int64s) -> Iterator[bytes]:
        for low, high in zip(start[rows].tolist(), end[rows].tolist()):
            yield self._words.buffer[low:high]

    def _long_ids(self, start: Int64s, end: Int64s, rows: Int64s, ids: Int64s, ok: Bools) -> None:
        """Put in the ids of flows of more than 63 bits."""
        for row, raw in zip(rows.tolist(), self._raw(start, end, rows)):
            if raw.isdigit() and raw[:1] != b"0" and len(raw) < _LONGEST_ID:
                ids[row] = self._known.flow_number(raw.decode("ascii"))
                ok[row] = True


def _same_length_times(words: Words, start: Int64s, end: Int64s) -> Int64s | None:
    """Times where all are written in the same form, as they usually are."""
    length = end - start
    width = int(length[0]) if len(length) else 0
    if not 0 < width <= LONGEST_FIXED or (length != width).any():
        return None
    return fixed_width_times(words.bytes.take(start[:, None] + np.arange(width)))


def _times(number: Int64s, places: Int64s, ok: Bools) -> tuple[Int64s, Bools]:
    """Nanoseconds, what is finer cut off."""
    more = powers(np.maximum(3 - places, 0))
    ok &= number < LIMIT // more
    return number * more // powers(np.maximum(places - 3, 0)), ok


def _durations(number: Int64s, places: Int64s, ok: Bools) -> tuple[Int64s, Bools]:
    """Nanoseconds, rounded half to even."""
    more, less = powers(np.maximum(3 - places, 0)), powers(np.maximum(places - 3, 0))
    ok &= number // less < _LONGEST_DUR
    number = number * more
    nanoseconds = number // less
    twice = (number - nanoseconds * less) * 2
    nanoseconds += (twice > less) | ((twice == less) & (nanoseconds & 1 == 1))
    # More digits than a float has, so near to a half that the float may be beyond it.
    ok &= (number < _EXACT) | (np.abs(twice - less) * 1e12 > number)
    return nanoseconds, ok


def _whole(number: Int64s, places: Int64s, ok: Bools) -> tuple[Int64s, Bools]:
    ok &= places == 0
    return number, ok


def _correlations(number: Int64s, places: Int64s, ok: Bools) -> tuple[Int64s, Bools]:
    number[number == _NONE_ID] = -1
    return _whole(number, places, ok)


def _python_ids(number: Int64s, places: Int64s, ok: Bools) -> tuple[Int64s, Bools]:
    number[number >= 1 << 31] = -1
    return _whole(number, places, ok)


def _values(number: Int64s, places: Int64s, ok: Bools) -> tuple[NDArray[Any], Bools]:
    """As the nearest float: the quotient of two exact ones is."""
    ok &= number < _EXACT
    return number / powers(places), ok


_OF_DECIMALS: dict[str, Callable[[Int64s, Int64s, Bools], tuple[NDArray[Any], Bools]]] = {
    "time": _times,
    "dur": _durations,
    "id": _whole,
    "correlation": _correlations,
    "python_id": _python_ids,
    "value": _values,
}
