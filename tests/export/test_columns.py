"""A column is added to a table in one place, and is in JSON, csv, DataFrames, text, Markdown, the viewer."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.analysis.memory.runs import Held, recorded
from tests.export.training import training_events
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.memory.analyse import Memory
from tracetui.comparison.step_parts import step_parts
from tracetui.export.csv_table import write_table
from tracetui.export.data_frame import frame_of
from tracetui.export.tables import memory
from tracetui.export.tables.advice import ADVICE
from tracetui.export.tables.column import Column, Form, Table, arranged, count, listed, records
from tracetui.export.tables.communication import LINKS
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.hotspots import LINES, LineRows
from tracetui.export.tables.nested import FRAMES, MODULES, FrameRows, ModuleRows
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.ui.drawing.bars import time_inks
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.screens import steps as steps_screen
from tracetui.ui.tables import columns as viewer
from tracetui.ui.tables import gap_columns, hotspot_columns, memory_views, nested_columns, operator_columns
from tracetui.ui.tables.layout import ColumnLook, laid_out

PALETTE = Palette("none")


@pytest.fixture(scope="module")
def training() -> Analysis:
    return analyse(trace_of(training_events()))


@dataclass(frozen=True)
class Shown:
    """A table, how its rows are made, and where the viewer takes its columns from."""

    table: Table[Any]
    rows: Callable[[Analysis], Any]
    length: Callable[[Any], int]
    module: Any
    name: str
    columns: Callable[[Analysis], list[viewer.ViewColumn]]


def _count(rows: Any) -> int:
    return len(rows.rows)


#: Two blocks of two lines, one of them in each of two steps.
MEMORY = Memory(recorded(2, [Held(10, 40), Held(110, line=89)]))
SHOWN_MEMORY = memory_views.shown_memory(MEMORY, None, 0)

TABLES = {
    "gaps": Shown(
        GAPS,
        lambda analysis: GapRows(analysis, np.arange(len(analysis.gaps))),
        len,
        gap_columns,
        "GAPS",
        lambda analysis: gap_columns.gap_columns(
            analysis, GapRows(analysis, np.arange(0)).by, PALETTE, time_inks(PALETTE, BLOCKS)
        ),
    ),
    "lines": Shown(
        LINES,
        LineRows,
        _count,
        hotspot_columns,
        "LINES",
        lambda analysis: hotspot_columns.hotspot_line_columns(analysis, None, PALETTE, BLOCKS),
    ),
    "modules": Shown(
        MODULES,
        ModuleRows,
        _count,
        nested_columns,
        "MODULES",
        lambda analysis: nested_columns.module_columns(analysis, PALETTE, BLOCKS),
    ),
    "frames": Shown(
        FRAMES,
        FrameRows,
        _count,
        nested_columns,
        "FRAMES",
        lambda analysis: nested_columns.frame_columns(analysis, "frame", PALETTE, BLOCKS),
    ),
    "steps": Shown(
        STEPS,
        StepRows,
        _count,
        steps_screen,
        "STEPS",
        lambda analysis: steps_screen.step_columns(
            analysis, step_parts(analysis), time_inks(PALETTE, BLOCKS)
        ),
    ),
    "operators": Shown(
        OPERATORS,
        lambda analysis: analysis.device_operators,
        len,
        operator_columns,
        "OPERATORS",
        lambda analysis: operator_columns.operator_columns(
            analysis.device_operators, analysis.trace, PALETTE, BLOCKS, host=False
        ),
    ),
    "lines of memory": Shown(
        memory.LINES,
        lambda _: memory.MemoryRows(MEMORY.recorded, MEMORY.all.lines),
        _count,
        memory_views,
        "LINES_TABLE",
        lambda _: memory_views.LINES.columns(SHOWN_MEMORY, PALETTE, BLOCKS),
    ),
    "blocks of memory": Shown(
        memory.BLOCKS,
        lambda _: memory.BlockRows(MEMORY, MEMORY.all),
        lambda rows: len(rows.blocks),
        memory_views,
        "BLOCKS_TABLE",
        lambda _: memory_views.BLOCKS.columns(SHOWN_MEMORY, PALETTE, BLOCKS),
    ),
}


def _rows(**columns: Any) -> SimpleNamespace:
    """Rows that have these attributes, in the table and one by one."""
    (values,) = columns.values()
    rows = [SimpleNamespace(**dict.fromkeys(columns, value)) for value in values]
    return SimpleNamespace(rows=rows, all_rows=rows, **{key: np.array(values, object) for key in columns})


@pytest.mark.parametrize(
    ("table", "column", "filled", "nothing"),
    [
        (STEPS, "device", _rows(device=["NPU 0", "NPU 1"]), _rows(device=["NPU 0", "NPU 0"])),
        (STEPS, "tail_ns", _rows(tail=[None, (0, 5)]), _rows(tail=[None, None])),
        (ADVICE, "per_step_ns", _rows(per_step_ns=[None, 0]), _rows(per_step_ns=[None, None])),
        (LINKS, "nominal_share", _rows(share=[-1.0, 0.0]), _rows(share=[-1.0, -1.0])),
        (LINKS, "slowness", _rows(slow=[False, True]), _rows(slow=[False, False])),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_column_is_shown_where_any_row_has_something_to_say(
    table: Table[Any], column: str, filled: Any, nothing: Any
) -> None:
    when = table.column(column, Form.VIEWER).when
    assert (when(filled, Form.VIEWER), when(nothing, Form.VIEWER)) == (True, False)


@pytest.mark.parametrize("name", TABLES)
def test_what_is_not_known_is_no_number(training: Analysis, name: str) -> None:
    steps = [event for event in training_events() if not event["name"].startswith("ProfilerStep")]
    for analysis in (training, analyse(trace_of(steps))):
        rows = TABLES[name].rows(analysis)
        for column in TABLES[name].table.columns:
            values = column.get(rows)
            if isinstance(values, np.ndarray) and (values == -1).any():
                assert column.optional and None in column.exact(rows), column.key


@pytest.mark.parametrize("name", TABLES)
def test_a_column_listed_once_is_in_every_form(
    training: Analysis, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = TABLES[name]
    number: Column[Any] = count("marks", "marks", lambda rows: np.arange(shown.length(rows)) + 1_000)
    called: Column[Any] = Column(
        "mark", "=mark|", lambda rows: listed([f"=m\x1b{at}" for at in range(shown.length(rows))])
    )
    table = replace(shown.table, columns=(*shown.table.columns, number, called))
    rows = shown.rows(training)
    length = shown.length(rows)
    marks = [1_000 + at for at in range(length)]
    names = [f"=m\x1b{at}" for at in range(length)]
    harmless = [f"=m\u241b{at}" for at in range(length)]
    assert length

    assert [(row["marks"], row["mark"]) for row in records(table, rows)] == list(zip(marks, names))
    json.dumps(records(table, rows))
    frame = frame_of(table, rows)
    assert frame["marks"].dtype == np.int64 and frame["marks"].tolist() == marks
    assert frame["mark"].tolist() == names
    stream = io.BytesIO()
    assert write_table(stream, table, rows) == length
    stream.seek(0)
    written = pd.read_csv(stream)
    assert written["marks"].tolist() == marks
    assert written["mark"].tolist() == [f"'{word}" for word in harmless]
    text = text_table(table, rows, 10_000)
    head = next(line for line in text if "marks" in line)
    assert "=mark|" in head
    lines = [line for line in text if "\u241b" in line]
    assert len(lines) == length
    for line, mark, word in zip(lines, marks, harmless):
        assert f"{mark:,}  {word} " in f"{line} "
    marked = markdown_table(table, rows)
    assert "| marks | =mark\\| |" in marked[0]
    for line, mark, word in zip(marked[2:], marks, harmless):
        assert f"| {mark:,} | `{word}` |" in line

    monkeypatch.setattr(shown.module, shown.name, table)
    columns = {column.key: column for column in shown.columns(training)}
    assert [columns["marks"].draw(row, 9) for row in range(length)] == [f"{mark:,}" for mark in marks]
    assert [columns["marks"].exported(row) for row in range(length)] == marks
    assert [columns["mark"].draw(row, 9) for row in range(length)] == harmless
    assert [columns["mark"].exported(row) for row in range(length)] == names


ODD: Table[list[int]] = Table(
    columns=(
        Column("a", "a", lambda rows: np.array(rows, np.int64), optional=True, unknown="?"),
        Column("b", "b", lambda rows: np.array(rows, np.float64), optional=True),
        Column("c", "", lambda rows: listed([None if row < 0 else str(row) for row in rows])),
        count("d", "only here", lambda rows: np.array(rows), forms=Form.MARKDOWN),
    ),
    order=("c", ..., "a"),
)


def test_what_is_not_known_is_known_to_be_so_in_every_form() -> None:
    rows = [5, -1, 3]
    assert records(ODD, rows)[1] == {"a": None, "b": None, "c": None}
    frame = frame_of(ODD, rows)
    assert str(frame["a"].dtype) == "Int64" and frame.isna().sum().tolist() == [1, 1, 1]
    assert text_table(ODD, rows, 80)[3].split() == ["-", "-", "?"]
    columns = laid_out(ODD, rows, [ColumnLook("b", title="B"), ..., ColumnLook("gone")])
    assert [column.key for column in columns] == ["b", "c", "a"]
    assert [column.exported(1) for column in columns] == [None] * 3
    assert [column.draw(1, 9) for column in columns] == ["-", "-", "?"]
    for descending in (False, True):
        for place in range(3):
            assert viewer.sorted_rows(columns[place], descending)[-1] == 1
    assert laid_out(ODD, rows, [ColumnLook("a"), ...], {"a", "c"})[0].key == "b"


def test_columns_that_an_order_does_not_name_stand_at_its_gap() -> None:
    assert [column.key for column in arranged(ODD.columns, ODD.order)] == ["c", "b", "d", "a"]
    shown = {form: [column.key for column in ODD.shown(form, [1])] for form in (Form.TEXT, Form.MARKDOWN)}
    assert shown == {Form.TEXT: ["c", "b", "a"], Form.MARKDOWN: ["c", "b", "d", "a"]}


def test_the_keys_of_a_form_are_told_apart() -> None:
    for table in (shown.table for shown in TABLES.values()):
        for form in (Form.JSON, Form.FRAME, Form.TEXT, Form.MARKDOWN, Form.VIEWER):
            keys = [column.key for column in table.of(form)]
            assert len(keys) == len(set(keys))
            named = {key for key in (*table.order, *table.markdown) if key is not ...}
            assert named <= {column.key for column in table.columns}


def test_rows_that_are_alike_have_ids_of_what_sets_them_apart_and_others_short_ones() -> None:
    table: Table[Any] = Table(
        (
            Column("name", "", lambda rows: listed([name for name, _ in rows])),
            Column("status", "", lambda rows: listed([status for _, status in rows])),
        ),
        kind="operator",
        identity=("name",),
        apart="status",
    )
    rows = [("add", "matched"), ("mul", "matched"), ("add", "gone")]
    ids = [row["id"] for row in records(table, rows)]
    assert ids == ["operator=add:matched", "operator=mul", "operator=add:gone"]
