"""Whatever becomes of an entry on disk: it is not used, or it is what was written. Nothing is ever raised."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cache.files import found, read_and_keep, same
from tracetui.cache.checks import check
from tracetui.cache.traces import EntryState, cached_traces
from tracetui.reader.events import BlockColumns
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Slices, Trace

HEADER = 32


@pytest.fixture
def kept(path: Path, home: Path) -> tuple[Path, Path, Trace]:
    """A trace's path, its entry, and the trace."""
    trace = read_and_keep(path)
    (entry,) = home.iterdir()
    return path, entry, trace


_slow = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@_slow
@given(where=st.floats(0, 1, exclude_max=True), mask=st.integers(1, 255), count=st.integers(1, 80))
def test_changed_bytes(kept: tuple[Path, Path, Trace], where: float, mask: int, count: int) -> None:
    path, entry, expected = kept
    whole = entry.read_bytes()
    at = int(where * len(whole))
    damaged = bytes(byte ^ mask for byte in whole[at : at + count])
    entry.write_bytes(whole[:at] + damaged + whole[at + count :])
    try:
        trace = found(path)
        assert trace is None or same(trace, expected)
        cached_traces()
    finally:
        entry.write_bytes(whole)


@_slow
@given(where=st.floats(0, 1, exclude_max=True), how=st.sampled_from(["cut", "grow", "lose", "zero"]))
def test_lost_bytes(kept: tuple[Path, Path, Trace], where: float, how: str) -> None:
    path, entry, expected = kept
    whole = entry.read_bytes()
    at = int(where * len(whole))
    left = {
        "cut": whole[:at],
        "grow": whole + whole[at:],
        "lose": whole[:at] + whole[at + 64 :],
        "zero": whole[:at] + bytes(len(whole) - at),
    }[how]
    entry.write_bytes(left)
    try:
        trace = found(path)
        assert trace is None or (how == "zero" and same(trace, expected))
        cached_traces()
    finally:
        entry.write_bytes(whole)


def _rewritten(whole: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """A file with another document, and the right sums."""
    magic, form, _, length, _ = struct.unpack("<8sIIQQ", whole[:HEADER])
    document = json.loads(whole[HEADER : HEADER + length])
    start = -(-(HEADER + length) // 64) * 64
    change(document)
    text = json.dumps(document).encode()
    body_at = -(-(HEADER + len(text)) // 64) * 64
    size = body_at + len(whole) - start
    header = struct.pack("<8sIIQQ", magic, form, zlib.crc32(text), len(text), size)
    return (header + text).ljust(body_at, b"\0") + whole[start:]


def _swap(document: dict[str, Any], one: str, other: str) -> None:
    for place in document["arrays"]:
        place[0] = {one: other, other: one}.get(place[0], place[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("arrays"),
        lambda document: document.update(arrays=7),
        lambda document: document.update(arrays=[]),
        lambda document: document.update(arrays=[[]]),
        lambda document: document["arrays"].pop(),
        lambda document: document["arrays"][0].__setitem__(1, "|O"),
        lambda document: document["arrays"][3].__setitem__(2, 1 << 70),
        lambda document: document["arrays"][3].__setitem__(3, -1),
        lambda document: document["arrays"][3].__setitem__(3, 1 << 62),
        lambda document: document["arrays"][3].__setitem__(3, 1.5),
        lambda document: document["columns"].pop("report"),
        lambda document: document["columns"].update(kind="none"),
        lambda document: document["columns"].update(start_ns=None),
        lambda document: document["columns"]["threads"].append([1, 2]),
        lambda document: document["columns"]["tracks"][0].update(layer=99),
        lambda document: document["columns"]["tracks"][0].update(rows=[0, 10**9]),
        lambda document: document["columns"]["tracks"].pop(),
        lambda document: document["columns"]["report"].update(surplus=1),
        lambda document: _swap(document, "slices.start", "slices.end"),
        lambda document: _swap(document, "slices.name", "slices.category"),
        lambda document: _swap(document, "slices.start", "lane_track"),
        lambda document: _swap(document, "lane_rows", "string_ends"),
    ],
)
def test_a_document_that_lies(
    kept: tuple[Path, Path, Trace], change: Callable[[dict[str, Any]], object]
) -> None:
    path, entry, expected = kept
    whole = entry.read_bytes()
    entry.write_bytes(_rewritten(whole, lambda document: None))
    assert same(found(path), expected), "the file can be rewritten"
    entry.write_bytes(_rewritten(whole, change))
    assert found(path) is None
    assert len(cached_traces()) == 1


@pytest.mark.parametrize("text", [b"", b"7", b"[]", b"{}", b"\xff", pytest.param(b"[" * 100_000, id="deep")])
def test_a_document_that_is_none(kept: tuple[Path, Path, Trace], text: bytes) -> None:
    path, entry, _ = kept
    size = -(-(HEADER + len(text)) // 64) * 64
    header = struct.pack("<8sIIQQ", b"tracetui", 1, zlib.crc32(text), len(text), size)
    entry.write_bytes((header + text).ljust(size, b"\0"))
    assert found(path) is None
    assert cached_traces()[0].state is EntryState.UNREADABLE


def _checked(path: Path) -> tuple[Trace, BlockColumns]:
    with TraceFile(path, block_bytes=2000) as trace_file:
        trace = build_trace(trace_file.read())
        return trace, trace_file.blocks


def test_what_the_model_builds_is_a_trace(path: Path) -> None:
    check(*_checked(path))


_SLICES = [field.name for field in fields(Slices)]
_FLOWS = ["category", "source", "target", "source_thread"]


@pytest.mark.parametrize("value", [-2, 1 << 30])
@pytest.mark.parametrize("column", [name for name in _SLICES if name != "correlation"])
def test_no_slice_points_nowhere(path: Path, column: str, value: int) -> None:
    trace, blocks = _checked(path)
    values = getattr(trace.slices, column).astype(np.int64)
    values[len(values) // 2] = value if column != "activity" else 9 if value > 0 else -2
    with pytest.raises(ValueError, match="fit"):
        check(replace(trace, slices=replace(trace.slices, **{column: values})), blocks)


@pytest.mark.parametrize("column", _FLOWS)
def test_no_flow_points_nowhere(path: Path, column: str) -> None:
    trace, blocks = _checked(path)
    values = getattr(trace.flows, column).copy()
    values[0] = 1 << 30
    with pytest.raises(ValueError, match="fit"):
        check(replace(trace, flows=replace(trace.flows, **{column: values})), blocks)


def test_lanes_hold_all_slices_once(path: Path) -> None:
    trace, blocks = _checked(path)
    wrong: list[Trace] = [
        replace(trace, lane_rows=trace.lane_rows[:-1]),
        replace(trace, lane_rows=trace.lane_rows[::-1].copy()),
        replace(trace, lane_track=trace.lane_track[::-1].copy()),
        replace(trace, lane_track=trace.lane_track + np.int32(1)),
        replace(trace, tracks=trace.tracks[1:]),
        replace(trace, tracks=(*trace.tracks, trace.tracks[-1])),
        replace(trace, start_ns=trace.start_ns + 1),
        replace(trace, flows=replace(trace.flows, source=trace.flows.source[:-1])),
    ]
    for damage in wrong:
        with pytest.raises((ValueError, IndexError)):
            check(damage, blocks)


@pytest.mark.parametrize("column", [field.name for field in fields(BlockColumns) if field.name != "span_end"])
def test_blocks_are_in_order(path: Path, column: str) -> None:
    trace, blocks = _checked(path)
    values = getattr(blocks, column)
    changed = np.append(values, np.int64(1)) if column == "span_start" else values.copy()
    changed[len(changed) // 2] -= 1 << 40
    with pytest.raises(ValueError, match="fit"):
        check(trace, replace(blocks, **{column: changed}))
