"""How tables become columns: lengths that are only about known, copies while more is read, and progress."""

from __future__ import annotations

import gc
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tests.databases.handmade import Rows, Texts, kernels, write
from tracetui.databases.tables import UNKNOWN, Database
from tracetui.reader.database.assembly import Assembly
from tracetui.reader.database.growing import GrowingColumn
from tracetui.reader.database.table_reader import distinct_places
from tracetui.reader.freed_memory import return_freed_memory
from tracetui.reader.joined import open_trace
from tracetui.reader.source import Progress


@pytest.mark.parametrize("expected", [0, 1, 5, 7, 100])
def test_a_column_grows_beyond_what_was_expected(expected: int) -> None:
    column = GrowingColumn(np.int64, expected)
    column.add(np.array([1, 2, 3]))
    before = column.so_far()
    column.repeat(-1, 2)
    column.add(np.array([4, 5], np.int32))
    assert column.filled().tolist() == [1, 2, 3, -1, -1, 4, 5]
    assert before.tolist() == [1, 2, 3]
    assert len(np.asarray(column.filled().base if column.filled().base is not None else ())) <= 10


@pytest.mark.parametrize("largest", [(1 << 31) - 1, 1 << 31, -(1 << 31), -(1 << 31) - 1])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_narrow_column_widens_for_numbers_too_large_for_it(largest: int, repeated: bool) -> None:
    column = GrowingColumn(np.int32, 4)
    column.add(np.array([1, -1], np.int64))
    if repeated:
        column.repeat(largest, 1)
    else:
        column.add(np.array([largest], np.int64))
    column.add(np.array([7], np.int64))
    filled = column.filled()
    assert filled.tolist() == [1, -1, largest, 7]
    assert (filled.dtype == np.int32) == (-(1 << 31) <= largest < 1 << 31)


@pytest.mark.parametrize(
    "column",
    [
        pytest.param([], id="none"),
        pytest.param([5] * 9, id="one"),
        pytest.param([*([3, -1] * 9000), 7, UNKNOWN], id="some that no sample has"),
        pytest.param(list(range(20_000, 0, -1)), id="all different"),
    ],
)
def test_distinct_numbers_and_their_places(column: list[int]) -> None:
    distinct, place = distinct_places(np.array(column, np.int64))
    assert distinct.tolist() == sorted(set(column))
    assert distinct[place].tolist() == column


def test_rows_are_counted_by_pages_and_not_by_ids(tmp_path: Path) -> None:
    """Ids that the user gave may be any numbers."""
    path = write(
        tmp_path / "a.db",
        {
            "CALLS": Rows("id INTEGER PRIMARY KEY, name TEXT", [(10**12 + i, "x" * 50) for i in range(5000)]),
            "EMPTY": Rows("id INTEGER PRIMARY KEY", []),
        },
    )
    with Database(path) as database:
        assert database.count("CALLS") == pytest.approx(5000, rel=0.05)
        assert database.count("EMPTY") == database.count("missing") == 0


def test_progress_grows_to_the_whole_file(tmp_path: Path) -> None:
    """Whatever the ids of the rows are, and the last picture is of all of them."""
    text = Texts()
    times = [(10_000 * number, 10_000 * number + 4000) for number in range(1, 70_000)]
    tables = kernels(text, times)
    path = write(tmp_path / "msprof_20250101010101.db", {**tables, "STRING_IDS": text.rows()})
    connection = sqlite3.connect(path)
    connection.execute("UPDATE CANN_API SET connectionId = connectionId + 1000000000")
    connection.execute("UPDATE TASK SET connectionId = connectionId + 1000000000")
    connection.commit()
    connection.close()
    reports: list[Progress] = []
    with open_trace(path) as file:
        file.read(reports.append)
        assert [part.done_bytes for part in reports] == sorted(part.done_bytes for part in reports)
        assert 0.8 < reports[-1].done_bytes / file.size <= 1
    assert len(reports[-1].snapshot().slices.start) >= 69_999


def test_parts_of_a_table_are_free_once_it_is_read(tmp_path: Path) -> None:
    """The collector of cycles may come long after the memory is wanted."""

    def assemblies() -> int:
        return sum(type(thing) is Assembly for thing in gc.get_objects())

    text = Texts()
    tables = kernels(text, [(10_000, 14_000), (20_000, 24_000)])
    path = write(tmp_path / "msprof_20250101010101.db", {**tables, "STRING_IDS": text.rows()})
    gc.collect()
    before = assemblies()
    gc.disable()
    try:
        with open_trace(path) as file:
            table = file.read()
            assert assemblies() == before
    finally:
        gc.enable()
    assert len(table.slices.start)


def test_freed_memory_is_given_back() -> None:
    """What lies below a block that is in use is kept by the allocator until it is asked for."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1])

    blocks = [bytes([number % 250]) * 100_000 for number in range(2000)]
    last = blocks[-1]
    filled = resident()
    del blocks
    return_freed_memory()
    assert last
    assert resident() < filled - 100_000_000 // 4096


def test_rows_have_arguments_from_the_reading_to_the_end_of_the_file(tmp_path: Path) -> None:
    text = Texts()
    tables = kernels(text, [(10_000, 14_000), (20_000, 24_000)])
    path = write(tmp_path / "msprof_20250101010101.db", {**tables, "STRING_IDS": text.rows()})
    with open_trace(path) as file:
        assert file.args(0) == {}
        events = file.read().slices.event
        assert all(file.args(event) for event in events.tolist())
        assert file.args(-1) == file.args(int(events.max()) + 1) == {}
    assert file.args(0) == {}
