"""The results as DataFrames: the values of the documents with exact types, and what csv makes of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.idle.test_explain import FIRST, launched, stack
from tests.analysis.machine import operator
from tests.export.training import NAMES, training_events
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.window import rows_in_window
from tracetui.export import data_frame
from tracetui.export.cells import encodable, text_cell
from tracetui.export.data_frame import write_frames
from tracetui.export.tables.steps import SUMS
from tracetui.export.trace import frames
from tracetui.export.trace.documents import (
    advice_document,
    gaps_document,
    hotspots_document,
    summary_document,
)
from tracetui.export.trace.events_csv import write_events
from tracetui.export.trace.frames import (
    advice_frame,
    events_frame,
    gaps_frame,
    hotspots_frame,
    operators_frame,
    signatures_frame,
    steps_frame,
    syncs_frame,
)
from tracetui.export.trace.selection import Selection
from tracetui.trace.model import Activity

ALL = Selection()
BIG = 2**62 + 1  # a float64 does not hold it

#: What data call activities: "aicore" is a kernel of a GPU too.
ACTIVITIES = {
    Activity.COMPUTE: "aicore",
    Activity.AICPU: "aicpu",
    Activity.COMMUNICATION: "communication",
    Activity.COPY: "copy",
}


@pytest.fixture(scope="module")
def training() -> Analysis:
    return analyse(trace_of(training_events()))


def written(*parts: pd.DataFrame) -> list[list[str]]:
    """The cells of a csv table of frames, its header first."""
    stream = io.BytesIO()
    rows = write_frames(stream, parts)
    read = list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))
    assert len(read) == rows + 1 == sum(map(len, parts)) + 1
    return read


def values(frame: pd.DataFrame, key: str) -> list[Any]:
    """The values of a column, None where unknown."""
    return [None if pd.isna(value) else value for value in frame[key].tolist()]


def test_gaps_are_those_of_the_document(training: Analysis) -> None:
    table, gaps = gaps_frame(training), gaps_document(training, ALL)["gaps"]
    for key in ("device", "start_ns", "dur_ns", "idle_ns", "aicpu_ns", "communication_ns", "copy_ns"):
        assert values(table, key) == [gap[key] for gap in gaps]
    assert values(table, "step") == [gap["step"] for gap in gaps]
    for key in ("cause", "line", "exposed_by"):
        assert values(table, key) == [gap[key] for gap in gaps]
    for side in ("before", "after"):
        for key, column in (("name", side), ("stream", f"{side}_stream")):
            assert values(table, column) == [gap[side] and gap[side][key] for gap in gaps]
    assert set(values(table, "step")) == {5, 6}
    assert None in values(table, "line")


def test_gaps_in_the_order_asked_for(training: Analysis) -> None:
    chosen = training.gaps.ranked()[4:1:-1]
    expected = gaps_frame(training).iloc[4:1:-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(gaps_frame(training, chosen), expected, check_categorical=False)


def test_steps_are_those_of_the_document(training: Analysis) -> None:
    table = steps_frame(training)
    steps = summary_document(training, ALL)["devices"][0]["steps"]
    for key in ("step", "start_ns", "end_ns", *(column.key for column in SUMS)):
        assert table[key].dtype == np.int64
        assert values(table, key) == [step[key] for step in steps]
    assert values(table, "device") == [step.device for step in training.steps] == ["NPU"] * 2
    for label in (cause.label for cause in Cause):
        assert values(table, f"{label}_ns") == [step["causes"].get(label, 0) for step in steps]
    assert values(steps_frame(training, [1]), "step") == [6]


def test_hotspots_are_those_of_the_document(training: Analysis) -> None:
    table, rows = hotspots_frame(training), hotspots_document(training, ALL)["hotspots"]
    for key in ("file", "line", "function", "backward", "idle_ns", "gaps", "longest_ns", "saves_at_most_ns"):
        assert values(table, key) == [row[key] for row in rows]
    assert values(table, "op") == [max(row["ops"], key=row["ops"].__getitem__) or None for row in rows]
    for label in (cause.label for cause in Cause):
        assert values(table, f"{label}_ns") == [row["causes"].get(label, 0) for row in rows]
    assert len(hotspots_frame(training, top=3)) == 3
    assert set(values(hotspots_frame(training, Selection(window=(0, BIG))), "saves_at_most_ns")) == {None}


def test_signatures_are_those_of_the_analysis(training: Analysis) -> None:
    table, found = signatures_frame(training), training.signatures
    assert values(table, "cause") == [signature.cause.label for signature in found]
    assert values(table, "op") == [of_line.operator and encodable(of_line.operator) for of_line in found]
    check_lines(table, found)
    for key in ("backward", "idle_ns", "gaps", "longest_ns"):
        assert values(table, key) == [getattr(signature, key) for signature in found]
    assert sum(table["idle_ns"]) == training.idle_ns


def test_synchronisations_are_those_of_the_analysis() -> None:
    lines = ((1_120, stack(3)), (1_500, stack(3)), (2_060, None))
    waits = [operator(at, 100, "aten::item", stack=of) for at, of in lines]
    analysis = analyse(trace_of([*FIRST, *waits, *launched(2_000, 2_040), *launched(4_000, 4_040)]))
    table, found = syncs_frame(analysis), analysis.syncs
    assert [(sync.line, sync.count, sync.exposed_ns > 0) for sync in found] == [(0, 1, True), (3, 2, True)]
    check_lines(table, found)
    for key, attribute in (("call", "call"), ("count", "count"), ("waited_ns", "total_ns")):
        assert values(table, key) == [getattr(sync, attribute) for sync in found]
    for key in ("longest_ns", "exposed_ns"):
        assert values(table, key) == [getattr(sync, key) for sync in found]
    assert values(table, "gaps") == [len(sync.gap_indices) for sync in found]
    empty = syncs_frame(analyse(trace_of([])))
    assert [*empty.dtypes.astype(str)] == [*table.dtypes.astype(str)]


def check_lines(table: pd.DataFrame, found: Sequence[Any]) -> None:
    """The columns of a line are those of the objects; unknown is what no stack tells."""
    assert None in values(table, "file")
    assert values(table, "file") == [line.file for line in found]
    assert values(table, "line") == [line.line if line.file else None for line in found]
    assert values(table, "function") == [None if line.file is None else line.function for line in found]


def test_advice_is_that_of_the_document(training: Analysis) -> None:
    table, rows = advice_frame(training), advice_document(training)["advice"]
    assert rows
    for key in ("id", "title", "cost_ns", "per_step_ns", "file", "line", "function", "text", "rule"):
        assert values(table, key) == [row[key] for row in rows]
    assert [json.loads(text) for text in table["evidence"]] == [row["evidence"] for row in rows]
    assert values(table, "subjects") == [", ".join(row["subjects"]) or None for row in rows]


@pytest.mark.parametrize("host", [False, True])
def test_operators_are_the_rows_of_their_table(training: Analysis, host: bool) -> None:
    operators = training.host_operators if host else training.device_operators
    table, rows = operators_frame(operators), [operators[index] for index in range(len(operators))]
    assert {encodable(name) for name in NAMES} <= set(values(table, "name"))
    for key in ("count", "total_ns", "mean_ns", "p50_ns", "p95_ns", "min_ns", "max_ns", "share"):
        assert values(table, key) == [getattr(row, key) for row in rows]
    assert values(table, "name") == [encodable(row.name) for row in rows]
    assert values(table, "activity") == [None if host else ACTIVITIES[row.activity] for row in rows]
    cells = [
        [text_cell(row.name), "" if host else ACTIVITIES[row.activity], str(row.count), str(row.total_ns)]
        for row in rows
    ]
    assert [line[:4] for line in written(table)[1:]] == cells
    assert [float(line[-2]) for line in written(table)[1:]] == [row.share for row in rows]


def test_events_are_the_slices(training: Analysis) -> None:
    table, trace = events_frame(training), training.trace
    assert len(table) == len(trace.slices)
    assert table["start_ns"].is_monotonic_increasing
    rows = rows_in_window(trace, trace.tracks[:1], trace.start_ns, trace.start_ns + 100_000)
    table = events_frame(training, rows)
    assert values(table, "name") == [encodable(trace.name(row)) for row in rows.tolist()]
    assert values(table, "dur_ns") == trace.slices.dur[rows].tolist()


def test_the_csv_of_events_is_the_frame(training: Analysis) -> None:
    stream = io.BytesIO()
    write_events(stream, training, 0, BIG)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue().decode(), newline="")))
    table = events_frame(training)
    for key in table.columns:
        texts = isinstance(table[key].dtype, pd.CategoricalDtype)
        cells = ["" if v is None else text_cell(v) if texts else str(v) for v in values(table, key)]
        assert [row[key] for row in rows] == cells


@pytest.mark.parametrize(
    "make", [events_frame, gaps_frame, steps_frame, hotspots_frame, signatures_frame, advice_frame]
)
def test_types_are_exact_in_an_empty_trace_too(training: Analysis, make: Any) -> None:
    full, empty = make(training), make(analyse(trace_of([])))
    assert len(full) > len(empty) == 0
    for table in (full, empty):
        for key, column in table.items():
            may_miss = ("step", "line", "cost_ns", "per_step_ns", "saves_at_most_ns")
            if key in may_miss and str(column.dtype) != "category":
                assert str(column.dtype).casefold() == "int64"
            elif str(key).endswith("_ns") or key in ("lane", "gaps"):
                assert column.dtype == np.int64
            elif key == "backward":
                assert column.dtype == np.bool_
            else:
                assert isinstance(column.dtype, pd.CategoricalDtype)
    assert list(full.columns) == list(empty.columns) == written(empty)[0]


ROWS = st.lists(
    st.tuples(st.integers(-BIG, BIG), st.none() | st.integers(0, BIG), st.none() | st.text()), max_size=20
)


@given(ROWS, st.integers(1, 7))
def test_csv_has_the_values_in_their_order(rows: list[tuple[Any, Any, Any]], length: int) -> None:
    ns, step, name = ([row[i] for row in rows] for i in range(3))
    known = [*dict.fromkeys(text for text in name if text is not None)]
    names = pd.Categorical.from_codes(
        [-1 if text is None else known.index(text) for text in name], pd.Index(known)
    )
    table = pd.DataFrame({"ns": ns, "step": pd.array(step, "Int64"), "name": names})[::-1]
    parts = [table[first : first + length] for first in range(0, max(len(rows), 1), length)]
    cells = [
        ["" if v is None else text_cell(v) if isinstance(v, str) else str(v) for v in row] for row in rows
    ]
    assert written(*parts) == [["ns", "step", "name"], *cells[::-1]]


def test_no_text_of_a_column_of_any_kind_is_a_formula_or_obeyed() -> None:
    texts = ["=HYPERLINK(A1)", None, "\x1b[31mred", "ops \ud800"]
    kinds: list[Any] = [pd.Series(texts, dtype=object), pd.array([*texts[:3], "-"], dtype="string")]
    columns = dict(zip(("=1+1", "\x1b[2J"), kinds))
    stream = io.BytesIO()
    counts = pd.Series([1, None, 2.5, 4], dtype=object)
    assert write_frames(stream, [pd.DataFrame({**columns, "n": counts, "flag": True})]) == 4
    head, *rows = csv.reader(io.StringIO(stream.getvalue().decode()))
    assert head == [*map(text_cell, columns), "n", "flag"]
    assert [row[0] for row in rows] == [text_cell(text or "") for text in texts]
    assert [row[1] for row in rows] == [text_cell(text or "") for text in (*texts[:3], "-")]
    assert [row[2:] for row in rows] == [[number, "True"] for number in ("1", "", "2.5", "4")]


def test_texts_are_told_apart_behind_a_nul() -> None:
    names = ["a\0b", "a\0c", "a", "", "\0"]
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "ts": place, "dur": 1, "name": name}
        for place, name in enumerate(names)
    ]
    table = events_frame(analyse(trace_of(events)))
    assert table["name"].tolist() == names


def test_a_text_becomes_a_cell_once(training: Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def cell_of(text: str) -> str:
        made.append(text)
        return text_cell(text)

    monkeypatch.setattr(data_frame, "text_cell", cell_of)
    monkeypatch.setattr(frames, "CHUNK", 5)
    write_events(io.BytesIO(), training, 0, BIG)
    assert len(made) == len(set(made)) > len(NAMES)
