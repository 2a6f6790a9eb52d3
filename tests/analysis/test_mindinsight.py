"""Timelines for MindInsight, of MindSpore before 2.4: processes by number or label, steps of a table."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.synthetic import piece
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis
from tracetui.api import load, load_job
from tracetui.job.identity import identify
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.locate import locate_trace
from tracetui.trace.model import Activity, Family, Layer, TraceKind

CLOCK = 43_000_000_000  #: in units of 10 ns


def _timeline(directory: Path, rank: int = 1, steps: int = 3, **table: Any) -> Path:
    """Steps of 100 us: two operators, and an all-reduce after them."""
    events = [piece(9000, "AI CPU", "GetNext-op1", 0, 4)]
    for step in range(steps):
        events += [piece(1, 5, f"MatMul-op{step}", 100 * step + 10, 20)]
        events += [piece(10000, 7, "stream_7_parallel_0", 100 * step + 35.0000000007, 30)]
    path = directory / f"timeline_display_{rank}.json"
    directory.mkdir(exist_ok=True)
    path.write_text(json.dumps(events))
    header = ["step_num", "start_point", "end_point", "total", "fp_point", "bp_point", "iteration_interval"]
    header += ["fp_and_bp", "tail", "stream_7_parallel_0_start_point", "stream_7_parallel_0"]
    rows: list[list[Any]] = []
    for step in range(steps):
        at = CLOCK + 10_000 * step
        rows.append(
            [step + 1, at, at + 10_000, 10_000, at + 900, at + 3_100, 900, 2_200, 6_900, at + 3_500, 3_000]
        )
    rows.append(["-", *rows[1][1:]])
    with (directory / f"step_trace_raw_{rank}_detail_time.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *(table.get("rows", rows))])
    (directory / f"timeline_summary_{rank}.json").write_text("{}")
    return path


def test_operators_are_called_by_their_scope(tmp_path: Path) -> None:
    """As in a real timeline of 2021: the name is the last part of `fullname`."""
    path = _timeline(tmp_path)
    events = json.loads(path.read_text())
    for event in events:
        if event["name"].startswith("MatMul"):
            event["args"] = {"type": "MatMul", "fullname": f"Default/network-Train/fc1/{event['name']}"}
        elif event["pid"] == 9000:
            event["args"] = {"fullname": "another name"}
    path.write_text(json.dumps(events))
    analysis = load(path, cache=False)
    assert {"Default/network-Train/fc1/MatMul-op0", "GetNext-op1"} <= set(analysis.trace.strings)
    found = {row.scope: row for row in analysis.scopes}
    assert found["Default",].tasks == found["Default", "network-Train", "fc1"].tasks == 3
    assert found["Default", "network-Train", "fc1"].computing_ns == 60_000


def test_processes_are_known_by_their_numbers(tmp_path: Path) -> None:
    trace = load(_timeline(tmp_path), cache=False).trace
    assert {(track.pid, track.layer, track.family) for track in trace.tracks} == {
        ("1", Layer.DEVICE, Family.TASKS),
        ("9000", Layer.DEVICE, Family.TASKS),
        ("10000", Layer.COMMUNICATION, Family.GROUP),
    }
    named = {trace.name(row): Activity(trace.slices.activity[row]) for row in range(len(trace.slices))}
    assert named["GetNext-op1"] is Activity.AICPU and named["MatMul-op0"] is Activity.COMPUTE
    assert named["stream_7_parallel_0"] is Activity.COMMUNICATION and trace.devices == ("NPU",)
    elsewhere = _timeline(tmp_path).rename(tmp_path / "other.json")
    assert load(elsewhere, cache=False).devices == ()  # nothing tells what the numbers are


def test_the_timeline_of_a_gpu_is_that_of_a_gpu(tmp_path: Path) -> None:
    """Its file says so."""
    path = tmp_path / "gpu_timeline_display_1.json"
    path.write_text(json.dumps([piece(1, 5, f"MatMul-op{step}", 100 * step, 20) for step in range(3)]))
    trace = load(path, cache=False).trace
    assert trace.kind is TraceKind.GPU and trace.devices == ("GPU 1",)
    assert load(_timeline(tmp_path), cache=False).trace.kind is TraceKind.ASCEND


def test_later_files_label_them(tmp_path: Path) -> None:
    labels = {2: "AICORE OP", 9000: "AICPU OP", 10000: "Communication Op", 12000: "Op Overlap Analyse"}
    events = [
        {"name": "process_labels", "ph": "M", "pid": pid, "args": {"labels": label}}
        for pid, label in labels.items()
    ]
    events += [{"name": "thread_name", "ph": "M", "pid": 2, "tid": 100000, "args": {"name": "Steps"}}]
    events += [piece(2, 100000, "1", 0, 50), piece(2, 100000, "2", 50, 50), piece(2, 3, "Add-op1", 10, 20)]
    events += [piece(2, 3, "Add-op1", 60, 20), piece(10000, 4, "AllReduce-op2", 25, 15)]
    for tid, name, spans in (
        (7999, "computation_op", [(10, 20), (60, 20)]),
        (8001, "communication", [(25, 15)]),
        (8000, "communication_not_overlapped", [(30, 10)]),
        (8002, "free_time", [(40, 20)]),
    ):
        events += [piece(12000, tid, name, *span) for span in spans]
    path = tmp_path / "any name.json"
    path.write_text(json.dumps(events))
    analysis = load(path, cache=False)
    (device,) = analysis.devices
    assert device.producer is not None and not device.differs
    assert device.producer["free_ns"] == device.free_ns == 20_000
    assert [(step.number, step.computing_ns) for step in analysis.steps] == [(1, 20_000), (2, 20_000)]


def test_steps_of_which_only_communication_is_recorded_are_not_called_free(tmp_path: Path) -> None:
    """As in a real timeline of 2021, which has the operators of 14 steps and the communication of 322."""
    path = _timeline(tmp_path)
    events = json.loads(path.read_text())
    assert _advised(path) == {1, 2, 3}
    path.write_text(
        json.dumps([event for event in events if event["name"] not in ("MatMul-op1", "MatMul-op2")])
    )
    assert _advised(path) == {1}


def test_steps_of_which_only_communication_is_recorded_are_in_doubt_and_ask_for_no_overlap(
    tmp_path: Path,
) -> None:
    path = _timeline(tmp_path)
    analysis = load(path, cache=False)
    assert not analysis.health.doubts
    assert _communication_alone(analysis) == (90_000, 30_000)
    events = json.loads(path.read_text())
    path.write_text(json.dumps([event for event in events if event["name"] != "MatMul-op1"]))
    analysis = load(path, cache=False)
    (finding,) = analysis.health.doubts
    assert (finding.id, finding.steps, finding.count) == ("device.step_empty", (1,), 1)
    assert finding.english == "only communication is recorded of 1 of 3 steps, the others compute"
    assert analysis.health.trust["communication"] == analysis.health.trust["steps"] == "doubtful"
    assert _communication_alone(analysis) == (60_000, 30_000)


@pytest.mark.parametrize(("length", "is_cut"), [(9.0, True), (10.0, False)])
def test_a_step_in_which_computing_ends_to_be_recorded_is_in_doubt_too(
    tmp_path: Path, length: float, is_cut: bool
) -> None:
    """As step 15 of the real timeline, which computes 1 % of what the others do."""
    path = _timeline(tmp_path, steps=5)
    events = [
        event for event in json.loads(path.read_text()) if event["name"] not in ("MatMul-op3", "MatMul-op4")
    ]
    for event in events:
        if event["name"] == "MatMul-op2":
            event["dur"] = length
    path.write_text(json.dumps(events))
    analysis = load(path, cache=False)
    (finding,) = analysis.health.doubts
    assert finding.steps == ((2, 3, 4) if is_cut else (3, 4))
    cut = " and of a part of step 3" if is_cut else ""
    assert finding.english == f"only communication is recorded of 2 of 5 steps{cut}, the others compute"
    assert "2 of 5 steps only communication" in " ".join(analysis.step_notes["NPU"])
    assert _advised(path) == ({1, 2} if is_cut else {1, 2, 3})


def test_each_step_in_which_computing_begins_or_ends_to_be_recorded_is_named(tmp_path: Path) -> None:
    path = _timeline(tmp_path, steps=6)
    events = [
        event for event in json.loads(path.read_text()) if event["name"] not in ("MatMul-op1", "MatMul-op2")
    ]
    for event in events:
        if event["name"] in ("MatMul-op0", "MatMul-op3"):
            event["dur"] = 1
    path.write_text(json.dumps(events))
    (finding,) = load(path, cache=False).health.doubts
    assert finding.english == (
        "only communication is recorded of 2 of 6 steps and of parts of steps 1, 4, the others compute"
    )


def test_a_device_that_never_computes_lost_nothing(tmp_path: Path) -> None:
    path = _timeline(tmp_path)
    events = json.loads(path.read_text())
    path.write_text(json.dumps([event for event in events if event["pid"] == 10000]))
    analysis = load(path, cache=False)
    assert len(analysis.steps) == 3 and not analysis.health.doubts
    assert _communication_alone(analysis) == (90_000, 30_000)


def _communication_alone(analysis: Analysis) -> tuple[int | None, int | None]:
    """Return the time that the advice on communication is about, ns: in all, and in a mean step."""
    (advice,) = [advice for advice in find_advice(analysis) if advice.id == "exposed_communication"]
    return advice.cost_ns, advice.per_step_ns


def _advised(path: Path) -> set[int]:
    """Return the numbers of the steps that are free for much of the time, by the gaps of that advice."""
    analysis = load(path, cache=False)
    (advice,) = [advice for advice in find_advice(analysis) if advice.id == "free_time"]
    steps = {analysis.steps[step].number for step in analysis.gaps.step[advice.gaps].tolist()}
    assert advice.evidence["steps"] == len(steps)
    return steps


def _spans(analysis: Analysis) -> list[tuple[int, ...]]:
    return [
        tuple(span[1] - span[0] for span in (step.iteration_gap, step.forward_backward, step.tail) if span)
        for step in analysis.steps
    ]


def test_steps_are_those_of_the_table(tmp_path: Path) -> None:
    analysis = load(_timeline(tmp_path), cache=False)
    assert _spans(analysis) == [(9_000, 22_000, 69_000)] * 3
    assert [step.iteration_gap[0] for step in analysis.steps if step.iteration_gap] == [0, 100_000, 200_000]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [["-", 1, 2, 1, 1, 2, 0, 1, 0, 1, 1]],
        [[1, 1, 9, 8, 2, 3, 1, 1, 6, "x", 1]],
        [[n, n, n + 9, 8, n, n + 3, 1, 1, 6, n * n * 9_000, 1] for n in (1, 5, 8)],
    ],
    ids=["empty", "means only", "no points", "of another run"],
)
def test_a_table_that_tells_nothing_gives_no_steps(tmp_path: Path, rows: list[list[Any]]) -> None:
    assert load(_timeline(tmp_path, rows=rows), cache=False).steps == ()


def test_a_directory_of_ranks_is_a_job(tmp_path: Path) -> None:
    for rank in (0, 3):
        _timeline(tmp_path, rank)
    assert [rank.number for rank in load_job(tmp_path, cache=False).ranks] == [0, 3]
    assert identify(tmp_path / "ascend_timeline_display_12.json", {}).rank == 12


def test_what_is_no_timeline_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ascend_marey_timeline_0.json"
    path.write_text("[]")
    with pytest.raises(UnreadableTrace, match="diagram of a pipeline's stages, not a trace") as caught:
        locate_trace(path)
    assert caught.value.reason is Reason.NOT_A_TRACE
    timeline = _timeline(tmp_path)
    assert locate_trace(tmp_path) == timeline


def test_the_real_timeline(real_traces: Path) -> None:
    directory = real_traces / "mindspore" / "legacy"
    analysis = load(directory, cache=False)
    summary = json.loads((directory / "timeline_summary_1.json").read_text())
    assert analysis.devices[0].computing_ns == round(summary["total_time"] * 1000)
    with (directory / "step_trace_raw_1_detail_time.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["step_num"] != "-"]
    expected = [
        tuple(10 * int(row[key]) for key in ("iteration_interval", "fp_and_bp", "tail")) for row in rows
    ]
    assert _spans(analysis) == expected and len(expected) == 322
    assert "307 of 322 steps only communication" in " ".join(analysis.step_notes["NPU"])
    (finding,) = analysis.health.doubts
    assert finding.steps == tuple(range(14, 322))
    assert not [advice for advice in find_advice(analysis) if advice.id == "free_time"]
