"""The cells of csv files as places in their bytes: what Python's csv reads, whatever the quotes."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.siblings import cells
from tracetui.siblings.cells import Damaged, csv_cells, read_cells

COLUMNS = 3


def read(content: str, columns: int = COLUMNS) -> list[list[str]]:
    """The rows behind the first line."""
    path = Path(os.environ["XDG_CACHE_HOME"]) / "cells.csv"
    path.write_bytes(b"title\n" + content.encode())
    rows: list[list[str]] = []
    for block in read_cells(path, columns, range(columns)):
        rows += [
            [unquoted(block[place].text(row)) for place in range(columns)] for row in range(len(block[0]))
        ]
    return rows


def unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if cell.startswith('"') and cell.endswith('"') else cell


def of_csv(content: str) -> list[list[str]]:
    rows = [row for row in csv.reader(io.StringIO(content, newline="")) if row]
    return [row[:COLUMNS] + [""] * (COLUMNS - len(row)) for row in rows]


@pytest.fixture(params=[5, 1 << 20], autouse=True)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "_BLOCK", request.param)


ROWS = st.lists(st.lists(st.text('a",\n\t ü', max_size=4), min_size=COLUMNS, max_size=COLUMNS), max_size=6)


@given(ROWS)
def test_what_is_written_as_csv_is_read(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    assert read(file.getvalue()) == rows


@given(st.text('a",\n', max_size=24))
def test_quotes_in_odd_places_are_read_as_python_does(content: str) -> None:
    try:
        found_rows = read(content)
    except Damaged:
        assert content.count('"') % 2
        return
    # A cell of which a quote does not close ends where the file does, with a line end or without.
    of_both = [
        [[cell.replace('"', "").strip("\n") for cell in row] for row in rows]
        for rows in (found_rows, of_csv(content))
    ]
    assert of_both[0] == of_both[1]


def test_rows_of_any_length_and_line_ends() -> None:
    assert read("a\r\n\n\r\nb,c,d,e\n,f") == [["a\r", "", ""], ["b", "c", "d"], ["", "f", ""]]


def test_texts_are_told_apart_to_the_last_byte() -> None:
    texts = ["a", "a\0", "", "b" * 300, "a", "ü", "b" * 299 + "c"]
    for samples in (texts, [*texts[:3], "ü"]):  # longer than are compared at once, and not
        place, distinct = csv_cells(samples).distinct()
        assert [distinct[at] for at in place.tolist()] == samples
        assert len(set(distinct)) == len(distinct)


def test_texts_of_equal_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "_PRIME", np.uint64(0))
    place, distinct = csv_cells(["a", "b", "a"]).distinct()
    assert [distinct[at] for at in place.tolist()] == ["a", "b", "a"]


def test_numbers_and_what_is_none() -> None:
    texts = ["0.1", ' "-2e3"\t', "N/A", "inf", "1.2.3", "", "9" * 50, "5 6"]
    numbers = csv_cells(texts).trimmed().floats()
    assert numbers[:2].tolist() == [0.1, -2000.0]
    assert np.isnan(numbers[2:]).all()
