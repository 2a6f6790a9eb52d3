"""Real traces give what Python's json sees in them."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.reader.rows import nanoseconds, rows_of
from tracetui.reader.source import TraceFile

NPU = "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
TRACES = [NPU, "gpu/cpu_only_with_stacks.pt.trace.json.gz", "gpu/sampled_rank-0.json.gz"]


def _content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.parametrize("name", TRACES)
def test_events_are_those_of_json(real_traces: Path, name: str) -> None:
    path = real_traces / name
    document = json.loads(_content(path), parse_float=Decimal)
    events: list[dict[str, Any]] = document if isinstance(document, list) else document["traceEvents"]
    with TraceFile(path) as trace:
        table = trace.read()
        rows = rows_of(table)
        picked = range(0, len(events), 997)
        assert [trace.args(ordinal) for ordinal in picked] == [
            json.loads(json.dumps(events[ordinal].get("args", {}), default=float)) for ordinal in picked
        ]
    report = table.report
    assert (report.events, report.skipped, report.warnings) == (len(events), 0, ())
    slices = [(ordinal, event) for ordinal, event in enumerate(events) if event["ph"] == "X"]
    base = 0 if isinstance(document, list) else int(document.get("baseTimeNanoseconds", 0))
    assert [row[0] for row in rows.slices] == [base + nanoseconds(event["ts"]) for _, event in slices]
    assert [row[1] for row in rows.slices] == [
        nanoseconds(event["dur"], "ROUND_HALF_EVEN") for _, event in slices
    ]
    assert [row[3] for row in rows.slices] == [event["name"] for _, event in slices]
    assert table.slices.event.tolist() == [ordinal for ordinal, _ in slices]
    assert len(rows.flows) == sum(event["ph"] in "stf" for event in events)
    assert len(rows.metadata) == sum(event["ph"] == "M" for event in events)
    assert len(rows.instants) == sum(event["ph"] in "iI" for event in events)


def test_gzip_and_blocks_make_no_difference(real_traces: Path, tmp_path: Path) -> None:
    content = _content(real_traces / NPU)
    packed = tmp_path / "t.json.gz"
    packed.write_bytes(gzip.compress(content, 1))
    with TraceFile(real_traces / NPU) as plain, TraceFile(packed, 20_000, 300_000) as zipped:
        assert rows_of(plain.read()) == rows_of(zipped.read())
        assert plain.event(4000) == zipped.event(4000) != {}


def test_python_layer_alone_without_the_closing_bracket(real_traces: Path, tmp_path: Path) -> None:
    """What a killed export leaves: the framework's events, and no end of the array."""
    content = _content(real_traces / NPU)
    cut = content.index(b"},{") + 1
    path = tmp_path / "t.json"
    path.write_bytes(content[:cut])
    with TraceFile(path) as trace:
        report = trace.read().report
    assert report.truncated
    assert report.events == len(json.loads(content[:cut] + b"]"))
    assert report.warnings == (
        f"file incomplete: {report.events:,} events read up to byte {cut:,}; the end of the array is missing",
    )
