"""The events of a window as csv: which slices, in which order, with which numbers."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.export.training import MAIN, NAMES, PYTHON, START_US, training_events
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.export.cells import text_cell
from tracetui.export.trace.events_csv import matching_tracks, rows_touching, write_events

FOREVER = (0, 2**63 - 1)
COLUMNS = "start_ns dur_ns process thread lane name category activity step operator python_line stack"


@pytest.fixture(scope="module")
def training() -> Analysis:
    return analyse(trace_of(training_events()))


def read(analysis: Analysis, start: int, end: int, tracks: str | None = None) -> pd.DataFrame:
    stream = io.BytesIO()
    chosen = None if tracks is None else matching_tracks(analysis.trace, tracks)
    count = write_events(stream, analysis, start, end, chosen)
    stream.seek(0)
    table = pd.read_csv(stream, keep_default_na=False)
    assert table.columns.tolist() == COLUMNS.split()
    assert len(table) == count
    return table


def test_all_slices_with_exact_numbers(training: Analysis) -> None:
    table, slices = read(training, *FOREVER), training.trace.slices
    assert table["start_ns"].dtype == table["dur_ns"].dtype == np.int64
    pairs = sorted(zip(slices.start.tolist(), slices.dur[:].tolist()))
    assert sorted(zip(table["start_ns"], table["dur_ns"])) == pairs
    assert table["start_ns"].is_monotonic_increasing


def test_cells_of_a_task(training: Analysis) -> None:
    table = read(training, *FOREVER, tracks="ascend hardware/STREAM")
    assert set(table["process"]) == {"Ascend Hardware"}
    assert set(table["thread"]) == {"Stream 2"}
    assert set(table["activity"]) == {"aicore"}
    names = [text_cell(name) for name in NAMES] * 2
    assert table["name"].tolist() == table["operator"].tolist() == names
    assert table["step"].tolist() == [5] * len(NAMES) + [6] * len(NAMES)
    place = NAMES.index("Mul")
    row = table.iloc[place]
    assert row["python_line"] == f"/home/u/=train {place % 3}.py({place})"
    assert row["stack"] == f"/home/u/=train {place % 3}.py({place}): forward < /home/u/main.py(7): <module>"
    assert row["dur_ns"] == 50_000 + place


def test_cells_of_the_host(training: Analysis) -> None:
    table = read(training, *FOREVER, tracks="Python/")
    steps = table[table["name"].str.startswith("ProfilerStep")]
    operators = table[table["lane"] == 1]
    assert steps["lane"].tolist() == [0, 0]
    assert operators["name"].tolist() == [text_cell(name) for name in NAMES] * 2
    assert set(operators["category"]) == {"cpu_op"}
    assert set(operators["activity"]) == {""}
    assert operators["step"].tolist() == [5] * len(NAMES) + [6] * len(NAMES)
    assert operators["stack"].str.endswith("/home/u/main.py(7): <module>").all()


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), min_size=1, max_size=25)


@given(SPANS, st.integers(0, 50), st.integers(0, 50))
def test_a_window_holds_what_touches_it(spans: list[tuple[int, int]], first: int, second: int) -> None:
    events = [piece(1, 1, f"n{i}", start, dur, "cpu_op") for i, (start, dur) in enumerate(spans)]
    trace = trace_of([*process(1, "Python"), *events])
    t0, t1 = min(first, second) * 1000, max(first, second) * 1000
    rows = rows_touching(trace, trace.tracks, t0, t1)
    touching = {
        f"n{i}"
        for i, (start, dur) in enumerate(spans)
        if 1000 * start < t1 and (1000 * (start + dur) > t0 or 1000 * start >= t0)
    }
    assert {trace.name(row) for row in rows.tolist()} == touching
    assert len(rows) == len(touching)
    assert (np.diff(trace.slices.start[rows]) >= 0).all()


def test_tracks_are_found_in_any_case(training: Analysis) -> None:
    assert [track.name for track in matching_tracks(training.trace, "STREAM")] == ["Stream 2"]
    assert matching_tracks(training.trace, "no such") == []
    assert len(matching_tracks(training.trace, "")) == len(training.trace.tracks)


def test_chunks_join_seamlessly(training: Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(training, *FOREVER)
    monkeypatch.setattr("tracetui.export.trace.frames.CHUNK", 7)
    pd.testing.assert_frame_equal(read(training, *FOREVER), whole)


def test_no_rows_are_a_table_all_the_same(training: Analysis) -> None:
    assert len(read(training, 0, 1)) == 0


def test_stacks_that_only_python_functions_tell() -> None:
    events = training_events(("Mul",), steps=1)
    for event in events:
        if event["name"] == "Mul":
            event["args"].pop("Call stack", None)
    for depth, name in enumerate(("main.py(1): <module>", "train.py(20): step")):
        begin = {"Python id": depth, "Python parent id": max(depth - 1, 0)}
        events.append(
            piece(PYTHON, MAIN, name, START_US + depth, 250 - 2 * depth, "python_function", **begin)
        )
    table = read(analyse(trace_of(events)), *FOREVER, tracks="stream")
    assert table["stack"].tolist() == ["train.py(20): step < main.py(1): <module>"]
    assert table["python_line"].tolist() == ["train.py(20)"]
