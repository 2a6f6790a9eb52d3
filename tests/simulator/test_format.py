"""Samples are written as the real producers write: shapes of events, types, order and bytes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.traces import SCENARIO_NAMES, Event, events, processes, start, written

REAL = {
    0: "npu/level0/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
    2: "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
}


def shapes(trace: list[Event]) -> set[Any]:
    """What kinds of events there are: layer, phase, category, keys in order, and types.

    Durations are left out: both producers write some as integers.
    """
    names = processes(trace)
    found = set()
    for event in trace:
        types = tuple(type(value) for key, value in event.items() if key != "dur")
        values = event.get("args", {})
        found.add(
            (names.get(event["pid"]), event["ph"], event.get("cat"), tuple(event), tuple(values), types)
        )
    return found


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("scenario", ["balanced", "moba"])
def test_every_kind_of_event_is_in_a_real_trace(real_traces: Path, scenario: str, level: int) -> None:
    real = json.loads((real_traces / REAL[level]).read_text(encoding="utf-8"))

    assert shapes(events(scenario, level)) <= shapes(real)


def test_processes_are_announced_as_in_a_real_trace(real_traces: Path) -> None:
    real = json.loads((real_traces / REAL[2]).read_text(encoding="utf-8"))
    ours = events("moba")

    def announced(trace: list[Event]) -> dict[str, list[tuple[str, str]]]:
        names = processes(trace)
        found: dict[str, list[tuple[str, str]]] = {}
        for event in trace:
            if event["ph"] == "M" and not event["name"].startswith("thread"):
                text = json.dumps(event["args"])
                found.setdefault(names[event["pid"]], []).append((event["name"], text))
        return found

    expected = announced(real)
    assert {name: expected[name] for name in announced(ours)} == announced(ours)


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_file_is_one_line_with_one_junction(scenario: str, level: int) -> None:
    text = written(scenario, level)

    assert text.startswith(b'[{"ph": "X"') and text.endswith(b'"cat": "async_npu"}]')
    assert b"\n" not in text and b"\r" not in text
    assert text.count(b"},{") == 1


@pytest.mark.parametrize("times", [1, 3])
def test_msprof_events_are_sorted_by_time(times: int) -> None:
    _, tail = written("mixed", times=times).split(b"},{")
    block = [event for event in json.loads(b"[{" + tail) if event.get("cat") != "async_npu"]
    times_of = [start(event) for event in block if event["ph"] != "M"]

    assert [event["ph"] for event in block[:60]].count("M") == sum(event["ph"] == "M" for event in block)
    assert times_of == sorted(times_of)


def test_framework_events_are_in_the_order_of_their_ends() -> None:
    trace = events("moba")
    main = trace[0]["tid"]
    for category in ("cpu_op", "python_function"):
        chosen = [event for event in trace if event.get("cat") == category and event["tid"] == main]
        ends = [start(event) + round(event["dur"] * 1000) for event in chosen]
        assert ends == sorted(ends)


def test_level_0_has_no_runtime_layer() -> None:
    trace = events("moba", 0)
    pruned = {event["pid"] for event in trace if event.get("cat") == "HostToDevice" and event["ph"] == "s"}

    assert "CANN" not in processes(trace).values()
    assert all(event["ph"] in "Ms" for event in trace if event["pid"] in pruned)
    assert not any("Plane" in json.dumps(event) for event in trace if event["ph"] == "X")


def test_level_1_has_no_runtime_calls_and_no_sizes() -> None:
    first, second = events("moba", 1), events("moba", 2)

    assert not any(event["name"].startswith("Runtime@") for event in first)
    assert any(event["name"].startswith("Runtime@") for event in second)
    assert sum("data size(Byte)" in event.get("args", {}) for event in first) == 0
    assert sum("data size(Byte)" in event.get("args", {}) for event in second) == 2


def test_without_task_queue_nothing_is_enqueued() -> None:
    categories = Counter(event.get("cat") for event in events("moba", task_queue=False))

    assert categories["enqueue"] == categories["dequeue"] == categories["async_task_queue"] == 0
    assert categories["async_npu"] == categories["HostToDevice"] > 0


def test_one_timestamp_has_no_decimals() -> None:
    plain = [event for event in events("moba") if "ts" in event and "." not in event["ts"]]

    assert [event["name"] for event in plain] == ["AI Core Freq"]
