"""Which slices are ranges that people marked, and when each was the device's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis import gpu
from tests.job.planted import digests
from tests.synthetic import process, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.marked_ranges import host_ranges, range_name
from tracetui.api import load
from tracetui.comparison.compared_run import range_sums
from tracetui.comparison.walls import StepChoice, find_walls


@pytest.mark.parametrize(("name", "called"), [("## forward ##", "forward"), ("generate", "generate")])
def test_a_range_is_called_what_people_called_it(name: str, called: str) -> None:
    assert range_name(name) == called


def test_what_pytorch_marks_itself_is_no_range() -> None:
    for digest in digests(
        "loader"
    ):  # its optimizer is `Optimizer.step#AdamW.step`, its steps `ProfilerStep#50`
        assert digest.ranges is not None
        assert len(digest.ranges) == 0


def test_nodes_of_autograd_are_no_ranges(real_traces: Path) -> None:
    """PyTorch 1.8 calls them `AddmmBackward`, without a namespace; they hold operators, as ranges do."""
    analysis = load(real_traces / "gpu" / "workers4", cache=False)
    assert len(host_ranges(analysis.trace)) == 0


def test_collectives_that_run_on_take_no_time_from_ranges_on_other_streams() -> None:
    """A range begins and ends on the stream that it computes on, and waits only for what that waits for."""
    launches = {1: "exchange", 2: "beside", 3: "behind", 4: "overlapped", 5: "overlapped", 6: "last"}
    ranges = [
        gpu.host(1_000 * number, 1_000, name, "user_annotation")
        for number, name in enumerate((*dict.fromkeys(launches.values()), "nothing"))
    ]
    at = {event["name"]: 1_000 * number for number, event in enumerate(ranges)}
    kernels = [
        gpu.kernel(500, 9_500, 1, "ncclDevKernel_AllReduce", stream=20),
        gpu.kernel(1_500, 2_500, 2),
        gpu.kernel(10_000, 2_000, 3),
        gpu.kernel(12_000, 8_000, 4, "ncclDevKernel_AllReduce", stream=20),
        gpu.kernel(12_000, 1_000, 5),
        gpu.kernel(14_000, 1_000, 6),
    ]
    calls = [gpu.launch(at[name] + 10 * number, 5, number) for number, name in launches.items()]
    analysis = analyse(trace_of([*gpu.gpu(), *ranges, *calls, *kernels]))
    trace, (found,) = analysis.trace, analysis.marked_ranges
    times = {
        trace.strings[name]: (start, end)
        for name, start, end in zip(trace.slices.name[found.row], found.start.tolist(), found.end.tolist())
    }
    assert times == {
        "exchange": (0, 10_000),
        "beside": (1_500, 4_000),
        "behind": (10_000, 12_000),
        "overlapped": (12_000, 14_000),
        "last": (14_000, 15_000),
        "nothing": (20_000, 20_000),
    }


def test_ranges_of_a_process_that_drives_another_device_are_none_of_this_one() -> None:
    """As in a file of several ranks; ranges of a process that launches nothing are of all devices."""
    events = gpu.gpu()
    for rank, dur in enumerate((300, 500)):
        pid = f"[TP0{rank}] 700"
        mark, call = gpu.host(1_000, 900, "forward", "user_annotation"), gpu.launch(1_100, 5, rank + 1)
        kernel = gpu.kernel(1_200, dur, rank + 1)
        kernel["args"]["device"] = rank
        events += [*process(pid, "python", "CPU"), *process(rank, "python", f"GPU {rank}", 5_000_000 + rank)]
        events += [{**mark, "pid": pid}, {**call, "pid": pid}, {**kernel, "pid": rank}]
    mark = gpu.host(1_000, 2_000, "all", "user_annotation")
    events += [*process(900, "python", "CPU"), {**mark, "pid": 900}]
    analysis = analyse(trace_of(events))
    times = [
        {times.name: (times.count, times.computing_ns) for times in of_device}
        for of_device in analysis.range_times
    ]
    assert times == [{"forward": (1, 300), "all": (1, 300)}, {"forward": (1, 500), "all": (1, 500)}]
    sums = range_sums(analysis, find_walls(analysis, StepChoice()))
    assert {name: total.count for name, total in sums.items()} == {"forward": 2, "all": 1}
