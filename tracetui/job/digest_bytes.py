"""Digests as bytes: gzip'ed JSON, the same bytes for the same digest, and safe to read whatever they hold.

A column is a text: the differences of its numbers in as few bytes each as hold them all, first the low bytes
of all, then the next, in base64. So a thousand digests are read in seconds: a list of numbers would take ten
times as long.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import zlib
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import orjson

from tracetui.analysis.health.facts import Doubt, HealthFacts
from tracetui.analysis.health.finding import NUMBERS, Severity
from tracetui.arrays import Int64s
from tracetui.cache.checks import require, require_within
from tracetui.comparison.waterfall import TERMS
from tracetui.job.columns import ColumnTable
from tracetui.job.digest import (
    ArrivalColumns,
    AwaitedColumns,
    CollectiveColumns,
    Digest,
    DigestLine,
    Identity,
    LinkColumns,
    OperatorColumns,
    RangeColumns,
    RankGroup,
    StepColumns,
    TimeCells,
    TimeClass,
    TimeKeys,
    TokenColumns,
    tables,
)
from tracetui.job.run_columns import (
    CallColumns,
    RunFacts,
    StepSumColumns,
    SumColumns,
    SumTable,
    TermColumns,
    WallColumns,
)
from tracetui.language import state, statement_document, statement_of
from tracetui.trace.model import TraceKind

#: Those of 1 keep nothing to compare runs by, those of 2 not what each step had of it, those of 3 end the
#: preparing of steps elsewhere, and those of 4 and 5 keep sentences for facts: of these only what is not
#: compared is read. Those of 4 have no ranges.
SCHEMA, _READABLE = 6, (1, 2, 3, 4, 5, 6)
_WITH_RUNS = 6
_KIND = "tracetui digest"
_LARGEST = 1 << 28  # bytes of JSON; 8 MB of it gzip'ed are the most that is written
_LONGEST = 1 << 53  # ns: so that times of many ranks can be summed
_TABLES: dict[str, type[ColumnTable]] = {
    "steps": StepColumns,
    "collectives": CollectiveColumns,
    "arrivals": ArrivalColumns,
    "operators": OperatorColumns,
    "links": LinkColumns,
    "keys": TimeKeys,
    "cells": TimeCells,
}
_COMPARED: dict[str, type[ColumnTable]] = {
    "walls": WallColumns,
    "terms": TermColumns,
    "device_terms": TermColumns,
    "sums": SumColumns,
    "parts": StepSumColumns,
    "calls": CallColumns,
}


_MARKED: dict[str, type[ColumnTable]] = {
    "ranges": RangeColumns,
    "tokens": TokenColumns,
    "awaited": AwaitedColumns,
}


class UnreadableDigest(Exception):  # noqa: N818 - the name says what is wrong, "Error" would add nothing
    """What was read is no digest, or none that this version understands; `str()` is a sentence."""


def encode(digest: Digest) -> bytes:
    """Return the bytes of a digest; equal ones of equal digests."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "what": _KIND,
        **{name: getattr(digest, name) for name in _SCALARS},
        "facts": None if digest.facts is None else _facts_document(digest.facts),
        "identity": asdict(digest.identity),
        "warnings": [*map(statement_document, digest.warnings)],
        "groups": [asdict(group) for group in digest.groups],
        "texts": digest.texts,
        "lines": [[line.file, line.line, line.function, line.backward] for line in digest.lines],
        "boundaries": _pack(digest.boundaries),
        **{
            name: {column.name: _pack(getattr(table, column.name)) for column in fields(table)}
            for name, table in tables(digest).items()
        },
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    stream = io.BytesIO()
    # Without a name and a time, which would differ from host to host.
    with gzip.GzipFile("", "wb", 6, stream, mtime=0) as file:
        file.write(text.encode("utf-8", "replace"))  # names of files may hold what is no character
    return stream.getvalue()


def decode(data: bytes) -> Digest:
    """Return the digest of some bytes. Raises UnreadableDigest."""
    try:
        document = orjson.loads(_inflate(data))
        if not isinstance(document, dict) or document.get("what") != _KIND:
            raise UnreadableDigest(state("it is no digest of tracetui"))
        if document.get("schema") not in _READABLE:
            raise UnreadableDigest(state("it is of another version of tracetui: make it again"))
        digest = _digest(document)
        _check_digest(digest)
    except UnreadableDigest:
        raise
    except _DAMAGED as error:
        raise UnreadableDigest(state("it is damaged ({name})", name=type(error).__name__)) from None
    return digest


#: What reading something else than a digest raises, whatever stands in it.
_DAMAGED = (
    OSError,
    EOFError,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
_SCALARS = ("kind", "device", "chip", "trace_bytes", "events", "start", "end")


def _inflate(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise ValueError("too large")
    return text


def _digest(document: dict[str, Any]) -> Digest:
    table_types = {
        **_TABLES,
        **(_COMPARED if document["schema"] >= _WITH_RUNS else {}),
        **{name: table for name, table in _MARKED.items() if name in document},
    }
    columns = {
        name: table(**{column.name: _unpack(document[name][column.name]) for column in fields(table)})
        for name, table in table_types.items()
    }
    return Digest(
        identity=_identity(Identity(**document["identity"])),
        kind=str(document["kind"]),
        device=str(document["device"]),
        chip=str(document.get("chip", "")),
        trace_bytes=_int64(document["trace_bytes"]),
        events=_int64(document["events"]),
        start=_int64(document["start"]),
        end=_int64(document["end"]),
        warnings=tuple(map(statement_of, document["warnings"])),
        groups=tuple(_group(group) for group in document["groups"]),
        texts=tuple(map(str, document["texts"])),
        lines=tuple(
            DigestLine(str(file), _int64(line), str(function), bool(backward))
            for file, line, function, backward in document["lines"]
        ),
        boundaries=_unpack(document["boundaries"]),
        facts=_facts(document.get("facts")) if document["schema"] >= _WITH_RUNS else None,
        **columns,  # type: ignore[arg-type]
    )


def _identity(read: Identity) -> Identity:
    """Return what was read as an identity. Raises ValueError or TypeError where it holds something else."""
    require(all(isinstance(text, str) for text in (read.name, read.rank_from, read.host, read.started)))
    return Identity(
        *(read.name, _int64(read.rank), read.rank_from, read.host, read.started, _int64(read.world)),
        sizes={str(key): _int64(size) for key, size in read.sizes.items()},
        indices={str(key): _int64(index) for key, index in read.indices.items()},
        options={
            str(key): value for key, value in read.options.items() if isinstance(value, (str, int, bool))
        },
    )


def _int64(value: Any) -> int:
    """Return an int64. Raises ValueError where the value is something else."""
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise ValueError("no whole number")
    return value


def _facts_document(facts: RunFacts) -> dict[str, Any]:
    document = asdict(facts)
    document["notes"] = [*map(statement_document, facts.notes)]
    document["health"]["doubts"] = [
        (*doubt[:-1], statement_document(doubt.sentence)) for doubt in facts.health.doubts
    ]
    return document


def _facts(document: dict[str, Any] | None) -> RunFacts | None:
    if document is None:
        return None
    totals = tuple(map(_int64, document["totals"]))
    require(len(totals) in (0, 4))
    return RunFacts(
        devices=tuple(map(str, document["devices"])),
        steps=_int64(document["steps"]),
        notes=tuple(map(statement_of, document["notes"])),
        totals=totals,
        memory=bool(document["memory"]),
        shapes=bool(document["shapes"]),
        runtime=bool(document["runtime"]),
        scheduler=bool(document.get("scheduler")),
        left_out=tuple(map(_int64, document["left_out"])),
        health=_health(document.get("health")),
    )


def _health(document: dict[str, Any] | None) -> HealthFacts:
    """Return what a digest keeps of a recording's health; nothing of an older one."""
    if document is None:
        return HealthFacts()
    doubts = tuple(
        Doubt(str(identity), int(Severity(_int64(severity))), tuple(map(str, affects)), statement_of(kept))
        for identity, severity, affects, kept in document["doubts"]
    )
    require(all(number in NUMBERS for doubt in doubts for number in doubt.affects))
    return HealthFacts(
        doubts=doubts,
        findings=tuple(map(str, document["findings"])),
        steps=tuple(map(_int64, document["steps"])),
        level=str(document["level"]),
        stacks=bool(document["stacks"]),
        versions=tuple(map(str, document["versions"])),
    )


def _group(document: dict[str, Any]) -> RankGroup:
    return RankGroup(
        key=str(document["key"]),
        communicator=str(document["communicator"]),
        name=str(document["name"]),
        rank=_int64(document["rank"]),
        global_ranks=tuple(map(_int64, document["global_ranks"])),
        size=_int64(document["size"]),
    )


def _check_digest(digest: Digest) -> None:
    """Raise ValueError where a place points nowhere, or an order that is relied upon doesn't hold."""
    for table in tables(digest).values():
        require(len({len(getattr(table, column.name)) for column in fields(table)}) == 1)
    texts, lines, groups = len(digest.texts), len(digest.lines), len(digest.groups)
    collectives, cells, keys, links = digest.collectives, digest.cells, digest.keys, digest.links
    terms, sums, calls = digest.terms, digest.sums, digest.calls
    TraceKind(digest.kind)
    for column, least, limit in (
        (collectives.group, 0, groups),
        (collectives.type, 0, texts),
        (collectives.dtype, -1, texts),
        (collectives.line, -1, lines),
        (digest.arrivals.collective, 0, len(collectives)),
        (digest.operators.type, 0, texts),
        (links.group, -1, groups),
        (links.transport, 0, texts),
        (keys.time_class, 0, len(TimeClass)),
        (keys.reason, -1, texts),
        (keys.line, -1, lines),
        (cells.key, 0, len(keys)),
        (sums.table, 0, len(SumTable)),
        (sums.name, 0, texts),
        (sums.line, -1, lines),
        (calls.line, 0, lines),
        *(((digest.ranges.name, 0, texts),) if digest.ranges is not None else ()),
        *(((digest.awaited.collective, 0, len(collectives)),) if digest.awaited is not None else ()),
        (cells.segment, 0, len(digest.boundaries) - 1),
    ):
        require_within(column, least, limit)
    walls = digest.walls
    for table, length in (
        (terms, walls.end - walls.start),
        (digest.device_terms, walls.device_end - walls.device_start),
    ):
        require_within(table.wall, 0, len(walls))
        require_within(table.term, 0, texts)
        summed = np.zeros(len(walls), np.int64)
        np.add.at(summed, table.wall, table.ns)
        require(bool((summed == length).all()))
        require(all(digest.texts[term] in TERMS for term in set(table.term.tolist())))
    require(bool((walls.device[1:] >= walls.device[:-1]).all()))
    require(digest.facts is None or digest.facts.steps == int((walls.device == walls.device[:1]).sum()))
    require(int(digest.part_counts.sum()) == len(digest.parts))
    require_within(digest.parts.ns, -_LONGEST, _LONGEST)
    require(len(calls) <= lines)
    require(bool((collectives.end >= collectives.start).all()))
    require(bool((collectives.start[1:] >= collectives.start[:-1]).all()))
    require(bool((digest.boundaries[1:] > digest.boundaries[:-1]).all()))
    require(bool((cells.segment[1:] >= cells.segment[:-1]).all()) and bool((cells.ns > 0).all()))
    if digest.ranges is not None:
        require(bool((digest.ranges.end >= digest.ranges.start).all()))
        require(bool((digest.ranges.start[1:] >= digest.ranges.start[:-1]).all()))
    edges = np.concatenate((collectives.start, collectives.end))
    place = np.searchsorted(digest.boundaries, edges)
    require(not len(edges) or int(place.max()) < len(digest.boundaries))
    require(bool((digest.boundaries[place] == edges).all()))


def _pack(column: Int64s) -> str:
    """Return a column as text: the bytes of a number, then those of the differences."""
    steps = np.diff(column, prepend=np.zeros(1, np.int64))
    zigzag = ((steps << 1) ^ (steps >> 63)).view(np.uint64)
    largest = int(zigzag.max()) if len(zigzag) else 0
    width = max((largest.bit_length() + 7) // 8, 1)
    by_byte = zigzag.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].T
    return f"{width}{base64.b64encode(np.ascontiguousarray(by_byte).tobytes()).decode('ascii')}"


def _unpack(text: str) -> Int64s:
    width = int(text[:1])
    data = np.frombuffer(base64.b64decode(text[1:], validate=True), np.uint8)
    if not 1 <= width <= 8 or len(data) % width:
        raise ValueError("damaged column")
    zigzag = np.zeros(len(data) // width, np.uint64)
    for place, part in enumerate(data.reshape(width, -1)):
        zigzag |= part.astype(np.uint64) << np.uint64(8 * place)
    steps = (zigzag >> np.uint64(1)).view(np.int64)
    steps ^= -(zigzag & np.uint64(1)).view(np.int64)
    return np.cumsum(steps, out=steps)
