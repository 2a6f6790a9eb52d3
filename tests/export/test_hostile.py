"""Names that no writer may obey, drop, or take minutes for."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import BinaryIO

import pytest

from tests.export.training import NAMES, training_events
from tests.synthetic import trace_of
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.export.cells import encodable, text_cell
from tracetui.export.csv_table import write_table
from tracetui.export.json_document import json_texts
from tracetui.export.tables.advice import ADVICE, AdviceRows
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.tables.hotspots import LINES, LineRows
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.tables.steps import STEPS, StepRows
from tracetui.export.text import cell_width
from tracetui.export.trace.advice_text import advice_text
from tracetui.export.trace.documents import (
    advice_document,
    gaps_document,
    hotspots_document,
    summary_document,
)
from tracetui.export.trace.events_csv import write_events
from tracetui.export.trace.idle_text import gaps_text, hotspots_text
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text

ALL = Selection()
ENDLESS = "=cmd\x1b[2J\r\n\x00\ud800\u202e\u77e9" * 5000
HOSTILE = (*NAMES, ENDLESS)

WRITERS: dict[str, Callable[[BinaryIO, Analysis], int]] = {
    "events": lambda stream, analysis: write_events(stream, analysis, 0, 2**62),
    "gaps": lambda stream, analysis: write_table(stream, GAPS, GapRows(analysis, ALL.gaps(analysis))),
    "steps": lambda stream, analysis: write_table(stream, STEPS, StepRows(analysis)),
    "hotspots": lambda stream, analysis: write_table(stream, LINES, LineRows(analysis)),
    "advice": lambda stream, analysis: write_table(stream, ADVICE, AdviceRows(analysis)),
    "operators": lambda stream, analysis: write_table(stream, OPERATORS, analysis.device_operators),
}


@pytest.fixture(scope="module")
def hostile() -> Analysis:
    return analyse(trace_of(training_events(HOSTILE, steps=1)))


@pytest.fixture(autouse=True)
def long_fields() -> Iterator[None]:
    limit = csv.field_size_limit(2 * len(ENDLESS))
    yield
    csv.field_size_limit(limit)


@pytest.mark.parametrize("table", WRITERS)
def test_csv(hostile: Analysis, table: str) -> None:
    stream = io.BytesIO()
    count = WRITERS[table](stream, hostile)
    text = stream.getvalue().decode()
    assert text.replace("\n", "").isprintable()
    assert text.count("\n") == count + 1
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert {len(row) for row in rows} == {len(header)}
    assert not any(
        cell.lstrip().startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20")) for row in rows for cell in row
    )
    if table not in ("steps", "hotspots", "advice"):
        # The first gap ends with the second task.
        expected = {text_cell(name) for name in (HOSTILE[1:] if table == "gaps" else HOSTILE)}
        assert expected <= {cell for row in rows for cell in row}


def test_json(hostile: Analysis) -> None:
    text = "".join(json_texts(gaps_document(hostile, ALL)))
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    names = {gap["after"]["name"] for gap in json.loads(text)["gaps"] if gap["after"]}
    assert {encodable(name) for name in HOSTILE[1:]} <= names
    assert "".join(json_texts(summary_document(hostile, ALL))).isascii()

    assert "".join(json_texts(hotspots_document(hostile, ALL))).isascii()
    assert "".join(json_texts(advice_document(hostile))).isascii()


@pytest.mark.parametrize("write", [gaps_text, summary_text, hotspots_text])
def test_text(hostile: Analysis, write: Callable[[Analysis, Selection, int, int], str]) -> None:
    lines = write(hostile, ALL, 0, 80).splitlines()
    assert all(line.isprintable() and cell_width(line) <= 80 for line in lines)
    assert len(lines) > len(HOSTILE)


def test_advice_text(hostile: Analysis) -> None:
    assert all(
        line.isprintable() and cell_width(line) <= 80
        for line in advice_text(find_advice(hostile), 80).splitlines()
    )
