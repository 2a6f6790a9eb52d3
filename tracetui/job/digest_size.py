"""Reduce digests that are too large: fewer reasons and lines are kept apart, and no sum of time changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from tracetui.analysis.search import distinct
from tracetui.arrays import Bools, Int64s, first_equal
from tracetui.comparison.tally import OTHERS
from tracetui.job.digest import Digest, TimeCells, TimeClass, TimeKeys, tables
from tracetui.job.digest_bytes import encode
from tracetui.job.run_columns import StepSumColumns, SumColumns, SumTable
from tracetui.job.texts import TextPlaces
from tracetui.language import state
from tracetui.trace.order import numbered

#: Bytes of a digest: a hundredth of its trace, but not less than the first nor more than the second.
SHARE, SMALLEST, LARGEST = 100, 64_000, 8_000_000
#: How many reasons and lines, besides causes, and names of each table, are told apart: one after the other
#: where it is too large.
_KEYS = (500, 100, 30, 10)
#: The columns of each table that hold places of texts, and of lines.
_TEXT_COLUMNS = {
    "keys": ("reason",),
    "collectives": ("type", "dtype"),
    "operators": ("type",),
    "links": ("transport",),
    "terms": ("term",),
    "device_terms": ("term",),
    "sums": ("name",),
    "ranges": ("name",),
}
_LINE_COLUMNS = {"keys": ("line",), "collectives": ("line",), "sums": ("line",), "calls": ("line",)}


def limit_of(trace_bytes: int) -> int:
    """Return the bytes that the digest of a trace may have."""
    return min(max(trace_bytes // SHARE, SMALLEST), LARGEST)


def encode_within(digest: Digest, limit: int) -> bytes:
    """Return a digest in at most `limit` bytes; where it would have more, details are merged or left out.

    First the rarest reasons and lines stand together, then marked ranges and the last collectives are left
    out. Its warnings say so. All sums stay exact; of the types of operators only those with most time stay.
    """
    data = encode(digest)
    warnings, whole_keys = digest.warnings, len(digest.keys)
    for names in _KEYS:
        if len(data) <= limit:
            return data
        fewer = _without_unused(_with_fewer_sums(_with_fewer_keys(digest, names), names))
        if len(fewer.keys) < whole_keys:
            few_warning = state(
                "only {count} reasons and lines are told apart: the digest would be too large",
                count=f"{len(fewer.keys):,}",
            )
            fewer = replace(fewer, warnings=(*warnings, few_warning))
        digest = fewer
        data = encode(digest)
    if len(data) > limit:
        digest = _without_unused(_with_fewer_sums(_without_ranges(digest), 0))
        data = encode(digest)
    count = len(digest.collectives)
    while len(data) > limit and count:
        count = count * min(limit, len(data) - 1) * 9 // (len(data) * 10)
        digest = _first_collectives(digest, count)
        data = encode(digest)
    return data


def _without_ranges(digest: Digest) -> Digest:
    """Return a digest without marked ranges, and without the boundaries that are theirs alone."""
    if digest.ranges is None or not len(digest.ranges):
        return digest
    collectives, steps = digest.collectives, digest.steps
    edges = np.concatenate((collectives.start, collectives.end, steps.host_start, steps.start, steps.end))
    edges = np.concatenate((edges, digest.boundaries[:1], digest.boundaries[-1:]))
    return replace(
        _with_boundaries(digest, np.isin(digest.boundaries, edges)),
        warnings=(*digest.warnings, state("marked ranges are left out: the digest would be too large")),
        ranges=digest.ranges.at(slice(0)),
    )


def _with_boundaries(digest: Digest, kept: Bools) -> Digest:
    """Return a digest with some of its boundaries: the time after others counts from the one before them."""
    boundaries = digest.boundaries[kept]
    segment = np.searchsorted(boundaries, digest.boundaries[digest.cells.segment], "right") - 1
    return replace(digest, boundaries=boundaries, cells=sum_cells(segment, digest.cells.key, digest.cells.ns))


def _first_collectives(digest: Digest, count: int) -> Digest:
    """Return the digest of the first collectives alone; its last segment is what follows them."""
    kept_until = int(digest.collectives.end[:count].max(initial=int(digest.boundaries[0])))
    inside = (digest.boundaries <= kept_until) | (digest.boundaries == digest.boundaries[-1])
    cut_warning = state(
        "only the first {count} collectives are kept: the digest would be too large", count=f"{count:,}"
    )
    warnings = [text for text in digest.warnings if not text.startswith("only the first")]
    return replace(
        _with_boundaries(digest, inside),
        warnings=(*warnings, cut_warning),
        collectives=digest.collectives.at(slice(count)),
        arrivals=digest.arrivals.at(digest.arrivals.collective < count),
        awaited=None if digest.awaited is None else digest.awaited.at(digest.awaited.collective < count),
    )


def sum_cells(segment: Int64s, key: Int64s, ns: Int64s) -> TimeCells:
    """Return the sums by segment, then key."""
    width = int(key.max(initial=0)) + 1
    places, of_cell = numbered(segment * width + key)
    total = np.zeros(len(places), np.int64)
    np.add.at(total, of_cell, ns)
    return TimeCells(places // width, places % width, total)


def _with_fewer_keys(digest: Digest, names: int) -> Digest:
    """Return the digest with at most `names` reasons and lines; the rest of the time stands together.

    The causes of idle time stay: their rarer lines are left out, with the rarer types of operators.
    """
    keys = digest.keys
    is_kept = np.arange(len(keys)) < names
    reason = np.where(is_kept | (keys.time_class != TimeClass.COMPUTING), keys.reason, -1)
    reduced_keys = np.stack((keys.time_class, reason, np.where(is_kept, keys.line, -1)))
    columns, first, key_places = np.unique(reduced_keys, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    cells = digest.cells
    return replace(
        digest,
        operators=digest.operators.at(slice(names)),
        keys=TimeKeys(*columns[:, order]),
        cells=sum_cells(cells.segment, rank[key_places.reshape(-1)][cells.key], cells.ns),
    )


def _with_fewer_sums(digest: Digest, names: int) -> Digest:
    """Return the digest with at most `names` names in each table of sums, and the rest as one row."""
    sums = digest.sums
    if not len(sums):
        return digest
    texts = TextPlaces(digest.texts)
    others_text = texts.place(OTHERS)
    kept_tables = np.array(
        [SumTable.CAUSES, SumTable.CLASSES, SumTable.ALLOCATED, SumTable.RESERVED, SumTable.ADVICE], np.int64
    )
    first_of_table = np.searchsorted(sums.table, sums.table)
    is_kept = (np.arange(len(sums)) - first_of_table < names) & (sums.name != others_text) | np.isin(
        sums.table, kept_tables
    )
    # Of a line that is not told apart its causes are none either.
    kept_lines = distinct(sums.line[is_kept & (sums.table == SumTable.LINES)])
    is_kept &= (sums.table != SumTable.LINE_CAUSES) | np.isin(sums.line, kept_lines)
    rest = sums.at(~is_kept & (sums.table != SumTable.LINE_CAUSES))
    tables, place = numbered(rest.table)
    columns = np.zeros((4, len(tables)), np.int64)
    for column, values in zip(columns, (rest.ns, rest.count, rest.lowest, rest.highest)):
        np.add.at(column, place, values)
    rest_names, rest_lines = np.full(len(tables), others_text), np.full(len(tables), -1)
    columns_by_name = zip(
        (getattr(sums.at(is_kept), field.name) for field in fields(SumColumns)),
        (tables, rest_names, rest_lines, *columns),
    )
    kept_sums = SumColumns(*(np.concatenate(parts) for parts in columns_by_name))
    order = np.argsort(kept_sums.table, kind="stable")
    return replace(
        digest,
        texts=texts.all,
        sums=kept_sums.at(order),
        parts=_parts(digest, is_kept, tables, order),
        calls=digest.calls.at(np.isin(digest.calls.line, kept_lines)),
    )


def _parts(digest: Digest, is_kept: Bools, tables: Int64s, order: Int64s) -> StepSumColumns:
    """Return the parts of sums in each step, in the order of `_with_fewer_sums`; sums not kept are merged."""
    parts_of_sums = np.split(digest.parts.ns, np.cumsum(digest.part_counts)[:-1])
    kept_parts = [parts_of_sums[place] for place in np.flatnonzero(is_kept).tolist()]
    for table in tables.tolist():
        rest = np.flatnonzero(~is_kept & (digest.sums.table == table)).tolist()
        kept_parts.append(np.sum([parts_of_sums[place] for place in rest], axis=0, dtype=np.int64))
    return StepSumColumns(
        np.concatenate([np.empty(0, np.int64), *(kept_parts[place] for place in order.tolist())])
    )


def _without_unused(digest: Digest) -> Digest:
    """Return the digest without texts and lines that no column has a place of."""
    digest, texts = _renumbered(digest, _TEXT_COLUMNS)
    digest, lines = _renumbered(digest, _LINE_COLUMNS)
    return replace(
        digest,
        texts=tuple(digest.texts[place] for place in texts),
        lines=tuple(digest.lines[place] for place in lines),
    )


def _renumbered(digest: Digest, columns: Mapping[str, Sequence[str]]) -> tuple[Digest, list[int]]:
    """Return the digest with the places that some columns hold numbered anew, and those that they held."""
    here = {name: table for name, table in tables(digest).items() if name in columns}
    places = [getattr(table, column) for name, table in here.items() for column in columns[name]]
    used = distinct(np.concatenate((*places, [-1])))[1:]
    renumbered: dict[str, Any] = {
        name: replace(
            table, **{column: first_equal(used, getattr(table, column)) for column in columns[name]}
        )
        for name, table in here.items()
    }
    return replace(digest, **renumbered), used.tolist()
