"""Every gap with idle time has one signature; synchronisations are counted once, with what they expose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.analysis import real
from tests.analysis.idle.test_explain import FIRST, any_machine, launched, stack
from tests.analysis.machine import AUTOGRAD, MAIN, PYTHON, Events, arrow, call, frame, operator
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import Cause


def test_gaps_that_are_alike() -> None:
    events = [*FIRST, *launched(2_000, 2_040, 7), *launched(4_000, 4_040, 7), *launched(5_000, 5_040, 8)]
    found = analyse(trace_of(events)).signatures
    assert [(s.cause, s.line, s.operator, s.gaps, s.idle_ns, s.longest_ns) for s in found] == [
        (Cause.PYTHON, 7, None, 2, 890 + 1_950, 1_950),
        (Cause.PYTHON, 8, None, 1, 950, 950),
    ]
    assert found[0].gap_indices.tolist() == [1, 0]


def test_a_gap_is_of_the_line_with_most_of_its_cause() -> None:
    calls = [operator(1_200, 100, "aten::a", stack=stack(3)), operator(1_300, 650, "aten::b", stack=stack(4))]
    (found,) = analyse(trace_of([*FIRST, *launched(2_000, 2_040, 7), *calls])).signatures
    assert (found.cause, found.line, found.operator, found.idle_ns) == (Cause.OPERATOR, 4, "aten::b", 890)


@given(any_machine())
def test_signatures_and_synchronisations_of_anything(events: Events) -> None:
    check(analyse(trace_of(events)))


def check(analysis: Analysis) -> None:
    found = analysis.signatures
    assert sum(signature.idle_ns for signature in found) == analysis.idle_ns
    gaps = np.concatenate([np.empty(0, np.int64), *(signature.gap_indices for signature in found)])
    assert sorted(gaps.tolist()) == np.flatnonzero(analysis.gaps.idle).tolist()
    dominant = analysis.causes.of_gaps(len(analysis.gaps))
    assert all((dominant[signature.gap_indices] == signature.cause).all() for signature in found)
    for sync in analysis.syncs:
        assert sum(sync.exposed_by_step.values()) == sync.exposed_ns
        assert 0 < sync.longest_ns <= sync.total_ns
    assert sum(sync.exposed_ns for sync in analysis.syncs) <= analysis.idle_ns


@pytest.mark.parametrize("rank", real.NPU)
def test_real_traces(real_traces: Path, rank: str) -> None:
    check(real.npu(real_traces, rank))


def test_what_runs_inside_a_synchronisation_is_part_of_it() -> None:
    events = [
        *FIRST,
        operator(1_120, 100, "aten::item", stack=stack(3)),
        operator(1_125, 90, "aten::_local_scalar_dense", stack=stack(3)),
        call(1_130, 50, 77, "AscendCL@aclrtSynchronizeStreamWithTimeout", MAIN),
        operator(1_300, 100, "aten::item", stack=stack(3)),
        call(1_300, 50, 78, "AscendCL@aclrtSynchronizeStreamWithTimeout", MAIN),
        *launched(2_000, 2_040, 7),
    ]
    (sync,) = analyse(trace_of(events)).syncs
    assert (sync.call, sync.line, sync.count, sync.total_ns) == ("aten::item", 3, 2, 200)
    assert (sync.exposed_ns, sync.exposed_by_step) == (890, {-1: 890})


def test_where_calls_are_recorded_what_calls_nothing_does_not_wait_for_the_device() -> None:
    """`aten::item` of a tensor of the host."""
    events = [
        *FIRST,
        call(1_120, 50, 77, "AscendCL@aclrtSynchronizeDevice", MAIN),
        *(operator(at, 50, "aten::item", stack=stack(3)) for at in (1_070, 1_170, 1_300)),
        *launched(2_000, 2_040, 7),
    ]
    assert [(sync.call, sync.count, sync.total_ns) for sync in analyse(trace_of(events)).syncs] == [
        ("AscendCL@aclrtSynchronizeDevice", 1, 50)
    ]


def test_the_call_that_waits_is_named_of_all_that_begin_with_it() -> None:
    """In files that write whole µs the operator before ends then, and what it called last begins then."""
    events = [
        *FIRST,
        operator(1_100, 20, "aten::expand"),
        operator(1_120, 0, "aten::as_strided"),
        operator(1_120, 100, "aten::item", stack=stack(3)),
        operator(1_120, 90, "aten::_local_scalar_dense", stack=stack(3)),
        call(1_130, 50, 77, "AscendCL@aclrtSynchronizeStreamWithTimeout", MAIN),
    ]
    assert [sync.call for sync in analyse(trace_of(events)).syncs] == ["aten::item"]


def test_one_that_did_not_empty_the_device_exposes_itself_only() -> None:
    events = [*FIRST, operator(1_300, 100, "aten::nonzero", stack=stack(3)), *launched(2_000, 2_040, 7)]
    (sync,) = analyse(trace_of(events)).syncs
    assert (sync.call, sync.exposed_ns) == ("aten::nonzero", 100)


def test_a_call_of_the_runtime_outside_operators() -> None:
    synchronising = call(1_120, 100, 77, "AscendCL@aclrtSynchronizeDevice", MAIN)
    (sync,) = analyse(trace_of([*FIRST, synchronising, *launched(2_000, 2_040, 7)])).syncs
    assert (sync.call, sync.line) == ("AscendCL@aclrtSynchronizeDevice", 7)
    assert sync.exposed_ns == 890


def test_a_frame_that_synchronises() -> None:
    framed = [
        frame(900, 2_000, "train.py(1): train"),
        frame(1_120, 100, "torch_npu/npu/utils.py(9): synchronize"),
    ]
    (sync,) = analyse(trace_of([*FIRST, *framed, *launched(2_000, 2_040, 7)])).syncs
    assert (sync.call, sync.count) == ("torch_npu/npu/utils.py(9): synchronize", 1)


def test_of_threads_that_synchronise_at_once_the_one_that_launched_next_exposes() -> None:
    """Of the idle time until 2,040 the second thread is asked, whichever thread waits longer."""
    second = [
        operator(1_120, 100, "aten::item", AUTOGRAD, stack=stack(4)),
        *launched(2_000, 2_040, 7, AUTOGRAD),
    ]
    first = operator(1_110, 300, "aten::nonzero", stack=stack(3))
    assert exposed([*FIRST, first, *second]) == {"aten::item": 890, "aten::nonzero": 0}


def test_what_a_thread_waits_within_idle_time_is_exposed_by_its_own_synchronisation() -> None:
    first = [operator(1_300, 100, "aten::nonzero", stack=stack(3)), *launched(2_000, 2_040, 7)]
    second = operator(1_250, 300, "aten::item", AUTOGRAD, stack=stack(4))
    assert exposed([*FIRST, *first, second]) == {"aten::item": 0, "aten::nonzero": 100}


def test_what_the_launch_takes_while_the_host_waits_for_it_is_not_exposed() -> None:
    waits = operator(2_008, 100, "aten::item", stack=stack(3))
    assert exposed([*FIRST, *launched(2_000, 2_040, 7), waits]) == {"aten::item": 0}


def test_a_synchronisation_before_a_burst_of_another_thread_exposes_all_that_it_emptied() -> None:
    """`torch.npu.synchronize()`, then `loss.backward()`: nothing runs on the first thread meanwhile."""
    events = [
        *FIRST,
        call(1_120, 100, 77, "AscendCL@aclrtSynchronizeDevice", MAIN),
        operator(1_900, 200, "autograd::engine::evaluate_function: MmBackward0", AUTOGRAD),
        *launched(2_000, 2_040, 7, AUTOGRAD),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 995), (PYTHON, AUTOGRAD, 1_900)),
    ]
    assert exposed(events) == {"AscendCL@aclrtSynchronizeDevice": 890}


def exposed(events: Events) -> dict[str, int]:
    """ns that the synchronisations expose, by what was called."""
    return {sync.call: sync.exposed_ns for sync in analyse(trace_of(events)).syncs}
