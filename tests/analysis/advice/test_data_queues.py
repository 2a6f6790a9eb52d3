"""The queues of MindData beside a trace: whose fault it is that the device waits for data."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from simulator.mindspore.graph import GraphProfile
from tracetui.analysis.advice import find_advice
from tracetui.analysis.advice.model import Advice
from tracetui.api import load
from tracetui.export.sentences.advice_english import english_words
from tracetui.siblings.minddata import minddata_of

#: From the device back to the files; Decode is fed by a full queue and fills its own little.
PIPELINE: dict[str, list[Any]] = {
    "op_ids": [0, 1, 2, 3],
    "op_names": ["DeviceQueue", "Batch", "Map_Decode\x1b[31m", "ImageFolder"],
    "num_workers": [1, 4, 8, 8],
    "queue_utilization_pct": [-1, 4.2, 6.1, 97.5],
    "queue_empty_freq_pct": [-1, 81.5, 70.25, 0],
    "children_ids": [[1], [2], [3], []],
    "parent_id": [-1, 0, 1, 2],
}


def _transposed(columns: dict[str, list[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([key, *values] for key, values in columns.items())
    return file.getvalue()


def _profile(tmp_path: Path, batches: list[int], host_empty: float | None = 81.5, form: str = "json") -> Path:
    top = GraphProfile(3).write(tmp_path)
    timeline = top / "device_0" / "timeline"
    lines = [f"1 64 {number} {size} 1234\n0 5 {number} 17 1234\n" for number, size in enumerate(batches)]
    if batches:
        (timeline / "device_queue_profiling_3.txt").write_text("".join(lines))
    if host_empty is not None:
        profile = {**PIPELINE, "queue_empty_freq_pct": [-1, host_empty, 70.25, 0]}
        content = json.dumps(profile) if form == "json" else _transposed(profile)
        (timeline / f"minddata_pipeline_summary_3.{form}").write_text(content)
    return top


def _advice(top: Path) -> Advice | None:
    return next(
        (finding for finding in find_advice(load(top, cache=False)) if finding.id == "data_queue"), None
    )


@pytest.mark.parametrize("form", ["json", "csv"])
def test_the_operator_that_gets_too_little_done(tmp_path: Path, form: str) -> None:
    advice = _advice(_profile(tmp_path, [0] * 40 + [3] * 60, form=form))
    assert advice is not None and english_words(advice).title == "The data pipeline is late"
    assert advice.subjects == ("Map_Decode\x1b[31m",)
    assert advice.evidence["empty"] == 40 and advice.evidence["batches"] == 100
    assert advice.evidence["workers"] == 8 and advice.evidence["host_queue_empty_share"] == 0.815
    text = english_words(advice).text
    assert "empty for 40 of 100 batches" in text and "empty for 81.5 % of the time" in text
    assert text.isascii() and advice.cost_ns == advice.evidence["iteration_gap_idle_ns"]


@pytest.mark.parametrize(
    ("batches", "host_empty", "title"),
    [
        ([0] * 30 + [9] * 70, 81.5, "Taking data from the queue is late"),
        ([5] * 10, None, "Taking data from the queue is late"),
        ([0] * 31 + [9] * 69, 0.0, "Sending data to the device is late"),
        ([], 0.0, "Sending data to the device is late"),
        ([0] * 10, None, "The data pipeline is late"),
        ([], 50.0, "The data pipeline is late"),
    ],
)
def test_the_three_cases(tmp_path: Path, batches: list[int], host_empty: float | None, title: str) -> None:
    advice = _advice(_profile(tmp_path, batches, host_empty))
    assert advice is not None and english_words(advice).title == title


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_cell_that_holds_nothing_is_none(tmp_path: Path, form: str) -> None:
    rows = {**PIPELINE, "parent_id": ["", 0, 1, 2], "queue_utilization_pct": ["", 4.2, 6.1, 97.5]}
    content = json.dumps(rows) if form == "json" else _transposed(rows)
    (tmp_path / f"minddata_pipeline_summary_0.{form}").write_text(content)
    data = minddata_of(tmp_path / "trace_view.json")
    assert data is not None and data.slowest is not None
    assert (len(data.operators), data.operators[0].full_pct) == (4, -1)
    assert data.slowest.name == "Map_Decode\x1b[31m"


def test_no_queues_no_advice(tmp_path: Path) -> None:
    assert _advice(_profile(tmp_path, [], None)) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("minddata_pipeline_summary_0.json", "{"),
        ("minddata_pipeline_summary_0.json", '{"op_ids": ["x"], "op_names": 5}'),
        ("minddata_pipeline_summary_0.json", "[" * 100_000),
        ("minddata_pipeline_summary_0.csv", 'op_ids,0\nop_names,"a\n'),
        ("device_queue_profiling_0.txt", "1 64 0 -5\n1 64\nx\n0 1 2 3"),
        ("minddata_aicpu_0.txt", "\0\n"),
    ],
)
def test_damaged_files_tell_nothing(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert minddata_of(tmp_path / "trace_view.json") is None


def test_files_of_several_ranks_are_nobodys(tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"minddata_pipeline_summary_{rank}.json").write_text(json.dumps(PIPELINE))
    assert minddata_of(tmp_path / "trace_view.json") is None
    (tmp_path / "minddata_aicpu_0.csv").write_text(
        "node_name,start,end,queue_size\nGetNext,1,2,7\nGetNext,3,4,0\n"
    )
    found = minddata_of(tmp_path / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    assert found is not None and (found.looks, found.empty, found.operators) == (2, 1, ())
