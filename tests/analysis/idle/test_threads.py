"""The threads of the host: however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.analysis import gpu, real
from tests.analysis.machine import npu, operator, task
from tests.synthetic import process, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.trace.model import Track


class Tracks(tuple[Track, ...]):
    """The tracks of a trace, which count how often somebody looks through them."""

    looked = 0

    def __iter__(self) -> Iterator[Track]:
        Tracks.looked += 1
        return super().__iter__()


def test_the_time_for_threads_is_linear_in_their_number() -> None:
    """Looking through all tracks for each thread takes minutes for 50,000."""
    looked = []
    for count in (10, 200):
        events = (operator(10 * i, 5, tid=1000 + i) for i in range(count))
        trace = trace_of([*npu(), task(0, 10), *events])
        object.__setattr__(trace, "tracks", Tracks(trace.tracks))
        Tracks.looked = 0
        host_threads = analyse(trace).host_threads
        threads = [host_threads.thread(index) for index in range(len(host_threads))]
        assert [len(thread.operators) for thread in threads] == [1] * count
        looked.append(Tracks.looked)
    assert looked[0] == looked[1] > 0


@pytest.mark.parametrize("step, is_woken", [("ProfilerStep#1", True), ("a step of another name", False)])
def test_without_arrows_the_thread_of_the_steps_wakes_the_autograd_thread(step: str, is_woken: bool) -> None:
    events = [
        *npu(),
        task(0, 10),
        operator(0, 900, tid=1, name=step),
        operator(10, 50, tid=1),
        operator(100, 50, tid=2, name="CudnnBatchNormBackward"),
        operator(200, 50, tid=2, name="torch::autograd::AccumulateGrad"),
        operator(300, 50, tid=3),
    ]
    host_threads = analyse(trace_of(events)).host_threads
    tids = [host_threads.thread(index).track.tid for index in range(len(host_threads))]
    woken = {tid: host_threads.bursts(index) for index, tid in enumerate(tids)}
    burst = woken.pop("2")
    assert (None if burst is None else tids[burst.waker]) == ("1" if is_woken else None)
    assert set(woken.values()) == {None}


def test_a_burst_begins_where_nothing_ran_and_its_waker_has_begun_another_operator() -> None:
    events = [
        *npu(),
        task(0, 10),
        operator(0, 900, tid=1, name="ProfilerStep#1"),
        *(operator(at, 5, tid=1) for at in (10, 200, 255, 290, 400)),
        *(operator(at, 20, tid=2, name="MmBackward") for at in (100, 150, 300, 350)),
        operator(210, 60, tid=2, name="AddBackward"),
        operator(500, 20, tid=2, name="torch::autograd::AccumulateGrad"),
        operator(260, 5, tid=2, name="aten::add"),  # after 255, but within it
    ]
    host_threads = analyse(trace_of(events)).host_threads
    (burst,) = filter(None, map(host_threads.bursts, range(len(host_threads))))
    assert burst.starts.tolist() == [100, 210, 300, 500]


def test_on_gpus_a_call_of_another_process_is_on_no_thread_of_this_one() -> None:
    """However equal the numbers of their threads, as those of two containers are."""
    calls = [gpu.launch(0, 5, 1), {**gpu.launch(10, 5, 2, "cudaStreamSynchronize"), "pid": 9}]
    calls.append({**gpu.launch(20, 5, 3), "pid": 9})
    kernels = [gpu.kernel(6, 5, 1), gpu.kernel(30, 5, 3)]
    events = [*gpu.gpu(), *process(9, "python", "CPU", 1), gpu.host(0, 25), *calls, *kernels]
    analysis = analyse(trace_of(events))
    (thread,) = (analysis.host_threads.thread(index) for index in range(len(analysis.host_threads)))
    assert thread.spans == {}
    assert [analysis.trace.name(row) for row in analysis.launch_chains.operator.tolist() if row >= 0] == [
        "aten::mm"
    ]


def test_a_late_data_loader_of_2021_can_be_fixed(real_traces: Path) -> None:
    """The autograd thread has nothing to do before the batch is there: it is not what is late."""
    (path,) = (real_traces / "gpu" / "workers0").glob("*.json.gz")
    analysis = real.analysed(path)
    worst = analysis.lines[0]
    assert worst.line == 42
    saving = next(saving for saving in analysis.savings.values() if saving.line == 42)
    assert saving.saves_at_most_ns >= worst.idle_ns
