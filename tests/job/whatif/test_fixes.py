"""How people name fixes, and what is said of names that name nothing."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.job import planted
from tests.job.simulated import Meeting, Work, simulate
from tracetui.export.job.whatif import whatif_sentences
from tracetui.job.digest import CollectiveColumns, Digest, DigestLine, RangeColumns, StepColumns, TimeClass
from tracetui.job.job import job_of
from tracetui.job.whatif.answer import Replays, what_if
from tracetui.job.whatif.critical import CriticalChains
from tracetui.job.whatif.durations import Durations, UnknownFix
from tracetui.job.whatif.fixes import NO_JITTER, Fix, FixScope, Target, parse_fix
from tracetui.job.whatif.order import IDLE, cells_in_ranges, order_of

LINE = DigestLine("/job/train.py", 88, "train", False)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("rank=7", Fix(Target.RANK, rank=7)),
        ("rank=7=idle", Fix(Target.RANK, rank=7, part="idle")),
        ("train.py:88@7=2x", Fix(Target.LINE, file="train.py", line=88, rank=7, factor=2.0)),
        ("phase=a b:5", Fix(Target.PHASE, phase="a b:5")),
        ("stage=3", Fix(Target.STAGE, stage=3)),
        ("link=0-1=2x", Fix(Target.LINK, link=(0, 1), factor=2.0)),
        ("link='0-1'=2.5x", Fix(Target.LINK, link=(0, 1), factor=2.5)),
        ("train.py:88", Fix(Target.LINE, file="train.py", line=88)),
        ("a/train.py:88@7", Fix(Target.LINE, file="a/train.py", line=88, rank=7)),
        ("train.py:88=all", Fix(Target.LINE, file="train.py", line=88, scope=FixScope.ALL)),
        (
            "C:\\train.py:88@0=peers",
            Fix(Target.LINE, file="C:\\train.py", line=88, rank=0, scope=FixScope.PEERS),
        ),
    ],
)
def test_a_fix_is_what_it_says(text: str, fix: Fix) -> None:
    assert parse_fix(text) == fix
    assert parse_fix(fix.text) == fix


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        *((text, "a fix is one of FILE:LINE") for text in ("", "rank=", "rank=x", "stage", "link=0-1")),
        *((text, "a fix is one of FILE:LINE") for text in ("train.py", "x:y")),
        *((f"link=0-1={factor}x", "a link is as fast as it was at 1x") for factor in (0, 0.5, 1)),
        ("link=3-3=2x", "a link is between two ranks"),
    ],
)
def test_what_names_nothing_is_an_error(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse_fix(text)


def test_the_ends_of_a_link_have_no_order() -> None:
    assert parse_fix("link=1-0=2x") == parse_fix("link=0-1=2x")


@pytest.mark.parametrize(
    ("name", "concerned"),
    [
        ("train.py", True),
        ("job/train.py", True),
        ("/job/train.py", True),
        ("rain.py", False),
        ("b/train.py", False),
    ],
)
def test_a_file_is_known_by_the_end_of_its_path(name: str, concerned: bool) -> None:
    assert Fix(Target.LINE, file=name, line=88).concerns(LINE) is concerned
    assert not Fix(Target.LINE, file=name, line=89).concerns(LINE)


def replays(idle: dict[int, int], transfer: int = 1_000) -> Replays:
    """Return two all-reduces of ranks that compute 100 µs before each and are idle before the second."""
    ranks = tuple(idle)
    computing = [Work(TimeClass.COMPUTING, 100_000, "MatMul")]
    before = {
        rank: [*computing, *([Work(TimeClass.IDLE, ns, "host.python", LINE)] if ns else [])]
        for rank, ns in idle.items()
    }
    first = Meeting("a", ranks, dict.fromkeys(ranks, computing), transfer)
    return Replays(simulate([first, Meeting("a", ranks, before, transfer)], len(ranks)))


def step_with(job: Replays, *texts: str) -> int:
    return job.trial([*map(parse_fix, texts)]).step_ns


def test_a_rank_that_stands_out_loses_what_it_has_beyond_the_others() -> None:
    job = replays({0: 20_000, 1: 90_000, 2: 30_000})
    whole = 2 * (100_000 + 1_000) + 90_000
    assert job.step_ns == whole
    assert step_with(job, "train.py:88") == whole - 70_000  # all have the lower median of the others
    assert step_with(job, "train.py:88=all") == whole - 90_000
    assert step_with(job, "train.py:88@1=all") == whole - 60_000
    assert step_with(job, "train.py:88@0") == whole
    assert step_with(job, "rank=1") == whole - 60_000
    assert step_with(job, "rank=0", "rank=1") == whole - 60_000


def test_where_no_rank_stands_out_all_of_it_goes() -> None:
    job = replays({0: 50_000, 1: 60_000, 2: 50_000})
    assert step_with(job, "train.py:88") == 2 * 101_000
    assert step_with(job, "train.py:88=peers") == 2 * 101_000 + 50_000


@pytest.mark.parametrize("text", ["train.py:88", "train.py:88=all", "train.py:88=2x", "rank=1"])
def test_a_fix_that_is_named_twice_is_made_once(text: str) -> None:
    for idle in ({0: 20_000, 1: 90_000, 2: 30_000}, {0: 50_000, 1: 60_000, 2: 50_000}):
        job = replays(idle, transfer=40_000)
        assert step_with(job, text, text) == step_with(job, text)


@pytest.mark.parametrize(
    "texts",
    [
        ("train.py:88=all", "train.py:88@1=all"),
        ("train.py:88=all", "job/train.py:88=all"),
        ("train.py:88@1=2x", "train.py:88=all"),
    ],
)
def test_idle_time_of_a_line_is_not_taken_from_that_of_another(texts: tuple[str, ...]) -> None:
    """Rank 1 is idle 90 µs for line 88, and 50 µs for line 89: no fix of line 88 takes these."""
    other = DigestLine("/job/train.py", 89, "train", False)
    idle = [Work(TimeClass.IDLE, ns, "host.python", line) for ns, line in ((90_000, LINE), (50_000, other))]
    computing = [Work(TimeClass.COMPUTING, 100_000, "MatMul")]
    before = {0: computing, 1: [*computing, *idle]}
    job = Replays(simulate([Meeting("a", (0, 1), before)], 2))
    assert step_with(job, *texts) == 100_000 + 50_000 + 1_000
    assert step_with(job, *texts, "train.py:89=all") == 100_000 + 1_000


def test_what_has_no_peers_does_not_differ_from_them() -> None:
    """One rank is here: a line has no share beyond its peers, and all of it goes where none is named."""
    job = replays({0: 20_000})
    assert step_with(job, "train.py:88") == 2 * 101_000
    with pytest.raises(UnknownFix, match="no other rank does the same work as those that are idle for train"):
        step_with(job, "train.py:88=peers")


def test_a_phase_without_peers_is_no_phase_that_is_slower_than_them() -> None:
    one = job_of([planted.job("roles").ranks[0]])
    assert cells_in_ranges(order_of(one), "update")[0].any()
    with pytest.raises(UnknownFix, match="no other rank does the same work in the phase 'update'"):
        Replays(one).trial([parse_fix("phase=update")])
    assert not any(trial.fixes[0].target is Target.PHASE for trial in what_if(one).trials)


def test_a_phase_and_a_line_in_it_do_not_take_the_same_time_twice() -> None:
    replayed = Replays(planted.job("roles"))
    durations, order = replayed.durations, replayed.order
    line, phase = parse_fix("train_roles.py:25=all"), parse_fix("phase=update")
    parts, _, _ = durations.fixed_parts([line, phase])
    of_line, _, _ = durations.fixed_parts([line])
    of_phase, _, _ = durations.fixed_parts([phase])
    assert (of_line < order.parts).any() and (of_phase < order.parts).any()
    taken = [(order.parts - fixed)[:, IDLE] for fixed in (parts, of_line, of_phase)]
    assert (taken[0] <= taken[1] + taken[2]).all()
    assert (parts <= np.minimum(of_line, of_phase)).all()


@pytest.mark.parametrize("phases", [("outer", "inner"), ("inner", "outer"), ("outer",)])
def test_phases_in_each_other_do_not_take_the_same_time_twice(phases: tuple[str, ...]) -> None:
    """Rank 0 takes 100 µs for the outer phase, 30 of them for the inner one, and rank 1 takes 40 and 10."""
    computing = {
        rank: [Work(TimeClass.COMPUTING, ns, kind) for kind, ns in (("MatMul", rest), ("Add", inner))]
        for rank, (rest, inner) in enumerate([(70_000, 30_000), (30_000, 10_000)])
    }
    ranks = [
        replace(rank, digest=_with_phases(rank.digest, computing[rank.number][0].ns))
        for rank in simulate([Meeting("a", (0, 1), computing)], 2).ranks
    ]
    durations = Replays(job_of(ranks)).durations
    parts, _, _ = durations.fixed_parts([parse_fix(f"phase={name}") for name in phases])
    assert parts.sum(axis=1)[durations.order.is_work].tolist() == [40_000, 40_000]


def _with_phases(digest: Digest, outer_ns: int) -> Digest:
    """Return a digest whose first work is a phase, and what begins in it `outer_ns` later one inside it."""
    begin, end = digest.boundaries[:2].tolist()
    segment = digest.cells.segment + (np.arange(len(digest.cells)) > 0)
    name = len(digest.texts)
    starts = np.array([begin, begin + outer_ns])
    return replace(
        digest,
        texts=(*digest.texts, "outer", "inner"),
        boundaries=np.insert(digest.boundaries, 1, begin + outer_ns),
        cells=replace(digest.cells, segment=segment),
        ranges=RangeColumns(np.array([name, name + 1]), starts, np.array([end, end])),
    )


def test_a_phase_is_compared_as_a_whole() -> None:
    """Both ranks take 100 µs for it, rank 0 more of them before the first collective than rank 1."""
    before = [
        {rank: [Work(TimeClass.COMPUTING, ns, "MatMul")] for rank, ns in enumerate(both)}
        for both in [(60_000, 40_000), (40_000, 60_000)]
    ]
    ranks = []
    for rank in simulate([Meeting("a", (0, 1), work) for work in before], 2).ranks:
        digest = rank.digest
        whole = RangeColumns(np.array([len(digest.texts)]), digest.boundaries[:1], digest.boundaries[-1:])
        ranks.append(replace(rank, digest=replace(digest, texts=(*digest.texts, "both"), ranges=whole)))
    assert Replays(job_of(ranks)).trial([parse_fix("phase=both")]).saves_ns == 0


def test_a_faster_link_moves_sooner() -> None:
    job = replays({0: 0, 1: 0}, transfer=40_000)
    assert step_with(job, "link=0-1=2x") == 2 * (100_000 + 20_000)


def test_of_two_factors_of_a_link_the_larger_counts() -> None:
    job = replays({0: 0, 1: 0}, transfer=40_000)
    assert step_with(job, "link=0-1=2x", "link=0-1=4x") == step_with(job, "link=0-1=4x")


def test_links_that_are_as_slow_are_faster_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three ranks two links are ten times as slow as the third: neither is the slowest alone."""
    speeds = {(0, 1): 1.0, (1, 2): 1.0, (0, 2): 10.0}
    links = [
        SimpleNamespace(ends=SimpleNamespace(src=src, dst=dst), gb_per_s=speed)
        for (src, dst), speed in speeds.items()
    ]
    monkeypatch.setattr("tracetui.job.whatif.durations.job_links", lambda _: links)
    job = replays({0: 0, 1: 0, 2: 0}, transfer=40_000)
    assert step_with(job, "link=0-1=2x") == step_with(job, "link=1-2=2x") == job.step_ns
    assert step_with(job, "link=0-1=2x", "link=1-2=4x") == 2 * (100_000 + 20_000)
    assert step_with(job, "link=0-1=20x", "link=1-2=20x") == 2 * (100_000 + 4_000)


def test_what_more_ranks_move_gains_by_no_link_of_unknown_speed() -> None:
    job = replays({0: 0, 1: 0, 2: 0}, transfer=40_000)
    with pytest.raises(UnknownFix, match="how fast ranks 0 and 1 exchange data is not recorded"):
        step_with(job, "link=0-1=2x")


def test_fixes_of_stages_have_no_order() -> None:
    """One stage takes the time of the others; two of two stages both take the mean."""
    job = Replays(planted.job("stage"))
    both = step_with(job, "stage=0", "stage=1")
    assert step_with(job, "stage=1", "stage=0") == both
    assert step_with(job, "stage=1") < both < step_with(job, "stage=0")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rank=9", "there is no rank 9 here"),
        ("stage=1", "there is no stage 1 here"),
        ("link=0-9=2x", "ranks 0 and 9 have no collective in common here"),
        ("other.py:88", "no rank was idle for other.py:88"),
        ("balance=experts", "there is no pair of all-to-alls"),
    ],
)
def test_what_is_not_there_cannot_be_fixed(text: str, sentence: str) -> None:
    with pytest.raises(UnknownFix, match=sentence):
        step_with(replays({0: 0, 1: 10_000}), text)


def test_jitter_between_steps_is_tried_where_there_are_several() -> None:
    one, several = what_if(replays({0: 0, 1: 0}).order.job), what_if(planted.job("balanced"))
    assert not any(NO_JITTER in trial.fixes for trial in one.trials)
    assert any(NO_JITTER in trial.fixes for trial in several.trials)


def test_links_stay_fixed_where_jitter_goes_as_well() -> None:
    """Both all-reduces move 40 µs, so there is no jitter: what a link gains is gained beside it, too."""
    job = replays({0: 0, 1: 0}, transfer=40_000)
    link = parse_fix("link=0-1=2x")
    for fixes in ((link, NO_JITTER), (NO_JITTER, link)):
        assert job.trial(fixes).step_ns == 2 * (100_000 + 20_000)


def test_work_and_delays_of_the_longest_chain_are_shares_of_one_whole() -> None:
    """Two operations of 100 µs each with 600 µs of delay between them: 25 % are work, and 75 % delay."""
    order = replays({0: 0, 1: 0}, transfer=0).order
    is_second = order.is_work & (order.start > order.start.min())
    delayed = replace(order, delay=order.delay + np.where(is_second, 600_000, 0))
    critical = CriticalChains(delayed, delayed.times(delays=True), delayed.duration).rank()
    assert critical is not None
    assert (critical.share, critical.delayed) == (0.25, 0.75)


@pytest.mark.parametrize("steps", [True, False])
def test_a_recording_without_steps_is_told_to_be_one(steps: bool) -> None:
    meetings = [Meeting("a", (0, 1), {0: [Work(TimeClass.COMPUTING, 100_000, "MatMul")]})]
    sentences = [*whatif_sentences(what_if(simulate(meetings, 2, steps=steps)))]
    assert ("No steps are recorded: a step is the whole recording here." in sentences) is not steps


def test_what_lies_before_the_first_step_is_no_part_of_it() -> None:
    """The step begins with the second collective: what rank 1 did before takes it no time."""
    ranks = []
    for rank in replays({0: 20_000, 1: 90_000}).order.job.ranks:
        begins = rank.digest.collectives.end[:1]
        ranks.append(
            replace(rank, digest=replace(rank.digest, steps=replace(rank.digest.steps, host_start=begins)))
        )
    job = Replays(job_of(ranks))
    assert (job.step_ns, job.error) == (100_000 + 90_000 + 1_000, 0.0)
    assert step_with(job, "rank=1") == 100_000 + 20_000 + 1_000


def test_what_lies_after_the_last_step_is_no_part_of_it() -> None:
    """The step ends with the first collective, and rank 1 works on, as one does after its last `step()`."""
    ranks = []
    for rank in replays({0: 20_000, 1: 90_000}).order.job.ranks:
        ends = rank.digest.collectives.end[:1]
        ranks.append(replace(rank, digest=replace(rank.digest, steps=replace(rank.digest.steps, end=ends))))
    job = Replays(job_of(ranks))
    assert (job.step_ns, job.error) == (100_000 + 1_000, 0.0)


@pytest.mark.parametrize("outside", [0, 3])
def test_work_outside_the_steps_is_not_compared_with_that_of_steps(outside: int) -> None:
    """Both ranks compute 10 times as long before the first step, without a collective, or after the last."""
    computing = [[Work(TimeClass.COMPUTING, 100_000, "MatMul")]] * 4
    computing[outside] = [Work(TimeClass.COMPUTING, 1_000_000, "MatMul")]
    ranks = []
    for rank in simulate([Meeting("a", (0, 1), dict.fromkeys((0, 1), work)) for work in computing], 2).ranks:
        ends = np.delete(rank.digest.collectives.end, outside)
        steps = StepColumns(*(np.repeat(column, 3) for column in vars(rank.digest.steps).values()))
        steps = replace(steps, number=np.arange(3), end=ends, host_start=ends - 101_000)
        columns = vars(rank.digest.collectives).values()
        collectives = CollectiveColumns(*(column[outside == 0 :] for column in columns))
        ranks.append(replace(rank, digest=replace(rank.digest, steps=steps, collectives=collectives)))
    job = Replays(job_of(ranks))
    assert what_if(job_of(ranks)).slowdown == 1 and job.trial([NO_JITTER]).saves_ns == 0


@pytest.mark.parametrize("aligned", [True, False])
def test_a_rank_without_steps_is_no_step_of_its_own(aligned: bool) -> None:
    """Rank 0 has a step for each of two collectives; rank 1 has none, and works on after it."""
    computing = [Work(TimeClass.COMPUTING, 100_000, "MatMul")]
    together = [Meeting("a", (0, 1), {0: computing, 1: computing})] * 2
    apart = [Meeting("b", (0,), {0: computing})] * 2 + [Meeting("c", (1,), {1: computing})] * 2
    alone = Meeting("c", (1,), {1: [Work(TimeClass.COMPUTING, 900_000, "MatMul")]})
    first, second = simulate([*(together if aligned else apart), alone], 2, offsets=[0, 7_000]).ranks
    ranks = [
        replace(first, digest=with_two_steps(first.digest)),
        replace(second, digest=replace(second.digest, steps=StepColumns.empty())),
    ]
    job = Replays(job_of(ranks))
    assert (job.order.steps, job.steps.tolist()) == ((1, 2), [101_000, 101_000])
    if aligned:
        assert job.order.step[job.order.is_work & (job.order.rank == 1)].tolist() == [0, 1, 1]


def with_two_steps(digest: Digest) -> Digest:
    """Return a digest with a step for each of its two collectives, from the end of the one before."""
    ends = digest.collectives.end
    steps = StepColumns(*(np.repeat(column, 2) for column in vars(digest.steps).values()))
    begins = np.append(digest.boundaries[0], ends[0])
    return replace(digest, steps=replace(steps, number=np.array([1, 2]), end=ends, host_start=begins))


def test_each_step_has_a_critical_rank_of_its_own() -> None:
    """Rank 1 is late in the first step, and rank 0, by less, in the second."""
    work = [
        {rank: [Work(TimeClass.COMPUTING, ns, "MatMul")] for rank, ns in enumerate(both)}
        for both in [(100_000, 400_000), (300_000, 100_000)]
    ]
    ranks = simulate([Meeting("a", (0, 1), before) for before in work], 2).ranks
    job = job_of([replace(rank, digest=with_two_steps(rank.digest)) for rank in ranks])
    chains = Replays(job).outcome(()).critical
    found = [chains.rank(step) for step in (0, 1, None)]
    assert [critical and critical.rank for critical in found] == [1, 0, 1]


@pytest.mark.parametrize("kind", ["send", "receive", "SendRecv"])
def test_what_has_no_known_peer_has_no_direction(kind: str) -> None:
    computing = {0: [Work(TimeClass.COMPUTING, 100_000, "MatMul")]}
    assert order_of(simulate([Meeting("a", (0, 1), computing, type=kind)], 2, here=(0,))).kinds == (kind,)


def test_a_fix_that_gains_nothing_is_told_no_second_time() -> None:
    """A step may begin sooner then, and end as before: it is longer, and nothing is lost."""
    answer = what_if(replays({0: 0, 1: 90_000}).order.job, [parse_fix("rank=0")])
    assert next(whatif_sentences(answer)) == "With rank=0 fixed a step of 292 µs gains nothing."


@pytest.mark.parametrize(("ranks", "step"), [(63, 1), (64, 1), (125, 2), (187, 3)])
def test_of_many_ranks_some_that_lie_evenly_are_peers(ranks: int, step: int) -> None:
    """63 of them at most, the first and the last among them, and none of the chosen ones."""
    rank = np.arange(ranks + 1)
    chosen = rank == 1
    peers = np.flatnonzero(Durations._among_peers(chosen, rank))
    others = np.flatnonzero(~chosen)
    assert len(peers) == 63 and (peers[0], peers[-1]) == (0, ranks)
    assert set(np.diff(np.searchsorted(others, peers)).tolist()) <= {step, 2 if ranks == 64 else step}
