"""A trace as a JSON document and arrays, and back: the columns of its tables as they are.

What the columns of a table are is read from its class, so that a new one needs no line here. Knows the
model, no files.
"""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int64s
from tracetui.cache.container import Arrays
from tracetui.language import statement_document, statement_of
from tracetui.reader.events import (
    BlockColumns,
    HcclColumns,
    MemoryColumns,
    NumberedColumns,
    ReadReport,
    Skip,
)
from tracetui.trace.model import (
    Counters,
    Family,
    Flows,
    Instants,
    Layer,
    Slices,
    Trace,
    TraceKind,
    Track,
)

_DTYPES = {
    "Int64s": ("<i8",),
    "Int32s": ("<i4",),
    "Int8s": ("|i1",),
    "Wholes": ("<i4", "<i8"),
    "Smalls": ("<i2", "<i4"),
    "Floats": ("<f8",),
}
_RANGES = ("lanes", "rows", "samples")
TraceTable = Union[Slices, HcclColumns, NumberedColumns, MemoryColumns, Flows, Counters, Instants]
CachedTable = TypeVar("CachedTable", bound=Union[TraceTable, BlockColumns])
#: The tables of a trace, by the names that it has for them.
TABLES: dict[str, type[TraceTable]] = {
    "slices": Slices,
    "hccl": HcclColumns,
    "numbered": NumberedColumns,
    "memory": MemoryColumns,
    "flows": Flows,
    "counters": Counters,
    "instants": Instants,
}


def freeze(trace: Trace, blocks: BlockColumns) -> tuple[dict[str, Any], Arrays]:
    """Return all of a trace but its path, and where its events are."""
    document = {
        "kind": trace.kind.value,
        "threads": trace.threads,
        "tracks": [_track_document(track) for track in trace.tracks],
        "devices": trace.devices,
        "start_ns": trace.start_ns,
        "end_ns": trace.end_ns,
        "report": _report_document(trace.report),
        "owners": trace.owners,
        "base_ns": trace.base_ns,
        "unclosed": trace.unclosed,
        "shared_flows": trace.shared_flows,
        "messages": trace.messages,
        "notes": [*map(statement_document, trace.notes)],
    }
    text = "".join(trace.strings).encode("utf-8", "surrogatepass")
    arrays: Arrays = {
        "strings": np.frombuffer(text, np.uint8),
        "string_ends": np.cumsum(np.fromiter(map(len, trace.strings), np.int64, len(trace.strings))),
        "lane_rows": trace.lane_rows,
        "lane_track": trace.lane_track,
    }
    for prefix, table in {**{name: getattr(trace, name) for name in TABLES}, "blocks": blocks}.items():
        for field in fields(table):
            arrays[f"{prefix}.{field.name}"] = getattr(table, field.name)
    return document, arrays


def thaw(path: str, document: dict[str, Any], arrays: Arrays) -> tuple[Trace, BlockColumns]:
    """Return the trace at `path` and where its events are; not checked yet.

    Raises ValueError, KeyError or TypeError where something is missing or of another type.
    """
    report = document["report"]
    skips = tuple(Skip(**skip) for skip in report["skips"])
    passages = tuple((int(start), int(end)) for start, end in report["seen"])
    warnings = tuple(map(statement_of, report["warnings"]))
    trace = Trace(
        path=path,
        kind=TraceKind(document["kind"]),
        strings=_strings(arrays),
        threads=[(_checked_text(pid), _checked_text(tid)) for pid, tid in document["threads"]],
        tracks=tuple(_track(index, track) for index, track in enumerate(document["tracks"])),
        lane_rows=_column(arrays, "lane_rows", "Int64s"),
        lane_track=_column(arrays, "lane_track", "Int32s"),
        devices=tuple(map(_checked_text, document["devices"])),
        start_ns=int(document["start_ns"]),
        end_ns=int(document["end_ns"]),
        report=ReadReport(**{**report, "skips": skips, "seen": passages, "warnings": warnings}),
        owners={pid: _checked_text(owner) for pid, owner in document["owners"].items()},
        base_ns=int(document["base_ns"]),
        unclosed=int(document["unclosed"]),
        shared_flows=int(document["shared_flows"]),
        messages=tuple(map(_checked_text, document["messages"])),
        notes=tuple(map(statement_of, document["notes"])),
        **{name: _table(table, name, arrays) for name, table in TABLES.items()},  # type: ignore[arg-type]
    )
    return trace, _table(BlockColumns, "blocks", arrays)


def _report_document(report: ReadReport) -> dict[str, Any]:
    """Return a report without the warnings that are about this one reading, and not about the file."""
    lasting = tuple(warning for warning in report.warnings if warning not in report.passing)
    document = asdict(replace(report, warnings=lasting))
    document["warnings"] = [*map(statement_document, lasting)]
    del document["passing"]
    return document


def _track_document(track: Track) -> dict[str, Any]:
    document = {field.name: getattr(track, field.name) for field in fields(track) if field.name != "index"}
    return {**document, **{name: [document[name].start, document[name].stop] for name in _RANGES}}


def _track(index: int, document: dict[str, Any]) -> Track:
    return Track(
        index=index,
        layer=Layer(document["layer"]),
        family=Family(document["family"]),
        process=_checked_text(document["process"]),
        name=_checked_text(document["name"]),
        device=None if document["device"] is None else _checked_text(document["device"]),
        pid=_checked_text(document["pid"]),
        tid=_checked_text(document["tid"]),
        lanes=range(*document["lanes"]),
        rows=range(*document["rows"]),
        samples=range(*document["samples"]),
    )


def _strings(arrays: Arrays) -> list[str]:
    """Return the strings, cut from one text: their ends are counted in characters."""
    text = arrays["strings"].tobytes().decode("utf-8", "surrogatepass")
    ends: Int64s = _column(arrays, "string_ends", "Int64s")
    bounds = np.concatenate((np.zeros(1, np.int64), ends))
    if bounds[-1] != len(text) or (bounds[1:] < bounds[:-1]).any():
        raise ValueError("misplaced strings")
    places = bounds.tolist()
    return [text[start:end] for start, end in zip(places, places[1:])]


def _table(table_class: type[CachedTable], prefix: str, arrays: Arrays) -> CachedTable:
    columns = {
        field.name: _column(arrays, f"{prefix}.{field.name}", str(field.type))
        for field in fields(table_class)
    }
    return table_class(**columns)


def _column(arrays: Arrays, name: str, dtype_name: str) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype.str not in _DTYPES[dtype_name]:
        raise ValueError(f"{name}: of another type")
    return array


def _checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
