"""Chains from tasks to operators and stacks: on real traces, and each hop and each missing hop by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis import real
from tests.analysis.machine import (
    AUTOGRAD,
    CANN,
    HARDWARE,
    MAIN,
    PYTHON,
    QUEUE,
    arrow,
    call,
    collective,
    dequeue,
    enqueue,
    frame,
    npu,
    operator,
    task,
    us,
)
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.launch_chains import LaunchChain, LaunchChains, link_tasks
from tracetui.analysis.launches import _unlikeliness
from tracetui.trace.model import Activity, Trace

STACK = ("/home/me/train.py(88): step", "<string>(1): <module>")


def only_chain(events: list[dict[str, Any]], name: str = "kernel") -> tuple[Trace, LaunchChain]:
    """The chain of the only task of that name."""
    trace = trace_of(events)
    chains = link_tasks(trace)
    (row,) = [row for row in chains.tasks.tolist() if trace.name(row) == name]
    chain = chains.chain(row)
    assert chain is not None
    return trace, chain


def names(trace: Trace, chain: LaunchChain) -> list[tuple[str, str]]:
    return [(hop.name, trace.name(hop.row)) for hop in chain.hops]


@pytest.mark.parametrize(
    ("rank", "total", "linked"),
    [("level0/rank1", 537, 511), ("level2/rank0", 539, 537), ("level2/rank1", 539, 537)],
)
def test_share_of_real_tasks_that_link(real_traces: Path, rank: str, total: int, linked: int) -> None:
    chains = real.npu(real_traces, rank).launch_chains
    assert (chains.total, chains.linked) == (total, linked)
    assert (chains.dequeue >= 0).sum() == (chains.enqueue >= 0).sum() == linked
    assert (chains.launch_time >= 0).sum() == linked


@pytest.mark.parametrize("rank", real.NPU)
def test_every_real_task_of_work_links_and_176_of_215_reach_python(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    chains, slices = analysis.launch_chains, analysis.trace.slices
    work = np.isin(
        slices.activity[chains.tasks],
        (Activity.COMPUTE, Activity.AICPU, Activity.COMMUNICATION, Activity.COPY),
    )
    assert work.sum() == 215
    assert (chains.operator[work] >= 0).all()
    with_stack = work & (chains.stack >= 0)
    assert with_stack.sum() == 176
    assert (with_stack & (chains.forward >= 0)).sum() == 100
    assert (chains.backward[with_stack] == (chains.forward[with_stack] >= 0)).all()
    assert ((chains.frame >= 0) == (chains.stack >= 0)).all()


@pytest.mark.parametrize("rank", real.NPU)
def test_the_producers_shortcut_agrees_with_every_chain(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    flows, chains = analysis.trace.flows, analysis.launch_chains
    arrows = flows.category == analysis.trace.strings.index("async_npu")
    assert arrows.sum() == 210
    place = chains.index(flows.target[arrows])
    assert (chains.tasks[place] == flows.target[arrows]).all()
    assert (chains.operator[place] == flows.source[arrows]).all()


@pytest.mark.parametrize(
    ("name", "total", "launched", "linked"),
    [("resnet_rank0.json.gz", 7747, 6875, 6785), ("sampled_rank-0.json.gz", 1204, 1204, 1188)],
)
def test_share_of_real_gpu_tasks_that_link(
    real_traces: Path, name: str, total: int, launched: int, linked: int
) -> None:
    chains = real.gpu(real_traces, name).launch_chains
    assert (chains.total, (chains.launch >= 0).sum(), chains.linked) == (total, launched, linked)


def test_unlinked_real_tasks_say_what_is_missing(real_traces: Path) -> None:
    for rank, count in (("level0/rank1", 26), ("level2/rank0", 2)):
        chains = real.npu(real_traces, rank).launch_chains
        unlinked = [chains.chain(row) for row in chains.tasks[chains.operator < 0].tolist()]
        assert [chain.missing for chain in unlinked if chain is not None] == ["launch"] * count


def queued() -> list[dict[str, Any]]:
    return [
        *npu(),
        operator(0, 100, "aten::linear", stack=STACK),
        operator(10, 50, "aten::mm"),
        enqueue(20, 5, 7),
        dequeue(40, 30, 7),
        call(45, 10, 9),
        task(80, 10, connection=9),
    ]


def test_the_whole_chain() -> None:
    trace, chain = only_chain(queued())
    assert names(trace, chain) == [
        ("operator", "aten::mm"),
        ("enqueue", "Enqueue"),
        ("dequeue", "Dequeue@aclnnMm"),
        ("launch", "Node@launch"),
        ("task", "kernel"),
    ]
    assert [hop.wait_ns for hop in chain.hops] == [10, 20, 5, 35, 0]
    assert [frame.function for frame in chain.stack] == ["step", "<module>"]
    assert (chain.missing, chain.backward, chain.forward) == (None, False, -1)


def test_numbers_that_join_hops_may_be_0() -> None:
    events = [event for event in queued() if event["name"] not in ("Enqueue", "Dequeue@aclnnMm")]
    trace, chain = only_chain([*events, enqueue(20, 5, 0), dequeue(40, 30, 0)])
    assert [hop for hop, _ in names(trace, chain)] == ["operator", "enqueue", "dequeue", "launch", "task"]


def test_a_dequeue_encloses_its_own_end() -> None:
    events = [event for event in queued() if not str(event["name"]).startswith("Dequeue")]
    trace, chain = only_chain([*events, dequeue(40, 5, 7)])
    assert trace.name(chain.operator) == "aten::mm"


@pytest.mark.parametrize(
    ("lost", "missing"),
    [("Node@launch", "launch"), ("Enqueue", "enqueue"), ("aten", "operator"), ("Dequeue", "operator")],
)
def test_a_missing_hop_is_named(lost: str, missing: str) -> None:
    _, chain = only_chain([event for event in queued() if not str(event["name"]).startswith(lost)])
    assert (chain.operator, chain.missing) == (-1, missing)


def test_a_missing_dequeue_of_a_trace_with_a_queue_is_named() -> None:
    other = [task(200, 5, name="other", connection=3), call(190, 5, 3)]
    _, chain = only_chain([*queued(), *other], "other")
    assert chain.missing == "dequeue"


def test_without_a_queue_the_operator_encloses_the_launch_on_its_thread() -> None:
    events = [
        *npu(),
        operator(0, 100, "aten::mm", stack=STACK),
        operator(0, 100, "aten::other", tid=AUTOGRAD),
        call(45, 10, 9, tid=MAIN),
        task(80, 10, connection=9),
    ]
    trace, chain = only_chain(events)
    assert names(trace, chain) == [("operator", "aten::mm"), ("launch", "Node@launch"), ("task", "kernel")]


def test_kernels_are_launched_by_node_calls_and_copies_by_acl_calls() -> None:
    calls = [call(45, 10, 9, name) for name in ("Runtime@launch", "Node@launch", "AscendCL@memcpy")]
    trace, chain = only_chain([*queued(), *calls])
    assert trace.name(chain.launch) == "Node@launch"
    trace, chain = only_chain([*npu(), *calls, task(80, 10, "PCIE_DMA_SQE", connection=9)], "MEMCPY_ASYNC")
    assert trace.name(chain.launch) == "AscendCL@memcpy"


def test_collectives_link_like_kernels() -> None:
    _, chain = only_chain([*queued(), collective(90, 20, "hcom_allReduce_", 9)], "hcom_allReduce_")
    assert chain.missing is None


def test_without_runtime_calls_the_launch_arrow_of_a_sibling_counts() -> None:
    events = [event for event in queued() if event["name"] != "Node@launch"]
    events += arrow("HostToDevice", 9, (CANN, QUEUE, 47), (HARDWARE, 2, 95))
    events.append(task(95, 3, stream=2, connection=9, name="sibling"))
    trace, chain = only_chain(events)
    assert trace.name(chain.operator) == "aten::mm"
    assert chain.launch == -1
    assert [hop.name for hop in chain.hops] == ["operator", "enqueue", "dequeue", "task"]


@pytest.mark.parametrize("flow", ["torch_to_npu", "mindspore_to_npu"])
def test_the_producers_shortcut_stands_in_for_a_broken_chain(flow: str) -> None:
    events = [*npu(), operator(10, 50, "aten::mm", stack=STACK), task(80, 10)]
    shortcut = arrow("async_npu", 80, (PYTHON, MAIN, 10), (HARDWARE, 1, 80))
    trace, chain = only_chain([*events, *({**end, "name": flow} for end in shortcut)])
    assert names(trace, chain) == [("operator", "aten::mm"), ("task", "kernel")]
    assert chain.missing is None


def backward(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A backward operator that launches the kernel, inside the end of an arrow from `aten::forward`."""
    return [
        *npu(),
        *events,
        operator(100, 50, "autograd::engine::evaluate_function: MmBackward0", tid=AUTOGRAD),
        operator(110, 35, "MmBackward0", tid=AUTOGRAD),
        operator(120, 20, "aten::mm", tid=AUTOGRAD),
        enqueue(121, 5, 7, tid=AUTOGRAD),
        dequeue(140, 30, 7),
        call(145, 10, 9),
        task(180, 10, connection=9),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 10), (PYTHON, AUTOGRAD, 110)),
    ]


def test_backward_operators_take_the_stack_of_their_forward_operator() -> None:
    forward = [operator(0, 50, "aten::linear", stack=STACK), operator(10, 20, "aten::forward")]
    trace, chain = only_chain(backward(forward))
    assert (trace.name(chain.operator), trace.name(chain.forward)) == ("aten::mm", "aten::forward")
    assert chain.backward
    assert chain.stack[0].line == 88


def test_backward_operators_without_a_forward_one_have_no_stack() -> None:
    _, chain = only_chain(backward([]))
    assert (chain.forward, chain.backward, chain.missing) == (-1, True, "stack")


def test_frames_stand_in_where_there_are_no_call_stacks() -> None:
    frames = [frame(0, 60, "train.py(1): <module>"), frame(5, 40, "train.py(70): forward")]
    frames.append(frame(7, 2, "train.py(90): done"))
    _, chain = only_chain(backward([*frames, operator(10, 20, "aten::forward")]))
    assert [str(frame) for frame in chain.stack] == ["train.py(70): forward", "train.py(1): <module>"]


def test_processes_with_equal_threads_are_told_by_their_pid() -> None:
    """Two ranks in one file: the runtime's pid is made of that of its own process."""
    other = (PYTHON + 1, "aten::wrong")
    events = [
        *npu(),
        *process(other[0], "Python", "CPU"),
        *process(PYTHON << 10, "CANN", "NPU"),
        operator(0, 100, "aten::mm"),
        operator(0, 100, other[1], pid=other[0]),
        piece(PYTHON << 10, MAIN, "Node@launch", us(45), us(10), connection_id=9),
        task(80, 10, connection=9),
    ]
    trace, chain = only_chain(events)
    assert trace.name(chain.operator) == "aten::mm"


def test_the_first_slice_of_a_trace_may_launch_or_be_launched() -> None:
    calls = [call(45, 10, 9), call(46, 10, 9, "AscendCL@launch"), {**call(30, 10, 9), "pid": CANN + 1}]
    kernel, known = task(80, 10, connection=9), arrow("HostToDevice", 9, (CANN, QUEUE, 47), (HARDWARE, 1, 80))
    chains = link_tasks(trace_of([*npu(), *process(CANN + 1, "CANN", "NPU", 8), *calls, kernel, *known]))
    assert [chains.launch[0], chains.launch_time[0]] == [0, 45]
    chains = link_tasks(trace_of([*npu(), kernel, *known]))
    assert [chains.tasks[0], chains.launch[0], chains.launch_time[0]] == [0, -1, 47]


def test_a_chain_may_hold_the_first_frame_of_a_trace() -> None:
    events = [frame(0, 90, "train.py(1): main"), operator(10, 50), call(45, 10, 9, tid=MAIN)]
    _, chain = only_chain([*npu(), *events, task(80, 10, connection=9)])
    assert [str(frame) for frame in chain.stack] == ["train.py(1): main"]


def test_a_chain_may_lack_what_the_first_slice_of_a_trace_shows_to_exist() -> None:
    events = [dequeue(40, 30, 7), call(45, 10, 9), task(80, 10, connection=9)]
    events += [call(190, 5, 3), task(200, 5, name="other", connection=3)]
    _, chain = only_chain([*npu(), *events], "other")
    assert chain.missing == "dequeue"


def test_the_first_slice_of_a_trace_may_hand_its_work_over() -> None:
    events = [operator(0, 20), operator(40, 30, "launches", QUEUE), call(45, 10, 9)]
    events += arrow("async_mindspore", 1, (PYTHON, MAIN, 5), (PYTHON, QUEUE, 40))
    chains = link_tasks(trace_of([*npu(), *events, task(80, 10, connection=9)]))
    assert [chains.operator[0], chains.enqueue[0], chains.enqueue_time[0]] == [0, 0, 5]


def test_the_first_slice_of_a_trace_may_tell_where_its_backward_operator_was_called_from() -> None:
    events = [operator(0, 20, stack=STACK), operator(40, 10, "MmBackward0", AUTOGRAD, stack=STACK[1:])]
    trace = trace_of([*npu(), *events, *arrow("fwdbwd", 1, (PYTHON, MAIN, 0), (PYTHON, AUTOGRAD, 40))])
    called = link_tasks(trace).callers.call_sites(np.array([1]))
    assert (called.forward[0], called.stack[0]) == (0, trace.slices.stack[0])


def test_ids_of_enqueues_are_those_of_a_process() -> None:
    other = [
        operator(0, 100, "aten::wrong", pid=PYTHON - 1),
        {**enqueue(20, 5, 7), "pid": PYTHON - 1},
    ]
    trace, chain = only_chain([*process(PYTHON - 1, "Python", "CPU", -1), *other, *queued()])
    assert trace.name(chain.operator) == "aten::mm"


def test_of_processes_with_equal_threads_the_one_that_launched_counts() -> None:
    events = [*process(0, "python", "GPU 0"), piece(0, 7, "gemm", us(40), us(20), "kernel", correlation=5)]
    for pid in (10, 11):
        events += process(pid, "python", "CPU", pid)
        events.append(piece(pid, 10, f"aten::of_{pid}", us(0), us(50), "cpu_op"))
    for pid in (10, 11):
        launch = piece(pid, 10, "cudaLaunchKernel", us(10), us(5), "cuda_runtime", correlation=5)
        trace, chain = only_chain([*events, launch], "gemm")
        assert trace.name(chain.operator) == f"aten::of_{pid}"


@pytest.mark.parametrize("hop", ["dequeue", "operator"])
def test_of_processes_that_nothing_tells_apart_the_first_that_ran_something_counts(hop: str) -> None:
    """Though what it ran is the first slice of the trace."""
    other = process(PYTHON + 1, "Python", "CPU")
    first = dequeue(40, 30, 7) if hop == "dequeue" else operator(40, 30, tid=QUEUE)
    later = operator(200, 5, tid=QUEUE, pid=PYTHON + 1)
    chain = [first, later, call(45, 10, 9), task(80, 10, connection=9)]
    chains = link_tasks(trace_of([*npu(), *other, *chain]))
    assert getattr(chains, hop).tolist() == [0]


def test_gpu_kernels_link_by_correlation() -> None:
    events = [
        *process(10, "python", "CPU"),
        *process(0, "python", "GPU 0"),
        *thread(0, 7, "stream 7 "),
        piece(10, 10, "ProfilerStep#3", us(0), us(90), "user_annotation"),
        piece(10, 10, "aten::mm", us(0), us(50), "cpu_op"),
        piece(10, 10, "cudaLaunchKernel", us(10), us(5), "cuda_runtime", correlation=5),
        piece(0, 7, "gemm", us(40), us(20), "kernel", correlation=5),
        piece(10, 10, "cudaLaunchKernel", us(60), us(5), "cuda_runtime", correlation=6),
        piece(0, 7, "orphan", us(70), us(20), "kernel", correlation=6),
    ]
    trace, chain = only_chain(events, "gemm")
    assert names(trace, chain) == [("operator", "aten::mm"), ("launch", "cudaLaunchKernel"), ("task", "gemm")]
    _, chain = only_chain(events, "orphan")
    assert chain.missing == "operator"


@pytest.mark.parametrize(("number", "name"), [(6, "launched"), (5, "beside")])
def test_calls_that_stand_with_the_tasks_launch_them_where_they_have_an_id_of_theirs(
    number: int, name: str
) -> None:
    """MTIA has its waits in the process of the device."""
    events = [
        *process(10, "python", "CPU"),
        *process(0, "python", "MTIA 0"),
        piece(10, 10, "launched", us(10), us(5), "mtia_runtime", correlation=5),
        piece(0, 9, "beside", us(20), us(5), "mtia_runtime", correlation=number),
        piece(0, 7, "pe_exe", us(40), us(20), "mtia_ccp_events", correlation=5),
    ]
    trace, chain = only_chain(events, "pe_exe")
    assert trace.name(chain.launch) == name


def test_only_tasks_have_chains(real_traces: Path) -> None:
    chains: LaunchChains = real.npu(real_traces, "level2/rank0").launch_chains
    assert chains.chain(int(chains.operator.max())) is None
    assert chains.chain(len(chains.trace.slices)) is None


def test_what_leads_to_tasks_are_the_hops_of_their_chains(real_traces: Path) -> None:
    chains: LaunchChains = real.npu(real_traces, "level2/rank0").launch_chains
    all_chains = [chain for row in chains.tasks.tolist() if (chain := chains.chain(row)) is not None]
    hops = {hop.row for chain in all_chains for hop in chain.hops[:-1]}
    assert hops
    assert np.flatnonzero(chains.leads).tolist() == sorted(hops)


def test_a_trace_without_tasks_has_no_links() -> None:
    chains = analyse(trace_of([])).launch_chains
    assert chains.callers.ancestors.parents_of(np.array([-1])).tolist() == [-1]
    assert (chains.total, chains.linked, chains.chain(0)) == (0, 0, None)


def test_calls_are_likely_that_precede_most_tasks_and_soonest_before() -> None:
    """A call may begin with its task; one that begins after it, or is missing, does not count."""
    starts = {"a": 100, "b": 110, "c": 130, "d": 90}
    trace = trace_of([*npu(), *(call(start, 1, 7, name) for name, start in starts.items()), task(110, 9)])
    row = {trace.name(row): row for row in range(len(trace.slices))}

    def unlikely(*names: str) -> tuple[int, float]:
        calls = np.array([row.get(name, -1) for name in names], np.int64)
        return _unlikeliness(trace, np.full(len(names), row["kernel"], np.int64), calls)

    assert unlikely("a", "b", "c", "none") == (-2, 5.0)
    assert (unlikely("b"), unlikely("d", "a", "b"), unlikely("c", "none")) == (
        (-1, 0.0),
        (-3, 10.0),
        (0, 0.0),
    )
