"""Calls of Python that were never closed end where their callers or what these call next say."""

from __future__ import annotations

import gzip
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis import real
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis
from tracetui.trace.model import Trace

NOTE = "never closed"
STOP = 1_000


def call(number: int, parent: int | None, start: int, end: int, tid: int = 7) -> dict[str, Any]:
    """A call of Python; times in us."""
    ids = {"Python id": number} if parent is None else {"Python id": number, "Python parent id": parent}
    return piece(7, tid, f"train.py({number}): f{number}", start, end - start, "python_function", **ids)


def ends(*calls: dict[str, Any]) -> tuple[dict[int, float], list[str]]:
    """When each call ends, in us, by the line of its function; what is noted of them."""
    trace = trace_of([*process(7, "python", "CPU", 0), *calls])
    lines = [int(trace.name(row).split("(")[1].split(")")[0]) for row in range(len(trace.slices))]
    found = dict(zip(lines, (trace.slices.end / 1_000).tolist()))
    return found, [note for note in trace.notes if NOTE in note]


ROOT = call(1, None, 0, STOP)


def test_a_call_ends_where_its_caller_calls_the_next() -> None:
    found, notes = ends(ROOT, call(2, 1, 0, 100), call(3, 2, 10, STOP), call(4, 2, 30, 40))
    assert found == {1: 1_000, 2: 100, 3: 30, 4: 40}
    assert notes == ["1 call of Python was never closed: it ends where its caller ends or calls the next."]


def test_the_last_call_ends_with_its_caller() -> None:
    found, _ = ends(ROOT, call(2, 1, 0, 100), call(3, 2, 10, 20), call(4, 2, 30, STOP))
    assert found == {1: 1_000, 2: 100, 3: 20, 4: 100}


def test_a_call_inside_one_that_was_never_closed_ends_with_it() -> None:
    calls = (call(2, 1, 0, STOP), call(3, 2, 10, STOP), call(4, 3, 20, STOP), call(5, 1, 50, 60))
    found, notes = ends(*calls[::-1], ROOT)
    assert found == {1: 1_000, 2: 50, 3: 50, 4: 50, 5: 60}
    (note,) = notes
    assert note == "3 calls of Python were never closed: they end where their caller ends or calls the next."


def test_what_was_open_when_the_recording_stopped_is_as_it_was() -> None:
    """torch_npu calls the root, number 0, a child of itself; the last call of a thread may have no caller."""
    found, notes = ends(call(0, 0, 0, STOP), call(2, 0, 10, 20), call(3, 0, 30, STOP), call(4, 3, 40, STOP))
    assert found == {0: 1_000, 2: 20, 3: 1_000, 4: 1_000}
    assert notes == []


def test_numbers_count_for_their_own_thread() -> None:
    found, notes = ends(ROOT, call(12, 1, 0, STOP), call(13, 1, 50, 60, tid=8), call(14, 12, 5, STOP, tid=8))
    assert (found[12], found[14], notes) == (1_000, 1_000, [])


def test_a_call_of_a_later_thread_ends_with_its_caller() -> None:
    calls = (ROOT, call(2, 1, 0, 100), call(3, 2, 10, 20), call(4, 2, 30, STOP))
    found, _ = ends(call(20, None, 0, STOP, tid=6), *calls)
    assert found == {20: 1_000, 1: 1_000, 2: 100, 3: 20, 4: 100}


@pytest.mark.parametrize("name", real.GPU)
def test_real_gpus_closed_all_calls(real_traces: Path, name: str) -> None:
    assert _notes(real.gpu(real_traces, name).trace) == []


@pytest.mark.parametrize("rank", real.NPU)
def test_real_npus_closed_all_calls(real_traces: Path, rank: str) -> None:
    assert _notes(real.npu(real_traces, rank).trace) == []


def _notes(trace: Trace) -> list[str]:
    return [note for note in trace.notes if NOTE in note]


REAL = {
    "gpu": "gpu/pairs/h100/gaunernst_bert-small-uncased__1016001.json.gz",
    "npu": "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
}


@pytest.mark.parametrize("make", REAL)
def test_the_idle_time_of_real_traces_is_as_if_they_had_been_closed(
    real_traces: Path, tmp_path: Path, make: str
) -> None:
    """Of 20 calls the end is lost. As recorded, 88 % and 5 % of the idle time would be of another cause."""
    path = real_traces / REAL[make]
    clean = real.analysed(path)
    assert _notes(clean.trace) == []
    text = path.read_bytes()
    document = json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)
    events = document if isinstance(document, list) else document["traceEvents"]
    _lose_ends(events, 20)
    lossy = tmp_path / f"{make}.json"  # analyses are kept by path, and directories of tests are used again
    lossy.write_text(json.dumps(document), encoding="utf-8")
    planted = real.analysed(lossy)
    assert [note.split(" ")[0] for note in _notes(planted.trace)] == ["20"]
    assert planted.idle_ns == clean.idle_ns
    assert _moved(_causes(clean), _causes(planted)) < clean.idle_ns // 100
    lines = [{line.key: line.idle_ns for line in analysis.lines} for analysis in (clean, planted)]
    assert _moved(*lines) < clean.idle_ns // 100


def _lose_ends(events: list[dict[str, Any]], count: int) -> None:
    """Let so many calls last until the recording stopped."""
    calls = [event for event in events if event.get("cat") == "python_function"]
    stop = max(map(_end, calls))
    lost = [call for call in calls if float(call["dur"]) > 5 and stop - _end(call) > 1_000]
    for call in random.Random(1).sample(lost, count):
        call["dur"] = float(stop - Decimal(str(call["ts"])))


def _end(event: dict[str, Any]) -> Decimal:
    return Decimal(str(event["ts"])) + Decimal(str(event["dur"]))


def _causes(analysis: Analysis) -> dict[Any, int]:
    return {**analysis.causes.by_cause()}


def _moved(one: dict[Any, int], other: dict[Any, int]) -> int:
    """The ns that are of something else in the other one."""
    keys = {**one, **other}
    return int(np.abs([one.get(key, 0) - other.get(key, 0) for key in keys]).sum()) // 2
