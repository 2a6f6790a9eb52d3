"""What each kind of event becomes, also where it isn't as its producer should have written it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reader.rows import rows_of
from tracetui.reader.events import EventTable
from tracetui.reader.phases import METADATA, SLICE, UNKNOWN, kinds_of
from tracetui.reader.source import TraceFile


def _read(path: Path, events: Any, **members: Any) -> EventTable:
    file = path / "t.json"
    file.write_text(json.dumps({**members, "traceEvents": events} if members else events))
    with TraceFile(file) as trace:
        return trace.read()


def _x(**fields: Any) -> dict[str, Any]:
    return {"ph": "X", "name": "x", "pid": 1, "tid": 2, "ts": "1.000", "dur": 1, **fields}


def test_threads_are_the_same_as_number_and_as_text(tmp_path: Path) -> None:
    table = _read(tmp_path, [_x(pid=5), _x(pid=5.0), _x(pid="5"), _x(pid=5.5), _x(pid=None), _x(pid="")])
    assert table.threads == [("5", "2"), ("5.5", "2"), ("", "2")]
    assert table.slices.thread.tolist() == [0, 0, 0, 1, 2, 2]


def test_pairs_of_begin_and_end_become_slices(tmp_path: Path) -> None:
    def event(phase: str, name: str, ts: int, tid: int = 1) -> dict[str, Any]:
        return {"ph": phase, "name": name, "pid": 1, "tid": tid, "ts": ts}

    events = [
        event("B", "outer", 10),
        _x(name="between", ts=11, tid=9),
        event("B", "inner", 12),
        event("B", "other", 13, tid=2),
        event("E", "inner", 15),
        event("E", "outer", 20),
        event("B", "unclosed", 30),
        event("E", "never begun", 40, tid=3),
    ]
    table = _read(tmp_path, events)
    assert [(row[3], row[0], row[1], row[5]) for row in rows_of(table).slices] == [
        ("outer", 10_000, 10_000, 0),
        ("between", 11_000, 1_000, 1),
        ("inner", 12_000, 3_000, 2),
        ("other", 13_000, 27_000, 3),
        ("unclosed", 30_000, 10_000, 6),
    ]
    assert table.report.warnings == (
        "begin events without an end: 2, drawn to the end of the trace",
        "end events without a begin: 1, left out",
    )


@pytest.mark.parametrize(
    ("args", "correlation"),
    [
        ({"connection_id": 7, "correlation_id": 8}, 7),
        ({"connection_id": 4294967295, "correlation_id": 8, "correlation": 9}, 8),
        ({"connection_id": 18446744073709551615}, -1),
        ({"connection_id": -1, "correlation": 9}, 9),
        ({"correlation": "12"}, 12),
        ({"connection_id": 2**63}, -1),
        ({"connection_id": 2**63 - 1}, 2**63 - 1),
        ({"connection_id": 1.5}, -1),
        ({"connection_id": [1]}, -1),
        ({"connection_id": None, "correlation": 3.0}, 3),
        ({}, -1),
        ([], -1),
        ("connection_id", -1),
        (None, -1),
    ],
)
def test_correlation(tmp_path: Path, args: Any, correlation: int) -> None:
    table = _read(tmp_path, [_x(args=args), _x(args={"connection_id": 1})])
    assert table.slices.correlation.tolist() == [correlation, 1]


def test_counters_have_a_row_for_each_series(tmp_path: Path) -> None:
    def counter(**args: Any) -> dict[str, Any]:
        return {"ph": "C", "name": "c", "pid": 1, "tid": 0, "ts": "1.000", "args": args}

    events = [
        counter(value=1, acc_id=3),
        counter(a=0.5, b="2.5", c=None, d=[1], e=True, f="x"),
        counter(**{"PA Link ID": 1, "PCIE ID": 2, "value": 4}),
        counter(value=float("nan")),
        counter(value=10**400),
        {**counter(), "args": None},
    ]
    table = _read(tmp_path, events)
    assert [row[3:] for row in rows_of(table).counters] == [
        ("value", 1.0),
        ("a", 0.5),
        ("b", 2.5),
        ("e", 1.0),
        ("value", 4.0),
    ]
    assert table.report.events == 6


def test_flow_ids_are_equal_as_number_and_as_text(tmp_path: Path) -> None:
    ids = [5, "5", 5.0, "005", 2**63 - 1, 2**63, str(2**63), 2**80, str(2**80), 2**80 + 1, "0x5", "-1", -1]
    events = [{"ph": "s", "name": "f", "cat": "c", "pid": 1, "tid": 1, "ts": 1, "id": id_} for id_ in ids]
    file = tmp_path / "t.json"
    file.write_text(json.dumps(events))
    for part in (1, 1 << 20):
        with TraceFile(file, block_bytes=80, part_bytes=part) as trace:
            found = trace.read().flows.id.tolist()
        assert found[:5] == [5, 5, 5, 5, 2**63 - 1]
        assert all(id_ < -1 for id_ in found[5:])
        same = [found.index(id_) for id_ in found[5:]]
        assert same == [5, 5, 7, 7, 9, 10, 11, 11]


def test_base_time_is_added_where_times_are_relative(tmp_path: Path) -> None:
    base = 1712195491000000000
    assert _read(tmp_path, [_x()], baseTimeNanoseconds=base).slices.start.tolist() == [base + 1000]
    assert _read(tmp_path, [_x()], baseTimeNanoseconds=str(base)).slices.start.tolist() == [base + 1000]
    absolute = "1712195495519689.047"
    assert _read(tmp_path, [_x(ts=absolute)], baseTimeNanoseconds=base).slices.start.tolist() == [
        1712195495519689047
    ]
    for odd in (None, -5, "x", 10**40):
        assert _read(tmp_path, [_x()], baseTimeNanoseconds=odd).slices.start.tolist() == [1000]


def test_float_times_are_read_from_their_digits(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    plain = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1712195495519689.047,"dur":0.001}'
    nested = '{"args":{"ts": 1.5},"ph":"X","name":"a","pid":1,"tid":1,"ts" : 1712195495519689.123,"dur":1}'
    near = nested.replace("1.5", "1712195495519689.001").replace(".123", ".101")  # the same float
    nan = '{"ph":"X","name":"a","pid":1.0,"tid":1,"ts":1712195495519689.999,"dur":NaN}'
    cases = [[plain], [plain, nested], [plain, nan], [nested, nan, plain], [nan, "5", plain]]
    for events in (*cases, [near], [near, plain]):
        file.write_text("[" + ",".join(events) + "]")
        with TraceFile(file) as trace:
            table = trace.read()
        digits = {plain: 47, nested: 123, near: 101, nan: 999}
        expected = [1712195495519689000 + digits[event] for event in events if event in digits]
        assert table.slices.start.tolist() == expected
        assert table.threads == [("1", "1")]


def test_malformed_events_are_left_out_and_counted(tmp_path: Path) -> None:
    malformed: list[Any] = [
        5,
        None,
        "text",
        [],
        {"ph": 3},
        {"ph": ["X"]},
        {"ph": "X", "name": "no ts"},
        _x(ts="inf"),
        _x(ts=None),
        {"ph": "s", "ts": 1, "cat": "no id"},
        {"ph": "b", "ts": 1, "id": 1, "name": "async"},
    ]
    odd = [
        _x(name=7),
        _x(name=None),
        _x(name={"a": 1}),
        _x(pid=[1], tid={}),
        _x(cat=["c"], args={"Call stack": ["f"], "Task Type": {}, "Python id": "9"}),
        _x(dur=None),
        {"ph": "X", "ts": 1},
    ]
    table = _read(tmp_path, [*malformed, *odd, _x(name="good")])
    rows = rows_of(table).slices
    assert [row[3] for row in rows] == ["7", "", "", "x", "x", "x", "", "good"]
    assert [row[1] for row in rows] == [1000] * 5 + [0, 0, 1000], "without a duration it takes no time"
    assert rows[3][2] == ("", "")
    assert rows[4][4:] == (None, 15, -1, None, None, None, 9, -1)
    assert table.report.events == len(malformed) + len(odd) + 1
    assert table.report.skipped == len(malformed)
    assert table.report.unknown_phases == {"b": 1}
    assert all(warning.isprintable() for warning in table.report.warnings)


def test_numbers_of_a_transfer_that_fit_no_column_are_unknown(tmp_path: Path) -> None:
    sizes, ranks = [2**63 - 1, 2**63, 2**64], [2**31 - 1, 2**31, 2**32]
    events = [
        _x(args={"data_type": "fp16", "size(Byte)": size, "count": size, "src rank": rank, "dst rank": rank})
        for size, rank in zip(sizes, ranks)
    ]
    for extra in ([], [5]):  # what is no event has all of its block decoded
        found = _read(tmp_path, [*extra, *events]).hccl
        assert found.size.tolist() == found.count.tolist() == [2**63 - 1, -1, -1]
        assert found.src.tolist() == found.dst.tolist() == [2**31 - 1, -1, -1]


def test_blocks_of_memory_beyond_reason_have_no_size(tmp_path: Path) -> None:
    sizes = [2**62 - 1, 2**62, -(2**62) + 1, -(2**62)]
    events = [{"ph": "i", "ts": 1, "args": {"Addr": 7, "Bytes": size}} for size in sizes]
    assert _read(tmp_path, events).memory.size.tolist() == [2**62 - 1, 0, -(2**62) + 1, 0]


def test_unknown_phases_are_named_as_far_as_there_is_room(tmp_path: Path) -> None:
    phases = [f"phase-{letter}" + "\n" * 90 for letter in "ihgfedcba"]
    table = _read(tmp_path, [{"ph": phase, "ts": 1} for phase in phases] + [_x()])
    names = ", ".join(f"phase-{letter}\\n" for letter in "abcdefgh")
    assert table.report.warnings == (f"9 events left out: of a phase that is not shown ({names})",)
    assert list(table.report.unknown_phases) == [phase[:40].replace("\n", "\\n") for phase in phases]


def test_a_phase_is_text() -> None:
    assert kinds_of(["X", "long", "\u0394", "M"]) == bytes((SLICE, UNKNOWN, UNKNOWN, METADATA))
    for odd in (None, 7, ["X"]):
        with pytest.raises(TypeError):
            kinds_of(["X", odd])


def test_metadata_is_kept_as_text(tmp_path: Path) -> None:
    events = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Python"}},
        {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "args": {"labels": "NPU 0"}},
        {"ph": "M", "name": "process_sort_index", "pid": "Spans", "tid": 0, "args": {"sort_index": 13}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3},
    ]
    assert rows_of(_read(tmp_path, [*events, _x()])).metadata == [
        ("process_name", "1", "", "Python"),
        ("process_labels", "1", "0", "NPU 0"),
        ("process_sort_index", "Spans", "0", "13"),
        ("thread_name", "1", "3", ""),
    ]
