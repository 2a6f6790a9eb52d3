"""Exact sums of ns by key, and which key has the most. Knows nothing of what keys stand for."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.search import grouped
from tracetui.arrays import EMPTY, Int8s, Int32s, Int64s
from tracetui.trace.order import starts_run


def sums(keys: Int64s, ns: Int64s) -> tuple[Int64s, Int64s]:
    """Return the distinct keys, sorted, and the ns of each."""
    order, first = grouped(keys)
    total = np.add.reduceat(ns[order], first) if len(first) else EMPTY
    return keys[order[first]], total


def most_first(keys: Int64s, ns: Int64s) -> tuple[Int64s, Int64s]:
    """Return the distinct keys and the ns of each, most first, smaller keys first among equals."""
    distinct, total = sums(keys, ns)
    order = np.argsort(-total, kind="stable")
    return distinct[order], total[order]


def ranked(keys: Int8s | Int32s | Int64s, ns: Int64s) -> list[tuple[int, int]]:
    """Return the distinct keys with the ns of each, most first."""
    distinct, total = most_first(keys.astype(np.int64), ns)
    return list(zip(distinct.tolist(), total.tolist()))


def most_of_each(owner: Int64s, key: Int64s, ns: Int64s, owners: int) -> Int64s:
    """Return the key with the most ns of each owner, the lowest of equals; int64[owners], -1 for none.

    Args:
        owner: int64[n], from 0 to owners - 1.
        key: int64[n], -1 at least.
        ns: int64[n].
        owners: how many there are.
    """
    width = int(key.max(initial=-1)) + 2  # keys begin at -1
    pairs, total = sums(owner * width + key + 1, ns)
    main = np.full(owners, -1, np.int64)
    if len(pairs):
        owner_of_pair = pairs // width  # in order, as pairs are
        first = np.flatnonzero(starts_run(owner_of_pair))
        counts = np.diff(first, append=len(owner_of_pair))
        highest = np.flatnonzero(total == np.repeat(np.maximum.reduceat(total, first), counts))[::-1]
        main[owner_of_pair[highest]] = pairs[highest] % width - 1  # of equals the lowest is written last
    return main
