"""A trace that was kept is the trace that was read: in every column, every argument and every answer."""

from __future__ import annotations

import gzip
import json
from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path

import pytest

from tests.cache.files import at_rest, found, read, read_and_keep, same, training
from tests.export.training import training_events
from tracetui.analysis.analyse import analyse
from tracetui.cache.columns import freeze
from tracetui.cache.traces import keep, reopen
from tracetui.export.trace.documents import (
    advice_document,
    gaps_document,
    hotspots_document,
    summary_document,
)
from tracetui.export.trace.selection import Selection
from tracetui.language import statement_document
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace, Track


def _found(path: Path) -> Trace:
    trace = found(path)
    assert trace is not None
    return trace


def test_every_answer_is_the_same(path: Path) -> None:
    before, after = analyse(read_and_keep(path)), analyse(_found(path))
    assert same(before.trace, after.trace)
    everything = Selection(None)
    for document in (summary_document, gaps_document, hotspots_document):
        assert document(before, everything) == document(after, everything)
    assert advice_document(before) == advice_document(after)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            b'[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":2,"name":"\xe4\xb8\xad\\ud83d\xff"}]', id="text"
        ),
        pytest.param(b'[{"ph":"C","ts":1,"pid":1,"name":"c","args":{"v":1,"w":null}}]', id="counters only"),
        pytest.param(
            b'{"baseTimeNanoseconds":9,"traceEvents":[{"ph":"C","ts":1,"pid":1,"name":"c"}]}', id="a base"
        ),
        pytest.param(b'[{"ph":"i","ts":1,"pid":1,"tid":2,"name":""}]', id="an instant"),
        pytest.param(b'[{"ph":"M","pid":1,"name":"process_name","args":{"name":"Python"}}]', id="no events"),
        pytest.param(json.dumps(training_events()).encode()[:-300], id="cut off"),
        pytest.param(json.dumps(training_events()).encode().replace(b'"ts"', b'"ts', 9), id="damaged"),
        pytest.param(gzip.compress(json.dumps(training_events()).encode()), id="gzip"),
    ],
)
def test_any_trace(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    before = read_and_keep(at_rest(path))
    after = _found(path)
    assert same(before, after)
    for sentences in ("report.warnings", "notes"):
        kept, read_anew = (attrgetter(sentences)(trace) for trace in (after, before))
        assert [*map(statement_document, kept)] == [*map(statement_document, read_anew)]


def test_arguments_are_found_without_reading(path: Path) -> None:
    with TraceFile(path, block_bytes=700) as trace_file:
        trace = build_trace(trace_file.read())
        assert keep(trace_file, trace)
        expected = [trace_file.event(event) for event in trace.slices.event.tolist()]
    assert any("args" in event for event in expected)
    with TraceFile(path) as again:
        assert reopen(again) is not None
        assert [again.event(event) for event in trace.slices.event.tolist()] == expected


def test_the_path_is_the_one_that_was_asked_for(path: Path) -> None:
    read_and_keep(path)
    link = path.with_name("link.json")
    link.symlink_to(path)
    assert _found(link).path == str(link)


def test_no_field_of_the_model_is_forgotten(path: Path) -> None:
    with TraceFile(path) as trace_file:
        document, arrays = freeze(build_trace(trace_file.read()), trace_file.blocks)
    kept = {*document, *(name.split(".")[0] for name in arrays)}
    assert {field.name for field in fields(Trace)} - kept == {"path"}
    assert {field.name for field in fields(Track)} - set(document["tracks"][0]) == {"index"}


def test_nobody_changes_a_column(path: Path) -> None:
    read_and_keep(path)
    with pytest.raises(ValueError, match="read-only"):
        _found(path).slices.start[0] = 0


def test_a_real_trace(real_traces: Path, tmp_path: Path) -> None:
    for source in sorted(real_traces.rglob("*.json")):
        if source.stat().st_size < 3_000_000 and source.name == "trace_view.json":
            path = tmp_path / "trace_view.json"
            path.write_bytes(source.read_bytes())
            before = read_and_keep(at_rest(path))
            assert same(before, _found(path))
            assert same(before, read(path))


def test_what_only_one_reading_met_is_not_kept(tmp_path: Path) -> None:
    path = training(tmp_path / "trace.json")
    with TraceFile(path) as trace_file:
        trace = build_trace(trace_file.read())
        lasting = trace.report.warnings
        passing = "1 of 2 worker processes ended early (killed); its part was read again"
        report = replace(trace.report, warnings=(passing, *lasting), passing=(passing,))
        assert keep(trace_file, replace(trace, report=report))
    again = found(path)
    assert again is not None
    assert again.report.warnings == lasting
