"""Fixes of simulated jobs: a predicted step is that of the job run with nothing planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.job.dualpipe import DUALPIPE_SCRIPT
from simulator.job.pipeline import PIPELINE_SCRIPT
from simulator.job.program import Extra
from simulator.source import TrainingScript
from tests.job.planted import JOBS, LATE_STAGES, job, whole
from tests.job.simulated import Meeting, Work, simulate
from tracetui.export.job.whatif import critical_words, whatif_sentences
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest, TimeClass
from tracetui.job.job import job_of
from tracetui.job.whatif.answer import Replays, what_if
from tracetui.job.whatif.fixes import NO_JITTER, Fix, parse_fix
from tracetui.job.whatif.order import STAND_IN, order_of
from tracetui.units import format_duration

#: name of the job, what of it is fixed
FIXES = [
    ("late", ["rank=3"]),
    ("late", ["train_hybrid.py:27"]),
    ("loader", ["rank=2"]),
    ("loader", ["train_hybrid.py:65"]),
    ("both", ["rank=1", "rank=2"]),
    ("link", ["link=2-3=8x"]),
    ("stage", ["stage=1"]),
    ("sends", ["stage=1"]),
    ("hosts", ["rank=3"]),
    ("partial", ["rank=3"]),
    ("late dualpipe", ["stage=2", "train_dualpipe.py:38@1"]),
    ("roles", ["phase=generate"]),
    ("roles", ["rank=2=computing"]),
]


@pytest.mark.parametrize(("name", "fixes"), FIXES)
def test_a_predicted_step_is_that_of_the_fixed_job(name: str, fixes: list[str]) -> None:
    predicted = Replays(job(name)).trial([*map(parse_fix, fixes)])
    fixed = Replays(job(name, plain=True)).step_ns
    assert predicted.step_ns == pytest.approx(fixed, rel=0.02)
    assert predicted.saves_ns == Replays(job(name)).step_ns - predicted.step_ns > 0


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize(("name", "fixes"), FIXES)
@pytest.mark.thorough
def test_the_same_of_other_seeds(name: str, fixes: list[str], seed: int) -> None:
    other = f"{name} {seed}"
    JOBS[other] = replace(JOBS[name], seed=seed)
    predicted = Replays(job(other)).trial([*map(parse_fix, fixes)])
    assert predicted.step_ns == pytest.approx(Replays(job(other, plain=True)).step_ns, rel=0.02)


#: what is planted in the stages of pipelines, and what fixes it
STAGES = {
    "stage": ({2: Extra(computing=1.4)}, ["stage=2"]),
    "first stage": ({0: Extra(computing=1.3)}, ["stage=0"]),
    "loader": ({1: Extra(loader_ms=5.0)}, ["{script}:{line}@1"]),
    "both": (LATE_STAGES, ["stage=2", "{script}:{line}@1"]),
}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("schedule", ["1f1b", "gpipe", "interleaved", "dualpipe"])
@pytest.mark.parametrize("planted", STAGES)
@pytest.mark.thorough
def test_the_same_of_all_schedules(schedule: str, planted: str, seed: int) -> None:
    script = DUALPIPE_SCRIPT if schedule == "dualpipe" else PIPELINE_SCRIPT
    line = TrainingScript(script, str(script)).line("for tokens in loader:")
    extra, fixes = STAGES[planted]
    name = f"{planted} {schedule} {seed}"
    JOBS[name] = replace(JOBS[f"late {schedule}"], extra=extra, seed=seed, steps=2)
    asked = [parse_fix(fix.format(script=script.name, line=line)) for fix in fixes]
    predicted = Replays(job(name)).trial(asked)
    assert predicted.step_ns == pytest.approx(Replays(job(name, plain=True)).step_ns, rel=0.02)


@pytest.mark.parametrize(("name", "fix"), [("whole late", "rank=5"), ("whole stage", "stage=1")])
@pytest.mark.thorough
def test_the_same_of_jobs_of_eight_ranks(name: str, fix: str) -> None:
    predicted = Replays(job(name)).trial([parse_fix(fix)])
    assert predicted.step_ns == pytest.approx(Replays(job(name, plain=True)).step_ns, rel=0.02)


@pytest.mark.parametrize("name", ["balanced", "loader", "sends", "partial", "absent", *whole("hosts")])
def test_a_replay_as_measured_is_the_step_that_was(name: str) -> None:
    order = order_of(job(name))
    times = order.times(delays=True)
    measured = order.step_times(order.start, order.end)
    assert np.abs(order.step_times(times.start, times.end) - measured).max() <= 0.001 * measured.min()
    assert Replays(job(name)).error <= 0.001


def test_no_step_is_told_to_take_longer_without_delays() -> None:
    """Without them its first operation begins beside the step before, and its last one ends no sooner."""
    answer = what_if(job("sends"))
    assert answer.no_delay_ns > answer.step_ns
    sentence = next(words for words in whatif_sentences(answer) if words.startswith("Without delays"))
    assert f"as long as usual, a step would take {format_duration(answer.ideal_ns)}: slowdown" in sentence


def test_single_fixes_are_ranked_by_what_they_save() -> None:
    answer = what_if(job("both"))
    saved = [trial.saves_ns for trial in answer.trials]
    assert saved == sorted(saved, reverse=True)
    assert {"rank=1", "rank=2"} <= {trial.fixes[0].text for trial in answer.trials[:4]}
    single = {trial.fixes[0].text: trial.saves_ns for trial in answer.trials}
    both = Replays(job("both")).trial([parse_fix("rank=1"), parse_fix("rank=2")])
    assert both.saves_ns >= max(single["rank=1"], single["rank=2"])


def test_the_late_rank_makes_the_slowdown_and_is_critical_until_it_is_fixed() -> None:
    answer = what_if(job("loader"))
    assert answer.slowdown > 1.3
    assert max(answer.by_rank, key=lambda rank: answer.by_rank[rank]) == 2
    assert max(answer.by_kind, key=lambda kind: answer.by_kind[kind]) == "idle host.dataloader"
    assert answer.worst_workers == pytest.approx(1, abs=0.02)
    assert answer.last_stage is None
    assert answer.critical is not None
    assert (answer.critical.rank, answer.critical.reason) == (2, "idle")
    fixed = what_if(job("loader"), [parse_fix("rank=2")])
    assert fixed.critical is not None
    assert fixed.critical.reason == "computing"


def test_a_job_without_operations_has_no_critical_rank() -> None:
    answer = what_if(job("late"))
    assert "Rank 3 is critical" in " ".join(whatif_sentences(answer))
    assert "critical" not in " ".join(whatif_sentences(replace(answer, critical=None)))
    assert critical_words(job("late"), None) == ""


@pytest.mark.parametrize("fixes", [[], [NO_JITTER]])
def test_a_missing_rank_that_all_wait_for_is_critical(fixes: list[Fix]) -> None:
    """Rank 2 is missing and late: the chain of a step is what it did, and no fix changes that."""
    answer = what_if(job("absent"), fixes)
    critical = answer.critical
    assert critical is not None and critical.rank is None
    assert critical.share >= critical.missing > 0.75
    assert critical.delayed == 0
    sentences = " ".join(whatif_sentences(answer))
    assert f"are missing ranks: {critical.share * 100:.0f} % of the longest chain." in sentences
    assert f"Waiting for missing ranks is {critical.missing * 100:.0f} % of the longest chain" in sentences
    assert "no known reason" not in sentences
    assert critical_words(job("absent"), critical) == "missing ranks are critical"


def test_the_longest_chain_is_as_long_as_the_step() -> None:
    """A missing rank comes after 210 µs, and 1 µs of transfer follows: from the start of the step."""
    computing = {rank: [Work(TimeClass.COMPUTING, ns, "MatMul")] for rank, ns in ((0, 10_000), (1, 210_000))}
    critical = what_if(simulate([Meeting("a", (0, 1), computing)], 2, here=(0,))).critical
    assert critical is not None
    assert (critical.rank, critical.share, critical.missing) == (None, 1, 210 / 211)


@pytest.mark.parametrize("name", ["balanced", "pipeline-dualpipe"])
def test_a_job_without_slow_work_has_no_slowdown(name: str) -> None:
    """Collectives of the second overlap computing, differently in each step."""
    assert what_if(job(name)).slowdown == pytest.approx(1, abs=0.005)


def test_a_slow_stage_is_known_by_the_last_stage() -> None:
    answer = what_if(job("stage"))
    assert answer.last_stage is not None
    assert answer.last_stage > 1
    assert answer.trials[0].fixes[0].text == "stage=1"


def test_a_chain_of_ranks_that_are_all_here_waits_for_none_that_is_missing() -> None:
    critical = what_if(job("late")).critical
    assert critical is not None
    assert critical.delayed < 0.001 and critical.missing == 0
    sentences = " ".join(whatif_sentences(what_if(job("late"))))
    assert "missing" not in sentences and "no known reason" not in sentences


@pytest.mark.parametrize(
    ("here", "planes", "reason"),
    [((0, 1), False, "transfer"), ((0,), False, "communication"), ((0,), True, "transfer")],
)
def test_what_may_be_waiting_is_called_no_transfer(here: tuple[int, ...], planes: bool, reason: str) -> None:
    ranks = {rank: [Work(TimeClass.COMPUTING, 1_000, "MatMul")] for rank in (0, 1)}
    small = simulate([Meeting("a", (0, 1), ranks, transfer_ns=90_000)], 2, planes=planes, here=here)
    critical = what_if(small).critical
    assert critical is not None
    assert critical.reason == reason


def test_a_step_of_ranks_that_are_not_aligned_is_the_longest_of_those_that_are() -> None:
    """Without anything that ranks share, their clocks tell nothing of each other."""
    late = job("loader")
    alone = [job_of([rank]) for rank in late.ranks]
    apart = job_of([Rank(rank.number, without_groups(rank.digest), "") for rank in late.ranks])
    assert apart.clocks.parts == len(alone) == 4
    longest = np.max([Replays(one).steps for one in alone], axis=0)
    assert (Replays(apart).steps == longest).all()
    assert "The clocks of 4 parts of the job are not aligned" in " ".join(whatif_sentences(what_if(apart)))


def without_groups(digest: Digest) -> Digest:
    """Return a digest of which each group is known by a name of its own."""
    rank = digest.identity.rank
    groups = [
        replace(group, key=f"{rank} {place}", communicator="", global_ranks=(), size=0)
        for place, group in enumerate(digest.groups)
    ]
    return replace(digest, groups=tuple(groups))


def test_lanes_of_ranks_that_are_not_aligned_begin_together() -> None:
    late = job("loader")
    behind = [replace(rank, digest=without_groups(rank.digest)) for rank in late.ranks]
    apart = Replays(job_of([Rank(rank.number, hours_later(rank.digest), "") for rank in behind]))
    lanes = apart.outcome(()).lanes
    start, end = lanes.step_span(0)
    assert end - start == apart.steps[0]
    for place in range(4):
        alone = Replays(job_of([apart.order.job.ranks[place]])).outcome(()).lanes
        begin, length = alone.step_span(0)[0], end - start
        edges = np.linspace(0, length, 5).astype(np.int64)
        assert (lanes.classes(0, place, start + edges) == alone.classes(0, 0, begin + edges)).all()
        assert lanes.classes(0, place, start + edges).any()


def hours_later(digest: Digest) -> Digest:
    """Return a digest on a clock that is as many hours ahead as the number of its rank."""
    ns = digest.identity.rank * 3_600_000_000_000
    steps, collectives = digest.steps, digest.collectives
    moved = {name: getattr(steps, name) + ns for name in ("host_start", "start", "end")}
    ends = {name: getattr(collectives, name) + ns for name in ("start", "end")}
    return replace(
        digest,
        boundaries=digest.boundaries + ns,
        steps=replace(steps, **moved),
        collectives=replace(collectives, **ends),
    )


def test_no_fix_makes_a_missing_rank_earlier() -> None:
    replays = Replays(job("absent"))
    assert (replays.order.rank == STAND_IN).any()
    ideal = replays.mean_step(replays.durations.ideal)
    assert ideal == pytest.approx(replays.step_ns, rel=0.02)
    assert all(trial.saves_ns < 0.01 * replays.step_ns for trial in what_if(job("absent")).trials)
