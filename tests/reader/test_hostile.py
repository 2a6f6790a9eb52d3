"""Files made to hang or to fill the memory: read in time linear to their size, or refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.source import TraceFile

EVENT = b'{"ph":"X","name":"a","pid":1,"tid":2,"ts":"1736412474714258.990","dur":1.5}'
SIZE = 400_000

CASES = {
    "brackets": b"[" * SIZE,
    "objects": b"[" + b'{"a":[' * (SIZE // 6),
    "events in events": b'[{"ph":[' + b'{"ph":1},{"ph":[' * (SIZE // 16),
    "a string without end": b"[" + EVENT + b',{"name":"' + b"x" * SIZE,
    "backslashes": b"[" + EVENT + b',{"name":"' + b"\\" * SIZE,
    "corrupt events": b"[" + b",\n".join([b'{"ph":"X",x}'] * (SIZE // 14)) + b"]",
    "every other event": b"[" + b", ".join([EVENT, EVENT[:-4] + b"}"] * (SIZE // 140)) + b"]",
    "closing braces": b"[" + EVENT + b"}" * SIZE,
    "closing brackets": b"[" + EVENT + b"]" * SIZE,
    "quotes": b"[" + EVENT + b'"' * SIZE,
    "digits": b"[" + EVENT + b',{"ph":"X","ts":' + b"1" * SIZE,
    "exponents": b"[" + EVENT + b',{"ph":"X","name":"a","pid":1,"tid":1,"ts":"1e999999999"}]',
    "open far away": b"[" + b'{"name":[{"ph":' * 190 + b"1," * (SIZE // 2),
    "space": b"[" + EVENT + b" " * SIZE + b"]" + b" " * SIZE,
    "no separators": b"[" + EVENT * (SIZE // 76),
    "deep head": b'{"a":' + b"[" * SIZE,
    "long head": b"{" + b'"a":1,' * (SIZE // 6),
    "nul": b"[" + EVENT + b"\0" * SIZE,
}


@pytest.mark.parametrize("case", CASES)
def test_time_is_linear(tmp_path: Path, case: str) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(CASES[case])
    started = time.process_time()
    try:
        with TraceFile(path) as trace:
            report = trace.read().report
            assert len(report.skips) <= 100
            for ordinal in (0, report.events - 1):
                trace.event(ordinal)
    except UnreadableTrace:
        pass
    # A linear pass takes 0.2 s of a processor, 2 s of one a tenth as fast, a quadratic one minutes.
    assert time.process_time() - started < 30


@pytest.mark.parametrize("element", [b"1", b'{"a": 1}', b'{oops}, {"ph": 7}'])
def test_other_json_is_refused_before_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, element: bytes
) -> None:
    monkeypatch.setattr("tracetui.reader.reading._ENOUGH", 5000)
    path = tmp_path / "t.json"
    path.write_bytes(b"[" + b",".join([element] * 20_000) + b"]")
    done: list[int] = []
    with TraceFile(path, part_bytes=1000, block_bytes=1000) as trace, pytest.raises(UnreadableTrace):
        trace.read(on_progress=lambda progress: done.append(progress.done_bytes))
    assert done[-1] < 10_000


def test_an_event_too_long_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("decode", "pieces"):
        monkeypatch.setattr(f"tracetui.reader.{module}.LONGEST", 1 << 16)
    path = tmp_path / "t.json"
    long = EVENT.replace(b'"a"', b'"' + b"x" * SIZE + b'"')
    path.write_bytes(b"[" + b", ".join([EVENT] * 10 + [long] + [EVENT] * 10) + b"]")
    with TraceFile(path, block_bytes=1000) as trace:
        report = trace.read().report
    assert report.events == 20
    (skip,) = report.skips
    assert SIZE <= skip.length < SIZE + 1000
