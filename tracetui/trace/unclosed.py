"""Calls of Python whose end was never recorded: they would last until the recording stopped.

The profiler of PyTorch may miss the return of a call (pytorch/pytorch#193440), and lets it end with the last
moment that it saw. What was called beside it later then seems to be inside it. Such a call ends where its
`Python parent id` ends, or where the next call of that parent begins.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int32s, Int64s
from tracetui.reader.events import SliceColumns

#: ns that times may be apart and mean the same: times that went through float64 are up to 0.25 µs off.
_ROUNDED = 1_000
_NO_PARENT = 1 << 31


def close_calls(columns: SliceColumns, track: Int32s) -> int:
    """End the calls that were never closed, in `columns`; return how many there are.

    track : int32[n], that of each slice. Calls that were open when the recording stopped are none of them:
    their callers were open too, and called nothing afterwards.
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
    siblings = _next_siblings(open_at_end, parent_key, start, number)
    parents = _rows_of_keys(parent_key[open_at_end], key)
    closed: dict[int, int] = {}
    for place, above, sibling in zip(open_at_end.tolist(), parents.tolist(), siblings.tolist()):
        limit = sibling
        if above >= 0 and start[above] <= start[place]:
            above_end = closed.get(above, int(end[above]))
            limit = min(limit, above_end) if above_end >= start[place] else limit
        if limit < end[place] - _ROUNDED:
            closed[place] = limit
    if closed:
        places = np.array([*closed], np.int64)
        dur = columns.dur.copy()
        dur[frames[places]] = np.array([*closed.values()], np.int64) - start[places]
        columns.dur = dur
    return len(closed)


def _next_siblings(open_at_end: Int64s, parent_key: Int64s, start: Int64s, number: Int64s) -> Int64s:
    """Return when the next call of the same parent begins, for each call open at the end; far without."""
    candidates = np.flatnonzero(np.isin(parent_key, parent_key[open_at_end]))
    order = candidates[np.lexsort((number[candidates], start[candidates], parent_key[candidates]))]
    following = np.full(len(start), np.iinfo(np.int64).max, np.int64)
    same_parent = parent_key[order[1:]] == parent_key[order[:-1]]
    following[order[:-1][same_parent]] = start[order[1:]][same_parent]
    return following[open_at_end]


def _rows_of_keys(keys: Int64s, key: Int64s) -> Int64s:
    """Return the only place of each wanted key, -1 where none or several have it."""
    candidates = np.flatnonzero(np.isin(key, keys))
    if not len(candidates):
        return np.full(len(keys), -1, np.int64)
    candidates = candidates[np.argsort(key[candidates], kind="stable")]
    candidate_keys = key[candidates]
    first, stop = np.searchsorted(candidate_keys, keys), np.searchsorted(candidate_keys, keys, "right")
    only = stop - first == 1
    return np.where(only, candidates[np.minimum(first, len(candidates) - 1)], -1)
