"""Events to columns, with the scanner and without: the rows of their definition, whatever the blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reader.rows import UNCONNECTED, Rows, expected_rows, rows_of
from tracetui.reader.columns import TableBuilder
from tracetui.reader.events import ReadReport
from tracetui.reader.extract import ExtractedPart, PartReader

ARGS: list[dict[str, Any]] = [
    {},
    {"Task Type": "AI_CORE", "connection_id": 5, "Python id": 3},
    {"Call stack": "a.py(1): f", "correlation": "7"},
    {"memcpy direction": "HtoD", "correlation_id": 6, "connection_id": 4294967295},
    {"transport type": "SDMA", "src rank": 0, "dst rank": 1, "size(Byte)": 10},
    {"data_type": "fp16", "count": 4, "alg_type": "ring", "link type": "HCCS"},
    {"Call stack": "", "Python id": 0},
    {
        "Collective name": "allreduce",
        "Process Group Name": "3",
        "Process Group Ranks": "[0, 2]",
        "Group size": 2,
    },
    {
        "Collective name": "send",
        "Dst Rank": 5,
        "In msg nelems": 8,
        "dtype": "Float",
        "count": 1,
        "src rank": 3,
    },
    {"dtype": "Float", "Src Rank": 1, "data_type": "fp16", "Process Group Name": "7"},
]
COUNTED: list[dict[str, Any]] = [{"a": 1, "b": 2}, {"v": 3}, {"b": 2.5, "acc_id": 1, "a": 4}, {}, {"v": 5}]
ALLOCATED: list[dict[str, Any]] = [
    {"Addr": 7, "Bytes": -5, "Device Id": 1},
    *[{"Addr": 8}, {"Bytes": 9}, {}],
    {"Addr": 9, "Bytes": 6, "Total Allocated": 3, "Total Reserved": 4},
]


def _at(number: int) -> dict[str, Any]:
    return {"pid": number % 2, "tid": number % 3, "ts": f"{number}.25", "name": f"n{number % 4}"}


EVENTS: list[dict[str, Any]] = [
    *[{"ph": "X", "dur": 1.5, **_at(number), "args": args} for number, args in enumerate(ARGS)],
    {"ph": "X", "cat": "op", **_at(8)},
    *[{"ph": "C", **_at(number), "args": args} for number, args in enumerate(COUNTED)],
    *[{"ph": phase, "id": n, "cat": "c", **_at(n)} for n, phase in enumerate("stfst")],
    *[{"ph": "f", "id": id_, **_at(1)} for id_ in (str(2**70), 2**63 - 1, str(2**71), "5")],
    *[{"ph": "f", "id": kind(id_), **_at(1)} for id_ in UNCONNECTED for kind in (int, str)],
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "Python"}},
    *[{"ph": "i", **_at(number), "args": args} for number, args in enumerate(ALLOCATED)],
]


def part_of(events: list[Any], block: int, scanned: bool = False) -> ExtractedPart:
    """What is read of the events, so many at a time; `scanned`: by the scanner, as far as it takes them."""
    reader = PartReader()
    if not scanned:
        reader._scanner = None
    for first in range(0, len(events), block):
        text = json.dumps(events[first : first + block])[1:-1].encode()
        if not reader.scan(text, len(text)):
            reader.add(json.loads(b"[" + text + b"]"), first, lambda text=text: text)  # type: ignore[misc]
    return reader.finish()


def rows_of_part(part: ExtractedPart) -> Rows:
    builder = TableBuilder()
    builder.add(part)
    return rows_of(builder.build("", {}, ReadReport(0, 0, part.events, part.skipped), last=True))


@pytest.mark.parametrize("block", [1, 2, 5, 100])
@pytest.mark.parametrize("scanned", [True, False])
def test_rows_are_those_of_the_definition(block: int, scanned: bool) -> None:
    for events in (EVENTS, EVENTS[::-1], EVENTS[3:] + EVENTS[:3]):
        part = part_of(events, block, scanned)
        assert rows_of_part(part) == expected_rows(json.dumps(events))
        assert (part.events, part.skipped, part.unknown_phases) == (len(events), 0, {})


@pytest.mark.parametrize("block", [1, 2, 100])
def test_what_is_no_event_changes_no_other(block: int) -> None:
    odd: list[Any] = [
        7,
        {"ph": "?"},
        {"ph": "X", "ts": "x"},
        {"ph": "?"},
        {"ph": "C", "ts": "", "args": {"a": 1}},
    ]
    rows = rows_of_part(part_of(EVENTS, 100))
    for place in (0, 4, len(EVENTS)):
        part = part_of([*EVENTS[:place], *odd, *EVENTS[place:]], block)
        found = rows_of_part(part)
        assert [row[:5] for row in found.slices] == [row[:5] for row in rows.slices]
        assert (found.counters, found.metadata) == (rows.counters, rows.metadata)
        assert [row[1:] for row in found.hccl] == [row[1:] for row in rows.hccl]
        later = len(odd) * (place < len(EVENTS))
        assert [row[0] for row in found.memory] == [row[0] + later for row in rows.memory]
        assert (part.events, part.skipped) == (len(EVENTS) + 5, 5)
        assert part.unknown_phases == {"?": 2}


def test_counters_of_two_series_each() -> None:
    events = [{"ph": "C", **_at(number), "args": {"a": number, "b": -number}} for number in range(4)]
    assert rows_of_part(part_of(events, 3)) == expected_rows(json.dumps(events))


def test_a_task_is_no_transfer_whatever_its_data() -> None:
    args = [{"data_type": "fp16", "Task Type": "AI_CORE"}, {"data_type": "fp16"}, {"Task Type": "AI_CORE"}]
    events = [{"ph": phase, **_at(1), "args": event_args} for phase in "XB" for event_args in args]
    assert [row[0] for row in rows_of_part(part_of(events, 9)).hccl] == [1]
    assert rows_of_part(part_of(events[3:], 9)).hccl == [], "nor is what only begins"


def test_a_kernel_type_is_a_task_type_where_there_is_no_other() -> None:
    args = [
        {"type": "KERNEL_AICPU"},
        {"type": "KERNEL_AICPU", "Task Type": "AI_CORE"},
        {"type": "KERNEL_AICPU", "Task Type": None},
        *({"type": other} for other in ("KERNEL", "kernel", 7, None, ["KERNEL_"])),
    ]
    events = [{"ph": "X", **_at(1), "args": event_args} for event_args in args]
    for block in (1, 9):
        types = [row[7] for row in rows_of_part(part_of(events, block)).slices]
        assert types == ["KERNEL_AICPU", "AI_CORE", *[None] * 6]


def test_a_task_outside_of_models_has_a_number_within_its_batch() -> None:
    args: list[dict[str, Any]] = [
        {"Task Type": "AI_CORE", "Task Id": 7, "Model Id": 4294967295, "Batch Id": 2},
        {"Task Type": "AI_CORE", "Task Id": "8"},
        {"Task Type": "AI_CORE", "Task Id": 9, "Model Id": 3},
        {"Task Type": "AI_CORE", "Task Id": 4294967295},
        {"Task Id": 10},
        {"Task Type": "AI_CORE"},
    ]
    events = [{"ph": phase, **_at(1), "args": event_args} for phase in "XB" for event_args in args]
    assert rows_of_part(part_of(events, 99)).numbered == [(0, 7 + (2 << 32)), (1, 8)]


def test_an_operation_is_a_direction_where_there_is_no_other() -> None:
    args = [{"operation": "a"}, {"memcpy direction": "b", "operation": "a"}, {"memcpy direction": "c"}, {}]
    for block in (1, 4):
        events = [{"ph": "X", **_at(1), "args": event_args} for event_args in args]
        assert [row[8] for row in rows_of_part(part_of(events, block)).slices] == ["a", "b", "c", None]


def test_a_reader_is_empty_once_it_is_asked() -> None:
    reader = PartReader()
    reader._scanner = None
    assert reader.scan(b"{}", 2) == 0
    reader.add(json.loads(json.dumps(EVENTS)), 0, lambda: b"")
    assert reader.events == len(EVENTS)
    reader.finish()
    again = reader.finish()
    assert (again.events, again.skipped, again.columns, again.metadata, again.threads) == (0, 0, {}, [], [])
