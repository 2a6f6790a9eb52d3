"""What a faster line would save: sound on any run, and true where the run can be repeated so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simulator.host import LinePace
from simulator.machine import Machine, Thread
from simulator.program import Program
from simulator.recording import Recording
from simulator.scenarios import SCENARIOS, START_NS, simulate
from simulator.source import TrainingScript
from tests.analysis import real
from tests.analysis.critical.test_critical import FIRST, SECOND, any_run, launched, stack
from tests.analysis.machine import MAIN, Events, call, npu, operator, step
from tests.simulator import traces
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.critical.chain import critical_chains
from tracetui.analysis.critical.dependencies import Dependencies, dependencies
from tracetui.analysis.critical.host_time import HostTime
from tracetui.analysis.critical.meetings import Meetings
from tracetui.analysis.critical.saves import LineSaving, least_capped, line_savings
from tracetui.analysis.critical.whatif import LineWhatIf, WhatIfs
from tracetui.analysis.idle.idle_lines import LineKey, line_keys
from tracetui.arrays import Bools


def key_of(analysis: Analysis, line: int) -> LineKey:
    return next(key for key in analysis.savings if key[1] == line)


def saved_ns(answer: LineWhatIf) -> int:
    """What all steps together would be shorter by."""
    return answer.before_ns - answer.after_ns


def test_a_faster_host_is_followed_by_all_that_waits_for_it() -> None:
    analysis = analyse(trace_of([*FIRST, *SECOND]))
    key = key_of(analysis, 7)
    half = analysis.what_ifs.faster(key, 0.5)
    assert (half.before_ns, half.after_ns) == (2_090 - 900, 2_090 - 900 - 498)
    assert (half.steps_before.tolist(), half.steps_after.tolist()) == ([250], [250])
    assert analysis.savings[key].saves_at_most_ns == 995
    #: then the task before it on the stream holds it up
    assert saved_ns(analysis.what_ifs.faster(key, 0.0)) == 2_040 - 1_150


def test_what_the_device_still_does_cannot_be_saved() -> None:
    long = launched(1_000, 1_100, 3, dur=900)
    analysis = analyse(trace_of([*npu(), step(1, 900, 150), *long, *SECOND]))
    key = key_of(analysis, 7)
    assert analysis.savings[key].critical_ns == 995
    assert saved_ns(analysis.what_ifs.faster(key, 0.0)) == 40
    assert analysis.savings[key].saves_at_most_ns == 900 + 2_090 - 1_800 - 900 - 50
    #: the step, whose task was launched before, does not wait for it
    assert analysis.savings[key].steps == {}


def test_another_stream_may_be_the_last() -> None:
    events = [*FIRST, *launched(1_200, 1_240, 5, stream=2, dur=700), *SECOND]
    analysis = analyse(trace_of(events))
    answer = analysis.what_ifs.faster(key_of(analysis, 7), 0.0)
    assert (answer.before_ns, answer.after_ns) == (2_090 - 900, 1_940 - 900)


def test_a_synchronisation_still_waits_for_its_task() -> None:
    events = [
        *npu(),
        step(1, 900, 600),
        *launched(1_000, 1_100, 3, dur=200),
        operator(1_060, 250, "aten::item", stack=stack(4)),
        call(1_060, 250, 99, "AscendCL@aclrtSynchronizeStream", MAIN),
        operator(1_400, 20, "aten::add", stack=stack(5)),
    ]
    analysis = analyse(trace_of(events))
    saved = {line: saved_ns(analysis.what_ifs.faster(key_of(analysis, line), 0.0)) for line in (3, 4, 5)}
    assert saved == {3: 100, 4: 0, 5: 110}


def test_a_line_that_is_not_there_changes_nothing() -> None:
    analysis = analyse(trace_of([*FIRST, *SECOND]))
    assert saved_ns(analysis.what_ifs.faster(("none.py", 1, "none", False), 0.0)) == 0
    for factor in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="factor"):
            analysis.what_ifs.faster(("none.py", 1, "none", False), factor)


@given(any_run())
def test_any_run_is_reproduced_and_bounded(events: Events) -> None:
    check(analyse(trace_of(events)))


@pytest.mark.parametrize("rank", real.NPU)
def test_real_npu_traces(real_traces: Path, rank: str) -> None:
    check(real.npu(real_traces, rank))


@pytest.mark.parametrize("name", real.GPU)
def test_real_gpu_traces(real_traces: Path, name: str) -> None:
    check(real.gpu(real_traces, name))


def test_a_step_saves_what_the_host_did_for_it_in_the_time_of_the_step_before(real_traces: Path) -> None:
    """A line between two steps, while the device still works for the first, delays the second one."""
    analysis = analyse(real.read(next((real_traces / "gpu" / "workers0").glob("*.gz"))))
    key = next(key for key in analysis.savings if key[1] == 51)
    without = analysis.what_ifs.faster(key, 0.0)
    saved = (without.steps_before - without.steps_after).tolist()
    assert saved[-1] == 17_933_000
    assert analysis.savings[key].steps == {step: ns for step, ns in enumerate(saved) if ns}


@given(any_run(), st.dictionaries(st.integers(0, 20), st.integers(1, 80), max_size=4))
def test_late_peers_only_lower_what_is_saved(events: Events, late: dict[int, int]) -> None:
    """Any tasks wait for peers: each bound is at most that without waits, and nothing saves more than it.

    Where the clock of a device is behind, a task may start before what it waited for: no bound holds there.
    Of one step more may be saved than without waits, as the chain on which late peers come leads elsewhere.
    """
    analysis = analyse(trace_of(events))
    plain = savings(analysis, none(analysis))
    assert {key: astuple(saving) for key, saving in plain.items()} == {
        key: astuple(saving) for key, saving in analysis.savings.items()
    }
    for saving in analysis.savings.values():
        assert saving.saves_with_peers_ns == saving.saves_at_most_ns
    slices = analysis.trace.slices
    rows = analysis.work[[place for place in late if place < len(analysis.work)]]
    wait = np.minimum([late[place] for place in late if place < len(analysis.work)], slices.dur[rows])
    order = np.argsort(slices.start[rows], kind="stable")
    device = np.zeros(len(rows), np.int64)
    times = slices.start[rows[order]]
    met = Meetings(rows[order], device, times, wait.astype(np.int64)[order], wait.astype(np.int64)[order])
    waiting = dependencies(
        analysis.launch_chains, analysis.devices, analysis.steps, analysis.host_threads, met.late
    )
    assume(not waiting.clock_lag.any())
    capped = savings(analysis, met, waiting)
    host_time = HostTime(analysis.trace, analysis.host_threads)
    what_ifs = WhatIfs(analysis.trace, waiting, host_time, analysis.rules)
    lengths = waiting.points.time[waiting.step_end] - waiting.step_begin
    for key, saving in capped.items():
        without_peers = plain[key]
        assert 0 <= saving.saves_at_most_ns <= saving.saves_with_peers_ns == without_peers.saves_at_most_ns
        assert all(0 <= ns <= lengths[step] for step, ns in saving.steps.items())
        answers = [what_ifs.faster(key, factor) for factor in (1.0, 0.3, 0.0)]
        assert answers[0].before_ns == answers[0].after_ns
        saved = [saved_ns(answer) for answer in answers]
        assert saved == sorted(saved)
        assert saved[-1] <= max(saving.saves_at_most_ns, saving.critical_ns)


@pytest.mark.parametrize(("alone", "bound"), [(5, 10), (30, 30), (80, 50)])
def test_a_line_saves_the_greater_bound_and_no_more_than_without_waits(alone: int, bound: int) -> None:
    def saving(at_most: int) -> LineSaving:
        return LineSaving("a.py", 1, "f", False, 100, at_most, {0: at_most}, 50)

    both = replace(saving(10), steps={0: 10, 1: 7})
    (found,) = least_capped([both], [replace(saving(alone), steps={0: alone, 2: 0})])
    assert (found.saves_at_most_ns, found.saves_with_peers_ns) == (bound, 50)
    assert found.steps == {0: max(10, alone), 1: 7, 2: 0}


def none(analysis: Analysis) -> Meetings:
    return analysis.meetings._replace(wait=analysis.meetings.wait * 0, exposed=analysis.meetings.exposed * 0)


def savings(
    analysis: Analysis, met: Meetings, waiting: Dependencies | None = None
) -> dict[LineKey, LineSaving]:
    of = analysis.trace, analysis.devices, analysis.rules
    found = line_savings(*of, analysis.critical, analysis.dependencies, met)
    if waiting is not None:
        chains = critical_chains(waiting, HostTime(analysis.trace, analysis.host_threads))
        found = least_capped(found, line_savings(*of, chains, waiting))
    return {saving.key: saving for saving in found}


def check(analysis: Analysis) -> None:
    """A factor of 1 is no change, a smaller one never takes longer, and none saves more than the bound."""
    for key, saving in analysis.savings.items():
        answers = [analysis.what_ifs.faster(key, factor) for factor in (1.0, 0.7, 0.3, 0.0)]
        assert answers[0].before_ns == answers[0].after_ns
        assert (answers[0].steps_before == answers[0].steps_after).all()
        saved = [saved_ns(answer) for answer in answers]
        assert saved == sorted(saved)
        assert saved[-1] <= saving.critical_ns


# -- against the simulation, repeated with a faster host -------------------------------------------------


@pytest.mark.parametrize(("scenario", "steps"), [("moba", 1), ("mixed", 2), ("balanced", 1)])
def test_what_follows_is_what_happens(scenario: str, steps: int) -> None:
    """Everything that is charged to a line is scaled in the simulation."""
    calls: list[tuple[int, int]] = []

    def note(thread: Thread) -> float:
        calls.append((thread.tid, thread.now))
        return 1.0

    analysis = analysed(run(scenario, steps, note))
    assert analysis.savings
    for key, factors in zip(analysis.savings, ((0.5, 0.0), (0.5,), (0.0,))):
        charged_calls = charged(analysis, key, calls)
        for factor in factors:
            paces = np.where(charged_calls, factor, 1.0).tolist()
            wall = analysed(run(scenario, steps, in_turn(paces))).critical[0].wall_ns
            answer = analysis.what_ifs.faster(key, factor)
            agrees(analysis, key, answer, wall, 0.02)


def test_a_faster_line_of_the_script_does_what_is_foretold() -> None:
    """All that the script's line executes is scaled, a little of which is charged to the line after it."""
    analysis = traces.analysed("moba")
    for key, factors in zip(analysis.savings, ((0.5, 0.0), (0.5,), (0.0,))):
        for factor in factors:
            wall = analysed(simulate("moba", pace=LinePace(key[1], factor))).critical[0].wall_ns
            agrees(analysis, key, analysis.what_ifs.faster(key, factor), wall, 0.05)


def agrees(analysis: Analysis, key: LineKey, answer: LineWhatIf, wall: int, share: float) -> None:
    """The wall time is the one foretold, to a share of what is saved, and not below the bound.

    The other ranks of the simulation come as much sooner as this one.

    What scales in the simulation has a floor of 10 ns a call, hence the 0.02 % of the whole.
    """
    saved = answer.before_ns - wall
    assert abs(saved - saved_ns(answer)) <= max(share * saved, answer.before_ns / 5_000)
    assert saved <= (1 + share) * analysis.savings[key].saves_with_peers_ns


def run(scenario: str, steps: int, pace: Callable[[Thread], float]) -> Recording:
    """A simulated run in which every piece of work takes its pace."""
    chosen = SCENARIOS[scenario]
    machine = Machine(1, START_NS, 3178231)
    machine.pace = pace
    program = Program(machine, TrainingScript(chosen.script, chosen.traced_as))
    chosen.run(program, steps)
    program.finish()
    return machine.recording


def in_turn(paces: list[float]) -> Callable[[Thread], float]:
    """One pace after the other."""
    left = iter(paces)
    return lambda thread: next(left)


def analysed(recording: Recording) -> Analysis:
    """What a profiler would have recorded, analysed."""
    return analyse(traces.read(recording))


def charged(analysis: Analysis, key: LineKey, calls: list[tuple[int, int]]) -> Bools:
    """Which pieces of work, each by its OS thread and when it begins, are charged to a line."""
    trace, host_threads = analysis.trace, analysis.host_threads
    host_time = HostTime(trace, host_threads)
    tids, times = np.array([tid for tid, _ in calls]), np.array([now for _, now in calls], np.int64)
    chosen = np.zeros(len(calls), np.bool_)
    threads = {track.tid: host_threads.of_rows(np.array([track.rows.start])) for track in trace.tracks}
    for tid, thread in threads.items():
        places = np.flatnonzero(tids == int(tid)) if tid.isdecimal() and thread[0] >= 0 else chosen[:0]
        if len(places) and len(host_threads.thread(int(thread[0])).operators):
            pieces = host_time.pieces(np.repeat(thread, len(places)), times[places], times[places] + 1)
            keys, of_piece = line_keys(trace, pieces.stack, pieces.frame, pieces.backward, analysis.rules)
            if key in keys:
                chosen[places[pieces.place[of_piece == keys.index(key)]]] = True
    return chosen
