"""What a faster line saves on ranks that wait for each other, held against the job run again with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tracetui
from simulator.job import scenarios
from simulator.job.directory import write_rank
from simulator.job.layout import Layout
from simulator.job.program import AUGMENTED, SCRIPT, Extra
from simulator.job.simulation import SimulatedJob, simulate
from simulator.scheduler import SimulatedScheduler
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.chain import CriticalKind, critical_chains
from tracetui.analysis.idle.idle_lines import LineKey
from tracetui.analysis.scheduler.states import State

#: both ranks spend time at one line, rank 1 more of it: rank 0 waits for it in each step
USUAL, LATE = 1.0, 4.0
PAIR = SimulatedJob(
    Layout(tp=1, dp=2),
    scenarios.BRIEF,
    extra={0: Extra(python_ms=USUAL), 1: Extra(python_ms=LATE)},
)
LINE = next(number for number, text in enumerate(SCRIPT.read_text().splitlines(), 1) if AUGMENTED in text)


def analysed(job: SimulatedJob, directory: Path) -> tuple[Analysis, ...]:
    outcome = simulate(job)
    return tuple(tracetui.load(write_rank(outcome, rank, directory, 1), cache=False) for rank in job.present)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Analysis, ...]:
    return analysed(PAIR, tmp_path_factory.mktemp("pair"))


def key_of(analysis: Analysis) -> LineKey:
    return next(key for key in analysis.savings if key[1] == LINE)


def saved_by(rank: int, python_ms: float, before: Analysis, directory: Path) -> int:
    """ns that the rank is done sooner where the job runs with another time of its line."""
    job = replace(PAIR, extra={**PAIR.extra, rank: Extra(python_ms=python_ms)})
    return before.critical[0].wall_ns - analysed(job, directory)[rank].critical[0].wall_ns


@pytest.mark.parametrize("faster", [USUAL / 2, 0.0])
def test_the_rank_that_waits_saves_nothing(
    ranks: tuple[Analysis, ...], faster: float, tmp_path: Path
) -> None:
    analysis, key = ranks[0], key_of(ranks[0])
    answer = analysis.what_ifs_with_late_peers.faster(key, faster / USUAL)
    assert answer.before_ns - answer.after_ns == 0 == saved_by(0, faster, analysis, tmp_path)
    assert (answer.steps_before == answer.steps_after).all()
    saving = analysis.savings[key]
    assert (saving.saves_at_most_ns, saving.steps) == (0, {})
    #: what it would save if the other rank came as much sooner: all of the line, in all steps
    assert saving.saves_with_peers_ns >= PAIR.steps * USUAL * 1e6
    sooner = analysis.what_ifs.faster(key, faster / USUAL)
    assert sooner.before_ns - sooner.after_ns == pytest.approx(
        (1 - faster / USUAL) * saving.saves_with_peers_ns
    )


def test_the_rank_that_is_late_saves_what_it_does(ranks: tuple[Analysis, ...], tmp_path: Path) -> None:
    """Half of it is less than the other rank waits: the job is shorter by all of that."""
    analysis, key = ranks[1], key_of(ranks[1])
    answer = analysis.what_ifs_with_late_peers.faster(key, 0.5)
    saved = saved_by(1, LATE / 2, analysis, tmp_path)
    assert analysis.what_ifs_with_late_peers is analysis.what_ifs
    assert answer.before_ns - answer.after_ns == pytest.approx(saved, rel=0.02)
    saving = analysis.savings[key]
    assert saved <= saving.saves_at_most_ns == saving.saves_with_peers_ns


def test_beyond_the_wait_of_the_other_rank_less_is_saved_than_at_most(
    ranks: tuple[Analysis, ...], tmp_path: Path
) -> None:
    """Then the other rank is the late one, which the trace of this one does not show."""
    saving = ranks[1].savings[key_of(ranks[1])]
    saved = saved_by(1, 0.0, ranks[1], tmp_path)
    waited = int(ranks[0].communication.waits.wait_ns.sum())
    assert saved == pytest.approx(waited, rel=0.01)
    assert saved < saving.saves_at_most_ns


def test_what_follows_the_last_wait_of_a_step_is_saved_whole(ranks: tuple[Analysis, ...]) -> None:
    """The rank that waits prints its loss after the last collective of each step."""
    analysis = ranks[0]
    last = max(analysis.savings.values(), key=lambda saving: saving.saves_at_most_ns)
    assert sum(last.steps.values()) == last.saves_at_most_ns == last.saves_with_peers_ns
    assert sorted(last.steps) == list(range(PAIR.steps))
    answer = analysis.what_ifs_with_late_peers.faster(last.key, 0.0)
    assert 0 < answer.before_ns - answer.after_ns <= last.saves_at_most_ns


def test_a_wait_takes_off_what_it_lasts(tmp_path: Path) -> None:
    """Rank 0 spends 1 ms at the line in each step, and waits less than that for the other rank."""
    job = replace(PAIR, extra={0: Extra(python_ms=1.0), 1: Extra(python_ms=1.4)})
    waiting, late = analysed(job, tmp_path)
    saving = waiting.savings[key_of(waiting)]
    waits = waiting.communication.waits.wait_ns
    assert late.communication.waits.wait_ns.max() == 0 < waits.max()
    assert saving.saves_at_most_ns == saving.saves_with_peers_ns - int(waits.sum())
    assert saving.saves_at_most_ns > 0


@pytest.mark.parametrize(
    ("times", "seed"),
    [
        ((0.3, 2.6), 3),
        *(
            pytest.param(times, seed, marks=pytest.mark.thorough)
            for times in [(2.0, 2.1), (5.0, 0.5), (0.0, 3.0), (1.5, 1.5)]
            for seed in (1, 2, 7)
        ),
    ],
)
def test_no_line_is_promised_to_save_more_than_the_rank_spends_at_it(
    times: tuple[float, float], seed: int, tmp_path: Path
) -> None:
    extra = {rank: Extra(python_ms=time) for rank, time in enumerate(times)}
    for analysis in analysed(replace(PAIR, extra=extra, seed=seed), tmp_path):
        for key, saving in analysis.savings.items():
            assert 0 <= saving.saves_at_most_ns <= saving.saves_with_peers_ns <= saving.critical_ns
            answer = analysis.what_ifs_with_late_peers.faster(key, 0.0)
            assert answer.before_ns - answer.after_ns <= saving.critical_ns


def scheduled(rank: int, directory: Path) -> Analysis:
    """Return a rank of the pair with a recording of its scheduler."""
    outcome = simulate(PAIR)
    recording = directory / "sched.txt"
    text = SimulatedScheduler(outcome.recordings[rank], 1, with_process=True).text()
    recording.write_text(text, encoding="utf-8")
    return tracetui.load(write_rank(outcome, rank, directory, 1), cache=False, sched=recording)


def test_pinning_alone_saves_no_more_than_the_host_waits_for_a_core_where_no_late_peer_is_awaited(
    tmp_path: Path,
) -> None:
    """On the rank that waits: what it gains before a collective becomes waiting."""
    analysis = scheduled(0, tmp_path)
    scheduler = analysis.scheduler
    assert scheduler is not None
    (chain,) = critical_chains(analysis.dependencies_with_late_peers, analysis._host_time)
    on_host = chain.kind == CriticalKind.HOST
    waited = sum(
        int(scheduler.states(thread).of(State.READY).covered(chain.start[on_host], chain.end[on_host]).sum())
        for thread in scheduler.threads
    )
    assert 0 < analysis.pinning_saves.alone_ns <= waited


def test_both_are_told_of_the_rank_that_waits_and_one_of_the_rank_that_is_late(tmp_path: Path) -> None:
    """The late rank waits for nobody."""
    alone_ns, with_peers_ns = scheduled(0, tmp_path).pinning_saves
    assert 0 < alone_ns < with_peers_ns
    alone_ns, with_peers_ns = scheduled(1, tmp_path).pinning_saves
    assert 0 < alone_ns == with_peers_ns
