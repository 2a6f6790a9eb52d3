"""A file opened again with the blocks of its first reading gives the same events without being read."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import pytest

from tracetui.reader.source import COARSEST_CLOCK, TraceFile


def _text(events: int) -> bytes:
    return json.dumps(
        [{"ph": "i", "name": f"e{n}", "ts": n, "args": {"n": n}} for n in range(events)]
    ).encode()


@pytest.mark.parametrize("damage", [b"", b'"e7"'])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("part", [1500, 1 << 20])
def test_events_are_found_again(tmp_path: Path, damage: bytes, packed: bool, part: int) -> None:
    path = tmp_path / "trace.json"
    text = _text(200)
    if damage:
        text = text.replace(damage, b'"e7\0', 1)
    path.write_bytes(gzip.compress(text) if packed else text)
    with TraceFile(path, block_bytes=500, part_bytes=part) as trace_file:
        table = trace_file.read()
        blocks = trace_file.blocks
        assert trace_file.event(-1) == trace_file.event(table.report.events) == {}
        names = [trace_file.event(event)["name"] for event in (0, 6, 8, table.report.events - 1)]
        assert names == ["e0", "e6", "e9" if damage else "e8", "e199"]
        expected = [trace_file.event(event) for event in range(table.report.events + 2)]
    assert bool(blocks.spans.any()) == bool(damage)
    with TraceFile(path) as again:
        assert again.args(0) == {}
        again.restore(blocks)
        assert [again.event(event) for event in range(table.report.events + 2)] == expected
        assert again.args(5)["n"] == expected[5]["args"]["n"]


def test_only_a_file_at_rest_is_settled(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(_text(9))
    with TraceFile(path) as fresh:
        assert not fresh.settled, "a clock too coarse would not show a change"
    long_ago = time.time() - 60
    os.utime(path, (long_ago, long_ago))
    with TraceFile(path) as trace_file:
        assert trace_file.settled
        stamp = trace_file.stamp
        for more, settled in ((-1, False), (0, True)):
            trace_file._opened = stamp.modified + COARSEST_CLOCK + more
            assert trace_file.settled == settled
        with path.open("ab") as file:
            file.write(b" ")
        os.utime(path, (long_ago, long_ago))
        assert not trace_file.settled
    path.write_bytes(_text(9))
    os.utime(path, (long_ago, long_ago))
    with TraceFile(path) as trace_file:
        assert trace_file.stamp != stamp, "the time of the inode's change tells, whatever else was set back"
        path.unlink()
        assert not trace_file.settled


def test_a_file_that_is_read_with_trouble_is_never_settled(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(_text(9))[:-4])
    os.utime(path, (1, 1))
    with TraceFile(path) as trace_file:
        trace_file.read()
        assert not trace_file.settled


def test_an_event_that_is_not_there_any_more_is_none(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('[{"ph":"i","ts":1},{"ph":"i","ts":2},{"ph":"i","ts":3}]')
    with TraceFile(path) as trace_file:
        trace_file.read()
        blocks = trace_file.blocks
    path.write_text('[{"ph":"i","ts":1,"ph":"i","ts": 2 },{"ph":"i","ts":3}]')
    with TraceFile(path) as trace_file:
        trace_file.restore(blocks)
        assert [trace_file.event(number) for number in range(3)] == [
            *[{"ph": "i", "ts": 2}, {}, {"ph": "i", "ts": 3}]
        ]
