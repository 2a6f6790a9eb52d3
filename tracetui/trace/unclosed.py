"""Calls of Python whose end was never recorded: they would last until the recording stopped.

The profiler of PyTorch may miss the return of a call (pytorch/pytorch#193440), and lets it end with the last
moment that it saw, so that calls after it seem to be inside it. Such a call ends where its `Python parent id`
ends, or where the next call of that parent begins; without a parent, where the next one without begins.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int32s, Int64s
from tracetui.reader.events import SliceColumns

#: ns that times may be apart and mean the same: times that went through float64 are up to 0.25 µs off.
_ROUNDED = 1_000
_NO_PARENT = 1 << 31  # stands for the parent of all calls of a thread that have none


def close_calls(columns: SliceColumns, track: Int32s) -> int:
    """End the calls that were never closed, in `columns`; return how many there are.

    `track`, int32[n], is that of each slice. Calls that really were open when the recording stopped stay as
    they are: their callers were open too, and called nothing afterwards.
    """
    frames = np.flatnonzero(columns.python_id >= 0)
    if not len(frames):
        return 0
    own_track = track[frames].astype(np.int64)
    end = columns.start[frames] + columns.dur[frames]
    track_end = np.zeros(int(own_track.max()) + 1, np.int64)
    np.maximum.at(track_end, own_track, end)
    open_at_end = np.flatnonzero(end >= track_end[own_track] - _ROUNDED)
    number, parent = (
        column[frames].astype(np.int64) for column in (columns.python_id, columns.python_parent)
    )
    parent[(parent < 0) | (parent == number)] = _NO_PARENT  # torch_npu calls the root a child of itself
    key, parent_key = own_track << 32 | number, own_track << 32 | parent
    start = columns.start[frames]
    open_at_end = open_at_end[np.lexsort((number[open_at_end], start[open_at_end]))]
    next_starts = _next_sibling_starts(open_at_end, parent_key, start, number)
    parents = _only_places(parent_key[open_at_end], key)
    closed: dict[int, int] = {}
    for place, parent_place, limit in zip(open_at_end.tolist(), parents.tolist(), next_starts.tolist()):
        if parent_place >= 0 and start[parent_place] <= start[place]:
            parent_end = closed.get(parent_place, int(end[parent_place]))
            limit = min(limit, parent_end) if parent_end >= start[place] else limit
        if limit < end[place] - _ROUNDED:
            closed[place] = limit
    if closed:
        places = np.array([*closed], np.int64)
        dur = columns.dur.copy()
        dur[frames[places]] = np.array([*closed.values()], np.int64) - start[places]
        columns.dur = dur
    return len(closed)


def _next_sibling_starts(open_at_end: Int64s, parent_key: Int64s, start: Int64s, number: Int64s) -> Int64s:
    """Return, for each call open at the end, when the next of its parent starts; without one, int64.max."""
    candidates = np.flatnonzero(np.isin(parent_key, parent_key[open_at_end]))
    order = candidates[np.lexsort((number[candidates], start[candidates], parent_key[candidates]))]
    following = np.full(len(start), np.iinfo(np.int64).max, np.int64)
    same_parent = parent_key[order[1:]] == parent_key[order[:-1]]
    following[order[:-1][same_parent]] = start[order[1:]][same_parent]
    return following[open_at_end]


def _only_places(wanted: Int64s, keys: Int64s) -> Int64s:
    """Return the place in `keys` of each one wanted, -1 where it is not there exactly once."""
    candidates = np.flatnonzero(np.isin(keys, wanted))
    if not len(candidates):
        return np.full(len(wanted), -1, np.int64)
    candidates = candidates[np.argsort(keys[candidates], kind="stable")]
    found = keys[candidates]
    first, stop = np.searchsorted(found, wanted), np.searchsorted(found, wanted, "right")
    is_once = stop - first == 1
    return np.where(is_once, candidates[np.minimum(first, len(candidates) - 1)], -1)
