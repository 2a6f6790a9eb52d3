"""Parts that are put together to a table, and what a table is while more parts come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reader.rows import rows_of
from tracetui.reader.columns import TableBuilder
from tracetui.reader.events import EventTable, ReadReport
from tracetui.reader.extract import ExtractedPart, PartReader
from tracetui.reader.source import TraceFile
from tracetui.reader.timestamps import LIMIT


def part_of(first: int, count: int = 3) -> ExtractedPart:
    """Slices with the ordinals from `first` on, and one event of each other kind."""
    fields: dict[str, Any] = {"pid": f"p{first}", "tid": 1}
    elements: list[Any] = [
        {
            "ph": "X",
            "name": f"n{event}",
            "ts": str(event),
            "dur": 1,
            "cat": "",
            "args": {"Task Type": "t"},
            **fields,
        }
        for event in range(first, first + count)
    ]
    elements.append({"ph": "C", "name": "c", "ts": str(first), "args": {"a": first, "b": 1}, **fields})
    elements.append({"ph": "s", "name": "f", "id": str(2**70 + first), "ts": str(first), **fields})
    elements.append({"ph": "i", "name": "i", "ts": str(first), **fields})
    reader = PartReader()
    reader.add(elements, first, lambda: b"")
    return reader.finish()


def table_of(builder: TableBuilder, last: bool) -> EventTable:
    report = ReadReport(bytes=0, text_bytes=0, events=builder.events, skipped=0)
    return builder.build("path", {"baseTimeNanoseconds": 1000} if last else {}, report, last)


def test_a_table_stays_as_it_is_while_more_parts_come() -> None:
    builder, alone = TableBuilder(), TableBuilder()
    for first in (0, 10):
        builder.add(part_of(first))
        alone.add(part_of(first))
    table, expected = table_of(builder, last=False), rows_of(table_of(alone, last=False))
    for first in range(20, 200, 10):  # so that columns outgrow their room
        builder.add(part_of(first))
    assert rows_of(table) == expected
    assert len(table_of(builder, last=True).slices.start) == 60
    assert rows_of(table) == expected
    with pytest.raises(ValueError, match="read-only"):
        table.slices.start[0] = 0


@pytest.mark.parametrize("indent", [None, 1])
def test_a_counter_event_without_a_value_is_no_sample(tmp_path: Path, indent: int | None) -> None:
    at = {"pid": 1, "tid": 1, "ts": "5.000", "name": "a"}
    events = [{**at, "ph": "C", "args": {}}, {**at, "ph": "X", "dur": 1}]
    (tmp_path / "t.json").write_text(json.dumps(events, indent=indent))
    with TraceFile(tmp_path / "t.json") as trace_file:
        table = trace_file.read()
    assert (len(table.counters.time), len(table.counters.value), len(table.slices.start)) == (0, 0, 1)
    assert (table.report.events, table.report.skipped) == (2, 0)


def test_an_empty_part_between_others_changes_nothing() -> None:
    tables = []
    for parts in ((part_of(0), part_of(7)), (part_of(0), PartReader().finish(), part_of(7))):
        builder = TableBuilder()
        for part in parts:
            builder.add(part)
        tables.append(table_of(builder, last=True))
    assert rows_of(tables[0]) == rows_of(tables[1])
    assert np.array_equal(tables[0].slices.thread, np.repeat([0, 1], 3))


@pytest.mark.parametrize("event", [2**31 - 1, 2**31])
def test_numbers_are_as_wide_as_they_have_to_be(event: int) -> None:
    builder = TableBuilder()
    for first in (0, event, 7):
        builder.add(part_of(first, count=1))
    table = table_of(builder, last=True)
    assert table.slices.event.tolist() == [0, event, 7]
    assert table.slices.event.dtype == (np.int32 if event < 2**31 else np.int64)


def test_columns_stay_narrow_where_no_event_of_a_part_is_of_use() -> None:
    builder, reader = TableBuilder(), PartReader()
    builder.add(part_of(0))
    reader.add([{"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": "x", "dur": 1}], 6, lambda: b"")
    builder.add(reader.finish())
    table = table_of(builder, last=True)
    assert table.slices.event.tolist() == [0, 1, 2] and table.slices.event.dtype == np.int32


@pytest.mark.parametrize("last", [2**31 - 1, 2**31])
def test_the_largest_number_tells_how_wide_all_have_to_be(last: int) -> None:
    builder = TableBuilder()
    builder.add(part_of(last - 2))
    table = table_of(builder, last=True)
    assert table.slices.event.tolist() == [last - 2, last - 1, last]
    assert table.slices.event.dtype == (np.int32 if last < 2**31 else np.int64)
    assert (builder.events, builder.skipped) == (6, 0)


@pytest.mark.parametrize("others", [2**15 - 6, 2**15])
def test_categories_are_wide_where_one_comes_after_many_strings(others: int) -> None:
    builder, reader = TableBuilder(), PartReader()
    at = {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    reader.add([{**at, "name": "a", "cat": "early"}], 0, lambda: b"")
    builder.add(reader.finish())
    assert table_of(builder, last=False).slices.category.dtype == np.int16
    reader.add([{**at, "name": f"name {number}", "cat": ""} for number in range(others)], 1, lambda: b"")
    builder.add(reader.finish())
    reader.add([{**at, "name": "a", "cat": "late"}, {**at, "name": "a", "cat": "early"}], 7, lambda: b"")
    builder.add(reader.finish())
    table = table_of(builder, last=True)
    used = table.slices.category[[0, 1, -2, -1]]
    assert [table.strings[index] if index >= 0 else None for index in used] == [
        "early",
        None,
        "late",
        "early",
    ]
    assert table.slices.category.dtype == (np.int16 if others < 2**15 else np.int32)


@pytest.mark.parametrize(
    ("sizes", "wide"),
    [
        *[((-(2**31), 2**31 - 1), False), ((5, 2**31), True), ((2**31, 5), True)],
        *[((-(2**31) - 1, 5), True), ((5, -(2**31) - 1), True), ((-(2**31) - 1, 2**31), True)],
    ],
)
def test_sizes_of_what_is_freed_are_as_wide_as_they_have_to_be(sizes: tuple[int, ...], wide: bool) -> None:
    builder, reader = TableBuilder(), PartReader()
    at = {"ph": "i", "pid": 1, "tid": 1, "ts": "5", "name": "[memory]"}
    reader.add([{**at, "args": {"Addr": 1, "Bytes": size}} for size in sizes], 0, lambda: b"")
    builder.add(reader.finish())
    found = table_of(builder, last=True).memory.size
    assert tuple(found.tolist()) == sizes and found.dtype == (np.int64 if wide else np.int32)


@pytest.mark.parametrize(
    ("base", "added"),
    [(1, 1), (0, 0), (-1, 0), (LIMIT - 1, LIMIT - 1), (LIMIT, 0), ("7", 7), (10**30, 0)],
)
def test_a_base_is_a_time_after_1970(base: Any, added: int) -> None:
    builder = TableBuilder()
    builder.add(part_of(3))
    report = ReadReport(bytes=0, text_bytes=0, events=builder.events, skipped=0)
    table = builder.build("path", {"baseTimeNanoseconds": base}, report, last=True)
    starts = [3000 + added, 4000 + added, 5000 + added]
    assert table.slices.start.tolist() == starts and table.slices.dur.tolist() == [1000] * 3
    assert [table.counters.time[0], table.flows.time[0], table.instants.time[0]] == starts[:1] * 3


@pytest.mark.parametrize("phase", ["X", "C", "s", "i"])
def test_times_from_10_to_the_18_count_from_1970(phase: str) -> None:
    """And with one of them all do, whatever it is of; some others of its table may come before."""
    for time, added in (("999999999999999.999", 1000), ("1000000000000000.000", 0)):
        reader, builder = PartReader(), TableBuilder()
        at = {"ph": phase, "pid": 1, "tid": 1, "name": "a", "id": 2**70, "args": {"v": 1}}
        reader.add([{**at, "ts": time}, {**at, "ts": "7"}, {**at, "ph": "X", "ts": "5"}], 0, lambda: b"")
        builder.add(reader.finish())
        table = table_of(builder, last=True)
        tables = (table.slices, table.counters, table.flows, table.instants)
        found = [*table.slices.start.tolist(), *(t for rows in tables[1:] for t in rows.time.tolist())]
        assert sorted(found) == [5000 + added, 7000 + added, int(time.replace(".", "")) + added]


def test_ids_beyond_63_bits_are_the_same_in_all_parts() -> None:
    """Of two in the first part, the second one alone is in the second part, and then both the other way."""
    at = {"pid": 1, "tid": 1, "ts": "5", "name": "f"}
    one, other = str(2**70), str(2**71)
    builder = TableBuilder()
    for ids in ((one, other, 7), (other,), (7, other, one)):
        reader = PartReader()
        reader.add([{"ph": "s", "id": id_, **at} for id_ in ids], 0, lambda: b"")
        builder.add(reader.finish())
    numbers = table_of(builder, last=True).flows.id.tolist()
    first, second, small = numbers[:3]
    assert numbers == [first, second, 7, second, 7, second, first] and small == 7
    assert len({first, second, 7}) == 3 and max(first, second) < -1
