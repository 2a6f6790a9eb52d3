"""Defects put into real traces are found by their names, with their steps, and nothing else is alarmed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.analysis.health import planting
from tests.analysis.health.planting import Events, number, time
from tests.analysis.real import read
from tracetui.analysis.analyse import analyse
from tracetui.analysis.idle.cause import Cause

LEVEL_2 = "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
LEVEL_0 = "npu/level0/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"
STACKS = "gpu/pairs/h100/gaunernst_bert-small-uncased__1016001.json.gz"
GRAPHS = "gpu/vllm_graph_execution.json.gz"
CHECKPOINT = "gpu/resnet_act_checkpoint.json.gz"
RESNET = "gpu/resnet_rank0.json.gz"
WORKERS = "gpu/workers0/worker0.1623143089861.pt.trace.json.gz"
SAMPLED = "gpu/sampled_rank-0.json.gz"
ALEXNET = "gpu/alexnet_a100.json.gz"

Plant = Callable[[Events], list[dict[str, Any]]]


class Case(NamedTuple):
    """A defect in a trace, and what is said of it."""

    trace: str
    plant: Plant
    found: str
    severity: str
    affects: tuple[str, ...]
    steps: tuple[int, ...]


LOST = ("steps", "idle")
CASES = {
    "head, level 2": Case(
        LEVEL_2, lambda e: planting.lose(e, 0, 0.15), "device.head_lost", "wrong", LOST, (50,)
    ),
    "tail, level 2": Case(
        LEVEL_2, lambda e: planting.lose(e, 0.85, 1), "device.tail_lost", "wrong", LOST, (50,)
    ),
    "middle, level 2": Case(
        LEVEL_2, lambda e: planting.lose(e, 0.2, 0.3), "device.dropped", "wrong", ("idle", "causes"), (50,)
    ),
    "parts of collectives, level 2": Case(
        LEVEL_2,
        lambda e: planting.lose(e, 0.45, 0.6),
        "device.dropped",
        "doubtful",
        ("idle", "causes"),
        (50,),
    ),
    "copies, level 0": Case(
        LEVEL_0, lambda e: planting.lose_copies(e, 4), "device.dropped", "doubtful", ("idle", "causes"), (50,)
    ),
    "clocks, level 2": Case(
        LEVEL_2,
        lambda e: planting.shift_device(e, -5_000),
        "clock.host_device",
        "doubtful",
        ("causes",),
        (50,),
    ),
    "arrows, level 2": Case(
        LEVEL_2,
        lambda e: planting.share_ids(e, "HostToDevice"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (),
    ),
    "launches, level 2": Case(
        LEVEL_2,
        lambda e: planting.share_launch(e, "connection_id"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (50,),
    ),
    "unclosed, level 2": Case(
        LEVEL_2, lambda e: planting.never_close(e, "cpu_op"), "host.unclosed", "doubtful", ("lines",), (50,)
    ),
    "overlap, level 2": Case(LEVEL_2, planting.overlap, "tasks.overlap", "doubtful", ("operators",), (50,)),
    "head, level 0": Case(
        LEVEL_0, lambda e: planting.lose(e, 0, 0.15), "device.head_lost", "wrong", LOST, (50,)
    ),
    "tail, level 0": Case(
        LEVEL_0, lambda e: planting.lose(e, 0.85, 1), "device.tail_lost", "wrong", LOST, (50,)
    ),
    "here and there, level 0": Case(
        LEVEL_0,
        lambda e: planting.lose_at_random(e, 0.1),
        "device.dropped",
        "wrong",
        ("idle", "causes"),
        (50,),
    ),
    "arrows, level 0": Case(
        LEVEL_0,
        lambda e: planting.share_ids(e, "HostToDevice"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (),
    ),
    "leap back, level 0": Case(
        LEVEL_0,
        lambda e: planting.set_clock(e, -20_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (50,),
    ),
    "leap ahead, level 2": Case(
        LEVEL_2,
        lambda e: planting.set_clock(e, 50_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (50,),
    ),
    "leap ahead, level 0": Case(
        LEVEL_0,
        lambda e: planting.set_clock(e, 50_000, 0.15),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (50,),
    ),
    "leap back in a wait, level 2": Case(
        LEVEL_2,
        lambda e: planting.set_clock(e, -20_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (50,),
    ),
    "leap back in a wait, level 0": Case(
        LEVEL_0,
        lambda e: planting.set_clock(e, -20_000, 0.8),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (50,),
    ),
    "late device": Case(
        ALEXNET, lambda e: planting.shift_device(e, 5_000), "clock.host_device", "doubtful", ("causes",), ()
    ),
    "late device, level 2": Case(
        LEVEL_2, lambda e: planting.shift_device(e, 500), "clock.host_device", "doubtful", ("causes",), (50,)
    ),
    "late device, level 0": Case(
        LEVEL_0,
        lambda e: planting.shift_device(e, 2_000),
        "clock.host_device",
        "doubtful",
        ("causes",),
        (50,),
    ),
    "device that is late by half of a step, level 2": Case(
        LEVEL_2,
        lambda e: planting.shift_device(e, 50_000),
        "clock.host_device",
        "doubtful",
        ("causes",),
        (50,),
    ),
    "a stream without its tasks, level 0": Case(
        LEVEL_0,
        lambda e: e.without(lambda task: task["tid"] == 2),
        "device.dropped",
        "doubtful",
        ("idle", "causes"),
        (50,),
    ),
    "small leap back, level 2": Case(
        LEVEL_2,
        lambda e: planting.set_clock(e, -2_000, 0.35),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (50,),
    ),
    "head, stacks": Case(
        STACKS, lambda e: planting.lose(e, 0, 0.15), "device.head_lost", "wrong", LOST, (6,)
    ),
    "tail, stacks": Case(
        STACKS, lambda e: planting.lose(e, 0.85, 1), "device.tail_lost", "wrong", LOST, (6,)
    ),
    "middle, stacks": Case(
        STACKS, lambda e: planting.lose(e, 0.45, 0.6), "device.dropped", "wrong", ("idle", "causes"), (6,)
    ),
    "unclosed, stacks": Case(
        STACKS,
        lambda e: planting.never_close(e, "python_function"),
        "host.unclosed",
        "doubtful",
        ("lines",),
        (),
    ),
    "clocks, stacks": Case(
        STACKS, lambda e: planting.shift_device(e, -1_000), "clock.host_device", "doubtful", ("causes",), (6,)
    ),
    "leap ahead, stacks": Case(
        STACKS,
        lambda e: planting.set_clock(e, 50_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (6,),
    ),
    "leap back, stacks": Case(
        STACKS,
        lambda e: planting.set_clock(e, -1_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (6,),
    ),
    "overlap, stacks": Case(STACKS, planting.overlap, "tasks.overlap", "doubtful", ("operators",), (6,)),
    "arrows, stacks": Case(
        STACKS, lambda e: planting.share_ids(e, "ac2g"), "flows.shared", "doubtful", ("causes",), ()
    ),
    "launches, stacks": Case(
        STACKS,
        lambda e: planting.share_launch(e, "correlation"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (6,),
    ),
    "launch of a copy": Case(
        ALEXNET,
        lambda e: planting.share_launch(e, "correlation"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (),
    ),
    "launch of a graph": Case(
        GRAPHS,
        lambda e: planting.share_launch(e, "correlation"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (),
    ),
    "two runs, stacks": Case(
        STACKS, planting.join_runs, "run.mixed", "doubtful", ("steps", "idle", "causes"), ()
    ),
    "graphs without kernels": Case(
        GRAPHS,
        lambda e: planting.lose_graphs(e, range(3, 10)),
        "graph.incomplete",
        "wrong",
        ("idle", "operators"),
        (),
    ),
    "no graph with kernels": Case(
        GRAPHS,
        lambda e: planting.lose_graphs(e, range(25)),
        "graph.incomplete",
        "doubtful",
        ("idle", "operators"),
        (),
    ),
    "leap back while the host waits": Case(
        GRAPHS,
        lambda e: planting.set_clock(e, -20_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (),
    ),
    "graphs with fewer kernels": Case(
        GRAPHS,
        lambda e: planting.lose_graphs(e, (4, 5), 0.4),
        "graph.incomplete",
        "doubtful",
        ("idle", "operators"),
        (),
    ),
}
#: The same of long traces of several steps.
LONG_CASES = {
    "step, stacks": Case(
        CHECKPOINT, lambda e: planting.lose_step(e, 1), "device.step_empty", "wrong", LOST, (16,)
    ),
    "earlier work, stacks": Case(
        CHECKPOINT, planting.lose_earlier_work, "device.unseen_work", "doubtful", ("idle",), ()
    ),
    "middle, long stacks": Case(
        CHECKPOINT,
        lambda e: planting.lose(e, 0.5, 0.6),
        "device.dropped",
        "wrong",
        ("idle", "causes"),
        (16,),
    ),
    "leap ahead, long stacks": Case(
        CHECKPOINT,
        lambda e: planting.set_clock(e, 50_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (15, 17),
    ),
    "small leap ahead, long stacks": Case(
        CHECKPOINT,
        lambda e: planting.set_clock(e, 5_000),
        "clock.jump",
        "doubtful",
        ("steps", "idle", "causes"),
        (15, 17),
    ),
    "here and there, long stacks": Case(
        CHECKPOINT,
        lambda e: planting.lose_at_random(e, 0.1),
        "device.dropped",
        "wrong",
        ("idle", "causes"),
        (15, 16, 17),
    ),
    "launch before the recording": Case(
        CHECKPOINT,
        lambda e: planting.share_launch(e, "correlation"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (),
    ),
    "launch before the recording of graphs": Case(
        RESNET,
        lambda e: planting.share_launch(e, "correlation"),
        "flows.shared",
        "doubtful",
        ("causes",),
        (550,),
    ),
    "here and there, graphs too": Case(
        RESNET,
        lambda e: planting.lose_at_random(e, 0.02),
        "device.dropped",
        "wrong",
        ("idle", "causes"),
        (550, 551, 552, 553, 554),
    ),
    "step": Case(RESNET, lambda e: planting.lose_step(e, 2), "device.step_empty", "wrong", LOST, (552,)),
    "graphs of a step": Case(
        RESNET,
        lambda e: planting.lose_graphs(e, range(16, 24)),
        "graph.incomplete",
        "wrong",
        ("idle", "operators"),
        (551,),
    ),
    "head": Case(WORKERS, lambda e: planting.lose(e, 0, 0.1), "device.head_lost", "wrong", LOST, (5,)),
    "tail": Case(WORKERS, lambda e: planting.lose(e, 0.9, 1), "device.tail_lost", "wrong", LOST, (10,)),
    "step of workers": Case(
        WORKERS, lambda e: planting.lose_step(e, 3), "device.step_empty", "wrong", LOST, (8,)
    ),
}


@cache
def events_of(path: Path) -> Events:
    return Events.read(path)


@pytest.mark.parametrize("name", [*CASES, *(pytest.param(n, marks=pytest.mark.thorough) for n in LONG_CASES)])
def test_a_defect_is_found_and_nothing_else(real_traces: Path, tmp_path: Path, name: str) -> None:
    case = {**CASES, **LONG_CASES}[name]
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(case.plant(events_of(real_traces / case.trace))))
    analysis = analyse(read(path))
    health = analysis.health
    doubts = {finding.id: finding for finding in health.doubts}
    assert set(doubts) == {case.found}
    finding = doubts[case.found]
    assert (finding.severity.label, finding.affects) == (case.severity, case.affects)
    assert tuple(sorted({analysis.steps[place].number for place in finding.steps})) == case.steps
    assert finding.count > 0
    assert "{" not in finding.english
    assert all(health.trust[number] != "good" for number in case.affects)
    spared = set(health.trust) - set(case.affects)
    assert all(health.trust[number] == "good" for number in spared)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_what_a_cut_took_is_no_finding_beside_it(real_traces: Path, tmp_path: Path, share: float) -> None:
    for trace in (LEVEL_2, SAMPLED):
        text = json.dumps(events_of(real_traces / trace).all)
        path = tmp_path / "trace_view.json"
        path.write_text(text[: int(len(text) * share)])
        assert [finding.id for finding in analyse(read(path)).health.doubts] == ["file.cut"]


@pytest.mark.parametrize(
    "damage", [{"dur": -1}, {"dur": "soon"}, {"ts": "soon"}, {"dur": 1e18}], ids=lambda damage: str(damage)
)
def test_an_event_with_times_that_cannot_be_is_damage(
    real_traces: Path, tmp_path: Path, damage: dict[str, Any]
) -> None:
    events = events_of(real_traces / LEVEL_2).all
    place = next(place for place, event in enumerate(events) if event["ph"] == "X")
    (tmp_path / "trace_view.json").write_text(json.dumps([*events, {**events[place], **damage}]))
    (found,) = analyse(read(tmp_path / "trace_view.json")).health.doubts
    assert (found.id, found.english) == ("file.damaged", f"1 event of {len(events) + 1:,} could not be read")


def test_a_step_of_which_a_cut_took_tasks_is_not_believed(real_traces: Path, tmp_path: Path) -> None:
    text = json.dumps(events_of(real_traces / LEVEL_2).all)
    path = tmp_path / "trace_view.json"
    path.write_text(text[: int(len(text) * 0.7)])
    analysis = analyse(read(path))
    assert [analysis.steps[place].number for place in analysis.health.doubted_steps] == [50]


def test_idle_time_that_may_be_unrecorded_work_has_a_cause_of_its_own(
    real_traces: Path, tmp_path: Path
) -> None:
    causes = {}
    for name, plant in (("clean", lambda e: e.all), ("partial", CASES["graphs with fewer kernels"].plant)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(plant(events_of(real_traces / GRAPHS))))
        analysis = analyse(read(path))
        causes[name] = {cause.label: ns for cause, ns in analysis.causes.by_cause(0).items()}
        assert sum(causes[name].values()) == analysis.idle_ns
    assert "device.unseen" not in causes["clean"]
    assert causes["partial"]["device.unseen"] > causes["partial"].get("device.unknown", 0)


def test_idle_time_in_which_tasks_may_have_run_that_were_lost_is_not_charged_to_the_host(
    real_traces: Path, tmp_path: Path
) -> None:
    events = events_of(real_traces / STACKS)
    path = tmp_path / "lost.json"
    path.write_text(json.dumps(planting.lose(events, 0.45, 0.6)))
    analysis = analyse(read(path))
    begin, end = events.at(0.45), events.at(0.6)
    gone = {number(task) for task in events.tasks if begin <= time(task) < end}
    launches = [e for e in events.all if "LaunchKernel" in str(e["name"]) and number(e) in gone]
    ((hole_start, hole_end),) = analysis.health.doubts[0].windows
    first = max(hole_start, int(min(map(time, launches)) * 1000))
    causes = analysis.causes
    inside = (causes.start >= first) & (causes.end <= hole_end)
    outside = (causes.end <= first) | (causes.start >= hole_end)
    assert inside.any() and set(causes.cause[inside].tolist()) == {Cause.UNSEEN}
    assert Cause.UNSEEN not in causes.cause[outside].tolist()
    path.write_text(json.dumps(planting.lose_at_random(events, 0.05)))
    analysis = analyse(read(path))
    assert analysis.health.doubts and Cause.UNSEEN not in analysis.causes.by_cause()
