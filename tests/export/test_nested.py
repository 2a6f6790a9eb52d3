"""Idle time by module and by frame: the same values as JSON, CSV, text and Markdown, and all of it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.analysis import real
from tests.analysis.machine import npu, operator, task
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.cli.entry import main
from tracetui.export.csv_table import write_table
from tracetui.export.json_document import json_texts
from tracetui.export.sentences.causes import line_name, module_name
from tracetui.export.trace.nested_text import (
    FRAMES,
    MODULES,
    NO_MODULES,
    Ranking,
    nested_markdown,
    nested_text,
)
from tracetui.export.trace.selection import Selection

RANKINGS = [MODULES, FRAMES]
ALL = Selection()


@pytest.fixture
def alexnet(real_traces: Path) -> Analysis:
    return real.npu(real_traces, "level2/rank0")


def name_of(row: dict[str, Any]) -> str:
    if "module" in row:
        return module_name(row["module"], row["path"])
    return line_name(row["file"], row["line"] or 0, row["function"])


@pytest.mark.parametrize("ranking", RANKINGS, ids=lambda ranking: ranking.several)
def test_every_front_tells_the_same(alexnet: Analysis, ranking: Ranking) -> None:
    answer = json.loads("".join(json_texts(ranking.document(alexnet, ALL, 0))))
    rows = answer[ranking.several]
    assert [*answer] == ["schema", "trust", "findings", "idle_ns", ranking.several]
    assert sum(row["own_ns"] for row in rows) == answer["idle_ns"] == alexnet.idle_ns
    stream = io.BytesIO()
    assert write_table(stream, ranking.table, ranking.rows(alexnet, ALL, 0)) == len(rows)
    cells = list(csv.DictReader(io.StringIO(stream.getvalue().decode())))
    for row, cell in zip(rows, cells):
        for key in ("idle_ns", "own_ns", "backward_ns", "gaps", "longest_ns"):
            assert int(cell[key]) == row[key]
        for key in ("file", "function", *(["module"] if ranking is MODULES else [])):
            assert cell[key] == (row[key] or "")
        assert sum(int(cell[key]) for key in cell if "." in key) == row["idle_ns"]
    text = nested_text(ranking, alexnet, ALL, 0, 10_000)
    marked = nested_markdown(ranking, alexnet, ALL, 0)
    lines = text.splitlines()[3:]
    for at, row in enumerate(rows):
        assert lines[2 * at].endswith(f"  {name_of(row)}")
        assert f"| `{name_of(row)}` |" in marked
    assert f"{len(rows) - 2} more with less: --top 0" in nested_text(ranking, alexnet, ALL, 2, 80)
    assert max(map(len, nested_text(ranking, alexnet, ALL, 0, 80).splitlines())) <= 80


@pytest.mark.parametrize("ranking", RANKINGS, ids=lambda ranking: ranking.several)
def test_a_selection_shares_out_the_idle_time_of_its_gaps(alexnet: Analysis, ranking: Ranking) -> None:
    start = alexnet.trace.start_ns
    halves = [Selection(window=(start, start + 40_000_000)), Selection(window=(start + 40_000_000, 2**62))]
    parts = [ranking.document(alexnet, half, 0)["idle_ns"] for half in halves]
    assert sum(parts) == alexnet.idle_ns and min(parts) > 0
    for half, part in zip(halves, parts):
        assert alexnet.gaps.idle[half.gaps(alexnet)].sum() == part
    stream = io.BytesIO()
    rows = ranking.rows(alexnet, halves[0], 3)
    assert write_table(stream, ranking.table, rows) == 3
    assert len(ranking.document(alexnet, halves[0], 3)[ranking.several]) == 3


def test_without_modules_all_is_outside_and_the_reason_is_told(real_traces: Path) -> None:
    analysis = real.gpu(real_traces, "resnet_rank0.json.gz")
    document = MODULES.document(analysis, ALL, 0)
    (row,) = document["modules"]
    assert (row["module"], row["path"], row["own_ns"]) == (None, [], analysis.idle_ns)
    assert NO_MODULES in nested_text(MODULES, analysis, ALL, None, 80)
    assert NO_MODULES in nested_markdown(MODULES, analysis, ALL, None)


def test_without_python_the_text_ranks_operators_of_the_host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps([*npu(), task(0, 10), operator(20, 40, "aten::item"), task(90, 10)]))
    for form in ((), ("--md",)):
        assert main(["hotspots", str(path), "--by", "frame", *form]) == 0
        text = capsys.readouterr().out
        assert "Idle time by operator of the host: 80 ns" in text
        assert "(between operators)" in text and "no stack" not in text


@pytest.mark.parametrize(("by", "key"), [("line", "hotspots"), ("module", "modules"), ("frame", "frames")])
def test_the_command_ranks_by_what_is_asked(
    real_traces: Path, capsys: pytest.CaptureFixture[str], by: str, key: str
) -> None:
    path = real.npu_output(real_traces, "level2/rank0") / "trace_view.json"
    assert main(["hotspots", str(path), "--by", by, "--json", "--top", "2"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document[key]) == 2 and document["idle_ns"] == 25_022_033


def test_the_scopes_of_a_window_hold_what_starts_in_it() -> None:
    parts = [piece(3, 2, "Default/x/First-op0", 10 * n, 5, **{"Task Type": "AI_CORE"}) for n in range(20)]
    analysis = analyse(trace_of([*process(3, "Ascend Hardware", "NPU"), *parts]))
    found = Selection(window=(10_000, 30_000)).scopes(analysis)
    assert sum(row.own_computing_ns for row in found) == 2 * 5_000


def test_a_window_without_modules_is_no_trace_without_them(alexnet: Analysis) -> None:
    starts = alexnet.gaps.start.tolist()
    windows = [Selection(window=(start, start + 1)) for start in starts]
    outside = [window for window in windows if {row.module for row in window.modules(alexnet)} == {None}]
    for write in (nested_text, nested_markdown):
        text = write(MODULES, alexnet, outside[0], 0, *([80] if write is nested_text else []))
        assert NO_MODULES not in text


def test_without_scopes_no_selection_has_any() -> None:
    analysis = analyse(trace_of([*process(3, "Ascend Hardware", "NPU"), piece(3, 2, "mm", 0, 5)]))
    assert Selection(window=(0, 9_000)).scopes(analysis) == analysis.scopes == ()
