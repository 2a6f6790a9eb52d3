"""Call stacks of operators: a row a frame in the database, one text of all frames in the event table.

A run has millions of such rows and some hundred different stacks: they are told apart by sums of their
frames, compared, and each different one is put together once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import EMPTY, Int32s, Int64s
from tracetui.reader.database.assembly import TextNumbers
from tracetui.reader.database.table_reader import TableColumns, TableQuery, TableReader, places_of, take

_BETWEEN = ";\r\n"  #: as text exports join frames, the innermost first
CHAINS = TableQuery("PYTORCH_CALLCHAINS", ("id", "stack", "stackDepth"))
_FACTORS = np.random.Generator(np.random.PCG64(1)).integers(1, 2**63, 1024, np.uint64)


class _Frames(NamedTuple):
    """Rows of the table, those of a chain together and by depth."""

    id: Int64s
    frame: Int64s  #: ids of texts


def call_stacks(reader: TableReader, texts: TextNumbers, chains: Int64s) -> Int32s:
    """Return the number of the text of each operator's stack; -1 for none."""
    stacks = reader.collected(CHAINS, collect_stacks)
    if stacks is None:  # chains are mixed: all have to be there
        stacks = collect_stacks([reader.columns(CHAINS)])
    return stacks.numbers_of(chains, texts) if stacks is not None else np.full(len(chains), -1, np.int32)


def collect_stacks(parts: Iterable[TableColumns]) -> CallStacks | None:
    """Return the stacks of a table; None where the rows of a chain are not near each other."""
    stacks = CallStacks()
    unfinished = _Frames(EMPTY, EMPTY)
    for part in parts:
        rows = _sort_rows(part)
        if len(unfinished.id) and rows.id[0] < unfinished.id[-1]:
            return None
        rows = _Frames(
            np.concatenate((unfinished.id, rows.id)), np.concatenate((unfinished.frame, rows.frame))
        )
        last = int(np.searchsorted(rows.id, rows.id[-1]))  # of that one more rows may follow
        stacks.add(_Frames(rows.id[:last], rows.frame[:last]))
        unfinished = _Frames(rows.id[last:], rows.frame[last:])
    stacks.add(unfinished)
    return stacks


def _sort_rows(part: TableColumns) -> _Frames:
    """Return the rows of a part by chain and depth, as they mostly are."""
    id_, frame, depth = (part[name] for name in CHAINS.numbers)
    in_order = (id_[:-1] < id_[1:]) | ((id_[:-1] == id_[1:]) & (depth[:-1] < depth[1:]))
    if in_order.all():
        return _Frames(id_, frame)
    order = np.lexsort((depth, id_))
    return _Frames(id_[order], frame[order])


class CallStacks:
    """Whole chains, and which of them are alike."""

    def __init__(self) -> None:
        self._kinds: dict[bytes, int] = {}  # of the frames of each different chain, in the order they came in
        self._ids: list[Int64s] = []
        self._kind_of_chain: list[Int32s] = []

    def add(self, rows: _Frames) -> None:
        """Take the rows of whole chains."""
        if not len(rows.id):
            return
        first = np.flatnonzero(np.append(True, rows.id[1:] != rows.id[:-1]))
        size = np.diff(np.append(first, len(rows.id)))
        like, chain = _kinds_of_chains(rows.frame, first, size)
        spans = zip(first[like].tolist(), size[like].tolist())
        frames = (rows.frame[place : place + count].tobytes() for place, count in spans)
        kinds = np.array([self._kinds.setdefault(key, len(self._kinds)) for key in frames], np.int32)
        self._ids.append(rows.id[first])
        self._kind_of_chain.append(kinds[chain])

    def numbers_of(self, chains: Int64s, texts: TextNumbers) -> Int32s:
        """Return the number of the text of each chain, -1 of one that is not there."""
        if not self._ids:
            return np.full(len(chains), -1, np.int32)
        frame_texts = texts.all()
        stacks = [
            _BETWEEN.join(frame_texts[number] for number in frames.tolist() if number >= 0)
            for frames in (texts.numbers_of(np.frombuffer(kind, np.int64)) for kind in self._kinds)
        ]
        number_of_kind = np.array([texts.number(text) if text else -1 for text in stacks], np.int32)
        number_of_chain = number_of_kind[np.concatenate(self._kind_of_chain)]
        return take(number_of_chain, places_of(np.concatenate(self._ids), chains), -1)


def _kinds_of_chains(frame: Int64s, first: Int64s, size: Int64s) -> tuple[Int64s, Int64s]:
    """Return a chain of each kind, and the kind of each chain: those of one kind have the same frames."""
    depth = np.arange(len(frame)) - np.repeat(first, size)
    weighed = (frame.astype(np.uint64) + np.uint64(1)) * _FACTORS[depth % len(_FACTORS)]
    sums: NDArray[np.uint64] = np.add.reduceat(weighed, first)
    _, like, chain = np.unique(sums, return_index=True, return_inverse=True)
    model = like[chain]
    if (size[model] == size).all() and (frame == frame[np.repeat(first[model], size) + depth]).all():
        return like, chain
    all_stacks = np.arange(len(first))
    return all_stacks, all_stacks
