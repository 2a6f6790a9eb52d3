"""Reading from the middle of a text first: the table is the same, and what is there meanwhile is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reader.rows import Rows, rows_of
from tracetui.reader.events import EventTable
from tracetui.reader.source import Progress, TraceFile

SMALL: dict[str, Any] = {"block_bytes": 400, "part_bytes": 1500, "jobs": 1}


def _event(number: int) -> dict[str, Any]:
    ts = f"{number // 3}.000"  # many at one time: their order is that of the file
    common = {"pid": number % 3, "tid": 1, "name": f"name {number % 7}", "ts": ts}
    return [
        {**common, "ph": "X", "dur": number, "args": {"n": number, "}, {": [{"ph": "X"}, {"ph": "X"}]}},
        {**common, "ph": "B", "args": {"n": number}},
        {**common, "ph": "E"},
        {**common, "ph": "s", "id": f"9999999999999999999{number // 4}", "cat": "async"},
        {**common, "ph": "C", "args": {"value": number}},
        {**common, "ph": "i", "args": {"n": number}},
        {**common, "ph": "M", "name": "process_name", "args": {"name": f"process {number}"}},
    ][number % 7]


EVENTS = [json.dumps(_event(number)) for number in range(120)]


def contents(path: Path, first: int, **options: Any) -> tuple[Rows, list[Any], EventTable]:
    """The rows of a file without ordinals, the events that these stand for, and the table."""
    with TraceFile(path, **SMALL) as trace_file:
        table = trace_file.read(first=first, **options)
        rows = rows_of(table)
        events = [trace_file.event(event) for event in (*table.slices.event, *table.instants.event)]
    slices = [(*row[:5], *row[6:]) for row in rows.slices]
    large: dict[int, int] = {}  # ids of more than 63 bits have numbers
    flows = [
        (*row[:4], row[4] if row[4] >= 0 else -large.setdefault(row[4], len(large))) for row in rows.flows
    ]
    plain = rows._replace(slices=slices, flows=flows, instants=[row[:3] for row in rows.instants])
    return plain, events, table


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(0, 5500), wrapped=st.booleans(), damage=st.none() | st.integers(20, 5500))
def test_where_the_reading_begins_makes_no_difference(
    tmp_path: Path, first: int, wrapped: bool, damage: int | None
) -> None:
    text = "[" + ", ".join(EVENTS[:60]) + "]"
    if wrapped:
        text = '{"traceEvents": ' + text + ', "baseTimeNanoseconds": 5000}'
    if damage is not None:
        text = text[:damage] + "}" + text[damage + 2 :]
    path = tmp_path / "t.json"
    path.write_text(text)
    rows, events, table = contents(path, first)
    expected = contents(path, 0)
    assert (rows, events) == expected[:2]
    assert table.document == expected[2].document
    report, usual = table.report, expected[2].report
    assert (report.events, report.skipped, report.skips) == (usual.events, usual.skipped, usual.skips)
    assert (report.warnings, report.truncated, report.text_bytes) == (
        usual.warnings,
        usual.truncated,
        usual.text_bytes,
    )


def test_what_is_wanted_first_is_there_first(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("[" + ", ".join(EVENTS) + "]")
    size = path.stat().st_size
    seen: list[tuple[tuple[int, int], ...]] = []
    done: list[int] = []

    def see(progress: Progress) -> None:
        table = progress.snapshot()
        seen.append(table.report.seen)
        done.append(progress.done_bytes)
        assert len(rows_of(table).slices) > 0

    table = contents(path, size // 2, on_progress=see)[2]
    start = seen[0][0][0]
    assert size // 2 <= start < size // 2 + 400
    assert [passages[-1][0] for passages in seen] == [start] * len(seen)
    behind = [passages for passages in seen if len(passages) == 1]
    assert len(behind) > 2 and behind == seen[: len(behind)]
    assert behind[-1] == ((start, size),)
    assert all(
        first == (0, end) and end <= start
        for first, end in ((request[0], request[0][1]) for request in seen[len(behind) :])
    )
    assert done == sorted(done) and done[-1] == size
    assert table.report.seen == ((0, start), (start, size))


@pytest.mark.parametrize(("share", "sentence"), [(0.3, "from byte"), (0.8, "those between are missing")])
def test_a_stopped_reading_tells_what_is_missing(tmp_path: Path, share: float, sentence: str) -> None:
    path = tmp_path / "t.json"
    path.write_text("[" + ", ".join(EVENTS) + "]")
    done = 0.0

    def see(progress: Progress) -> None:
        nonlocal done
        done = progress.done_bytes / progress.total_bytes

    table = contents(path, path.stat().st_size // 2, on_progress=see, should_stop=lambda: done > share)[2]
    assert table.report.stopped
    (warning,) = [warning for warning in table.report.warnings if warning.startswith("reading stopped")]
    assert sentence in warning
