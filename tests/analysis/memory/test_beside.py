"""Tables of memory beside a trace that are not of its operators: of static graphs, of MindSpore's tracker."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.export.training import training_events
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.growth import Verdict
from tracetui.analysis.memory.static import static_memory
from tracetui.analysis.memory.tracker import frames_in, recorded_by_tracker
from tracetui.cli import main
from tracetui.siblings.formats import STATIC_MEMORY
from tracetui.siblings.tables import read_beside
from tracetui.trace.stack import Frame


def test_static_memory_of_a_real_rank_is_the_most_at_any_node(real_traces: Path) -> None:
    directory = real_traces / "npu" / "pipeline_tables" / "test_rank_1" / "ASCEND_PROFILER_OUTPUT"
    with (directory / "static_op_mem.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {}
    for graph in ("0", "1"):
        graph_rows = [row for row in rows if row["Graph ID"] == graph]
        spans = [(int(row["Node Index Start"]), int(row["Node Index End"])) for row in graph_rows]
        sizes = [round(float(row["Size(KB)"]) * 1024) for row in graph_rows]
        expected[graph] = max(
            sum(size for (first, last), size in zip(spans, sizes) if first <= node < last)
            for node, _ in spans
        )
    found = static_memory(read_beside(directory / "trace_view.json", STATIC_MEMORY))
    assert {graph_memory.graph: graph_memory.peak_bytes for graph_memory in found} == expected
    assert [graph_memory.operators for graph_memory in found] == [28, 28]


def run_in(directory: Path) -> str:
    """A trace of which nothing else tells of memory."""
    (directory / "trace_view.json").write_text(
        json.dumps(training_events()), encoding="utf-8", errors="replace"
    )
    return str(directory)


def test_graphs_are_listed_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "static_op_mem.csv").write_text(
        "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n"
        "host,d,m\x1b,0,0,2,4\n"
        "host,a,m\x1b,1,0,2,1\nhost,b,m\x1b,1,2,4294967295,3\nhost,c,m\x1b,1,1,3,2\n",
        encoding="utf-8",
    )
    assert main(["memory", run_in(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["graphs"] == [
        {"graph": "1", "model": "m\x1b", "operators": 3, "peak_bytes": 5120, "id": "graph=1"},
        {"graph": "0", "model": "m\x1b", "operators": 1, "peak_bytes": 4096, "id": "graph=0"},
    ]
    assert main(["memory", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "Static memory of graphs" in text and "5.12 kB" in text and "\x1b" not in text


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("net.py:88 construct", [Frame("net.py", 88, "construct")]),
        (
            'File "/a b/net.py", line 8, in f;train.py(3): main',
            [Frame("b/net.py", 8, "f"), Frame("train.py", 3, "main")],
        ),
        ("nothing of this kind", []),
        ("x.py:" + "9" * 30, []),
    ],
)
def test_frames_are_found_by_what_looks_like_one(text: str, frames: list[Frame]) -> None:
    assert list(frames_in(text)) == frames


def tracked(directory: Path, steps: int = 3) -> None:
    """Three steps of four blocks at net.py(5) to (8), of which (7) is never given back; then a cut row."""
    rows = ["start_time_stamp,end_time_stamp,device_addr,size,task_name,node_name,python_stack,"]
    for step in range(steps):
        for place in range(4):
            start = 20 * step + place
            end = 2**63 - 1 if place == 2 else start + 8
            rows.append(f"{start},{end},0x{start},1024,task,Cast-op{place},net.py:{5 + place} construct,")
    rows.append("7,8")
    (directory / "memory_block.csv").write_text("\n".join(rows), encoding="utf-8")


def test_the_tracker_of_mindspore_tells_what_grows(tmp_path: Path) -> None:
    tracked(tmp_path)
    recorded = recorded_by_tracker(tmp_path / "trace_view.json", FrameRules())
    assert recorded is not None and not recorded.timed
    assert recorded.problems == (
        "memory_block.csv: 1 of 13 rows are left out, what they must hold is missing",
    )
    called = [recorded.operators[place] for place in recorded.blocks.operator.tolist()]
    assert called == [f"Cast-op{place}" for place in range(4)] * 3
    memory = Memory(recorded)
    (group,) = memory.growing
    assert (group.verdict, group.operator, group.frame) == (
        Verdict.GROWS,
        "Cast-op2",
        Frame("net.py", 7, "construct"),
    )
    assert (group.bytes_per_step, group.steps) == (1024, (1, 2, 3))
    (curve,) = recorded.curves
    assert (int(curve.allocated[-1]), int(curve.allocated.max())) == (3 * 1024, 6 * 1024)
    assert (np.diff(curve.time) >= 0).all()


def test_a_block_is_of_its_node_or_else_its_task_or_of_none(tmp_path: Path) -> None:
    rows = ["start_time_stamp,end_time_stamp,device_addr,size,task_name,node_name,python_stack,"]
    rows += [f"{at},9,0x{at},1024,{called},," for at, called in enumerate(["t,n", "t,", ",n", ","])]
    (tmp_path / "memory_block.csv").write_text("\n".join(rows), encoding="utf-8")
    recorded = recorded_by_tracker(tmp_path / "trace_view.json", FrameRules())
    assert recorded is not None
    assert [recorded.operators[place] for place in recorded.blocks.operator.tolist()] == ["n", "t", "n", ""]


def test_what_has_no_times_is_not_cut_by_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tracked(tmp_path)
    path = run_in(tmp_path)
    assert main(["memory", path]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "told by their numbers" in text
    assert "grows 1.02 kB a step: Cast-op2, the only call at net.py(7) construct" in text
    assert main(["memory", path, "--window", "0s..1s"]) == 2
    assert "has no times" in capsys.readouterr().err


def test_a_tracker_without_rows_is_no_error(tmp_path: Path) -> None:
    tracked(tmp_path, 0)
    recorded = recorded_by_tracker(tmp_path / "trace_view.json", FrameRules())
    assert recorded is not None and len(recorded.blocks) == 0 and Memory(recorded).all.peak is None
