"""Pictures of a page, by definition: each bar and each cell where it belongs, and as large as its time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.analysis import gpu
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.heat.cells import HeatCells
from tracetui.export.page.charts import (
    COLUMNS,
    HEIGHT,
    map_of_cells,
    step_scale,
    strip,
    time_scale,
    time_strip,
)
from tracetui.export.page.html import as_markup
from tracetui.export.page.source import source_excerpts
from tracetui.trace.source_files import SourceFiles
from tracetui.trace.stack import Frame
from tracetui.units import format_duration

MS = 1_000_000


class Bar(NamedTuple):
    kind: str
    column: int
    bottom: float  #: from the ground of the picture
    height: float


def bars(drawn: str) -> list[Bar]:
    """The bars of a strip, each as wide as a column or a little wider."""
    found = []
    for kind, path in re.findall(r'<path class="(\w+)" d="([^"]*)"', drawn):
        for column, y, width, height, back in re.findall(
            r"M(\d+) ([\d.]+)h([\d.]+)v-([\d.]+)h-([\d.]+)z", path
        ):
            assert width == back and 1 <= float(width) < 1.2
            found.append(Bar(kind, int(column), round(HEIGHT - float(y), 2), float(height)))
    return found


def test_bars_stand_upon_each_other_each_as_high_as_its_share_of_the_column() -> None:
    ns = {
        "computing": np.array([3, 0, 10, 0]),
        "idle": np.array([7, 5, 0, 0]),
        "copies": np.array([0, 5, 0, 0]),
    }
    drawn = strip(ns, np.full(4, 10), ("<first>", "last"))
    assert bars(drawn) == [
        Bar("computing", 0, 0, 21.6),
        Bar("computing", 2, 0, HEIGHT),
        Bar("idle", 0, 21.6, 50.4),
        Bar("idle", 1, 0, 0.5 * HEIGHT),
        Bar("copies", 1, 0.5 * HEIGHT, 0.5 * HEIGHT),
    ]
    assert f'viewBox="0 0 4 {HEIGHT}"' in drawn
    assert re.findall(r'class="key (\w+)"></span>(.*?)</span>', drawn) == [
        ("computing", "computing 43.3 %"),
        ("idle", "idle 40.0 %"),
        ("copies", "copies 16.7 %"),
    ]
    assert '<span class="scale"><span>&lt;first&gt;</span><span>last</span></span>' in drawn


def test_what_cannot_be_seen_is_not_drawn() -> None:
    least = 0.005 / HEIGHT
    whole = np.full(2, 1_000_000)
    ns = {"idle": np.array([least * 0.9, least * 1.1]) * whole, "copies": np.zeros(2)}
    drawn = strip(ns, whole, ())
    assert [(bar.kind, bar.column) for bar in bars(drawn)] == [("idle", 1)]
    tiny = strip({"idle": np.ones(2, np.int64)}, np.ones(2, np.int64), ())
    assert [bar.height for bar in bars(tiny)] == [HEIGHT, HEIGHT], "columns of a ns"
    empty = strip({"idle": np.zeros(2, np.int64)}, np.zeros(2, np.int64), ())
    assert bars(empty) == [] and "idle 0.0 %" in empty


def test_a_strip_shows_when_a_device_did_what() -> None:
    """It computes for 2 ms, is idle for 1 ms and computes for 1 ms; the trace begins 3 ms earlier."""
    events = [gpu.host(2 * MS, 100), gpu.kernel(5 * MS, 2 * MS, 1), gpu.kernel(8 * MS, MS, 2)]
    analysis = analyse(trace_of([*gpu.gpu(), *events]))
    (activity,) = analysis.devices
    drawn = time_strip(activity, analysis.trace.start_ns)
    found = {kind: [bar.column for bar in bars(drawn) if bar.kind == kind] for kind in ("computing", "idle")}
    half, rest = COLUMNS // 2, COLUMNS * 3 // 4
    assert found == {"computing": [*range(half), *range(rest, COLUMNS)], "idle": [*range(half, rest)]}
    scale = [as_markup(format_duration(3 * MS + quarter * MS)) for quarter in range(5)]
    assert "".join(f"<span>{text}</span>" for text in scale) in drawn


def test_a_scale_has_five_times_and_names_the_first_and_last_step() -> None:
    assert time_scale(5 * MS, 9 * MS) == [format_duration(ms * MS) for ms in (5, 6, 7, 8, 9)]
    assert step_scale([3, 5, 9]) == ["step 3", "step 9"]
    assert step_scale([0, -1]) == ["step 0", "outside steps"]
    assert step_scale([7]) == ["step 7", "step 7"]


def cells(share: list[list[float]]) -> HeatCells:
    shares = np.array(share)
    ns, capacity = np.zeros(shares.shape, np.int64), np.ones(shares.shape, np.int64)
    return HeatCells(ns, capacity, np.full(shares.shape, -1, np.int64), shares)


def drawn_cells(drawn: str) -> list[list[tuple[str, int, int, float]]]:
    """Of each row the class of the style, first column, number of columns and opacity of its cells."""
    pattern = r'<rect class="(\w+)" x="(\d+)" width="(\d+)" height="1" opacity="([\d.]+)"/>'
    return [
        [(kind, int(x), int(width), float(opacity)) for kind, x, width, opacity in re.findall(pattern, row)]
        for row in re.findall("<svg(.*?)</svg>", drawn)
    ]


SHARES = [[0.0, 0.1, 0.1, 0.8], [np.nan, 0.45, 0.05, 0.0]]
NAMES = [("n" * 60, "host"), ("<b>", "launch")]


def test_a_cell_is_as_dark_as_its_share_beside_the_highest_in_eight_shades() -> None:
    drawn = map_of_cells(cells(SHARES), NAMES, ("a", "b"))
    assert drawn_cells(drawn) == [
        [("host", 1, 2, 0.125), ("host", 3, 1, 1.0)],
        [("launch", 1, 1, 0.625), ("launch", 2, 1, 0.125)],
    ]
    assert 'viewBox="0 0 4 1"' in drawn and "darkest: 80.0 % of" in drawn
    assert re.findall('<span class="name">(.*?)</span>', drawn) == [as_markup("n" * 60, 48), "&lt;b&gt;"]
    assert len(as_markup("n" * 60, 48)) == 48


def test_a_map_may_be_drawn_to_the_scale_of_another() -> None:
    drawn = map_of_cells(cells(SHARES), NAMES, (), highest=1.6)
    assert [row[-1][-1] for row in drawn_cells(drawn)] == [0.5, 0.125] and "darkest: 160.0 %" in drawn
    nothing = map_of_cells(cells([[0.0, 0.0]]), NAMES[:1], ())
    assert drawn_cells(nothing) == [[]] and "darkest: 0.0 %" in nothing


@pytest.mark.parametrize(
    ("line", "shown"),
    [(1, range(1, 5)), (5, range(2, 9)), (10, range(7, 11)), (4, range(1, 8)), (0, ()), (11, ()), (-1, ())],
)
def test_three_lines_of_source_stand_around_the_one_that_is_quoted(
    line: int, shown: Sequence[int], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("".join(f"x = {number} < 1\n" for number in range(1, 11)))
    source = SourceFiles(tmp_path / "trace.json", [tmp_path])
    excerpts = source_excerpts(source, [Frame("train.py", line, "step")])
    written = [
        piece
        for excerpt in excerpts
        for piece in re.findall(r"(<mark>)? +(\d+)  x = (\d+) &lt; 1(</mark>)?", excerpt)
    ]
    assert [(int(number), int(text)) for _, number, text, _ in written] == [(n, n) for n in shown]
    assert [int(number) for begin, number, _, end in written if begin and end] == [line][: len(shown)]


def test_source_of_the_first_five_lines_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\n" * 10)
    source = SourceFiles(tmp_path / "trace.json", [tmp_path])
    frames = [Frame("train.py" if number != 2 else "other.py", number, "f") for number in range(1, 8)]
    found = [re.findall(r"train.py\((\d)\)", excerpt) for excerpt in source_excerpts(source, frames)]
    assert found == [["1"], ["3"], ["4"], ["5"]], "of the second there is none"
