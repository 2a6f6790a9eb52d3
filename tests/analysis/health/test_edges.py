"""Rules say nothing just inside of their thresholds, and something at them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pytest

from tests.analysis import gpu, machine
from tests.analysis.machine import Events, us
from tests.synthetic import process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.health.host import FRAME_COST, OPERATOR_COST
from tracetui.analysis.health.launches import Launches, find_losses
from tracetui.analysis.idle.cause import of_families
from tracetui.units import YEAR, format_duration


def launches(count: int, lost: Collection[int]) -> Launches:
    """Launches of which some have no task."""
    places = np.arange(count)
    return Launches(places, places * 10, places * 10 + 5, np.isin(places, list(lost)))


def stretches(count: int, lost: Collection[int]) -> list[tuple[int, int]]:
    return [(loss.first, loss.stop) for loss in find_losses(launches(count, lost))]


def test_launches_without_a_task_are_a_loss_from_the_third_on() -> None:
    assert stretches(100, range(50, 52)) == []
    assert stretches(100, range(50, 53)) == [(50, 53)]
    assert stretches(100, range(100)) == [], "a file without any task is none that lost some"


def test_a_loss_goes_on_over_32_launches_that_have_a_task() -> None:
    assert stretches(200, [50, 51, 52, 85, 86, 87]) == [(50, 88)]
    assert stretches(200, [50, 51, 52, 86, 87, 88]) == [(50, 53), (86, 89)]


def test_long_losses_are_one_where_half_of_all_between_them_is_lost() -> None:
    assert stretches(400, [*range(100, 140), *range(180, 220)]) == [(100, 220)]
    assert stretches(400, [*range(100, 140), *range(220, 260)]) == [(100, 260)]
    assert stretches(400, [*range(100, 140), *range(221, 261)]) == [(100, 140), (221, 261)]


def test_a_loss_at_the_start_or_end_has_a_hundredth_outside_of_it() -> None:
    def edges(lost: Collection[int], count: int = 400) -> list[tuple[bool, bool]]:
        return [(loss.at_start, loss.at_end) for loss in find_losses(launches(count, lost))]

    assert edges(range(4, 40)) == [(True, False)]
    assert edges(range(5, 40)) == [(False, False)]
    assert edges(range(360, 396)) == [(False, True)]
    assert edges(range(360, 395)) == [(False, False)]
    assert edges(range(4, 396)) == [(True, False)], "nearly all are lost from the start"
    assert edges(range(1, 400)) == [(False, True)] and edges(range(399)) == [(True, False)]
    assert edges([*range(20), *range(25, 400)]) == [(False, False)], "none before it or after it has a task"
    assert edges(range(10), 50) == [(True, False)] and edges(range(1, 10), 50) == [(False, False)]


@pytest.mark.parametrize(("apart", "found"), [(1_000, [(500, 2_501)]), (1_001, [])])
def test_launches_that_are_lost_one_at_a_time_are_a_loss_where_they_are_a_thousandth(
    apart: int, found: list[tuple[int, int]]
) -> None:
    count = 3 * apart
    assert stretches(count, [500, 1_500, 2_500]) == found
    assert stretches(100, [20, 70]) == [], "fewer than three"
    assert stretches(400, [*range(20, 30), 100, 200, 300]) == [(20, 30), (100, 301)]


def test_tasks_lost_here_and_there_are_no_late_beginning() -> None:
    (whole,) = find_losses(launches(400, range(0, 40, 2)))
    (sparse,) = find_losses(launches(400, range(0, 40, 3)))
    assert (whole.is_dense, whole.at_start) == (True, True)
    assert (sparse.is_dense, sparse.at_start, sparse.at_end) == (False, False, False)
    (half,) = find_losses(launches(400, [*range(0, 38, 2), 39]))
    assert len(half.places) * 2 == half.stop - half.first and half.is_dense


MS = 1_000_000


def renamed(before: str, after: str, events: Events) -> Events:
    return [{**e, "name": after} if e["name"] == before else e for e in events]


def ns(microseconds: str) -> int:
    """The ns of a time as `us` writes it."""
    return int(microseconds.replace(".", ""))


def found(events: Events) -> set[str]:
    """The ids of what is found in a trace of a GPU."""
    return {finding.id for finding in analyse(trace_of([*gpu.gpu(), *events])).health.findings}


def run(count: int = 20, every: int = MS, lag: int = 20_000, dur: int = 50_000) -> Events:
    """A kernel each so many ns, launched `lag` before it."""
    return [
        event
        for number in range(1, count + 1)
        for event in (
            gpu.launch(number * every, 5_000, number),
            gpu.kernel(number * every + lag, dur, number),
        )
    ]


@pytest.mark.parametrize(
    ("early", "lag", "is_found"),
    [(3, -206_000, True), (3, -194_000, False), (2, -MS // 2, False)],
)
def test_clocks_are_apart_where_three_tasks_begin_200_us_early(early: int, lag: int, is_found: bool) -> None:
    events = run()
    moved = range(5, 5 + early)
    shifted = [gpu.kernel(number * MS + lag, 50_000, number) for number in moved]
    kept = [
        e for e in events if e.get("cat") != "kernel" or e["args"]["correlation"] not in range(5, 5 + early)
    ]
    assert ("clock.host_device" in found([*kept, *shifted])) == is_found


@pytest.mark.parametrize(("first", "is_found"), [(1.5, False), (1.51, True)])
def test_a_first_step_is_unlike_others_from_half_as_long_again_on(first: float, is_found: bool) -> None:
    lengths = [int(first * 5 * MS), *[5 * MS] * 3]
    begins = np.cumsum([MS // 2, *lengths[:-1]]).tolist()
    steps = [gpu.step(number, begin, dur) for number, (begin, dur) in enumerate(zip(begins, lengths))]
    assert ("steps.first" in found([*run(24), *steps])) == is_found


@pytest.mark.parametrize(("count", "is_found"), [(2, True), (3, False)])
def test_two_steps_are_few_and_three_are_not(count: int, is_found: bool) -> None:
    steps = [gpu.step(number, MS // 2 + number * 5 * MS, 5 * MS) for number in range(count)]
    assert ("steps.few" in found([*run(5 * count), *steps])) == is_found


@pytest.mark.parametrize(("overlap", "is_found"), [(9_000, False), (12_000, True)])
def test_tasks_of_a_stream_overlap_for_a_hundredth_of_its_time(overlap: int, is_found: bool) -> None:
    over = [
        event
        for number in (101, 102, 103)
        for event in (
            gpu.launch(number * MS + 1_000, 2_000, number + 100),
            gpu.launch(number * MS + 4_000, 2_000, number + 200),
            gpu.kernel(number * MS + 20_000, 50_000, number + 100),
            gpu.kernel(number * MS + 70_000 - overlap // 3, 50_000, number + 200),
        )
    ]
    # The stream is busy for 20 * 35 us + 3 * 100 us: 1 ms.
    assert ("tasks.overlap" in found([*run(dur=35_000), *over])) == is_found
    programmatic = renamed("cudaLaunchKernel", "cudaLaunchKernelExC", over)
    assert "tasks.overlap" not in found([*run(dur=35_000), *programmatic]), "these begin early"


@pytest.mark.parametrize(
    ("durs", "is_found"), [((20,), False), ((10,), False), ((9,), True), ((20, 20), False), ((20, 18), True)]
)
def test_a_kernel_that_begins_early_outlasts_the_one_before_it(durs: tuple[int, ...], is_found: bool) -> None:
    """They begin 10 and 9 us before a kernel ends that runs for 50 us."""
    early = [
        event
        for number in range(5, 8)
        for place, dur in enumerate(durs)
        for event in (
            gpu.launch(
                number * MS + 6_000 * (place + 1), 1_000, 100 * place + number + 100, "cuLaunchKernelEx"
            ),
            gpu.kernel(number * MS + 60_000 + 1_000 * place, dur * 1_000, 100 * place + number + 100),
        )
    ]
    assert ("tasks.overlap" in found([*run(), *early])) == is_found


def outcomes(events: Events, identity: str) -> list[tuple[str, int]]:
    """The severity and count of each finding of a kind in a trace of a GPU."""
    health = analyse(trace_of([*gpu.gpu(), *events])).health
    return [(f.severity.label, f.count) for f in health.findings if f.id == identity]


def without_kernels(events: Events, gone: Collection[int]) -> Events:
    """Events of a GPU without the kernels of some launches."""
    return [e for e in events if e.get("cat") != "kernel" or e["args"]["correlation"] not in gone]


@pytest.mark.parametrize(
    ("gone", "found"),
    [((), []), ((5,), [("note", 1)]), ((5, 9), [("note", 2)]), ((5, 9, 14), [("wrong", 3)])],
)
def test_one_or_two_launches_without_a_task_are_noted(
    gone: Collection[int], found: list[tuple[str, int]]
) -> None:
    assert outcomes(without_kernels(run(), gone), "device.dropped") == found


def steps_with_kernels(lasting: int, *lost: int, count: int = 6) -> Events:
    """Steps of 10 ms on the host, each with eight kernels of which the device takes `lasting` ns in all."""
    events, number, begin = [], 0, 5 * MS
    for step in range(count):
        start = (1 + 10 * step) * MS
        events.append(gpu.step(step, start, 10 * MS - 1_000))
        for _ in range(8):
            number += 1
            begin = max(begin, start + MS)
            events += [gpu.host(start + 390_000, 20_000), gpu.launch(start + 400_000, 5_000, number)]
            if step not in lost:
                events.append(gpu.kernel(begin, lasting // 8, number))
            begin += lasting // 8
            start += MS
    return events


def test_a_step_is_empty_where_it_launched_what_was_lost_and_its_hole_is_later_on_the_device() -> None:
    """The host is done with all steps while the device is at the second: their time lies in the hole."""
    analysis = analyse(trace_of([*gpu.gpu(), *steps_with_kernels(40 * MS, 2, count=12)]))
    (empty,) = analysis.health.doubts
    assert (empty.id, empty.severity.label) == ("device.step_empty", "wrong")
    assert [analysis.steps[place].number for place in empty.steps] == [2]
    assert empty.english == "1 of 12 steps neither computes nor communicates on the device, others do"
    assert empty.windows == ((85 * MS, 125 * MS),)
    gap = int(np.argmax(analysis.gaps.end - analysis.gaps.start))
    assert (int(analysis.gaps.start[gap]), int(analysis.gaps.end[gap])) == empty.windows[0]


def on_gpu_1(event: dict[str, Any], number: int) -> dict[str, Any]:
    """A task of a first GPU on a second one, of another launch."""
    return {**event, "pid": 1, "args": {**event["args"], "device": 1, "correlation": number}}


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_step_that_one_device_lost_is_one_step_and_not_empty_on_the_other(is_whole: bool) -> None:
    """With the second device's kernels of the step alone lost, or those of both."""
    first = steps_with_kernels(4 * MS, *([] if is_whole else [1]), count=4)
    launched = [e for e in steps_with_kernels(4 * MS, 1, count=4) if "correlation" in e["args"]]
    second = [
        on_gpu_1(e, 500 + e["args"]["correlation"])
        if e["cat"] == "kernel"
        else gpu.launch(ns(e["ts"]) + 10_000, 5_000, 500 + e["args"]["correlation"])
        for e in launched
    ]
    events = [*gpu.gpu(), *process(1, "python", "GPU 1", 5_000_001), *first, *second]
    analysis = analyse(trace_of(events))
    (empty,) = (f for f in analysis.health.doubts if f.id == "device.step_empty")
    assert [(analysis.steps[p].number, analysis.steps[p].device) for p in empty.steps] == (
        [(1, "GPU 1")] if is_whole else [(1, "GPU 0"), (1, "GPU 1")]
    )
    assert (empty.count, empty.share, empty.words["steps"]) == (1, 0.25, "4")


@pytest.mark.parametrize(("count", "found"), [(19, []), (20, [("doubtful", 20)])])
def test_20_launches_and_no_kernel_lost_all_of_them(count: int, found: list[tuple[str, int]]) -> None:
    copy = gpu.kernel(2 * MS, 5_000, 500, "Memcpy HtoD", category="gpu_memcpy")
    launched = without_kernels(run(count), range(count + 1))
    assert outcomes([*launched, copy], "device.dropped") == found
    assert outcomes([*launched, copy, gpu.kernel(3 * MS, 5_000, 501)], "device.dropped") == []
    counters = gpu.kernel(3 * MS, 5_000, -1, "__autorange_0", category="cuda_profiler_range")
    for more, is_chosen in (([counters], True), ([], False)):
        doubts = analyse(trace_of([*gpu.gpu(), *launched, copy, *more])).health.doubts
        told = [(f.is_chosen, f.english.endswith("instead")) for f in doubts if f.id == "device.dropped"]
        assert told == [(is_chosen, is_chosen)] * len(found)


@pytest.mark.parametrize(("inside", "is_found"), [(2, False), (3, True)])
def test_tasks_that_lie_in_another_one_overlap_however_long_that_is(inside: int, is_found: bool) -> None:
    last = 20 - inside
    events = [
        {**e, "dur": "60000000"} if e["cat"] == "kernel" and e["args"]["correlation"] == last else e
        for e in run()
    ]
    assert ("tasks.overlap" in found(events)) == is_found


def test_a_task_that_stands_twice_overlaps_and_its_launch_is_certain() -> None:
    twice = [e for e in run() if e["cat"] == "kernel"][:5]
    assert found([*run(), *twice]) & {"tasks.overlap", "flows.shared"} == {"tasks.overlap"}


@pytest.mark.parametrize(("late", "is_found"), [(10_004_999, False), (10_005_000, True)])
def test_a_device_that_begins_10_ms_after_its_launch_was_busy(late: int, is_found: bool) -> None:
    assert ("device.unseen_work" in found(run(lag=late))) == is_found


@pytest.mark.parametrize(
    ("beside", "severity"),
    [
        ([], "note"),
        ([gpu.step(1, 0, MS - 1_000)], "note"),
        ([gpu.step(1, 0, MS + 1_000)], "doubtful"),
        (
            [gpu.launch(2 * MS, 5_000, 99), gpu.kernel(3 * MS, 1_000, 99, "ncclDevKernel_AllReduce", 9)],
            "doubtful",
        ),
    ],
)
def test_a_late_beginning_is_noted_where_none_of_it_counts_as_idle(beside: Events, severity: str) -> None:
    """It ends where the window of the device begins, unless another stream is earlier; there is no step."""
    findings = analyse(trace_of([*gpu.gpu(), *run(lag=30 * MS), *beside])).health.findings
    assert [f.severity.label for f in findings if f.id == "device.unseen_work"] == [severity]


@pytest.mark.parametrize(("busy", "is_found"), [(1_999_000, True), (2_000_000, False)])
def test_a_device_that_does_something_else_for_a_tenth_of_that_time_was_not(
    busy: int, is_found: bool
) -> None:
    """The launch returns after 10.005 ms, its task begins at 30 ms."""
    late = run(every=10 * MS, lag=20 * MS, dur=5 * MS)
    beside = gpu.kernel(15 * MS, busy, 900, stream=8)
    assert ("device.unseen_work" in found([*late, beside])) == is_found


@pytest.mark.parametrize(("more", "severity"), [(0, "note"), (1, "doubtful")])
def test_recording_that_explains_more_than_half_of_what_devices_wait_for_is_doubted(
    more: int, severity: str
) -> None:
    def traced(frames: int) -> Analysis:
        starts = range(MS + 80_000, 2 * MS, 180)[:frames]
        calls = (
            gpu.host(start, 90, "a.py(1): f", "python_function", **{"Python id": start}) for start in starts
        )
        operators = [gpu.host(n * MS - 1_000, 10_000) for n in (1, 2)]
        return analyse(trace_of([*gpu.gpu(), *run(2), *operators, *calls]))

    causes = traced(1).causes
    bound = int(causes.ns[np.isin(causes.cause, of_families("host", "queue"))].sum())
    # The second operator begins while the device waits.
    health = traced((bound // 2 - OPERATOR_COST[0]) // FRAME_COST[0] + more).health
    assert [f.severity.label for f in health.findings if f.id == "host.overhead"] == [severity]


def test_a_late_beginning_that_the_host_waits_for_counts_once() -> None:
    waited = wait(2 * MS, 31 * MS + 60_000, "cudaStreamSynchronize")
    findings = analyse(trace_of([*gpu.gpu(), *run(lag=30 * MS), *waited])).health.findings
    (unseen,) = [finding for finding in findings if finding.id == "device.unseen_work"]
    (window,) = unseen.windows
    assert unseen.share == pytest.approx((window[1] - window[0]) / (51 * MS), rel=0.1)


@pytest.mark.parametrize(("extra", "is_found"), [(2, False), (3, True)])
def test_an_id_is_shared_by_three_tasks_that_it_did_not_launch(extra: int, is_found: bool) -> None:
    again = [gpu.kernel(5 * MS + 100_000 * (2 + n), 10_000, 5) for n in range(extra)]
    assert ("flows.shared" in found([*run(), *again])) == is_found


@pytest.mark.parametrize(
    ("extra", "call", "is_found"),
    [(2, "cudaMemcpyAsync", False), (3, "cudaMemcpyAsync", True), (3, "cudaGraphLaunch", False)],
)
def test_the_launch_of_a_copy_has_one_copy(extra: int, call: str, is_found: bool) -> None:
    copies = [
        gpu.kernel(5 * MS + 200_000 + 100_000 * n, 10_000, 500, "Memcpy DtoD", category="gpu_memcpy")
        for n in range(1 + extra)
    ]
    events = [*run(), gpu.launch(5 * MS + 100_000, 5_000, 500, call), *copies]
    assert ("flows.shared" in found(events)) == is_found
    assert "flows.shared" not in found([*events[:-extra], *events[-extra - 1 : -extra] * extra]), (
        "it stands twice"
    )
    assert "flows.shared" not in found(renamed("Memcpy DtoD", "dma_request", events)), "parts of one copy"


@pytest.mark.parametrize(("tasks", "ids", "is_found"), [(3, 1, False), (4, 1, True), (3, 2, False)])
def test_four_tasks_of_an_id_that_no_call_has_share_it(tasks: int, ids: int, is_found: bool) -> None:
    uncalled = [
        gpu.kernel(100_000 * n + 20_000 * number, 10_000, 999 + number)
        for n in range(1, tasks + 1)
        for number in range(ids)
    ]
    assert ("flows.shared" in found([*run(), *uncalled])) == is_found


def numbered(numbers: Sequence[int], every: int = MS, **args: int) -> Events:
    """Tasks of a stream of an NPU with these numbers, one after the other with pauses between them."""
    tasks = [machine.task((place + 1) * every, every // 2) for place in range(len(numbers))]
    return [{**e, "args": {**e["args"], "Task Id": n, **args}} for e, n in zip(tasks, numbers)]


def dropped(tasks: Events) -> list[int]:
    """How many tasks are missing, of each finding that tasks were dropped."""
    health = analyse(trace_of([*machine.npu(), *tasks])).health
    return [finding.count for finding in health.findings if finding.id == "device.dropped"]


@pytest.mark.parametrize(("missing", "counts"), [(2, []), (3, [3]), (32_767, [32_767]), (32_768, [])])
def test_three_numbers_of_tasks_that_are_left_out_are_lost_tasks(missing: int, counts: list[int]) -> None:
    assert dropped(numbered([*range(20), *range(20 + missing, 40 + missing)])) == counts


@pytest.mark.parametrize(("count", "counts"), [(19, []), (20, [5])])
def test_a_stream_of_20_numbers_is_judged(count: int, counts: list[int]) -> None:
    assert dropped(numbered([*range(10), *range(15, 5 + count)])) == counts


@pytest.mark.parametrize(("others", "counts"), [(4, [5]), (5, [])])
def test_nine_of_ten_numbers_follow_each_other(others: int, counts: list[int]) -> None:
    steps = [1] * 26 + [3] * others + [6] + [1] * (24 - others)
    assert dropped(numbered(np.cumsum(steps).tolist())) == counts


@pytest.mark.parametrize(("widths", "counts"), [((5, 5), [8]), ((5, 5, 9), []), ((5, 7, 9), [18])])
def test_gaps_of_one_width_are_tasks_that_are_never_recorded(
    widths: tuple[int, ...], counts: list[int]
) -> None:
    steps = [step for width in widths for step in (*[1] * 20, width)]
    assert dropped(numbered(np.cumsum([*steps, 1]).tolist())) == counts


def test_parts_of_a_task_have_its_number_and_a_new_batch_begins_anew() -> None:
    assert dropped(numbered([*range(20), *[19] * 10, *range(20, 40)])) == []
    later = numbered(range(7, 27), **{"Batch Id": 1})
    assert dropped([*numbered(range(20)), *({**e, "ts": str(float(e["ts"]) + 1e6)} for e in later)]) == []
    assert dropped(numbered([*range(20), *range(30, 50)], **{"Model Id": 4})) == [], "each run has the same"


def test_numbers_that_stand_elsewhere_on_their_stream_are_not_left_out() -> None:
    numbers = [*range(20), 30, *range(20, 30), *range(31, 60)]
    assert dropped(numbered(numbers)) == []
    assert dropped(numbered([n for n in numbers if n not in range(20, 30)])) == [10]


def test_numbers_are_left_out_where_the_stream_has_time_for_them() -> None:
    early, late = numbered(range(20)), numbered(range(45))[-20:]
    joined = [{**e, "dur": str(float(late[0]["ts"]) - float(e["ts"]))} for e in early[-1:]]
    assert dropped([*early, *late]) == [5]
    assert dropped([*early[:-1], *joined, *late]) == []


def collectives(*parts: tuple[int, float], kinds: int = 1) -> Events:
    """Collectives of 100 us, each with so many tasks that cover a share of it, and a kernel between them."""
    events = [machine.task(MS // 2, 10_000)]
    for number, (count, share) in enumerate(parts):
        start, dur = (number + 1) * MS, round(100_000 * share / count)
        name = f"hcom_{'ab'[number % kinds]}_{number}"
        events.append(machine.collective(start, 100_000, name, connection=number))
        events += [machine.task(start + n * dur, dur, "SDMA_SQE", connection=number) for n in range(count)]
    return events


WHOLE = (4, 1.0)


@pytest.mark.parametrize(
    ("parts", "kinds", "counts"),
    [
        ([WHOLE, WHOLE, (3, 0.5)], 1, [1]),
        ([(3, 0.5), WHOLE, WHOLE, (2, 0.4)], 1, [2]),
        ([WHOLE, (3, 0.5)], 1, []),
        ([WHOLE, (3, 0.5), (3, 0.5)], 1, []),
        ([WHOLE, WHOLE, (3, 0.899)], 1, [1]),
        ([WHOLE, WHOLE, (3, 0.901)], 1, []),
        ([(4, 0.901)] * 2 + [(3, 0.5)], 1, [1]),
        ([(4, 0.899)] * 2 + [(3, 0.5)], 1, []),
        ([WHOLE, WHOLE, (4, 0.5)], 1, []),
        ([WHOLE, (3, 0.5)] * 2, 2, []),
        ([WHOLE, WHOLE, WHOLE, (3, 0.5), WHOLE], 2, []),
        ([WHOLE, WHOLE, WHOLE, (3, 0.5), WHOLE, WHOLE], 2, [1]),
    ],
)
def test_a_collective_lacks_parts_that_two_of_its_kind_have(
    parts: Sequence[tuple[int, float]], kinds: int, counts: list[int]
) -> None:
    """Fewer than those, and they leave more than a tenth of its time open."""
    assert dropped(collectives(*parts, kinds=kinds)) == counts


@pytest.mark.parametrize(
    ("message", "count"),
    [
        ("WARNING:2026-01-01 1:1 CuptiActivityApi.cpp:263] Dropped 12 activity records", 12),
        ("Dropped 1 activity records", 1),
        ("Exceeded max GPU buffer count (33 >= 33) - terminating tracing", 1),
        ("Device profiling activity collection was stopped early at step 1", 1),
        ("Dropped 0 activity records", None),
        ("CUPTI_ACTIVITY_KIND dropped", None),
    ],
)
def test_what_the_profiler_logged_is_believed(message: str, count: int | None) -> None:
    health = analyse(trace_of([*gpu.gpu(), *run()], WARNING=[message, 7])).health
    found = [(f.id, f.count, f.severity.label, f.affects) for f in health.doubts]
    assert found == ([] if count is None else [("device.dropped", count, "doubtful", ("idle", "causes"))])


def call(start: int, dur: int, name: str) -> dict[str, Any]:
    """A call of the runtime that launches nothing."""
    return gpu.host(start, dur, name, "cuda_runtime")


def wait(start: int, end: int, name: str = "cudaDeviceSynchronize") -> Events:
    """A call of the runtime that waits."""
    return [call(start, end - start, name)]


@pytest.mark.parametrize(
    ("late", "tasks", "is_found"), [(201_000, 3, True), (199_000, 3, False), (201_000, 2, False)]
)
def test_clocks_are_apart_where_three_tasks_outlast_a_wait(late: int, tasks: int, is_found: bool) -> None:
    end = 21 * MS
    launched = [gpu.launch(20 * MS + 100_000 + n * 10_000, 5_000, 100 + n) for n in range(tasks)]
    kernels = [gpu.kernel(end + late - 100 * (n + 1), 100, 100 + n) for n in range(tasks)]
    waited = wait(20 * MS + 200_000, end)
    assert ("clock.host_device" in found([*run(), *launched, *kernels, *waited])) == is_found
    other = wait(20 * MS + 200_000, end, "cudaStreamSynchronize")
    assert "clock.host_device" not in found([*run(), *launched, *kernels, *other]), "of another stream"


@pytest.mark.parametrize(
    ("late", "on_time", "category", "is_found"),
    [
        (201_000, 2, "gpu_memcpy", True),
        (199_000, 2, "gpu_memcpy", False),
        (201_000, 3, "gpu_memcpy", False),
        (201_000, 2, "kernel", False),
    ],
)
def test_clocks_are_apart_where_three_blocking_copies_outlast_their_waits(
    late: int, on_time: int, category: str, is_found: bool
) -> None:
    def copied(start: int, lateness: int, number: int) -> Events:
        return [
            gpu.launch(start, 5_000, number, "cudaMemcpyAsync"),
            gpu.kernel(start + 100_000 + lateness - 1_000, 1_000, number, "Memcpy DtoH", category=category),
            *wait(start + 10_000, start + 100_000, "cudaStreamSynchronize"),
        ]

    starts = [20 * MS + n * MS for n in range(3 + on_time)]
    events = [
        event
        for n, start in enumerate(starts)
        for event in copied(start, late if n < 3 else -50_000, 100 + n)
    ]
    assert ("clock.host_device" in found([*run(), *events])) == is_found


@pytest.mark.parametrize(
    ("late", "tasks", "lasts", "is_found"),
    [
        (201_000, 3, 10 * MS, True),
        (199_000, 3, 10 * MS, False),
        (201_000, 2, 10 * MS, False),
        (201_000, 3, 10 * MS - 1_000, False),
    ],
)
def test_clocks_are_apart_where_three_tasks_outlast_an_operator_that_takes_a_value(
    late: int, tasks: int, lasts: int, is_found: bool
) -> None:
    begin = 21 * MS
    end = begin + lasts
    launched = [gpu.launch(20 * MS + 100_000 + n * 10_000, 5_000, 100 + n) for n in range(tasks)]
    kernels = [gpu.kernel(end + late - 100 * (n + 1), 100, 100 + n) for n in range(tasks)]
    waited = [gpu.host(begin, lasts, "aten::item")]
    assert ("clock.host_device" in found([*run(), *launched, *kernels, *waited])) == is_found
    other = [gpu.host(begin, lasts, "aten::mm")]
    assert "clock.host_device" not in found([*run(), *launched, *kernels, *other]), "it does not wait"
    side = [gpu.launch(20 * MS + 200_000, 5_000, 200), gpu.kernel(begin, 100_000, 200, stream=8)]
    assert "clock.host_device" not in found([*run(), *launched, *kernels, *waited, *side]), (
        "for another stream"
    )
    before = [gpu.host(5 * MS - 1_000, 10 * MS, "aten::item"), gpu.launch(5 * MS - 2_000, 500, 300)]
    before.append(gpu.kernel(14 * MS + 200_000, 100_000, 300, stream=8))
    assert "clock.host_device" not in found([*run(4), *launched, *kernels, *waited, *before]), (
        "as many do not"
    )


def test_a_wait_that_is_outlasted_beside_two_that_are_not_shows_a_leap() -> None:
    def ids(on_time: int, late: int, slack: int = 100_000) -> set[str]:
        launched = [gpu.launch(20 * MS + 100_000 + n * 10_000, 5_000, 100 + n) for n in range(3)]
        kernels = [gpu.kernel(21 * MS + late - 10_000 * n, 10_000, 100 + n) for n in range(3)]
        done = [MS * n + 70_000 + slack for n in range(1, on_time + 1)]
        before = [event for end in done for event in wait(end - slack, end)]
        return found([*run(), *launched, *kernels, *before, *wait(20 * MS + 200_000, 21 * MS)])

    assert "clock.jump" in ids(2, MS)
    assert "clock.jump" not in ids(2, MS - 50_000)
    assert not {"clock.jump", "clock.host_device"} & ids(1, MS), "it may be either"
    assert "clock.host_device" in ids(2, MS, slack=201_000), "these would not be outlasted in any case"


@pytest.mark.parametrize(("count", "is_found"), [(2, False), (3, True)])
def test_a_thread_that_waits_calls_nothing(count: int, is_found: bool) -> None:
    inside = [call(20 * MS + 200_000 + n * 10_000, 5_000, "cudaMalloc") for n in range(count)]
    waited = wait(20 * MS + 100_000, 21 * MS, "cudaStreamSynchronize")
    last = [call(22 * MS, 5_000, "cudaMalloc")]
    assert ("clock.jump" in found([*run(), *waited, *inside, *last])) == is_found
    assert "clock.jump" not in found([*run(), *waited, *inside]), "its end was not recorded"


def test_a_clock_leaps_back_to_the_first_of_what_a_wait_holds() -> None:
    inside = [call(20 * MS + 200_000 + n * 100_000, 5_000, "cudaMalloc") for n in range(5)]
    waited = wait(20 * MS + 100_000, 21 * MS, "cudaStreamSynchronize")
    trace = trace_of([*gpu.gpu(), *run(), *waited, *inside, call(22 * MS, 5_000, "cudaMalloc")])
    (jump,) = (finding for finding in analyse(trace).health.findings if finding.id == "clock.jump")
    assert jump.figures["time"] == format_duration(800_000)


@pytest.mark.parametrize(
    ("names", "again", "waits", "is_found"),
    [(4, 0, 3, False), (5, 0, 3, True), (5, 1, 3, False), (5, 0, 2, False)],
)
def test_a_waiting_operator_holds_what_others_of_its_name_do(
    names: int, again: int, waits: int, is_found: bool
) -> None:
    events = [gpu.host(23 * MS, 5_000, "aten::mm")]
    for number in range(waits):
        start = (16 + 2 * number) * MS
        events.append(gpu.host(start, MS, "aten::item"))
        if number <= again:
            events += [gpu.host(start + (n + 1) * 10_000, 5_000, f"aten::op{n}") for n in range(names)]
    assert ("clock.jump" in found([*run(), *events])) == is_found
    ranges = [
        {**e, "name": "synchronize", "cat": "user_annotation"} if e["name"] == "aten::item" else e
        for e in events
    ]
    assert "clock.jump" not in found([*run(), *ranges]), "a range of the user holds anything"


@pytest.mark.parametrize(
    ("inner", "count", "is_found"), [("item", 2, False), ("item", 3, True), ("mm", 3, False)]
)
def test_a_waiting_operator_holds_no_other_that_waits(inner: str, count: int, is_found: bool) -> None:
    events = [gpu.host(start * MS, MS, "aten::item") for start in (16, 18, 20)]
    events += [gpu.host(18 * MS + (n + 1) * 10_000, 5_000, f"aten::{inner}") for n in range(count)]
    assert ("clock.jump" in found([*run(), *events, gpu.host(23 * MS, 5_000)])) == is_found


@pytest.mark.parametrize("start", [18 * MS, 20 * MS])
@pytest.mark.parametrize(
    ("end", "late", "amid", "is_found"),
    [
        (MS, 3 * MS, 5, True),
        (MS, 3 * MS, 4, False),
        (MS, 3 * MS + 300_000, 5, True),
        (MS, 3 * MS + 301_000, 5, False),
        (100_000, 3 * MS, 5, True),
        (4 * MS, 3 * MS, 5, True),
        (0, 3 * MS + 299_000, 5, False),
    ],
)
def test_a_clock_leapt_where_the_next_step_is_as_late_as_a_hole_in_this_one_lasts(
    end: int, late: int, amid: int, is_found: bool, start: int
) -> None:
    """And where five operators run between the two steps, after the hole.

    A hole of 3 ms; the step begins at `start` and ends `end` after the hole begins, the next one begins
    `late` after that end.
    """
    hole, resume = 20 * MS, 23 * MS
    following = hole + end + late
    first = max(resume, hole + end)
    within = [*range(resume, hole + end, 10_000)] if end > resume - hole else [resume]
    starts = [
        *range(hole - 100 * 50_000, hole + 1, 50_000),
        *within,
        *(first + 1_000 * (n + 1) for n in range(amid)),
        *range(following, following + 100 * 50_000, 50_000),
    ]
    steps = [
        gpu.step(1, start, hole + end - start),
        gpu.step(2, following, 8 * MS),
        gpu.step(3, following + 8 * MS, 8 * MS),
    ]
    operators_of_steps = [gpu.host(start, 500) for start in starts]
    assert ("clock.jump" in found([*run(10), *steps, *operators_of_steps])) == is_found


def crossing(names: int, count: int, apart: int = 100_000) -> Events:
    """Calls of one thread that each end after the one they begin in, of so many names; and a last one."""
    pairs = [
        event
        for n in range(count)
        for event in (
            gpu.host(5 * MS + n * apart, 50_000, "aten::outer"),
            gpu.host(5 * MS + n * apart + 30_000, 50_000, f"aten::in{n % names}"),
        )
    ]
    return [*pairs, gpu.host(23 * MS, 5_000)]


@pytest.mark.parametrize(
    ("names", "count", "apart", "is_found"),
    [
        (2, 6, 100_000, False),
        (3, 6, 100_000, True),
        (3, 5, 100_000, True),
        (3, 4, 100_000, False),
        (3, 5, 24_990, False),
        (3, 5, 3 * MS, False),
    ],
)
def test_five_calls_of_three_names_that_cross_at_one_time_show_a_leap_back(
    names: int, count: int, apart: int, is_found: bool
) -> None:
    assert ("clock.jump" in found([*run(), *crossing(names, count, apart)])) == is_found


@pytest.mark.parametrize(("beyond", "is_found"), [(0, False), (1, True)])
@pytest.mark.parametrize("is_device", [False, True])
def test_parts_more_than_a_year_apart_have_clocks_that_differ(
    is_device: bool, beyond: int, is_found: bool
) -> None:
    """One that was set, where tracks are in both; that of a device moves it whole, and its sums stand."""
    kernels = [gpu.kernel(n * MS + 20_000, 50_000, n) for n in range(1, 21)]
    launches = [gpu.launch(n * MS, 5_000, n) for n in range(1, 21)]
    first, later = (
        (launches, kernels) if is_device else (launches[:10] + kernels[:10], launches[10:] + kernels[10:])
    )
    last, begin = max(ns(event["ts"]) for event in first), min(ns(event["ts"]) for event in later)
    moved = [{**event, "ts": us(ns(event["ts"]) + last - begin + YEAR + beyond)} for event in later]
    health = analyse(trace_of([*gpu.gpu(), *first, *moved])).health
    findings = [finding for finding in health.findings if "days apart" in finding.sentence]
    assert [finding.id for finding in findings] == [
        "clock.host_device" if is_device else "clock.jump"
    ] * is_found
    if is_found:
        (finding,) = findings
        assert (finding.count, finding.figures["days"]) == (2, 366)
        assert health.trust["causes"] == "doubtful"
        assert health.trust["idle"] == ("good" if is_device else "doubtful")


def operators(count: int, start: int = MS // 2, pid: int = gpu.HOST) -> Events:
    """Operators of a process, one each 10 us."""
    return [{**gpu.host(start + n * 10_000, 5_000), "pid": pid, "tid": pid} for n in range(count)]


@pytest.mark.parametrize(("count", "severity"), [(2, "note"), (3, "doubtful")])
def test_three_calls_that_were_never_closed_put_lines_in_doubt(count: int, severity: str) -> None:
    callers = [gpu.host((2 * n + 1) * MS, MS, "aten::outer") for n in range(count)]
    begins = [(2 * n + 1) * MS + 100_000 for n in range(count)]
    ended = [gpu.host(begin, 31 * MS - begin, f"aten::in{begin}") for begin in begins]
    health = analyse(trace_of([*gpu.gpu(), *run(), *callers, *ended])).health
    assert [f.severity.label for f in health.findings if f.id == "host.unclosed"] == [severity]
    starts = [(20 + 2 * n) * MS + half for n in range(count) for half in (0, MS // 2)]
    crossing = [gpu.host(start, MS, f"aten::at{start}") for start in starts]
    assert "host.unclosed" not in found([*run(), *callers, *ended, *crossing]), "slices cross anyway"
    assert "host.unclosed" in found([*run(), *callers, *ended, *crossing[2:]]), "fewer than are unclosed"


@pytest.mark.parametrize(("times", "is_found"), [(5, False), (6, True)])
def test_a_call_that_ends_with_its_thread_is_unclosed_if_far_longer_than_its_like(
    times: int, is_found: bool
) -> None:
    names = ("aten::a", "aten::b", "aten::c")
    short = [gpu.host((n + 1) * MS, 100_000, name) for n, name in enumerate(names)]
    end = 30 * MS
    last = [gpu.host(end - times * 100_000 - n, times * 100_000 + n, name) for n, name in enumerate(names)]
    assert ("host.unclosed" in found([*run(), *short, *reversed(last)])) == is_found


@pytest.mark.parametrize(("dur", "is_found"), [(400_000, False), (800_000, True)])
def test_tracks_that_a_file_holds_in_two_passes_went_back_only_if_slices_cross(
    dur: int, is_found: bool
) -> None:
    """Operators and frames, every other one of them after all the others."""
    starts = [n * MS + half for half in (0, MS // 2) for n in range(1, 21)]
    tracks = [
        gpu.host(start, dur, "train.py(1): f", category) if category else gpu.host(start, dur)
        for category in ("", "python_function")
        for start in starts
    ]
    assert ("clock.jump" in found([*run(), *tracks])) == is_found


@pytest.mark.parametrize(("count", "is_found"), [(19, False), (20, True)])
def test_a_process_of_20_operators_is_one_that_was_recorded(count: int, is_found: bool) -> None:
    later = operators(count, 40 * MS, pid=900)
    metadata = [*gpu.gpu(), *process(900, "python", "CPU", 0)]
    health = analyse(trace_of([*metadata, *run(), *operators(20), *later])).health
    assert ("run.mixed" in {finding.id for finding in health.findings}) == is_found


def steps_of(pid: int, *starts: int) -> Events:
    return [
        {**gpu.step(number, start, 100_000), "pid": pid, "tid": pid} for number, start in enumerate(starts)
    ]


ONE_BY_ONE = "the file holds {} processes that were recorded one after the other"


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        ([], None),
        (operators(20, 2 * MS, 900), None),
        ([*operators(20, 2 * MS, 900), *steps_of(gpu.HOST, MS)], None),
        ([*operators(20, 2 * MS, 900), *steps_of(900, 2 * MS)], None),
        (
            [*operators(20, 2 * MS, 900), *steps_of(gpu.HOST, MS), *steps_of(900, 2 * MS)],
            "the file holds 2 processes with steps of their own",
        ),
        (
            [
                *operators(20, 2 * MS, 900),
                *operators(20, 2 * MS, 901),
                *steps_of(gpu.HOST, MS),
                *steps_of(900, 2 * MS),
            ],
            "the file holds 2 processes with steps of their own",  # the third has none
        ),
        (operators(20, 40 * MS, 900), ONE_BY_ONE.format(2)),
        (
            [*operators(20, 40 * MS, 900), *operators(20, 40 * MS + 50_000, 901)],
            "the file holds 3 processes in 2 parts that were recorded one after the other",
        ),
        ([*operators(20, 40 * MS, 900), *operators(20, 50 * MS, 901)], ONE_BY_ONE.format(3)),
        ([*operators(20, 5 * MS, 900), *operators(20, 10 * MS, 901)], None),
        (operators(20, 30 * MS, 900), None),
        (operators(20, 30 * MS + 1, 900), ONE_BY_ONE.format(2)),
    ],
)
def test_a_file_of_several_processes_is_mixed_if_both_train_or_one_is_later(
    others: Events, sentence: str | None
) -> None:
    metadata = [*gpu.gpu(), *process(900, "python", "CPU", 0), *process(901, "python", "CPU", 0)]
    long = {**gpu.host(MS, 29 * MS), "pid": gpu.HOST, "tid": gpu.HOST}
    events = [*metadata, *run(), *operators(20), long, *others]
    health = analyse(trace_of(events)).health
    assert [f.english for f in health.findings if f.id == "run.mixed"] == (
        [] if sentence is None else [sentence]
    )


@pytest.mark.parametrize(("share", "is_cut"), [(0.45, True), (0.55, False)])
def test_stacks_of_half_of_the_time_are_cut(share: float, is_cut: bool) -> None:
    worked = [gpu.host(n * MS + 200_000, 50_000) for n in range(1, 21)]
    frames = [
        gpu.host(n * MS + 190_000, 100_000, "train.py(1): f", "python_function", **{"Python id": n})
        for n in range(1, 21)
        if n - 1 <= share * 19.1
    ]
    assert ("stacks.cut" in found([*run(), *worked, *frames])) == is_cut


@pytest.mark.parametrize(("waited", "is_found"), [(9_900_000, False), (10_100_000, True)])
def test_a_task_that_keeps_a_waiting_host_waiting_for_10_ms_was_held_up(waited: int, is_found: bool) -> None:
    begin = 25 * MS
    launched = [gpu.launch(begin, 5_000, 500), gpu.kernel(begin + waited, 50_000, 500)]
    held = wait(begin + 6_000, begin + waited + 60_000, "cudaStreamSynchronize")
    assert ("device.unseen_work" in found([*run(), *operators(2), *launched, *held])) == is_found


@pytest.mark.parametrize(
    ("calls", "is_found"),
    [
        ([(24, "cudaLaunchHostFunc")], False),
        ([(24, "cudaStreamWaitValue32")], False),
        ([(24, "cudaStreamWaitEvent")], True),
        ([(19, "cudaLaunchHostFunc")], True),  # the task after it did not wait
        ([(26, "cudaLaunchHostFunc")], True),
        ([(19, "cudaLaunchHostFunc"), (24, "cudaLaunchHostFunc")], False),
    ],
)
def test_a_task_that_waits_for_the_host_on_its_stream_was_not_held_up(
    calls: list[tuple[int, str]], is_found: bool
) -> None:
    launched = [gpu.launch(25 * MS, 5_000, 500), gpu.kernel(40 * MS, 50_000, 500)]
    held = wait(25 * MS + 6_000, 40 * MS + 60_000, "cudaStreamSynchronize")
    holding = [call(start * MS + 500_000, 5_000, name) for start, name in calls]
    assert ("device.unseen_work" in found([*run(), *operators(2), *launched, *held, *holding])) == is_found
    if is_found:
        return
    elsewhere = [{**event, "tid": gpu.HOST + 1} for event in holding]
    assert "device.unseen_work" not in found([*run(), *operators(2), *launched, *held, *elsewhere])
    for stream, is_other in ((7, False), (9, True)):
        beside = [
            {**gpu.launch(23 * MS, 5_000, 900), "tid": gpu.HOST + 1},
            gpu.kernel(24 * MS, 9, 900, "k", stream),
        ]
        assert (
            "device.unseen_work" in found([*run(), *operators(2), *launched, *held, *elsewhere, *beside])
        ) == is_other


def test_a_late_beginning_that_waits_for_the_host_is_none() -> None:
    begun = [gpu.launch(2 * MS, 5_000, 500), gpu.kernel(30 * MS, 50_000, 500)]
    later = [{**e, "ts": us(ns(e["ts"]) + 40 * MS)} for e in run()]
    assert "device.unseen_work" in found([*begun, *later])
    assert "device.unseen_work" not in found([*begun, *later, call(MS, 5_000, "cudaLaunchHostFunc")])


@pytest.mark.parametrize(("off", "is_found"), [(90_000, True), (160_000, False)])
def test_the_wait_for_such_a_task_ends_with_it(off: int, is_found: bool) -> None:
    begin, task_end = 25 * MS, 25 * MS + 12 * MS + 50_000
    launched = [gpu.launch(begin, 5_000, 500), gpu.kernel(begin + 12 * MS, 50_000, 500)]
    held = wait(begin + 6_000, task_end + off, "cudaStreamSynchronize")
    assert ("device.unseen_work" in found([*run(), *operators(2), *launched, *held])) == is_found


def sentences(events: Events, *identities: str) -> list[str]:
    """What findings of some kinds say of a trace of GPUs."""
    health = analyse(trace_of([*gpu.gpu(), *process(1, "python", "GPU 1", 5_000_001), *events])).health
    return [finding.english for finding in health.findings if finding.id in identities]


@pytest.mark.parametrize(
    ("lost", "identity", "sentence"),
    [
        (
            range(1, 401),
            "device.head_lost",
            "the first 400 kernel launches have no task on the device, later ones do: "
            "its recording began late",
        ),
        (
            range(4, 401),
            "device.head_lost",
            "397 of the first 400 kernel launches have no task on the device, later ones do: "
            "its recording began late",
        ),
        (
            range(101, 501),
            "device.tail_lost",
            "the last 400 kernel launches have no task on the device: "
            "recording stopped before the device was done",
        ),
        (
            range(101, 498),
            "device.tail_lost",
            "397 of the last 400 kernel launches have no task on the device: "
            "recording stopped before the device was done",
        ),
        (
            {*range(1, 501)} - {*range(101, 109)},
            "device.dropped",
            "492 kernel launches here and there have no task on the device, those between them have",
        ),
        (
            range(2, 501),
            "device.tail_lost",
            "the last 499 kernel launches have no task on the device: "
            "recording stopped before the device was done",
        ),
        (
            range(101, 201),
            "device.dropped",
            "100 kernel launches in a row have no task on the device, those before and after have",
        ),
        (
            range(101, 201, 2),
            "device.dropped",
            "50 of 99 kernel launches in a row have no task on the device, those before and after have",
        ),
    ],
)
def test_launches_without_a_task_are_all_of_a_stretch_or_counted_of_it(
    lost: Collection[int], identity: str, sentence: str
) -> None:
    events = without_kernels(run(500, every=100_000), lost)
    assert sentences(events, "device.head_lost", "device.tail_lost", "device.dropped") == [sentence]


def test_launches_whose_tasks_have_the_id_of_another_are_no_accident() -> None:
    launched = [gpu.launch(n * MS, 5_000, n) for n in range(1, 21)]
    of_one = [gpu.kernel(n * MS + 20_000, 50_000, 1) for n in range(1, 21)]
    assert sentences([*launched, *of_one], "device.dropped", "flows.shared") == [
        "19 tasks share the id of a launch with others that it did not launch"
    ]


def test_launches_that_a_graph_keeps_have_lost_no_kernel() -> None:
    copy = gpu.kernel(30 * MS, 5_000, 500, "Memcpy HtoD", category="gpu_memcpy")
    launched = without_kernels(run(25), range(26))
    capture = [call(MS - 1_000, 500, "cudaStreamBeginCapture"), call(29 * MS, 500, "cudaStreamEndCapture")]
    assert sentences([*launched, copy], "device.dropped") == [
        "none of 25 kernel launches has a kernel on the device"
    ]
    assert sentences([*launched, copy, *capture], "device.dropped") == []


def test_a_late_beginning_of_a_device_and_a_long_wait_are_two_findings() -> None:
    """Of several devices the latest is told; what the host did not wait for is not called waited for."""
    late = run(lag=30 * MS)
    other = [
        event
        for n in range(1, 21)
        for event in (
            gpu.launch(n * MS + 10_000, 5_000, 600 + n),
            on_gpu_1(gpu.kernel(n * MS + 25 * MS, 50_000, n), 600 + n),
        )
    ]
    begin = 60 * MS
    launched = [gpu.launch(begin, 5_000, 500), gpu.kernel(begin + 12 * MS, 50_000, 500)]
    waited = wait(begin + 6_000, begin + 12 * MS + 60_000, "cudaStreamSynchronize")
    soon = [gpu.launch(90 * MS, 5_000, 900), gpu.kernel(90 * MS + 20_000, 50_000, 900)]  # the clock is right
    first = "after its first task was launched: it was busy with work from before the recording"
    long = (
        "for 12.0 ms launched tasks did not start on an idle device while the host waited for them: "
        "it was busy with work that is not recorded"
    )
    assert sentences([*late, *operators(2), *launched, *waited, *soon], "device.unseen_work") == [
        long,
        f"the main stream of the device begins 30.0 ms {first}",
    ]
    assert sentences([*late, *other, *soon], "device.unseen_work") == [
        "the main streams of 2 devices begin up to 30.0 ms after their first task was launched: "
        "they were busy with work from before the recording"
    ]


@pytest.mark.parametrize(("lag", "is_told"), [(10 * MS, True), (10 * MS - 1, False)])
def test_a_device_that_is_always_late_may_have_a_late_clock(lag: int, is_told: bool) -> None:
    least = [gpu.launch(90 * MS, 5_000, 900), gpu.kernel(90 * MS + lag, 50_000, 900)]
    (sentence,) = sentences([*run(lag=30 * MS), *least], "device.unseen_work")
    assert sentence.endswith("or its clock is late") == is_told
    assert sentence.startswith("all tasks begin 10.0 ms or more after their launch") == is_told


def test_time_in_which_tasks_overlap_counts_once() -> None:
    """Five tasks of 500 us that begin 10 us after each other: two or more run for 520 of 540 us."""
    events = [
        event
        for n in range(1, 21)
        for j in range(5)
        for event in (
            gpu.launch(n * MS + j * 6_000, 5_000, 10 * n + j),
            gpu.kernel(n * MS + 50_000 + 10_000 * j, 500_000, 10 * n + j),
        )
    ]
    assert sentences(events, "tasks.overlap") == [
        "tasks of one stream overlap for 10.4 ms, 96.3 % of its time, which a stream cannot"
    ]


def test_what_most_early_tasks_show_tells_how_far_clocks_are_apart() -> None:
    """Three are early by 250 us; one has the id of a launch 96 ms later."""
    early = {5: 5, 6: 6, 99: 99, 100: 4}
    kept = [e for e in run(100) if e.get("cat") != "kernel" or e["args"]["correlation"] not in (*early, 4)]
    moved = [gpu.kernel(at * MS - 250_000, 50_000, number) for number, at in early.items()]
    assert sentences([*kept, *moved], "clock.host_device") == [
        "4 of 99 tasks begin more than 200 µs before their launch, most of them by 250 µs or more: "
        "the clocks of host and device are apart by that or more"
    ]


def test_what_was_recorded_while_two_devices_waited_is_told_once() -> None:
    frames = [
        gpu.host(MS + 80_000 + n * 1_800, 900, "a.py(1): f", "python_function", **{"Python id": n})
        for n in range(500)
    ]
    work = [gpu.host(n * MS + more, 10_000) for n in (1, 2) for more in (-1_000, 11_000)]
    second = [
        event
        for n in (1, 2)
        for event in (
            gpu.launch(n * MS + 12_000, 5_000, n + 500),
            on_gpu_1(gpu.kernel(n * MS + 32_000, 50_000, n), n + 500),
        )
    ]
    (sentence,) = sentences([*run(2), *work, *second, *frames], "host.overhead")
    assert sentence.startswith("while devices waited for the host 500 calls of Python and ")


@pytest.mark.parametrize(
    ("kernels", "sentence"),
    [
        (0, "1 of 6 graph launches has no kernels on the device"),
        (2, "1 of 6 graph launches has fewer kernels than others of the same graph"),
    ],
)
def test_one_graph_launch_has_none_or_fewer(kernels: int, sentence: str) -> None:
    launched = [gpu.launch((30 + n) * MS, 5_000, 800 + n, "cudaGraphLaunch") for n in range(6)]
    replayed = [
        gpu.kernel((30 + n) * MS + 20_000 + 10_000 * k, 8_000, 800 + n, f"k{k}")
        for n in range(6)
        for k in range(kernels if n == 3 else 5)
    ]
    assert sentences([*run(10), *launched, *replayed], "graph.incomplete") == [sentence]


@pytest.mark.parametrize(
    ("hole", "second", "is_found"),
    [(MS, 500, True), (MS - 1, 500, False), (MS, 501, False)],
)
def test_a_graph_does_not_pause_for_1_ms(hole: int, second: int, is_found: bool) -> None:
    """Between two tasks of one launch; before the first the device may be idle."""
    kernels = [gpu.kernel(31 * MS, 5_000, 500), gpu.kernel(31 * MS + 5_000 + hole, 5_000, second)]
    launched = [gpu.launch((29 + n) * MS, 5_000, 500 + n, "cudaGraphLaunch") for n in (0, 1)]
    analysis = analyse(trace_of([*gpu.gpu(), *run(), *launched, *kernels, gpu.kernel(33 * MS, 5_000, 501)]))
    notes = [f.windows for f in analysis.health.findings if "may be missing" in f.sentence]
    assert notes == ([((31 * MS + 5_000, 31 * MS + 5_000 + hole),)] if is_found else [])


@pytest.mark.parametrize(("launched", "counts"), [(33 * MS, True), (33 * MS + 1, False)])
def test_of_graphs_that_lack_kernels_the_first_may_be_missing(launched: int, counts: bool) -> None:
    """Where the device was idle for 1 ms although it had been given the graph."""
    first = [gpu.kernel(31 * MS, 5_000, 500), gpu.kernel(33 * MS, 5_000, 500)]
    calls = [
        gpu.launch(29 * MS, 5_000, 500, "cudaGraphLaunch"),
        gpu.launch(launched, 5_000, 501, "cudaGraphLaunch"),
    ]
    events = [*gpu.gpu(), *run(), *first, *calls, gpu.kernel(35 * MS, 5_000, 501)]
    (note,) = (f for f in analyse(trace_of(events)).health.findings if "may be missing" in f.sentence)
    before = [(33 * MS + 5_000, 35 * MS)] if counts else []
    assert [*note.windows] == [(31 * MS + 5_000, 33 * MS), *before]
    where = "2 of 2 graph launches" if counts else "1 of 2 graph launches"
    assert f"in or right before {where}" in note.english


@pytest.mark.parametrize(
    ("kept", "waited", "is_found"),
    [
        ((0, 1, 2), None, True),
        ((0, 1, 2), (12, 44), False),  # in which the graph is done, and what follows is the host's
        ((0, 1, 2), (12, 60), True),
        ((0, 1, 2), (-4, 44), True),  # for what was launched before
        ((0, 1, 2), (46, 48), True),
        ((2, 3, 4), (12, 44), True),  # the first two may have run before these
        ((2, 3, 4), (12, 60), True),
    ],
)
def test_a_graph_that_is_a_part_of_another_lacks_none_where_a_wait_for_it_returned(
    kept: tuple[int, ...], waited: tuple[int, int] | None, is_found: bool
) -> None:
    """Kernels begin 20 us after the launch; of the 16 us of two that are missing 8 are a hole."""
    launched = [gpu.launch((30 + n) * MS, 5_000, 800 + n, "cudaGraphLaunch") for n in range(6)]
    replayed = [
        gpu.kernel((30 + n) * MS + 20_000 + 8_000 * k, 8_000, 800 + n, f"k{k}")
        for n in range(6)
        for k in (range(5) if n != 3 else kept)
    ]
    begin, end = ((33 * MS + us * 1_000) for us in waited or (0, 0))
    waits = wait(begin, end, "cudaStreamSynchronize") if waited else []
    events = [*run(10), *launched, *replayed, *waits, gpu.host(30 * MS - 9_000, 2_000)]
    assert ("graph.incomplete" in found(events)) == is_found
