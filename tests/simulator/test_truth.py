"""The planted truth: exact sums, and the causes that each program was written to have."""

from __future__ import annotations

import pytest

from simulator.scenarios import SCENARIOS
from tests.simulator.traces import SCENARIO_NAMES, end, events, slices, start, truth
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.scheduler.scheduler import SCHEDULED


@pytest.mark.parametrize("task_queue", [True, False])
@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_pieces_fill_their_intervals(scenario: str, level: int, task_queue: bool) -> None:
    planted = truth(scenario, level, task_queue)

    for interval in planted["idle"]:
        at = interval["start_ns"]
        for piece in interval["pieces"]:
            assert piece["start_ns"] == at and piece["dur_ns"] > 0
            at += piece["dur_ns"]
        assert at == interval["start_ns"] + interval["dur_ns"]
    assert sum(interval["dur_ns"] for interval in planted["idle"]) == planted["idle_ns"]
    assert sum(planted["causes"].values()) == planted["idle_ns"]


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_gaps_split_exactly(scenario: str) -> None:
    planted = truth(scenario)
    parts = ("idle_ns", "aicpu_ns", "communication_ns", "copy_ns")

    assert all(gap["dur_ns"] == sum(gap[part] for part in parts) for gap in planted["gaps"])
    assert sum(gap["idle_ns"] for gap in planted["gaps"]) == planted["idle_ns"]
    length = planted["end_ns"] - planted["start_ns"]
    assert planted["aicore_ns"] + sum(gap["dur_ns"] for gap in planted["gaps"]) == length


@pytest.mark.parametrize("scenario", SCENARIO_NAMES)
def test_truth_agrees_with_the_overlap_rows(scenario: str) -> None:
    planted = truth(scenario)
    rows = slices(events(scenario), "Overlap Analysis")
    sums = [sum(end(row) - start(row) for row in rows[tid]) for tid in range(4)]

    assert sums == [
        planted["computing_ns"],
        planted["communication_ns"],
        planted["communication_not_overlapped_ns"],
        planted["free_ns"],
    ]


def test_moba_starves_in_its_loops() -> None:
    planted = truth("moba")
    script = SCENARIOS["moba"].script.read_text(encoding="utf-8").splitlines()
    ranked = sorted(planted["idle"], key=lambda interval: -interval["dur_ns"])
    looping = ("gate[:, ", "means.append(")

    def in_loop(line: int) -> bool:
        return script[line - 1].strip().startswith(looping)

    assert all(in_loop(interval["line"]) for interval in ranked[:20])
    assert 0.40 < planted["idle_ns"] / (planted["end_ns"] - planted["start_ns"]) < 0.50
    looped = sum(interval["dur_ns"] for interval in planted["idle"] if in_loop(interval["line"] or 1))
    assert looped > 0.6 * planted["idle_ns"]


def test_balanced_is_hardly_idle() -> None:
    planted = truth("balanced")

    assert planted["idle_ns"] < 0.01 * (planted["end_ns"] - planted["start_ns"])
    assert not any(cause.startswith("host") for cause in planted["causes"])


def test_mixed_has_every_planted_cause() -> None:
    causes = truth("mixed")["causes"]
    planted = {
        "host.dataloader",
        "host.gc",
        "host.sync",
        "host.copy",
        "host.operator",
        "host.python",
        "queue.wakeup",
        "launch.compile",
        "launch.dispatch",
        "device.latency",
        "device.stream_wait",
    }

    assert planted <= set(causes)
    assert max(causes, key=lambda cause: causes[cause]) == "host.dataloader"
    for part, least in (("copy_ns", 5_000_000), ("communication_ns", 4_000_000), ("aicpu_ns", 400_000)):
        assert any(gap[part] > least for gap in truth("mixed")["gaps"]), part


def test_stalls_has_what_mixed_has_not() -> None:
    causes = truth("stalls")["causes"]

    assert {"host.communication", "queue.busy", "device.unknown", "host.sync"} <= set(causes)
    assert causes["host.python"] > 10_000_000  # in which memory is given back
    assert causes["queue.busy"] > 1_000_000
    assert causes["device.unknown"] > 500_000


def test_attached_has_a_first_step_without_a_host() -> None:
    planted = truth("attached")
    unlinked = [
        "unlinked" in {piece["cause"] for piece in interval["pieces"]} for interval in planted["idle"]
    ]
    first = unlinked.index(False)

    assert all(unlinked[:first]) and not any(unlinked[first:])
    assert planted["idle"][first]["pieces"][0]["cause"] == "host.unrecorded"
    assert planted["causes"]["host.unrecorded"] > 2_000_000
    assert planted["causes"]["unlinked"] > 0.1 * planted["idle_ns"]


def test_every_cause_is_planted_in_some_sample() -> None:
    planted = {cause for name in SCENARIO_NAMES for cause in truth(name)["causes"]}
    planted |= set(truth("mixed", 2, False)["causes"])

    elsewhere = (Cause.GRAPH, Cause.UNSEEN, *SCHEDULED)
    assert planted == {cause.label for cause in Cause if cause not in elsewhere}, (
        "graphs are of GPUs, and samples hold all work"
    )


def test_a_sync_names_the_line_it_exposed() -> None:
    exposed = {interval["exposed_by"] for interval in truth("mixed")["idle"]}
    line = next(
        number
        for number, text in enumerate(SCENARIOS["mixed"].script.read_text(encoding="utf-8").splitlines(), 1)
        if ".item()" in text
    )

    assert exposed == {None, f"/workspace/mixed/train_mixed.py({line})"}


def test_compilation_is_known_from_level_1_on() -> None:
    assert "launch.compile" in truth("mixed", 1)["causes"]
    assert "launch.compile" not in truth("mixed", 0)["causes"]
    assert truth("mixed", 0)["idle_ns"] == truth("mixed", 2)["idle_ns"]
