"""A comparison as text, JSON, csv, Markdown and a workbook: the same numbers, and no name that is obeyed."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.comparison.planted import run
from tests.export.training import NAMES, training_events
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.export.cells import text_cell
from tracetui.export.comparison.document import comparison_json
from tracetui.export.comparison.text import comparison_markdown, comparison_text
from tracetui.export.comparison.xlsx import write_workbook
from tracetui.export.csv_table import write_small_table, write_table
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.column import Column, Form, count
from tracetui.export.tables.comparison import (
    BY,
    EVERY,
    RANKS,
    ROOTS,
    WATERFALL,
    ComparedRows,
    ComparedTable,
    tables_of,
)
from tracetui.export.text import cell_width
from tracetui.ui.comparing.tables import columns
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.palette import Palette
from tracetui.units import format_ms

ROW = ["name", "status", "base_ns", "base_count", "other_ns", "other_count", "delta_ns", "trust"]
ROW += ["ratio", "changed"]
#: what the steps tell of a row
STEPS = ["shift_ns", "shift_low_ns", "shift_high_ns", "steps_slower", "steps_faster", "p"]
SELF = ["base_self_ns", "other_self_ns"]
OWN = {
    "lines": ["file", "line", "function", "base_line"],
    "modules": SELF,
    "api": [*SELF, "base_mean_ns", "other_mean_ns"],
}


@pytest.fixture(scope="module")
def slower() -> Comparison:
    return compare_runs(run_of(run("mixed", 4)), run_of(run("mixed", 4, operator="gelu", factor=20.0)))


@pytest.fixture(scope="module")
def hostile() -> Comparison:
    sides = (training_events(NAMES[:-1], steps=2), training_events(NAMES[::-1], steps=2))
    base, other = (run_of(analyse(trace_of(events))) for events in sides)
    return compare_runs(base, other)


def test_a_table_that_is_asked_for_and_empty_says_why(slower: Comparison) -> None:
    """In Markdown as in text."""
    idle = replace(slower, kernels=())
    for text in (
        comparison_text(idle, BY["kernel"], None, 200),
        comparison_markdown(idle, BY["kernel"], None),
    ):
        assert "Both sides need kernels that compute, on devices of one make: see the operators." in text


def document(comparison: Comparison) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(comparison_json(comparison))
    return answer


def test_json_has_the_schema(slower: Comparison) -> None:
    answer = document(slower)
    tables = [
        "classes",
        "operators",
        "modules",
        "phases",
        "kernels",
        "lines",
        "causes",
        "communication",
        "api",
    ]
    tables += ["advice", "memory"]
    assert list(answer) == [
        "schema",
        "verdict",
        "trust",
        "findings",
        "base",
        "other",
        "step",
        "waterfall",
        *tables,
        "warnings",
    ]
    assert answer["schema"] == 1
    assert {key: answer["base"][key] for key in ("kind", "steps")} == {
        "kind": "ascend",
        "steps": [50, 51, 52, 53],
    }
    assert answer["base"]["step_ns"] == round(slower.base.step_ns)
    assert all(
        list(row) == ["term", "base_ns", "other_ns", "delta_ns", "trust", "changed", *STEPS, "id"]
        for row in answer["waterfall"]
    )
    assert answer["step"]["shift_low_ns"] <= answer["step"]["shift_ns"] <= answer["step"]["shift_high_ns"]
    assert (answer["step"]["steps"], answer["step"]["confidence"]) == (4, 0.95)
    for key in tables:
        assert all(list(row) == [*ROW, *STEPS, *OWN.get(key, []), "id"] for row in answer[key])
    assert answer["modules"] and answer["memory"] == []
    gelu = next(row for row in answer["operators"] if row["name"] == "aten::gelu")
    assert gelu["ratio"] == pytest.approx(20, rel=0.01)
    assert (gelu["status"], gelu["base_count"], gelu["changed"]) == ("matched", 1, True)


@pytest.mark.parametrize("table", (WATERFALL, *EVERY), ids=lambda table: table.by)
def test_csv_says_what_json_says(slower: Comparison, table: ComparedTable) -> None:
    stream = io.BytesIO()
    count = write_small_table(stream, table.table, ComparedRows(table.rows(slower)))
    large = io.BytesIO()
    write_table(large, table.table, ComparedRows(table.rows(slower)))
    assert large.getvalue() == stream.getvalue()
    rows = list(csv.DictReader(io.StringIO(stream.getvalue().decode())))
    assert count == len(rows) == len(table.rows(slower))
    for cells, row in zip(rows, document(slower).get(table.key, [])):
        for key, value in row.items():
            if key == "trust":
                assert key not in cells
            elif key == "term":
                assert cells["name"] == value
            else:
                assert cells[key] == ("" if value is None else str(value))


def test_a_column_is_added_in_one_place(slower: Comparison) -> None:
    added: Column[ComparedRows] = count("kernels", "kernels more", lambda rows: np.arange(len(rows.rows)) + 7)
    table = replace(
        BY["kernel"], table=replace(BY["kernel"].table, columns=(*BY["kernel"].table.columns, added))
    )
    rows = ComparedRows(table.rows(slower))
    stream = io.BytesIO()
    write_table(stream, table.table, rows)
    found = [row["kernels"] for row in csv.DictReader(io.StringIO(stream.getvalue().decode()))]
    counts = [row["kernels"] for row in table.documents(slower)]
    assert found == [*map(str, counts)] and counts == [*range(7, 7 + len(rows.rows))]
    assert "kernels more" in comparison_text(slower, table, 0, 120)
    assert "kernels more" in comparison_markdown(slower, table, 0)
    shown = columns(rows, table, Palette("none"), ASCII, 120)
    assert [column.title for column in shown][-1] == "kernels more"


def test_text_and_markdown_show_the_rows(slower: Comparison) -> None:
    for text in (comparison_text(slower, None, None, 120), comparison_markdown(slower, None, None)):
        line = next(line for line in text.splitlines() if "aten::gelu" in line and "20.0" in line)
        row = next(row for row in slower.operators if row.name == "aten::gelu")
        for ns in (row.base_ns, row.other_ns):
            assert format_ms(round(ns)) in line
        assert "+3.485" in line
    assert "3.48 ms more computing, Vector in aten::gelu." in comparison_text(slower, None, None, 500)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_fits(slower: Comparison, hostile: Comparison, width: int) -> None:
    for comparison in (slower, hostile):
        for asked in (None, *BY.values()):
            lines = comparison_text(comparison, asked, 0, width).splitlines()
            assert max(map(cell_width, lines)) <= max(width, 80)


def test_one_table_is_asked_for(slower: Comparison) -> None:
    text = comparison_text(slower, BY["api"], 3, 100)
    assert "Operators of the host" in text
    assert "Kernels" not in text
    assert f"{len(slower.api) - 3} more: --by api --top 0" in text


def parts_of(workbook: bytes) -> dict[str, str]:
    """The parts of a workbook, which are XML, by name."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_a_workbook_has_a_sheet_for_each_table(slower: Comparison) -> None:
    pytest.importorskip("xlsxwriter")
    stream = io.BytesIO()
    sheets = [WATERFALL, *(table for table in EVERY if table not in (RANKS, ROOTS))]
    assert write_workbook(stream, slower) == 1 + len(sheets)
    parts = parts_of(stream.getvalue())
    names = re.findall(r'<sheet name="([^"]*)"', parts["xl/workbook.xml"])
    assert names == ["verdict", *(table.key for table in sheets)]
    operators = parts[f"xl/worksheets/sheet{names.index('operators') + 1}.xml"]
    delta = next(row for row in slower.operators if row.name == "aten::gelu").delta_ns
    assert f"<v>{round(delta) / 1e6:.16G}</v>" in operators
    lines = [int(number) for number in re.findall(r'<row r="([0-9]+)"', operators)]
    assert lines == [*range(1, len(slower.operators) + 2)], "a head, and no line left out"


class Sheet:
    """A sheet of a workbook that remembers what is written where."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.cells: dict[tuple[int, int], Any] = {}
        self.bold: set[tuple[int, int]] = set()
        self.widths: dict[int, int] = {}
        self.frozen = (0, 0)

    def write_string(self, row: int, column: int, text: str, form: object = None) -> None:
        assert isinstance(text, str)
        self.cells[row, column] = text
        if form == {"bold": True}:
            self.bold.add((row, column))

    def write_number(self, row: int, column: int, number: float) -> None:
        self.cells[row, column] = number

    def set_column(self, first: int, last: int, width: int) -> None:
        assert first == last
        self.widths[first] = width

    def freeze_panes(self, row: int, column: int) -> None:
        self.frozen = (row, column)


class Workbook:
    """What is asked of a workbook."""

    latest: Workbook

    def __init__(self, content: io.BytesIO, settings: dict[str, bool]) -> None:
        self.content, self.settings = content, settings
        self.sheets: dict[str, Sheet] = {}
        Workbook.latest = self

    def __enter__(self) -> Workbook:
        return self

    def __exit__(self, *_: object) -> None:
        self.content.write(b"whole")

    def add_format(self, form: dict[str, bool]) -> dict[str, bool]:
        return form

    def add_worksheet(self, name: str) -> Sheet:
        return self.sheets.setdefault(name, Sheet(name))


def test_what_stands_where_in_a_workbook(slower: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", SimpleNamespace(Workbook=Workbook))
    noted = replace(slower, notes=("one", "two\n"))
    stream = io.BytesIO()
    assert write_workbook(stream, noted) == len(Workbook.latest.sheets)
    assert stream.getvalue() == b"whole"
    texts = {f"strings_to_{kind}": False for kind in ("formulas", "urls", "numbers")}
    assert Workbook.latest.settings == {"in_memory": True, **texts}
    first = Workbook.latest.sheets["verdict"]
    path = slower.base.path
    assert first.cells == {
        (0, 0): verdict(slower), (2, 0): "BASE", (2, 1): path, (3, 0): "OTHER", (3, 1): path,
        (5, 0): "one", (6, 0): "two ",
    }  # fmt: skip
    assert first.bold == {(0, 0)}
    waterfall = Workbook.latest.sheets["waterfall"]
    head = {column: text for (row, column), text in waterfall.cells.items() if row == 0}
    names = ["name", "status", "base ms", "base count", "other ms", "other count", "delta ms"]
    assert [head[column] for column in range(len(names))] == names
    assert waterfall.bold == {(0, column) for column in head} and waterfall.frozen == (1, 1)
    assert [waterfall.widths[column] for column in range(len(names))] == [60, 11, 14, 11, 14, 11, 14]
    place = next(row for (row, column), text in waterfall.cells.items() if column == 0 and text == "aicore")
    assert waterfall.cells[place, 6] == round(slower.waterfall[place - 1].delta_ns) / 10**6
    changed = next(column for column, text in head.items() if text == "changed")
    changed_cells = [waterfall.cells[row + 1, changed] for row in range(len(slower.waterfall))]
    assert changed_cells == [
        {True: "yes", False: "no", None: "unknown"}[row.changed] for row in slower.waterfall
    ]
    for table in (WATERFALL, *tables_of(slower)):
        cells, rows = Workbook.latest.sheets[table.key].cells, ComparedRows(table.rows(slower))
        for place, column in enumerate(table.table.of(Form.FRAME)):
            parts = 10**6 if column.key.endswith(("_ns", "_bytes")) else 1
            values = [] if column.key == "changed" else column.exact(rows)
            expected = [value / parts if isinstance(value, (int, float)) else value for value in values]
            assert [cells.get((row, place)) for row, _ in enumerate(values, 1)] == expected
    lines = Workbook.latest.sheets["lines"]
    wide = {text: lines.widths[column] for (row, column), text in lines.cells.items() if row == 0}
    assert (wide["file"], wide["line"], wide["function"]) == (40, 11, 20)


def test_hostile_names_are_obeyed_by_nobody(hostile: Comparison) -> None:
    assert {row.status for row in hostile.operators} >= {"matched", "new"}
    for asked in (None, *BY.values()):
        text = comparison_text(hostile, asked, 0, 120)
        assert text.replace("\n", "").isprintable()
        assert comparison_markdown(hostile, asked, 0).replace("\n", "").isprintable()
    assert comparison_json(hostile).isascii()
    for table in EVERY:
        stream = io.BytesIO()
        write_small_table(stream, table.table, ComparedRows(table.rows(hostile)))
        text = stream.getvalue().decode()
        assert text.replace("\n", "").isprintable()
        for row in csv.reader(io.StringIO(text)):
            assert row[0] == text_cell(row[0]) or row[0].startswith("'")


def test_a_workbook_computes_and_links_nothing(hostile: Comparison) -> None:
    pytest.importorskip("xlsxwriter")
    stream = io.BytesIO()
    write_workbook(stream, hostile)
    parts = parts_of(stream.getvalue())
    sheets = [text for name, text in parts.items() if name.startswith("xl/worksheets/")]
    assert len(sheets) == len(EVERY)
    assert not any("<f>" in text or "hyperlink" in text for text in sheets)
    assert "=cmd|" in parts["xl/sharedStrings.xml"]
    assert "\x1b" not in "".join(parts.values())


@pytest.mark.parametrize("factor", [1, 1_000, 100_000])
def test_the_parts_of_a_step_fit_80_cells_however_long_steps_are(slower: Comparison, factor: int) -> None:
    def longer(row: ComparedRow) -> ComparedRow:
        base, other = (replace(side, ns=side.ns * factor) for side in (row.base, row.other))
        return replace(row, base=base, other=other)

    longest = replace(slower, step=longer(slower.step), waterfall=tuple(map(longer, slower.waterfall)))
    lines = comparison_text(longest, None, 3, 80).splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("A step, by what"))
    waterfall = lines[first : lines.index("", first)]
    assert len(waterfall) > 8 and max(map(cell_width, waterfall)) <= 80
    assert waterfall[-1].endswith("█" * 4)


def test_what_a_side_without_a_device_lacks_is_unknown() -> None:
    base, other = run_of(run("mixed")), run_of(analyse(trace_of([])))
    comparison = compare_runs(base, other)
    document = json.loads(comparison_json(comparison))
    rows = [document["step"], *document["waterfall"], *document["operators"], *document["api"]]
    assert {row[key] for row in rows for key in row.keys() & {"other_ns", "other_count"}} == {None}
    assert {row[key] for row in rows for key in ("delta_ns", "changed")} == {None}
    assert all(row["other_self_ns"] is None for row in document["api"])
    assert document["step"]["base_ns"] == document["base"]["step_ns"] > 0
    assert document["other"]["step_ns"] is None
    for table in (WATERFALL, *tables_of(comparison)):
        written = io.BytesIO()
        write_small_table(written, table.table, table.judged(comparison))
        for cells in csv.DictReader(written.getvalue().decode().splitlines()):
            unknown = cells.keys() & {"other_ns", "other_count", "delta_ns", "ratio", "changed"}
            assert {cells[key] for key in unknown} == {""}
    back = json.loads(comparison_json(compare_runs(other, base)))
    assert back["step"]["base_ns"] is None and back["step"]["other_ns"] == document["step"]["base_ns"]
