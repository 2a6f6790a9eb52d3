"""Advice is given where its condition holds and nowhere else, and its numbers are those of the trace."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import tracetui
from simulator.scenarios import SCENARIOS, simulate
from simulator.truth import Truth
from simulator.writer import TraceWriter
from tests.analysis import gpu, real
from tests.analysis.communication import hccl
from tests.analysis.idle.test_explain import COLLECTOR, any_machine, launched, stack
from tests.analysis.machine import (
    HARDWARE,
    MAIN,
    PYTHON,
    Events,
    arrow,
    call,
    collective,
    npu,
    operator,
    step,
    task,
    us,
)
from tests.simulator import traces
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.advice import Advice, find_advice, transfers
from tracetui.analysis.advice.device import conversions
from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import Figures, Threshold
from tracetui.analysis.advice.rules import RULES
from tracetui.analysis.advice.transfers import _phases
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import Intervals, union
from tracetui.export.sentences.advice import advice_answer
from tracetui.export.sentences.advice_english import ascii_duration, english_words
from tracetui.export.trace.advice_text import advice_text, first_advice
from tracetui.export.trace.frames import advice_frame
from tracetui.export.trace.markdown import advice_markdown
from tracetui.trace.model import Activity
from tracetui.trace.stack import Frame

MS = 1_000_000


def advice_of(events: Events, rule: str) -> list[Advice]:
    return [advice for advice in find_advice(analyse(trace_of(events))) if advice.id == rule]


def of_sample(name: str, rule: str, level: int = 2) -> tuple[dict[str, Any], Analysis, list[Advice]]:
    analysis = traces.analysed(name, level)
    return (
        traces.truth(name, level),
        analysis,
        [advice for advice in find_advice(analysis) if advice.id == rule],
    )


def line_of(name: str, code: str) -> int:
    """The number of the line of a sample's script that holds the code."""
    lines = SCENARIOS[name].script.read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, text in enumerate(lines, 1) if code in text]
    return number


def planted(truth: dict[str, Any], *causes: str, line: int | None = None) -> int:
    """ns of the planted pieces of some causes, of one line."""
    return sum(
        part["dur_ns"]
        for interval in truth["idle"]
        for part in interval["pieces"]
        if part["cause"] in causes and line in (None, part["line"])
    )


# -- the samples ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_queue", [True, False])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_busy_device_needs_no_advice(level: int, task_queue: bool) -> None:
    assert find_advice(traces.analysed("balanced", level, task_queue)) == ()


def test_what_is_planted_in_the_samples_is_found() -> None:
    assert [advice.id for advice in find_advice(traces.analysed("mixed"))] == [
        "free_time",
        "iteration_gap",
        "data_loader_slow",
        "exposed_copies",
        "late_ranks",
        "garbage_collection",
        "operators_compiled_at_run_time",
        "sync_in_loop",
        "small_operators_in_loop",
        "ai_cpu_operator",
    ]
    assert {advice.id for advice in find_advice(traces.analysed("moba"))} == {
        "free_time",
        "small_operators_in_loop",
        "exposed_communication",
        "dispatch_queue_late",
    }


@pytest.mark.parametrize("name", ["mixed", "stalls", "moba"])
def test_the_line_that_is_numbered_first_is_one_like_any_other(name: str) -> None:
    """Rules tell lines by numbers: nothing follows from which of them is 0."""
    analysis = traces.analysed(name)
    for rule in RULES:
        expected = numbered_first(analysis, rule, Frame("none.py", 1, "none"))
        for finding in expected:
            if finding["file"]:
                line = Frame(finding["file"], finding["line"], finding["function"])
                assert numbered_first(analysis, rule, line) == expected


def numbered_first(
    analysis: Analysis, rule: Callable[[Evidence], Iterator[Advice]], line: Frame
) -> list[dict[str, Any]]:
    """What a rule advises, by line, where a line has the number 0."""
    evidence = Evidence(analysis)
    evidence._line_places[line] = 0
    found = [vars(advice) for advice in rule(evidence)]
    found.sort(key=lambda advice: (advice["file"] or "", advice["line"]))
    return [
        {**finding, "gaps": finding["gaps"].tolist(), "rows": finding["rows"].tolist()} for finding in found
    ]


def test_stalls_are_found_with_their_lines() -> None:
    truth, analysis = traces.truth("stalls"), traces.analysed("stalls")
    found = {advice.id: advice for advice in find_advice(analysis)}
    memory, queue = found["memory_allocation_stalls"], found["dispatch_queue_late"]
    assert memory.evidence["calls_per_step"] == 4
    assert memory.line == line_of("stalls", "done.record()")  # the next that is called after them
    assert memory.cost_ns is not None and 10 * MS < memory.cost_ns <= planted(truth, "host.python")
    assert queue.evidence["busy_ns"] == planted(truth, "queue.busy")
    assert "TASK_QUEUE_ENABLE=2 takes" in english_words(queue).text


@pytest.mark.parametrize(
    ("code", "launches"),
    [
        ('gate[:, :begin, block] = float("-inf")', 10),
        ('gate[:, begin:end, block] = float("inf")', 12),
        ("means.append(key[:, begin:end].mean(dim=1))", 12),
    ],
)
def test_each_line_of_a_loop_counts_its_launches(code: str, launches: int) -> None:
    truth, _, found = of_sample("moba", "small_operators_in_loop")
    line = line_of("moba", code)
    (advice,) = [advice for advice in found if advice.line == line]
    assert advice.evidence["launches"] == advice.evidence["launches_per_step"] == launches
    assert advice.evidence["launches_saved_per_step"] == launches - 1
    causes = (
        "host.operator",
        "host.python",
        "queue.wakeup",
        "queue.busy",
        "launch.dispatch",
        "device.latency",
    )
    assert advice.cost_ns == pytest.approx(planted(truth, *causes, line=line), rel=0.03)
    assert len(advice.rows) == launches


def test_a_loop_of_two_operators_is_one_advice() -> None:
    _, _, (advice,) = of_sample("mixed", "small_operators_in_loop")
    assert advice.line == line_of("mixed", "hits += guessed.eq(wanted).sum().item()")
    assert advice.subjects == ("aclnnEqTensor", "aclnnReduceSum")
    assert (advice.evidence["launches_per_step"], advice.evidence["repeats_per_step"]) == (16, 8)
    text = english_words(advice).text
    assert "16 launches a step" in text and "up to 14 launches" in text


def test_of_frames_it_is_the_function_that_launches_small_operators() -> None:
    """A frame tells the line that defines its function: those of straight code are none of a loop."""
    events = [gpu.host(0, MS, "model.py(10): forward", "python_function", **{"Python id": 1})]
    for number in range(1, 9):
        begin = number * 100_000
        events += [gpu.host(begin, 20_000), gpu.launch(begin + 10_000, 5_000, number)]
        events.append(gpu.kernel(begin + 20_000, 5_000, number))
    (advice,) = advice_of([*gpu.gpu(), *events], "small_operators_in_loop")
    text = english_words(advice).text
    assert text.startswith("One function enqueues 1 operator over and over: 8 launches")
    assert "One fused or batched form of them saves" in text


def test_a_synchronisation_in_a_loop() -> None:
    truth, analysis, (advice,) = of_sample("mixed", "sync_in_loop")
    line = line_of("mixed", "hits += guessed.eq(wanted).sum().item()")
    assert (advice.subjects, advice.line, advice.evidence["count_per_step"]) == (("aten::item",), line, 8)
    exposed = f"/workspace/mixed/train_mixed.py({line})"
    own_reasons = {cause.label for cause in Cause if cause.facts.reason_of_its_own}
    pieces = [piece for i in truth["idle"] if i["exposed_by"] == exposed for piece in i["pieces"]]
    assert own_reasons & {piece["cause"] for piece in pieces}
    whole = sum(piece["dur_ns"] for piece in pieces if piece["cause"] not in own_reasons)
    assert whole <= advice.cost_ns <= whole + planted(truth, "host.sync", line=line)
    assert {analysis.trace.name(int(row)) for row in advice.rows} == {"aten::item"}


def test_a_synchronisation_says_how_often_the_device_runs_dry() -> None:
    """The device has work for 0.2 ms longer than the last of three synchronisations takes."""
    events = synchronised(3)
    assert "Each time the device runs dry" in english_words(advice_of(events, "sync_in_loop")[0]).text
    (advice,) = advice_of([*events, task(401_120, 210_000, stream=2)], "sync_in_loop")
    assert (advice.evidence["count"], advice.evidence["dry_count"]) == (3, 2)
    assert "2 of 3 times the device runs dry" in english_words(advice).text


@pytest.mark.parametrize(
    ("rule", "causes"),
    [
        ("data_loader_slow", ["host.dataloader"]),
        ("garbage_collection", ["host.gc"]),
        ("operators_compiled_at_run_time", ["launch.compile", "host.compile"]),
    ],
)
def test_a_cost_is_the_idle_time_planted(rule: str, causes: list[str]) -> None:
    truth, analysis, (advice,) = of_sample("mixed", rule)
    assert advice.cost_ns == planted(truth, *causes) == advice.evidence["idle_ns"]
    assert advice.per_step_ns == advice.cost_ns // 3
    assert len(advice.gaps)
    assert len(advice.rows)
    lengths = analysis.trace.slices.dur[advice.rows]
    assert (lengths[:-1] >= lengths[1:]).all()


def test_the_queue_and_its_share() -> None:
    truth, _, (advice,) = of_sample("moba", "dispatch_queue_late")
    assert advice.evidence["wakeup_ns"] == planted(truth, "queue.wakeup")
    assert advice.evidence["busy_ns"] == planted(truth, "queue.busy")
    assert advice.evidence["share_of_window"] == advice.cost_ns / (truth["end_ns"] - truth["start_ns"])


def test_communication_that_waits_for_a_late_rank() -> None:
    truth, analysis, (advice,) = of_sample("mixed", "late_ranks")
    (split,) = analysis.communication.splits
    assert advice.cost_ns == split.wait_ns == advice.evidence["waiting_for_ranks_ns"]
    assert advice.evidence["exposed_ns"] == truth["communication_not_overlapped_ns"]
    assert advice.evidence["communication_ns"] == truth["communication_ns"]
    assert advice.evidence["computing_alone_ns"] == truth["computing_ns"] - (
        truth["communication_ns"] - truth["communication_not_overlapped_ns"]
    )
    assert 4 * MS < int(advice.evidence["waiting_for_ranks_ns"]) < int(advice.evidence["exposed_ns"])
    assert "ranks that come late" in english_words(advice).title


def test_communication_after_the_backward_pass() -> None:
    _, _, (advice,) = of_sample("moba", "exposed_communication")
    parts = ("exposed_in_tail_ns", "forward_backward_computing_alone_ns")
    least = min(int(advice.evidence[key]) for key in parts)
    assert advice.evidence["hidden_at_most_ns"] == least
    hidden = f"start it earlier and hide at most {ascii_duration(least)}."
    assert f"smaller buckets (bucket_cap_mb) {hidden}" in english_words(advice).text


@pytest.mark.parametrize(
    "names, gradients",
    [
        (["hcom_allReduce__868_0_1", "hcom_alltoallv__868_0_1"], True),  # each half of the time
        (["hcom_allReduce__868_0_1", "hcom_allGather__868_0_1", "hcom_broadcast__868_1_1"], False),
        (["ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)"], False),
        (["ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"], True),  # of which nothing is told
        (["allgather"], False),
    ],
)
def test_buckets_are_of_gradients(names: list[str], gradients: bool) -> None:
    """By hand: each collective has 5 ns that nothing hides."""
    assert transfers._of_gradients(names, np.full(len(names), 5)) == gradients
    phases: Figures = {
        "exposed_in_tail_ns": 90,
        "forward_backward_computing_alone_ns": 20,
        "computing_alone_ns": 70,
    }
    assert transfers._overlap(100, phases, gradients, True) == (
        ("bucket_cap_mb", 20) if gradients else ("asynchronous", 70)
    )


def test_communication_is_hidden_by_no_more_than_runs_alone() -> None:
    (advice,) = advice_of(
        stepped(collective(2_000, 10 * MS), task(2_000 + 11 * MS, 4 * MS, stream=2)), "exposed_communication"
    )
    text = english_words(advice).text
    assert "and can hide at most 4.00 ms of it" in text
    assert "How much of it is waiting for late ranks, this trace does not tell" in text
    assert transfers._overlap(10 * MS, {}, True, True) == ("less", 0)


def test_an_option_of_pytorch_is_advised_where_pytorch_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "of_pytorch", lambda trace: False)
    analysis = traces.analysed("moba")  # shared: its own advice is not to be found meanwhile
    (advice,) = transfers.communication(Evidence(analysis))
    text = english_words(advice).text
    assert "smaller buckets start" in text and "bucket_cap_mb" not in text


@pytest.mark.parametrize("name, pytorch", [("aten::mm", True), ("MatMul-op1", False)])
def test_pytorch_is_told_by_its_operators(name: str, pytorch: bool) -> None:
    trace = trace_of([{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 2}])
    assert transfers.of_pytorch(trace) == pytorch


def test_communication_and_computing_of_the_phases_of_two_devices_are_added() -> None:
    """By hand: communication is alone in [60, 70) and [120, 130), computing in 45 before 100 and 10 after."""
    computing, moving = _time((10, 60), (70, 80), (100, 120)), _time((50, 75), (110, 130))
    devices = [SimpleNamespace(device=name, compute=computing, communication=moving) for name in "abc"]
    steps = [SimpleNamespace(device=name, forward_backward=(0, 100), tail=(100, 150)) for name in "ab"]
    steps.append(SimpleNamespace(device="c", forward_backward=None, tail=None))
    evidence: Any = SimpleNamespace(analysis=SimpleNamespace(steps=steps, devices=devices))
    assert _phases(evidence, [moving - computing] * 3) == {
        "exposed_in_forward_backward_ns": 2 * 10,
        "exposed_in_tail_ns": 2 * 10,
        "forward_backward_computing_alone_ns": 2 * 45,
        "tail_computing_alone_ns": 2 * 10,
    }


def test_phases_of_steps_that_overlap_count_no_time_twice() -> None:
    """As where a device lags: a step's first task is launched before the one before has ended."""
    computing, moving = _time((0, 100)), _time((100, 120))
    device = SimpleNamespace(device="a", compute=computing, communication=moving)
    steps = [
        SimpleNamespace(device="a", forward_backward=(start, 100), tail=(100, 120)) for start in (0, 20, 40)
    ]
    evidence: Any = SimpleNamespace(analysis=SimpleNamespace(steps=steps, devices=[device]))
    figures = _phases(evidence, [moving])
    assert (figures["forward_backward_computing_alone_ns"], figures["exposed_in_tail_ns"]) == (100, 20)


def _time(*spans: tuple[int, int]) -> Intervals:
    return union(*np.array(spans, np.int64).T)


def test_ai_cpu_time_is_that_of_its_gaps() -> None:
    truth, _, (advice,) = of_sample("mixed", "ai_cpu_operator")
    assert advice.cost_ns == sum(gap["aicpu_ns"] for gap in truth["gaps"])
    assert advice.line == line_of("mixed", "weight = labels.bincount(")
    assert advice.subjects[1] == "aclnnBincount"


def test_free_time_tells_its_causes() -> None:
    truth, analysis, (advice,) = of_sample("mixed", "free_time")
    assert (advice.cost_ns, advice.evidence["free_ns"]) == (truth["idle_ns"], truth["free_ns"])
    assert advice.evidence["host_dataloader_ns"] == planted(truth, "host.dataloader")
    assert sorted(advice.gaps.tolist()) == np.flatnonzero(analysis.gaps.idle).tolist()


def test_level_0_is_told_what_it_lacks() -> None:
    truth, _, (advice,) = of_sample("moba", "collect_level_1", level=0)
    assert advice.evidence["launch_idle_ns"] == planted(truth, "launch.dispatch")
    assert advice.cost_ns is advice.per_step_ns is None, "it costs nothing: a note"


# -- single rules -----------------------------------------------------------------------------------------


def stepped(*events: dict[str, Any]) -> Events:
    """Two kernels, the second 40 ms after the first, in one step, with more around."""
    return [
        *npu(),
        step(7, 100, 50 * MS),
        *launched(1_000, 1_100),
        *launched(40 * MS, 40 * MS + 40, 7),
        *events,
    ]


def loading(start: int, dur: int) -> dict[str, Any]:
    return operator(start, dur, "enumerate(DataLoader)#X.__next__", stack=stack(4))


@pytest.mark.parametrize(("dur", "count"), [(10 * MS, 1), (10 * MS - 1, 0)])
def test_a_slow_batch_takes_10_ms(dur: int, count: int) -> None:
    found = advice_of(stepped(loading(2_000, dur)), "data_loader_slow")
    assert [(advice.cost_ns, advice.line) for advice in found] == [(dur, 4)] * count


def test_a_slow_batch_beside_a_busy_device_costs_nothing() -> None:
    busy = task(1_150, 40 * MS - 1_150)
    assert advice_of(stepped(loading(2_000, 12 * MS), busy), "data_loader_slow") == []


def test_threads_that_only_prefetch_are_not_waited_for() -> None:
    ahead = [{**loading(2_000 + tid, 30 * MS), "tid": tid} for tid in (900, 901)]
    assert advice_of(stepped(loading(2_000, 5 * MS), *ahead), "data_loader_slow") == []
    (advice,) = advice_of(stepped(loading(2_000, 10 * MS), *ahead), "data_loader_slow")
    assert (advice.evidence["batches"], advice.evidence["total_ns"]) == (1, 10 * MS)


def test_batches_of_one_step_are_added() -> None:
    found = advice_of(stepped(loading(2_000, 6 * MS), loading(7 * MS, 6 * MS)), "data_loader_slow")
    assert [advice.evidence["slowest_ns"] for advice in found] == [12 * MS]


@pytest.mark.parametrize(("dur", "count"), [(MS, 1), (MS - 1, 0)])
def test_a_collection_takes_1_ms(dur: int, count: int) -> None:
    events = stepped(
        *process(COLLECTOR, "Python GC", "CPU", 1), piece(COLLECTOR, MAIN, "GC", us(2_000), us(dur), "GC")
    )
    assert [advice.cost_ns for advice in advice_of(events, "garbage_collection")] == [dur] * count


def test_collections_of_processes_that_launch_nothing_stop_no_launch() -> None:
    other = PYTHON + 1
    collectors = [(pid << 10) + 1 for pid in (PYTHON, other)]
    events = stepped(
        *process(other, "Python", "CPU", 1),
        operator(1_000, 5_000, pid=other),
        *(event for pid in collectors for event in process(pid, "Python GC", "CPU", 1)),
        piece(collectors[0], MAIN, "GC", us(2_000), us(2 * MS), "GC"),
        *(piece(collectors[1], MAIN, "GC", us(n * 9 * MS), us(8 * MS), "GC") for n in (1, 2)),
    )
    (advice,) = advice_of(events, "garbage_collection")
    assert (advice.cost_ns, advice.evidence["count"], advice.evidence["total_ns"]) == (2 * MS, 1, 2 * MS)


def test_a_collection_stops_also_a_thread_that_launches_between_its_operators() -> None:
    """As compiled graphs launch."""
    events = [
        *gpu.gpu(),
        *process(COLLECTOR, "Python GC", "CPU", 1),
        *(gpu.host(start, 50, "aten::mul") for start in (0, 6 * MS)),
        *(gpu.launch(start, 50, number) for number, start in enumerate((100, 5 * MS))),
        *(gpu.kernel(start, 50, number) for number, start in enumerate((200, 5 * MS + 100))),
        piece(COLLECTOR, MAIN, "GC", us(1_000), us(4 * MS), "GC"),
    ]
    assert [advice.cost_ns for advice in advice_of(events, "garbage_collection")] == [4 * MS]


@pytest.mark.parametrize(("dur", "count"), [(10 * MS, 1), (10 * MS - 1, 0)])
@pytest.mark.parametrize("name", ["AscendCL@aclrtMalloc", "AscendCL@aclrtFree", "AscendCL@aclMallocMemInner"])
def test_memory_stalls_of_10_ms(name: str, dur: int, count: int) -> None:
    inner = call(3_000, 500, 79, "Runtime@DevMalloc", MAIN)
    events = stepped(call(2_000, dur, 78, name, MAIN), inner)
    found = advice_of(events, "memory_allocation_stalls")
    assert [(advice.cost_ns, advice.evidence["calls"]) for advice in found] == [(dur, 1)] * count


@pytest.mark.parametrize(
    ("lengths", "remedy"),
    [
        ([100, 99], "Record steps after the first ones."),
        ([100, 60, 60], "Set PYTORCH_NPU_ALLOC_CONF"),  # not most of the time
        ([99, 2], "Set PYTORCH_NPU_ALLOC_CONF"),
    ],
)
def test_a_call_longer_than_allocating_takes_is_start_up(lengths: list[int], remedy: str) -> None:
    calls, at = [], 2_000
    for number, ms in enumerate(lengths):
        calls.append(call(at, ms * MS, 78 + number, "AscendCL@aclrtMalloc", MAIN))
        at += ms * MS + 1_000
    events = [*npu(), *launched(500, 600), *calls, *launched(at, at + 40, 3)]
    (advice,) = advice_of(events, "memory_allocation_stalls")
    assert remedy in english_words(advice).text


@pytest.mark.parametrize(("end", "remedy"), [(101, "start_up"), (100, "settings")])
def test_a_call_after_the_first_step_is_no_start_up(end: int, remedy: str) -> None:
    events = [step(1, 50, end - 50), step(2, 300 * MS, MS), operator(60, 5), *launched(70, 80)]
    events += [
        call(100, 200 * MS, 78, "AscendCL@aclrtMalloc", MAIN),
        *launched(200 * MS + 200, 200 * MS + 300),
    ]
    (advice,) = advice_of([*npu(), *events], "memory_allocation_stalls")
    assert advice.remedy == remedy


def test_memory_of_another_process_keeps_only_that_process_from_launching() -> None:
    """Two processes with threads of equal number: one allocates while the device of the other is idle."""
    events = [*gpu.gpu(), *process(1, "python", "GPU 1", 5_000_001), *process(9, "python", "CPU", 1)]
    for device, dur in ((0, MS), (1, 40 * MS)):
        for number, start in enumerate((0, 40 * MS)):
            correlation = 10 * device + number
            task = gpu.kernel(start + 10_000, dur, correlation)
            task.update(pid=device, args={**task["args"], "device": device})
            chain = [gpu.host(start, 9_000), gpu.launch(start + 5_000, 1_000, correlation)]
            if device:
                chain.append(gpu.launch(start + 10_000, 30 * MS, 100 + number, "cudaMalloc"))
            events += [task, *({**event, "pid": 9 if device else gpu.HOST} for event in chain)]
    (idle,) = advice_of(events, "free_time")
    assert english_words(idle).text.startswith("On 1 of 2 devices, the device neither")
    assert int(idle.evidence["idle_ns"]) >= 39 * MS
    assert advice_of(events, "memory_allocation_stalls") == []


def test_pinned_memory_of_the_host_is_no_memory_of_the_device() -> None:
    events = stepped(call(2_000, 20 * MS, 78, "AscendCL@aclrtMallocHost", MAIN))
    assert advice_of(events, "memory_allocation_stalls") == []


@pytest.mark.parametrize(
    ("dur", "kind", "count"), [(20_000, "AI_CPU", 1), (19_999, "AI_CPU", 0), (90_000, "DSA_SQE", 0)]
)
def test_ai_cpu_operators_of_20_us(dur: int, kind: str, count: int) -> None:
    events = stepped(*launched(3_000, 3_100, 5, dur=dur, kind=kind, name="Unique"))
    found = advice_of(events, "ai_cpu_operator")
    assert [(advice.cost_ns, advice.line, advice.subjects) for advice in found] == [
        (dur, 5, ("Unique", "aten::mm"))
    ] * count


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("trans_TransData_12", "format_conversions"),
        ("Default/network-WithLossCell/TransData-op363", "format_conversions"),
        ("TransData12", "format_conversions"),
        ("void cudnn::ops::nchwToNhwcKernel<float, float>(cudnn::ops::params_t)", "format_conversions"),
        ("Default/network-WithLossCell/Cast-op259", "casts"),
        ("aclnnCast_CastAiCore_Cast", "casts"),
        ("aclnnCast_Cast", "casts"),
    ],
)
def test_conversions_are_a_share_of_computing(name: str, rule: str) -> None:
    converting = launched(3_000, 3_100, 5, dur=1_000, name=name)
    (advice,) = advice_of(stepped(*converting), rule)
    assert (advice.cost_ns, advice.line, advice.evidence["share_of_computing"]) == (1_000, 5, 1_000 / 1_100)
    assert advice_of(stepped(*converting, task(10 * MS, 19_000 + 900)), rule) == []
    found = numbered_first(
        analyse(trace_of(stepped(*converting))), conversions, Frame("train.py", 5, "train")
    )
    assert [finding["line"] for finding in found if finding["id"] == rule] == [5]


@pytest.mark.parametrize(
    "name", ["Broadcast", "BroadcastTo_BroadcastTo", "Forecast_Op", "TransDataless", "Default/Cast/Mul-op2"]
)
def test_other_names_are_no_conversions(name: str) -> None:
    events = stepped(*launched(3_000, 3_100, 5, dur=1_000, name=name))
    assert not advice_of(events, "casts")
    assert not advice_of(events, "format_conversions")


def test_exposed_copies_tell_line_and_direction() -> None:
    args: dict[str, Any] = {
        "Task Type": "PCIE_DMA_SQE",
        "connection_id": 55,
        "memcpy direction": "host to device",
    }
    events = stepped(
        operator(3_000, 100, "aten::copy_", stack=stack(9)),
        call(3_010, 20, 55, "AscendCL@aclrtMemcpyAsync", MAIN),
        piece(HARDWARE, 1, "MEMCPY_ASYNC", us(5_000), us(10 * MS), **args),
        task(9_000, MS, stream=2),
    )
    (advice,) = advice_of(events, "exposed_copies")
    assert (advice.cost_ns, advice.line) == (9 * MS, 9)
    assert advice.subjects == ("MEMCPY_ASYNC", "host to device")
    assert len(advice.gaps) == 2


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("Memcpy HtoD (Pinned -> Device)", "pin_memory"),
        ("Memcpy DtoH (Device -> Pageable)", "read them a step later"),
        ("Memcpy DtoD (Device -> Device)", "is on a device already"),
        ("Memset (Device)", "fills memory and copies nothing"),
    ],
)
def test_what_helps_against_copies_depends_on_where_they_go(name: str, remedy: str) -> None:
    copies = [
        gpu.kernel(0, MS, 0),
        gpu.kernel(MS, 4 * MS, 1, name, category="gpu_memcpy"),
        gpu.kernel(5 * MS, 10 * MS, 2),
    ]
    (advice,) = advice_of([*gpu.gpu(), gpu.launch(0, 5_000, 1), *copies], "exposed_copies")
    assert remedy in english_words(advice).text


def test_copies_of_one_direction_are_one_piece_of_advice() -> None:
    names = ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pageable -> Device)", "Memcpy DtoD (Device)")
    copies = [
        gpu.kernel((1 + 5 * at) * MS, 4 * MS, at, name, category="gpu_memcpy")
        for at, name in enumerate(names)
    ]
    computing = [gpu.kernel(0, MS, 8), gpu.kernel(20 * MS, 10 * MS, 9)]
    found = advice_of([*gpu.gpu(), *copies, *computing], "exposed_copies")
    assert [advice.evidence["count"] for advice in found] == [2, 1]


def test_frames_that_compile_are_compilations() -> None:
    name = "torch/_dynamo/convert_frame.py(9): __call__"
    frames = [
        gpu.host(start, 3 * MS, name, "python_function", **{"Python id": number})
        for number, start in enumerate((MS, 5 * MS))
    ]
    first, last = gpu.kernel(0, 50_000, 1), gpu.kernel(9 * MS + 20_000, 10 * MS, 2)
    launched = [gpu.host(9 * MS - 5_000, 20_000), gpu.launch(9 * MS, 5_000, 2), first, last]
    (advice,) = advice_of([*gpu.gpu(), *frames, *launched], "operators_compiled_at_run_time")
    assert advice.evidence["compilations"] == 2
    assert advice.cost_ns == 6 * MS


def test_steps_without_computing_tell_neither_communication_nor_waits_of_it() -> None:
    """Four steps exchange for 6 ms: two that compute wait 0.3 ms of it, two without kernels wait 5.5 ms."""
    events = [*npu(), *hccl.group(0, 3)]
    for number in range(4):
        start, computes = 1_000 + number * 20 * MS, number >= 2
        events.append(step(number + 1, start - 500, 20 * MS - 100))
        events += launched(start, start + 100, dur=10 * MS) if computes else []
        exchange = start + 12 * MS
        wait = 3 * MS // 10 if computes else 55 * MS // 10
        events += [hccl.operation(exchange, 6 * MS), hccl.plane_task(exchange + 1_000, wait, peer=1)]
    assert advice_of(events, "late_ranks") == []
    (advice,) = advice_of(events, "exposed_communication")
    assert advice.evidence["exposed_ns"] == 2 * 6 * MS
    assert advice.evidence["waiting_for_ranks_ns"] == 2 * (3 * MS // 10 + 1_000)
    assert "of the steps whose computing is recorded)" in english_words(advice).text


@pytest.mark.parametrize(
    ("wait", "unsplit", "known"),
    [(0, 0, 0), (0, 1, None), (1 * MS, 8 * MS, 1 * MS + 1_000), (1 * MS, 8 * MS + 1, None)],
)
def test_waiting_is_told_where_planes_tell_of_at_least_half(
    wait: int, unsplit: int, known: int | None
) -> None:
    """A collective of 8 ms with planes, and one of `unsplit` ns without."""
    events = [*npu(), *hccl.group(0, 3), *launched(1_000, 2_000)]
    events += [hccl.operation(MS, 8 * MS), hccl.plane_task(MS + 1_000, wait, peer=1)]
    events += [hccl.operation(10 * MS, unsplit)] * (unsplit > 0)
    (advice,) = advice_of(events, "exposed_communication")
    assert advice.evidence.get("waiting_for_ranks_ns") == known


@pytest.mark.parametrize("later", [0, 7_000])
def test_a_step_is_one_of_a_process_whenever_another_begins_its_own(later: int) -> None:
    other = gpu.HOST + 1
    devices = [*gpu.gpu(), *process(other, "python", "CPU", 0), *process(1, "python", "GPU 1", 5_000_000)]
    events: list[dict[str, Any]] = []
    for number in (1, 2):
        for pid, device, begin in ((gpu.HOST, 0, number * MS), (other, 1, number * MS + later)):
            correlation = 10 * number + device
            one = [gpu.step(number, begin, MS - 100_000), gpu.host(begin + 9_000, 8_000)]
            one.append(gpu.launch(begin + 10_000, 5_000, correlation))
            events += [{**event, "pid": pid, "tid": pid} for event in one]
            args = {"device": device, "stream": 7, "correlation": correlation}
            events.append({**gpu.kernel(begin + 30_000, 5_000, correlation), "pid": device, "args": args})
    assert Evidence(analyse(trace_of([*devices, *events]))).per_step(12) == 3


def test_what_a_collective_says_it_is_counts_before_its_name() -> None:
    generic = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"
    kernels = [gpu.kernel(n * MS, 5_000, n, generic) for n in (1, 2)]
    kernels[0]["args"]["Collective name"] = "_allgather_base"
    trace = trace_of([*gpu.gpu(), *kernels])
    rows = np.flatnonzero(trace.slices.activity == Activity.COMMUNICATION)
    first, second = transfers._names_of_kinds(Evidence(analyse(trace)), rows)
    assert (first.startswith("allgather"), second) == (True, generic)


def test_steps_of_the_host_count_once_however_many_devices_make_them() -> None:
    """Two steps on two devices, late on both: each computes 1 ms of a step of 20 ms, 5 ms after it began."""
    events = [*gpu.gpu(), *process(1, "python", "GPU 1", 5_000_001)]
    for number in (1, 2):
        begin = number * 20 * MS
        events.append(gpu.step(number, begin, 19 * MS))
        for device in (0, 1):
            correlation = 10 * number + device
            task = gpu.kernel(begin + 5 * MS, MS, correlation)
            task.update(pid=device, args={**task["args"], "device": device})
            events += [
                gpu.host(begin + 1_000 * device, 900),
                gpu.launch(begin + 1_000 * device, 500, correlation),
            ]
            events.append(task)
    (gap,) = advice_of(events, "iteration_gap")
    assert (gap.evidence["steps"], gap.evidence["of_steps"]) == (2, 2)
    (free,) = advice_of(events, "free_time")
    assert (free.evidence["steps"], free.context["of_steps"]) == (1, 2)  # the last ends with its task
    assert [english_words(advice).text.partition(" the ")[0] for advice in (gap, free)] == [
        "In 2 of 2 steps",
        "In 1 of 2 steps",
    ]
    prompt = [
        {**event, "ts": us(20 * MS + 3_000)} if event["pid"] == 1 and event["ph"] == "X" else event
        for event in events
        if event["ph"] != "X" or float(event["ts"]) < 40_000
    ]
    (gap,) = advice_of(prompt, "iteration_gap")
    assert "In 1 of 1 steps, on 1 of 2 devices, the first task" in english_words(gap).text
    analysis = analyse(trace_of(events))
    gaps = Evidence(analysis).gaps_at({1: _time((analysis.devices[1].start_ns, analysis.devices[1].end_ns))})
    assert len(gaps) and set(analysis.gaps.device[gaps]) == {1}  # those of the other are as long


def test_communication_mostly_hidden_is_well() -> None:
    events = stepped(collective(2_000, 10 * MS), task(2_000, 6 * MS, stream=2))
    assert advice_of(events, "exposed_communication") == []
    (advice,) = advice_of(stepped(collective(2_000, 10 * MS)), "exposed_communication")
    assert advice.cost_ns == 10 * MS
    assert "waiting_for_ranks_ns" not in advice.evidence


def behind_another_launch(dur: int) -> Events:
    """A task that lies in the queue while another one is launched for `dur` ns, and then until 36 ms."""
    return stepped(
        piece(PYTHON, MAIN, "Enqueue", us(MS // 2), us(10), "enqueue", correlation_id=500),
        operator(MS // 2 - 5, 20, "aten::mm", stack=stack(3)),
        piece(PYTHON, 101, "Dequeue@y", us(36 * MS), us(20), "dequeue", correlation_id=500),
        piece(PYTHON, 101, "Dequeue@z", us(2 * MS), us(dur), "dequeue", correlation_id=501),
        call(36 * MS + 5, 10, 500),
        task(36 * MS + 40, 50, connection=500),
    )


def test_the_task_queue_behind_another_launch() -> None:
    (advice,) = advice_of(behind_another_launch(34 * MS - 10), "dispatch_queue_late")
    assert advice.evidence["busy_ns"] == 34 * MS - 10
    assert advice.cost_ns == int(advice.evidence["busy_ns"]) + int(advice.evidence["wakeup_ns"])


def test_the_task_queue_has_two_remedies_and_that_of_the_longer_part_is_told_first() -> None:
    queue = "TASK_QUEUE_ENABLE=2 takes", "try CPU_AFFINITY_CONF=1 too"
    affinity = "CPU_AFFINITY_CONF=1 binds", "try TASK_QUEUE_ENABLE=2 too"
    (advice,) = advice_of(behind_another_launch(MS), "dispatch_queue_late")
    half = int(advice.cost_ns or 0) // 2
    for dur, words in ((34 * MS, queue), (half, queue), (half - 1, affinity), (MS, affinity)):
        (advice,) = advice_of(behind_another_launch(dur), "dispatch_queue_late")
        assert advice.cost_ns == 2 * half
        assert all(word in english_words(advice).text for word in words), dur


def test_the_gap_between_steps() -> None:
    def training(late: int) -> Events:
        return [
            *npu(),
            step(1, 500, MS),
            *launched(1_000, 1_100),
            step(2, MS + 500, late + MS),
            *launched(MS + late, MS + late + 40, 3),
        ]

    assert advice_of(training(-1_000), "iteration_gap") == []
    (advice,) = advice_of(training(5 * MS), "iteration_gap")
    assert advice.cost_ns == 6 * MS + 40 - 1_150
    assert (advice.evidence["steps"], advice.evidence["of_steps"]) == (1, 2)


def test_advice_says_which_of_its_time_is_before_the_first_kernel() -> None:
    """The causes of idle time begin with the window of the device, the first step begins before it."""
    events = [
        *npu(),
        step(1, 500, 50 * MS),
        loading(1_000, 20 * MS),
        *launched(20 * MS + 1_000, 20 * MS + 1_100),
        loading(22 * MS, 12 * MS),
        *launched(40 * MS, 40 * MS + 40, 7),
    ]
    (loader,) = advice_of(events, "data_loader_slow")
    assert (loader.cost_ns, loader.evidence["before_window_ns"]) == (12 * MS, 20 * MS)
    assert (
        "is idle for 12.0 ms in all meanwhile, and for 20.0 ms before its first kernel."
        in english_words(loader).text
    )
    (gap,) = advice_of(events, "iteration_gap")
    assert gap.cost_ns == gap.evidence["before_window_ns"] == 20 * MS + 1_100 - 500
    assert "20.0 ms before it in all, 20.0 ms of it before its first kernel," in english_words(gap).text


def test_without_stacks_they_are_asked_for() -> None:
    events = stepped()
    for event in events:
        event.get("args", {}).pop("Call stack", None)
    (advice,) = advice_of(events, "collect_stacks")
    assert advice.evidence["idle_ns"] == analyse(trace_of(events)).idle_ns
    assert advice.cost_ns is None
    assert advice_of(stepped(), "collect_stacks") == []
    frame = piece(PYTHON, 9, "train.py(4): train", us(2_000), us(100), "python_function")
    assert advice_of([*events, frame], "collect_stacks") == []


def test_notes_come_after_all_that_takes_time_and_not_in_the_summary() -> None:
    events = stepped()
    for event in events:
        event.get("args", {}).pop("Call stack", None)
    analysis = analyse(trace_of(events))
    costs = [finding.cost_ns for finding in find_advice(analysis)]
    assert find_advice(analysis)[-1].id == "collect_stacks" and costs[-1] is None and None not in costs[:-1]
    assert "notes last" in advice_text(find_advice(analysis), 80)
    assert (
        first_advice(find_advice(analysis), 99, 80)[1:]
        == first_advice(find_advice(analysis), len(costs) - 1, 80)[1:]
    )
    assert not any("stacks" in line for line in first_advice(find_advice(analysis), 99, 80))
    title = english_words(find_advice(analysis)[-1]).title
    assert f"{title}** (note)" in advice_markdown(analysis)
    assert advice_frame(analysis)["cost_ns"].isna().tolist() == [cost is None for cost in costs]
    story = advice_answer(find_advice(analysis), analysis.window_ns)
    assert story.endswith("; 1 note") and story.startswith(f"{len(costs) - 1} finding")


@pytest.mark.parametrize("host", [True, False])
def test_without_links_host_events_are_asked_for(host: bool) -> None:
    events = [*npu(), task(10, 5), task(100, 5), *([operator(0, 3)] if host else [])]
    (advice,) = advice_of(events, "collect_host_events")
    assert advice.evidence == {"tasks": 2, "linked_tasks": 0, "unlinked_idle_ns": 85}
    assert ("ProfilerActivity.CPU" in english_words(advice).text) == (not host)


def test_host_events_are_asked_for_where_only_launches_are_recorded() -> None:
    events = [*npu(), task(10, 5), call(80, 10, 3), task(100, 5, connection=3)]
    (advice,) = advice_of(events, "collect_host_events")
    assert advice.evidence == {"tasks": 2, "linked_tasks": 0, "unlinked_idle_ns": 65}
    assert "For 65 ns of idle time the trace does not tell what the host did" in english_words(advice).text


FREQUENCIES = 900


def frequency(time: int, mhz: float, name: str = "AI Core Freq") -> dict[str, Any]:
    """A sample of the frequency of the AI cores."""
    return {"ph": "C", "name": name, "pid": FREQUENCIES, "tid": 0, "ts": us(time), "args": {"MHz": mhz}}


def low_frequency(*events: dict[str, Any]) -> list[Advice]:
    return advice_of(
        [*npu(), *process(FREQUENCIES, "AI Core Freq", "NPU", 14), *events], "core_frequency_low"
    )


def test_the_frequency_of_kernels_is_weighted_by_their_time() -> None:
    kernels = task(0, 3000), task(5000, 1000, name="slow")
    (advice,) = low_frequency(frequency(0, 1800), frequency(4000, 900), *kernels)
    # 3 us at 1800 MHz and 1 us at 900: 1575 MHz, 12.5 % below; half of the slow kernel
    assert advice.evidence == {
        "device": "NPU",
        "mean_mhz": 1575.0,
        "maximum_mhz": 1800.0,
        "lowest_mhz": 900.0,
        "share_below": 0.125,
        "kernels_below": 1,
        "kernels": 2,
        "kernels_ns": 4000,
    }
    assert advice.cost_ns == 500 and advice.subjects == ("slow",) and len(advice.rows) == 1
    assert "12.5 % below the 1800 MHz" in english_words(advice).text


def test_a_kernel_has_the_mean_frequency_of_its_time() -> None:
    (advice,) = low_frequency(frequency(0, 1000), frequency(3000, 600), task(0, 4000))
    assert advice.evidence["mean_mhz"] == 900.0  # 3 us at 1000, 1 us at 600
    assert advice.cost_ns == 400


def test_frequency_is_low_from_more_than_5_percent_on() -> None:
    exactly = frequency(0, 1000), frequency(10, 950), task(20, 1000)
    assert low_frequency(*exactly) == []
    assert len(low_frequency(frequency(0, 1000), frequency(10, 949), task(20, 1000))) == 1


def test_frequency_counts_only_while_kernels_run_and_where_it_is_known() -> None:
    idle = frequency(0, 1800), task(0, 1000), frequency(1000, 500), frequency(2000, 1800), task(2000, 1000)
    assert low_frequency(*idle) == []
    before = task(0, 1000), frequency(1500, 500), frequency(1600, 1800), task(2000, 1000)
    assert low_frequency(*before) == []
    copy = frequency(0, 1800), task(0, 1000), frequency(1000, 500), task(1000, 9000, "PCIE_DMA_SQE")
    assert low_frequency(*copy) == []


def test_what_is_no_frequency_counts_for_nothing() -> None:
    assert low_frequency(frequency(0, 1e308), frequency(5, 1800), frequency(6, -5), task(10, 100)) == []


def test_several_dies_of_a_device_count_with_their_mean() -> None:
    dies = [frequency(0, 1000, "AI Core Freq Die 0"), frequency(0, 600, "AI Core Freq Die 1")]
    (advice,) = low_frequency(*dies, task(0, 100))
    assert (advice.evidence["mean_mhz"], advice.cost_ns) == (800.0, 20)


def test_real_kernels_run_at_full_frequency(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    assert all(advice.id != "core_frequency_low" for advice in find_advice(analysis))


# -- what holds of all ------------------------------------------------------------------------------------


NOTES = {
    "collect_host_events",
    "collect_stacks",
    "collect_level_1",
    "record_the_scheduler",
    "threads_migrate",
    "threads_change_nodes",
}


def check(analysis: Analysis) -> None:
    advice = find_advice(analysis)
    ranks = [(finding.cost_ns is None, -(finding.cost_ns or 0)) for finding in advice]
    assert ranks == sorted(ranks)
    assert {finding.id for finding in advice if finding.cost_ns is None} <= NOTES
    for finding in advice:
        assert re.fullmatch(r"[a-z0-9_]+", finding.id)
        words = english_words(finding)
        assert "".join(words).isascii() and not set("{}").intersection("".join(words))
        assert words.text.endswith(".") and words.rule.endswith(").")
        assert finding.cost_ns is None or (finding.cost_ns > 0 and finding.id not in NOTES)
        assert len(np.unique(finding.gaps)) == len(finding.gaps)
        assert ((finding.gaps >= 0) & (finding.gaps < len(analysis.gaps))).all()
        assert ((finding.rows >= 0) & (finding.rows < len(analysis.trace.slices))).all()
        for key, value in finding.evidence.items():
            assert re.fullmatch(r"[a-z0-9_]+", key)
            assert isinstance(value, int) or not key.endswith("_ns")
            assert not key.startswith("share") or 0 <= float(value) <= 1
            json_value = type(value) in (int, float, str)
            assert json_value, key


@given(any_machine())
def test_no_trace_is_too_odd(events: Events) -> None:
    check(analyse(trace_of(events)))


@pytest.mark.parametrize("name", ["", "\x1b[31m\r\n\u202e", "aten::\ud800", "GC" * 5_000])
def test_names_of_the_trace_stay_out_of_the_text(name: str) -> None:
    events = stepped(*launched(3_000, 3_100, 5, dur=90_000, kind="AI_CPU", name=name or "x"))
    events += [operator(10 * MS + i * 1_000, 500, name, stack=[f"{name}({i}): {name}"]) for i in range(4)]
    analysis = analyse(trace_of([*events, *arrow("fwdbwd", 1, (PYTHON, MAIN, 995), (PYTHON, MAIN, 3_000))]))
    check(analysis)
    assert all(len(name) < 3 or name not in english_words(finding).text for finding in find_advice(analysis))


def test_two_devices_of_two_processes_are_added() -> None:
    """One file of two processes: each device has the causes planted in its own, and advice adds them."""
    events, truths = [], []
    for number, (pid, seed) in enumerate(((3178231, 1), (41, 2))):
        recording = simulate("stalls", seed=seed, pid=pid)
        file = io.BytesIO()
        TraceWriter(recording).write(file)
        for event in json.loads(file.getvalue()):
            if event["name"] == "process_labels" and event["args"]["labels"] == "NPU":
                event["args"]["labels"] = f"NPU {number}"
            if "connection_id" in event.get("args", {}):
                event["args"]["connection_id"] += number * 100_000
            if event.get("cat") != "HostToDevice":
                events.append(event)
        truths.append(Truth(recording).as_json())
    analysis = analyse(trace_of(events))
    assert [device.device for device in analysis.devices] == ["NPU 0", "NPU 1"]
    for index, truth in enumerate(truths):
        ns_by_label = {cause.label: ns for cause, ns in analysis.causes.by_cause(index).items()}
        assert sum(ns_by_label.values()) == truth["idle_ns"]
        assert (
            sum(min(ns_by_label.get(c, 0), ns) for c, ns in truth["causes"].items())
            >= 0.97 * truth["idle_ns"]
        )
    check(analysis)
    (queue,) = [finding for finding in find_advice(analysis) if finding.id == "dispatch_queue_late"]
    assert queue.evidence["busy_ns"] == sum(planted(truth, "queue.busy") for truth in truths)


@pytest.mark.parametrize("rank", real.NPU)
def test_real_npu_traces(real_traces: Any, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    check(analysis)
    exposed = "late_ranks" if "level2" in rank else "exposed_communication"
    assert {exposed, "free_time", "format_conversions"} <= {a.id for a in find_advice(analysis)}
    assert ("operators_compiled_at_run_time" in {a.id for a in find_advice(analysis)}) == ("level2" in rank)


@pytest.mark.parametrize("name", real.GPU)
def test_real_gpu_traces(real_traces: Any, name: str) -> None:
    check(real.gpu(real_traces, name))


# -- the thresholds, at equality --------------------------------------------------------------------------


def test_a_share_that_is_just_reached_counts_and_nothing_is_no_part_of_nothing() -> None:
    five = Threshold(5, "%", "test")
    assert [five.reached(part, 1000) for part in (0, 49, 50, 51)] == [False, False, True, True]
    assert not five.reached(0, 0) and five.reached(1, 20) and not five.reached(1, 21)


def repeated(times: int, dur: int = 20) -> Events:
    """A step in which one line enqueues an operator so many times, each with a kernel of that length."""
    events = [*npu(), step(1, 900, 10 * MS)]
    for turn in range(times):
        at = 1_000 + turn * 200_000
        events += launched(at, at + 100, dur=dur)
    return events


def synchronised(times: int) -> Events:
    """A step in which one line synchronises so many times, each until after the device is idle."""
    events = [*npu(), step(1, 900, 10 * MS)]
    for turn in range(times + 1):
        at = 1_000 + turn * 200_000
        events += launched(at, at + 100)
        events += [operator(at + 120, 100, "aten::item", stack=stack(3))] * (turn < times)
    return events


def test_without_steps_a_synchronisation_must_cost_one_percent() -> None:
    events = [event for event in synchronised(2) if not event["name"].startswith("ProfilerStep")]
    analysis = analyse(trace_of(events))
    (sync,), end = analysis.syncs, analysis.devices[0].end_ns
    busy = 100 * sync.exposed_ns - analysis.window_ns
    (advice,) = advice_of([*events, task(end, busy)], "sync_in_loop")
    assert "at least 2 times in all, and idle time of at least 1 % of the" in english_words(advice).rule
    assert advice_of([*events, task(end, busy + 1)], "sync_in_loop") == []


@pytest.mark.parametrize(("untold", "line"), [(2_000, 3), (400_000, 0)])
def test_a_line_with_next_to_nothing_of_the_time_is_not_named(untold: int, line: int) -> None:
    """A gap of 1 us that a line is to blame for, and one before a task of which no launch is recorded."""
    blamed = [operator(100, 1_800, "aten::mm", stack=stack(3)), *launched(1_900, 2_000)]
    events = [*npu(), task(900, 100), *blamed, task(2_100 + untold, 100)]
    (advice,) = advice_of(events, "free_time")
    assert advice.line == line


@pytest.mark.parametrize(
    ("rule", "holds", "misses"),
    [
        ("sync_in_loop", synchronised(2), synchronised(1)),
        ("small_operators_in_loop", repeated(4), repeated(3)),
        ("small_operators_in_loop", repeated(5, 50_000), repeated(5, 50_001)),
        ("free_time", [*npu(), task(0, 450), task(551, 450)], [*npu(), task(0, 450), task(550, 450)]),
        (
            "collect_host_events",
            [*npu(), task(0, 500), task(510, 490)],
            [*npu(), task(0, 500), task(510, 491)],
        ),
        (
            "iteration_gap",
            [*npu(), step(1, 1_000, 5 * MS), *launched(2_000, MS + 1_001)],
            [*npu(), step(1, 1_000, 5 * MS), *launched(2_000, MS + 1_000)],
        ),
    ],
    ids=["synchronisations", "repeats", "length of kernels", "free time", "unknown origin", "iteration gap"],
)
def test_a_rule_holds_from_its_threshold_on(rule: str, holds: Events, misses: Events) -> None:
    assert (len(advice_of(holds, rule)), len(advice_of(misses, rule))) == (1, 0)


@pytest.mark.parametrize(("dur", "free"), [(950_000, []), (800_000, [3_804_000])])
def test_time_in_which_the_device_did_what_is_not_recorded_is_not_free(dur: int, free: list[int]) -> None:
    """One collective, then for 30 ms nothing that was launched, then a kernel each ms."""
    events = [*gpu.gpu(), gpu.launch(MS // 2, 5_000, 99)]
    events += [gpu.kernel(MS, 1_000, 99, "ncclDevKernel_AllReduce", 9)]
    for number in range(1, 21):
        events += [gpu.launch(number * MS, 5_000, number)]
        events += [gpu.kernel(number * MS + 30 * MS, dur, number)]
    found = [advice.evidence for advice in advice_of(events, "free_time")]
    assert [evidence["free_ns"] for evidence in found] == [evidence["idle_ns"] for evidence in found] == free
    assert all("device_unseen_ns" not in evidence for evidence in found)


# -- loops, and a device that waits for launches ----------------------------------------------------------


def called(calls: int, per_call: int) -> Events:
    """A step in which a function is called some times, and launches an operator so often in each call."""
    events = [*npu(), step(1, 900, 40 * MS)]
    for turn in range(calls):
        for nth in range(per_call):
            at = 1_000 + (turn * (per_call + 1) + nth) * 200_000
            events += launched(at, at + 100, dur=20)
        between = 1_000 + (turn * (per_call + 1) + per_call) * 200_000
        other = launched(between, between + 100, dur=20)
        other[0] = operator(between - 5, 10, "aten::mm", stack=["train.py(99): other"])
        events += other
    return events


def test_a_loop_is_of_one_call_of_a_function() -> None:
    """Four calls in one call of a function are a loop; one call in each of four calls is none."""
    assert len(advice_of(called(1, 4), "small_operators_in_loop")) == 1
    assert advice_of(called(4, 1), "small_operators_in_loop") == []


def test_a_device_idle_by_launches_has_one_finding_of_it() -> None:
    found = [finding.id for finding in find_advice(analyse(trace_of(called(8, 1))))]
    assert found[0] == "launch_bound"
    assert "free_time" not in found


def test_an_operator_that_launches_twice_has_two_launches() -> None:
    events = gpu.gpu()
    for number in range(8):
        at = (number + 1) * 200_000
        events += [gpu.host(at, 100_000, "aten::mm")]
        for launch in (2 * number, 2 * number + 1):
            begin = at + 1_000 + launch % 2 * 50_000
            events += [gpu.launch(begin, 5_000, launch), gpu.kernel(begin + 6_000, 1_000, launch)]
    (advice,) = advice_of(events, "launch_bound")
    assert advice.evidence["launches"] == 16


@pytest.mark.parametrize("device", ["h100", "mi300"])
def test_gpus_read_no_words_of_ascend(real_traces: Path, device: str) -> None:
    """A model of 60 short kernels: 9 of 10 ns are launches, and no line of it is a loop."""
    (path,) = (real_traces / "gpu" / "pairs" / device).glob("*.json.gz")
    advice = find_advice(tracetui.load(path))
    assert [finding.id for finding in advice if finding.cost_ns is not None] == ["launch_bound"]
    assert "torch.cuda.CUDAGraph" in english_words(advice[0]).text
    for finding in advice:
        assert not re.search(r"npu|NPU|AI core|CANN|profiler level", " ".join(english_words(finding)))
