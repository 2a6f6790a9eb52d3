"""Graph mode: raw exports of msprof, of one file for each iteration or in slices, generated and real."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.mindspore.graph import BEGIN_US, BOOT_NS, GraphProfile
from tests.analysis.machine import npu, task
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis import iterations
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.api import load, load_job
from tracetui.cli.entry import main
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.markdown import summary_markdown
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.step_numbers import StepNumbers
from tracetui.export.trace.summary import summary_text
from tracetui.reader.locate import locate_trace
from tracetui.siblings.step_points import StepPoints
from tracetui.trace.model import Track

BASE = BEGIN_US * 1000 - BOOT_NS
SUMS = {
    "Computing": "computing_ns",
    "Communication": "communication_ns",
    "Communication(Not Overlapped)": "communication_not_overlapped_ns",
    "Free": "free_ns",
}


@pytest.fixture(params=[0, 3], ids=["iterations", "slices"])
def profile(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[GraphProfile, Analysis]:
    made = GraphProfile()
    return made, load(made.write(tmp_path, request.param), cache=False)


def test_the_steps_are_the_iterations(profile: tuple[GraphProfile, Analysis]) -> None:
    made, analysis = profile
    before = None
    for step, truth in zip(analysis.steps, made.truth):
        sums = truth.sums
        assert step.number == truth.number and analysis.trace.name(step.row) == f"Iteration {truth.number}"
        assert (step.computing_ns, step.communication_ns) == (sums["Computing"], sums["Communication"])
        first, last = (BASE + at for at in truth.passes)
        assert step.forward_backward == (first, last)
        assert step.tail == (last, BASE + truth.end)
        assert step.iteration_gap == (BASE + truth.start if before is None else BASE + before, first)
        before = truth.end
    assert len(analysis.steps) == len(made.truth)
    assert StepNumbers(analysis).known() == [1, 2, 3, 4]
    for step in analysis.steps[1:]:  # the first one begins before there is any work
        whole = step.computing_ns + step.communication_not_overlapped_ns + step.free_ns
        assert whole == step.end_ns - step.start_ns
    assert sum(analysis.tasks_of_no_step.values()) == 0


def test_the_sums_are_the_producers(profile: tuple[GraphProfile, Analysis]) -> None:
    made, analysis = profile
    (device,) = analysis.devices
    sums = {key: sum(truth.sums[name] for truth in made.truth) for name, key in SUMS.items()}
    assert device.producer == sums and device.differs
    assert device.left_out_ns == device.free_ns - sums["free_ns"] > 0
    assert (device.computing_ns, device.communication_ns) == (sums["computing_ns"], sums["communication_ns"])
    causes = analysis.causes.by_cause()
    assert causes[Cause.GRAPH] + causes.get(Cause.STREAM_WAIT, 0) == sums["free_ns"]
    assert causes[Cause.UNLINKED] == device.idle_ns - sums["free_ns"]


def test_an_export_that_differs_is_told(tmp_path: Path) -> None:
    top = GraphProfile().write(tmp_path)
    path = top / "device_0" / "timeline" / "msprof_0_2_2.json"
    events = json.loads(path.read_text())
    path.write_text(json.dumps([event for event in events if event["name"] != "Free"]))
    (device,) = load(top, cache=False).devices
    assert device.differs and not device.left_out_ns


def test_parts_of_collectives_are_no_copies(profile: tuple[GraphProfile, Analysis]) -> None:
    _, analysis = profile
    (device,) = analysis.devices
    assert device.copies.total == 0 and device.communication_ns > 0


def _iteration(tid: int, number: int, start: int, **spans: tuple[int, int]) -> list[dict[str, Any]]:
    named = {f"Iteration {number}": (start, 90), **{f"{name} {number}": span for name, span in spans.items()}}
    return [piece(3, tid, name, ts, dur, "Iteration Time") for name, (ts, dur) in named.items()]


def test_ranks_are_told_by_the_files_of_an_export(tmp_path: Path) -> None:
    for rank in (2, 5):
        GraphProfile(2, seed=rank, rank=rank).write(tmp_path / f"{9 - rank}")
    job = load_job(tmp_path, cache=False)
    assert [rank.number for rank in job.ranks] == [2, 5]
    assert {rank.digest.identity.host for rank in job.ranks} == {"node7"}
    run = load(tmp_path / "4", cache=False).run
    assert (run.rank, run.host) == (5, "node7")


def test_devices_of_one_export_are_ranks(tmp_path: Path) -> None:
    top = GraphProfile(2, rank=0).write(tmp_path / "a")
    other = GraphProfile(2, seed=2, rank=1).write(tmp_path / "b")
    device = top / "device_1"
    (other / "device_0").rename(device)
    for path in (device / "timeline").iterdir():
        path.rename(path.with_name(path.name.replace("_0_2_", "_1_2_")))
    assert [rank.number for rank in load_job(tmp_path / "a", cache=False).ranks] == [0, 1]
    assert summary_document(load(device, cache=False), Selection())["trace"]["files"] == 2


def test_collectives_of_ranks_are_matched_on_real_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in range(2):
        GraphProfile(3, rank=rank).write(tmp_path / f"{rank}")
    assert main(["ranks", str(tmp_path)]) == 0
    assert "3 collectives in common, clocks aligned within 0 ns" in capsys.readouterr().out


def test_numbers_on_other_threads_are_no_iterations() -> None:
    """Ranges of a user may be called by numbers, as iterations are on the thread of steps."""
    events = [*process(0, "python", "GPU 0")]
    events += [piece(0, 7, "12", 0, 50, "gpu_user_annotation"), piece(0, 7, "gemm", 5, 9, "kernel")]
    assert analyse(trace_of(events)).steps == ()


def test_no_part_of_the_trace_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    top = GraphProfile(2).write(tmp_path)
    part = top / "device_0" / "timeline" / "msprof_0_2_2.json"
    before = part.read_bytes()
    assert main(["hotspots", str(top), "--csv", str(part), "--force"]) == 2
    assert "is the trace itself" in capsys.readouterr().err and part.read_bytes() == before


def test_the_graph_that_takes_most_of_the_time_has_the_steps() -> None:
    events = [*process(3, "Ascend Hardware", "NPU"), *thread(3, 8, "Step Trace(Model ID:1)")]
    events += [*thread(3, 9, "Step Trace(Model ID:2)"), *_iteration(8, 1, 0)]
    events += [*_iteration(9, 1, 100), *_iteration(9, 2, 200, **{"FP_BP Time": (150, 80)})]
    kernel = {"Task Type": "AI_CORE"}
    events += [piece(3, 2, "Default/Add-op1", ts, 10, **kernel) for ts in (10, 120, 220)]
    steps = analyse(trace_of(events)).steps
    assert [step.number for step in steps] == [1, 2]
    # No passes are told of the first; those of the second are not inside of it.
    assert [(step.forward_backward, step.tail) for step in steps] == [(None, None)] * 2
    assert steps[1].iteration_gap == (190_000, 200_000)


@cache
def _real(directory: Path) -> Analysis:
    return load(directory, cache=False)


def _profile(real_traces: Path) -> Path:
    return next((real_traces / "mindspore").glob("PROF_*"))


def test_real_iterations_are_those_of_the_producer(real_traces: Path) -> None:
    top = _profile(real_traces)
    analysis = _real(top)
    (device,) = analysis.devices
    assert device.differs and device.producer is not None
    assert device.left_out_ns == device.free_ns - 1_191_260 == 168_378_830
    sentence = "free 1.19 ms, not 170 ms: it leaves out 168 ms between iterations."
    warnings = summary_document(analysis, Selection())["trace"]["warnings"]
    assert f"NPU: the trace's own Overlap Analysis says otherwise: {sentence}" in warnings
    assert "it leaves out 168 ms between iterations\n" in summary_text(analysis, Selection(), None, 80)
    assert f"\n`NPU`: the trace's own Overlap Analysis says otherwise: {sentence}\n" in summary_markdown(
        analysis, Selection(), None
    )
    for key in ("computing_ns", "communication_ns", "communication_not_overlapped_ns"):
        assert getattr(device, key) == device.producer[key]
    causes = analysis.causes.by_cause()
    assert causes[Cause.GRAPH] + causes[Cause.STREAM_WAIT] == device.producer["free_ns"] == 1_191_260
    assert analysis.trace.report.events == 11_373
    assert analysis.trace.start_ns == 1_692_340_080_258_305_170
    args_of = {}
    for path in (top / "device_0" / "timeline").glob("msprof_*.json"):
        for event in json.loads(path.read_text()):
            if event["name"].startswith(("Iteration", "FP_BP")):
                args_of[event["name"]] = event["args"]
    before = None
    for step in analysis.steps:
        args = args_of[f"Iteration {step.number}"]
        assert step.forward_backward is not None and step.tail is not None and step.iteration_gap is not None
        passes = step.forward_backward[1] - step.forward_backward[0]
        assert passes == args_of[f"FP_BP Time {step.number}"]["FP_BP Time(ns)"]
        assert (
            step.tail[1] - step.tail[0]
            == args_of[f"Iteration Refresh {step.number}"]["Iteration Refresh(ns)"]
        )
        if before is not None:
            gap = step.iteration_gap[1] - step.iteration_gap[0]
            assert gap == round(args["FP Start"] * 1000) - round(before * 1000)
        before = args["Iteration End"]
    assert [step.number for step in analysis.steps] == [*range(1, 11)]


def test_a_file_and_its_parents_mean_the_same(real_traces: Path) -> None:
    top = _profile(real_traces)
    timeline = top / "device_0" / "timeline"
    part = timeline / "msprof_0_2_7.json"
    assert locate_trace(top) == locate_trace(timeline) == locate_trace(part)
    assert load(part, cache=False).trace.report.events == 11_373


@pytest.mark.parametrize(
    ("forward", "backward", "believed"),
    [(0, 90, True), (40, 40, True), (-1, 90, False), (0, 91, False), (50, 40, False)],
)
def test_passes_of_a_table_are_inside_of_their_iteration(
    forward: int, backward: int, believed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the table is 1,000 ns behind."""
    trace = analysis_of_tasks(1_010, 1_050).trace
    number, start, end, first, last = np.array([[7], [0], [90], [forward], [backward]], np.int64)
    points = StepPoints(number, start, end, first, last, {"kernel": np.array([10, 50], np.int64)})
    monkeypatch.setattr(iterations, "step_points", lambda _: points)
    (found,) = iterations._iterations_in_table(trace, trace.devices[0])
    assert (found.number, found.start, found.end) == (7, 1_000, 1_090)
    assert found.passes == ((1_000 + forward, 1_000 + backward) if believed else None)


def analysis_of_tasks(*starts: int) -> Analysis:
    return analyse(trace_of([*npu(), *(task(start, 5) for start in starts)]))


def test_of_many_devices_tracks_are_looked_through_once() -> None:
    """A file may name a device in every process: looking through all tracks for each never ended."""

    class CountedTracks(tuple[Track, ...]):
        passes = 0

        def __iter__(self) -> Iterator[Track]:
            type(self).passes += 1
            return super().__iter__()

    events = [
        event
        for pid in range(4)
        for event in (
            *process(pid, "Ascend Hardware", f"NPU {pid}"),
            piece(pid, 1, "MatMul", 1, 2, **{"Task Type": "AI_CORE"}),
        )
    ]
    trace = trace_of(events)
    trace = replace(trace, tracks=CountedTracks(trace.tracks))
    assert len(trace.devices) == 4
    assert not any(iterations.iterations(trace, device) for device in trace.devices)
    assert CountedTracks.passes == 1
