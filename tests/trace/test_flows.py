"""Which start belongs to which end, and which slices an arrow joins."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.synthetic import flow, piece, process, trace_of
from tracetui.trace import flows
from tracetui.trace.model import Trace


def arrows(trace: Trace) -> list[tuple[str, str]]:
    """The names of the slices at both ends of every arrow, "-" where there is none, sorted."""

    def name(row: int) -> str:
        return "-" if row < 0 else trace.name(row)

    ends = zip(trace.flows.source.tolist(), trace.flows.target.tolist())
    return sorted((name(source), name(target)) for source, target in ends)


def op(name: str, ts: int, dur: int = 5, tid: int = 1) -> dict[str, Any]:
    return piece(1, tid, name, ts, dur, "cpu_op")


PYTHON = process(1, "Python")
CANN = process(2, "CANN")
HARDWARE = process(3, "Ascend Hardware", "NPU")


def test_one_start_may_have_many_ends() -> None:
    events = [*CANN, *HARDWARE, piece(2, 1, "launch", 0, 9), flow("s", "HostToDevice", 5, 2, 1, 4)]
    for tid, ts in ((1, 20), (2, 30)):
        events += [piece(3, tid, f"copy {tid}", ts, 3), flow("f", "HostToDevice", 5, 3, tid, ts)]
    assert arrows(trace_of(events)) == [("launch", "copy 1"), ("launch", "copy 2")]


@pytest.mark.parametrize(("start", "end"), [(1, 2), (2, 1)])
def test_an_arrow_with_a_slice_at_one_end_is_kept_be_it_the_first(start: int, end: int) -> None:
    events = [op("only", 0), flow("s", "any", 1, 1, start, 0), flow("f", "any", 1, 1, end, 0)]
    assert arrows(trace_of(events)) == [("only", "-") if start == 1 else ("-", "only")]


@pytest.mark.parametrize(("operator", "call"), [(10, 5), (5, 10)])
def test_an_arrow_begins_at_the_slice_that_starts_with_it_rather_than_in_one_around_it(
    operator: int, call: int
) -> None:
    slices = [op("operator", operator, 20), piece(1, 1, "call", call, 20, "cuda_runtime")]
    ends = [op("end", 40, tid=2), flow("s", "any", 1, 1, 1, 10), flow("f", "any", 1, 1, 2, 40)]
    assert arrows(trace_of([*slices, *ends])) == [("operator" if operator == 10 else "call", "end")]


def test_an_id_that_returns_each_step_is_paired_in_time_order() -> None:
    events = [
        *PYTHON,
        op("forward 1", 0),
        op("backward 1", 10, tid=2),
        op("forward 2", 20),
        op("backward 2", 30, tid=2),
        op("forward 3", 40),
        op("backward 3", 50, tid=2),
    ]
    events += [flow("f", "fwdbwd", 1, 1, 2, 30), flow("s", "fwdbwd", 1, 1, 1, 0)]
    events += [flow("f", "fwdbwd", 1, 1, 2, 10), flow("s", "fwdbwd", 1, 1, 1, 20)]
    events += [flow("f", "fwdbwd", 1, 1, 2, 50), flow("s", "fwdbwd", 1, 1, 1, 40)]
    assert arrows(trace_of(events)) == [(f"forward {step}", f"backward {step}") for step in (1, 2, 3)]


@pytest.mark.parametrize(("times", "shared"), [((1, 3), 0), ((1, 1), 2)])
def test_an_id_is_shared_if_it_starts_again_before_it_has_ended(times: tuple[int, int], shared: int) -> None:
    """Of arrows that are numbered anew, as from thread to thread, those are not in question."""
    events = [*PYTHON, op("start", 0, 9), op("end", 0, 9, tid=2)]
    for start, end in zip(times, (2, 4)):
        events += [flow("s", "any", 1, 1, 1, start), flow("f", "any", 1, 1, 2, end)]
    assert trace_of(events).shared_flows == shared


def test_where_an_end_is_missing_the_others_keep_the_start_before_them() -> None:
    events = [*PYTHON, op("forward 1", 0), op("forward 2", 20), op("backward 2", 30, tid=2)]
    events += [
        flow("s", "fwdbwd", 1, 1, 1, 0),
        flow("s", "fwdbwd", 1, 1, 1, 20),
        flow("f", "fwdbwd", 1, 1, 2, 30),
    ]
    assert arrows(trace_of(events)) == [("forward 2", "backward 2")]


def test_an_arrow_may_point_backwards_in_time() -> None:
    events = [*CANN, *HARDWARE, piece(2, 1, "launch", 10, 9), flow("s", "HostToDevice", 5, 2, 1, 14)]
    events += [piece(3, 1, "kernel", 12, 3), flow("f", "HostToDevice", 5, 3, 1, 12)]
    assert arrows(trace_of(events)) == [("launch", "kernel")]


def test_a_start_without_slices_keeps_its_time_and_thread() -> None:
    events = [*HARDWARE, flow("s", "HostToDevice", 5, 2, 77, 4)]
    events += [piece(3, 1, "kernel", 12, 3), flow("f", "HostToDevice", 5, 3, 1, 12)]
    trace = trace_of(events)
    assert arrows(trace) == [("-", "kernel")]
    assert trace.flows.source_time.tolist() == [4000]
    assert trace.threads[trace.flows.source_thread[0]] == ("2", "77")


def test_ids_of_different_categories_do_not_meet() -> None:
    events = [*PYTHON, op("a", 0), op("b", 10)]
    events += [flow("s", "fwdbwd", 1, 1, 1, 0), flow("f", "async_task_queue", 1, 1, 1, 10)]
    assert arrows(trace_of(events)) == []


def test_the_id_that_means_no_connection_joins_nothing() -> None:
    for shared in ("18446744069414584320", "7"):
        events = [*CANN, *HARDWARE, piece(2, 1, "memcpy 1", 0, 5), piece(2, 1, "memcpy 2", 10, 5)]
        events += [flow("s", "HostToDevice", shared, 2, 1, 0), flow("s", "HostToDevice", shared, 2, 1, 10)]
        events += [piece(3, 1, "copy", 20, 3), flow("f", "HostToDevice", shared, 3, 1, 20)]
        assert arrows(trace_of(events)) == []


def test_ids_beyond_64_bits_stay_apart() -> None:
    events = [*CANN, *HARDWARE]
    for number in range(2):
        flow_id = str(2**80 + number)
        events += [
            piece(2, 1, f"launch {number}", number * 10, 5),
            flow("s", "HostToDevice", flow_id, 2, 1, number * 10),
        ]
        events += [piece(3, 1, f"kernel {number}", 90 - number * 10, 5)]
        events += [flow("f", "HostToDevice", flow_id, 3, 1, 90 - number * 10)]
    assert arrows(trace_of(events)) == [("launch 0", "kernel 0"), ("launch 1", "kernel 1")]


def test_no_arrow_starts_in_a_frame() -> None:
    events = [*PYTHON, op("linear", 5, 5), piece(1, 1, "model.py(3): forward", 5, 2, "python_function")]
    events += [op("backward", 50, tid=2), flow("s", "fwdbwd", 1, 1, 1, 5), flow("f", "fwdbwd", 1, 1, 2, 50)]
    assert arrows(trace_of(events)) == [("linear", "backward")]


def test_a_gpu_launch_is_the_runtime_call_not_the_operator_that_starts_with_it() -> None:
    events = [*process(9, "python", "CPU"), *process(0, "python", "GPU 0")]
    events += [flow("s", "ac2g", 1, 9, 1, 5)]  # the first string of the trace
    events += [piece(9, 1, "aten::mm", 5, 9, "cpu_op"), piece(9, 1, "cudaLaunchKernel", 5, 2, "cuda_runtime")]
    events += [piece(0, 7, "gemm", 30, 2, "kernel"), flow("f", "ac2g", 1, 0, 7, 30)]
    assert arrows(trace_of(events)) == [("cudaLaunchKernel", "gemm")]


def test_kernels_that_start_in_the_same_nanosecond_share_an_id() -> None:
    """The id of a producer's own arrow is the time of its kernel: equal on two streams, paired in order."""
    events = [*PYTHON, *HARDWARE, op("mm", 0), op("add", 10)]
    for ts, stream, kernel in ((0, 1, "MatMul"), (10, 2, "Add")):
        events += [piece(3, stream, kernel, 50, 5), flow("s", "async_npu", 50_000, 1, 1, ts)]
        events += [flow("f", "async_npu", 50_000, 3, stream, 50)]
    assert arrows(trace_of(events)) == [("add", "Add"), ("mm", "MatMul")]


def test_arrows_of_two_categories_on_one_thread_look_for_the_slices_of_their_own() -> None:
    """Of a GPU: one starts in the call of the runtime, the other in the operator that starts with it."""
    events = [*process(9, "python", "CPU"), *process(0, "python", "GPU 0")]
    events += [flow("s", "fwdbwd", 2, 9, 1, 5), flow("f", "fwdbwd", 2, 9, 2, 40)]  # the first string
    events += [piece(9, 1, "aten::mm", 5, 9, "cpu_op"), piece(9, 1, "cudaLaunchKernel", 5, 2, "cuda_runtime")]
    events += [piece(9, 2, "backward", 40, 9, "cpu_op"), piece(0, 7, "gemm", 30, 2, "kernel")]
    events += [flow("s", "ac2g", 1, 9, 1, 5), flow("f", "ac2g", 1, 0, 7, 30)]
    assert arrows(trace_of(events)) == [("aten::mm", "backward"), ("cudaLaunchKernel", "gemm")]


def test_processes_with_equal_ids_keep_their_own_arrows() -> None:
    """The start of the first process is later and has no end: it does not get that of the second."""
    events = [*PYTHON, *process(9, "Python"), op("forward", 3)]
    events += [piece(9, 1, "other forward", 1, 5, "cpu_op"), piece(9, 2, "other backward", 20, 5, "cpu_op")]
    events += [
        flow("s", "fwdbwd", 1, 1, 1, 3),
        flow("s", "fwdbwd", 1, 9, 1, 1),
        flow("f", "fwdbwd", 1, 9, 2, 20),
    ]
    assert arrows(trace_of(events)) == [("other forward", "other backward")]


_of_arrows = st.tuples(st.integers(-1, 2), st.integers(-1, 3), st.integers(0, 2))


@example([(1, -1, 0), (0, 3, 0), (1, 3, 0), (0, -1, 0), (2, 0, 1), (2, 0, 0)])
@given(st.lists(_of_arrows, max_size=20))
def test_arrows_are_in_order_of_category_source_and_time(rows: list[tuple[int, int, int]]) -> None:
    category, source, time = np.array(rows, np.int64).reshape(-1, 3).T
    order = flows._arrow_order(category.astype(np.int32), source, time)
    assert order.tolist() == np.lexsort((time, source, category)).tolist()


_categories = st.sampled_from(["fwdbwd", "HostToDevice", "ac2g"])
_ends = st.tuples(st.sampled_from("sft"), _categories, st.integers(0, 5), st.integers(0, 9))


@example([("s", "fwdbwd", 1, 1), ("s", "fwdbwd", 2, 3), ("s", "fwdbwd", 2, 1), ("f", "fwdbwd", 2, 2)])
@example([("s", "fwdbwd", 1, 1), ("s", "HostToDevice", 1, 1), ("f", "ac2g", 1, 2)])
@example([("s", "fwdbwd", 1, 1), ("s", "fwdbwd", 1, 3), ("f", "fwdbwd", 1, 2), ("f", "fwdbwd", 1, 4)])
@example([("s", "fwdbwd", 1, 1), ("s", "fwdbwd", 2, 1), ("f", "fwdbwd", 2, 3), ("f", "fwdbwd", 1, 3)])
@given(st.lists(_ends, max_size=25))
def test_a_search_for_each_category_finds_the_same_arrows(ends: list[tuple[str, str, int, int]]) -> None:
    events = [*PYTHON, op("long", 2), op("short", 3, 1), op("other", 1, tid=2)]
    events += [flow(phase, category, id_, 1, 1 + id_ % 2, ts) for phase, category, id_, ts in ends]
    found = []
    for least in (1, len(ends) + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(flows, "LEAST_JOINED", least)
            arrows_found = asdict(trace_of(events).flows)
        found.append({name: column.tolist() for name, column in arrows_found.items()})
    assert found[0] == found[1]
    keys = list(zip(found[0]["category"], found[0]["source"]))
    assert keys == sorted(keys)
