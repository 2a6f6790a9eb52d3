"""What is shown as a curve: counters, the memory that the producer's tables tell of, the lead of the host."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis import real
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.counter_tracks import LEAD, MEMORY, has_memory, of_leads, of_memory
from tracetui.trace.model import Trace

HEADER = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"


def npu_trace(path: Path) -> Trace:
    events = [*process(300, "Ascend Hardware", "NPU", 13), piece(300, 1, "kernel", "1000", "5")]
    return replace(trace_of(events), path=str(path / "trace_view.json"))


@pytest.mark.parametrize("rank", ["level0/rank1", "level2/rank0"])
def test_memory_is_that_of_the_producers_table(real_traces: Path, rank: str) -> None:
    trace = real.npu(real_traces, rank).trace
    assert has_memory(trace)
    tracks, problems = of_memory(trace)
    track_of = {track.name: track for track in tracks}
    assert problems == () and {track.device for track in tracks} == {"NPU"}
    with (Path(trace.path).parent / "memory_record.csv").open(encoding="utf-8") as table:
        cells = [(row["Component"], row["Total Allocated(MB)"]) for row in csv.DictReader(table)]
    rows = [(name, float(allocated)) for name, allocated in cells if allocated]
    for component in ("PTA", "GE", "PTA+GE"):
        sizes = [round(mb * 2**20) for name, mb in rows if name == component]
        series = track_of[f"{component} allocated"].series
        assert sorted(series.value.tolist()) == sorted(sizes) and max(sizes) > 0
    assert "APP reserved" in track_of and "APP allocated" not in track_of


def test_an_old_header_and_damaged_rows(tmp_path: Path) -> None:
    rows = "PTA,1000.5,1,2,NPU:0\t\nPTA,1.69512E+15,9,9,NPU:0\nPTA,1001,N/A,3,NPU:0\n"
    (tmp_path / "memory_record.csv").write_text(HEADER + rows, encoding="utf-8")
    tracks, problems = of_memory(npu_trace(tmp_path))
    samples_of = {track.name: (track.series.time.tolist(), track.series.value.tolist()) for track in tracks}
    assert samples_of == {
        "PTA allocated": ([1_000_500], [2.0**20]),
        "PTA reserved": ([1_000_500, 1_001_000], [2 * 2.0**20, 3 * 2.0**20]),
    }
    assert {(track.group, track.unit, track.device) for track in tracks} == {(MEMORY, "B", "NPU")}
    (problem,) = problems
    assert "1 of 3 rows" in problem


def test_a_row_without_a_device_makes_no_second_curve(tmp_path: Path) -> None:
    rows = "PTA,1000,1,2,NPU:0\nPTA,1001,3,4,\n"
    (tmp_path / "memory_record.csv").write_text(HEADER + rows, encoding="utf-8")
    tracks, _ = of_memory(npu_trace(tmp_path))
    assert [track.name for track in tracks] == ["PTA allocated", "PTA reserved"]


def test_without_tables_there_is_no_memory(tmp_path: Path) -> None:
    trace = npu_trace(tmp_path)
    assert not has_memory(trace) and of_memory(trace) == ((), ())


def test_the_memory_of_a_gpu_is_in_its_trace(real_traces: Path) -> None:
    analysis = real.gpu(real_traces, "pairs/h100/gaunernst_bert-small-uncased__1016001.json.gz")
    assert has_memory(analysis.trace) and analysis.memory is not None
    tracks, _ = of_memory(analysis.trace)
    on_device = [track for track in tracks if track.device == "GPU 0"]
    assert [track.name for track in on_device] == ["PyTorch allocated", "PyTorch reserved"]
    (curve,) = [curve for curve in analysis.memory.curves if curve.device == "GPU 0"]
    assert on_device[0].series.bounds[1] == curve.allocated.max() > 0


def test_the_lead_is_shown_as_time_and_as_tasks(real_traces: Path) -> None:
    (lead,) = real.npu(real_traces, "level2/rank0").leads
    work, count = of_leads([lead])
    assert (work.group, work.device, work.unit, count.unit) == (LEAD, "NPU", "ns", "tasks")
    assert work.series.bounds == (0.0, float(lead.work.max()))
    assert count.series.at(int(lead.time[7])) == lead.count[7]
