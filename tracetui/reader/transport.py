"""A piece on its way from one process to another: columns as raw bytes, and one JSON document for the rest.

Knows no process; nothing is pickled, so that nothing that comes back can run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracetui.reader.damage import Damage
from tracetui.reader.events import BlockColumns, Metadata, Skip
from tracetui.reader.extract import ExtractedPart
from tracetui.reader.pieces import EventsPiece

_ALIGNED = 8  # bytes: numpy reads other places one value at a time
_PLAIN = ("start", "end", "in_damage", "ended", "over", "cut", "whole")
_BLOCKS = tuple(field.name for field in fields(BlockColumns))


def pack_piece(piece: EventsPiece) -> list[bytes]:
    """Return a piece as strings of bytes, to be written one after the other; the first is the document.

    Raises TypeError where a text of the trace can't be encoded.
    """
    part, damage = piece.part, piece.damage
    columns = {**part.columns, **{f"blocks.{name}": getattr(piece.blocks, name) for name in _BLOCKS}}
    document = {
        "piece": {name: getattr(piece, name) for name in _PLAIN},
        "part": {
            "events": part.events,
            "scanned": part.scanned,
            "strings": part.strings,
            "threads": part.threads,
            "series": part.series,
            "flow_ids": part.flow_ids,
            "skipped": part.skipped,
            "unknown_phases": part.unknown_phases,
            "without_duration": part.without_duration,
        },
        "metadata": [asdict(metadata) for metadata in part.metadata],
        "damage": {"places": damage.places, "reasons": dict(damage.reasons), "end": damage.end},
        "skips": [(skip.offset, skip.length, skip.reason) for skip in damage.skips],
        "columns": [(name, values.dtype.str, len(values)) for name, values in columns.items()],
    }
    return [_pad(orjson.dumps(document)), *[_pad(values.tobytes()) for values in columns.values()]]


def unpack_piece(content: bytes, length: int) -> EventsPiece:
    """Return the piece again, its columns in `content`; `length`: of the document.

    Raises ValueError, TypeError, KeyError or AttributeError where `content` is something else.
    """
    document = orjson.loads(content[:length])
    columns: dict[str, NDArray[Any]] = {}
    offset = length
    for name, dtype, count in document["columns"]:
        columns[name] = np.frombuffer(content, dtype, count, offset)
        offset += columns[name].nbytes + -columns[name].nbytes % _ALIGNED
    if offset != len(content):
        raise ValueError("more bytes than columns")
    blocks = BlockColumns(**{name: columns.pop(f"blocks.{name}") for name in _BLOCKS})
    part, damage = document["part"], document["damage"]
    part["threads"] = [tuple(thread) for thread in part["threads"]]
    part["series"] = [tuple(series) for series in part["series"]]
    metadata = [Metadata(**metadata) for metadata in document["metadata"]]
    skips = [Skip(*skip) for skip in document["skips"]]
    return EventsPiece(
        **document["piece"],
        part=ExtractedPart(columns=columns, metadata=metadata, **part),
        blocks=blocks,
        damage=Damage(damage["places"], Counter(damage["reasons"]), skips, damage["end"]),
    )


def _pad(content: bytes) -> bytes:
    return content + b" " * (-len(content) % _ALIGNED)
