"""Searches that several analyses share: equal keys, categories, rows of tracks and tracks of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Trace, Track


def first_equal(keys: Int64s, wanted: Int64s) -> Int64s:
    """The place in `keys` (in any order) of the first that equals each one wanted; -1 where none does."""
    order = np.argsort(keys, kind="stable")
    place = np.searchsorted(keys[order], wanted, "left")
    found = place < len(order)
    found[found] = keys[order[place[found]]] == wanted[found]
    first = np.full(len(wanted), -1, np.int64)
    first[found] = order[place[found]]
    return first


def pick(values: Int64s, places: Int64s) -> Int64s:
    """values[places], and -1 where the place is -1."""
    picked = np.full(len(places), -1, np.int64)
    picked[places >= 0] = values[places[places >= 0]]
    return picked


def rows_of(tracks: Iterable[Track]) -> Int64s:
    """The slice rows of some tracks, one track after the other."""
    parts = [np.arange(track.rows.start, track.rows.stop, dtype=np.int64) for track in tracks]
    return np.concatenate([np.empty(0, np.int64), *parts])


def of_category(trace: Trace, column: Int32s, *categories: str) -> Bools:
    """Which of a column of categories, of slices or of arrows, are among some."""
    among: Bools = meanings(trace.strings, column, lambda text: int(text in categories)) == 1
    return among


def track_of_rows(trace: Trace, rows: Int64s) -> Int32s:
    """The index of the track of each slice row, -1 for row -1."""
    track = np.full(len(rows), -1, np.int32)
    held = rows >= 0
    lanes = np.searchsorted(trace.lane_rows, rows[held], "right") - 1
    track[held] = trace.lane_track[lanes]
    return track


def rows_by_track(trace: Trace, rows: Int64s) -> Iterator[tuple[Track, Int64s]]:
    """The tracks of rows, each with the places of its rows; rows of -1 are left out."""
    for index, places in runs(track_of_rows(trace, rows)):
        if index >= 0:
            yield trace.tracks[index], places


def rows_by_process(trace: Trace, rows: Int64s) -> Iterator[tuple[str, Int64s]]:
    """The pids of rows, each with the places of its rows; rows of -1 are left out."""
    places: dict[str, list[Int64s]] = {}
    for track, part in rows_by_track(trace, rows):
        places.setdefault(track.pid, []).append(part)
    for pid, parts in places.items():
        yield pid, np.concatenate(parts)


def runs(keys: Int64s | Int32s) -> Iterator[tuple[int, Int64s]]:
    """Each distinct key, in order, with the places that have it."""
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    yield from zip(distinct.tolist(), np.split(order, first[1:]))
