"""Two simulated jobs, one with something planted: it is found on its rank, with what all lose by it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.job.planted import job, truth
from tracetui.analysis.health.facts import Doubt, HealthFacts
from tracetui.analysis.health.finding import Severity
from tracetui.cli.commands.check import _check_regressions
from tracetui.comparison.changes import moved_roots
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.job_part import ComparedRoot
from tracetui.comparison.memory_rows import ALIVE
from tracetui.comparison.memory_use import Holder, MemoryUse
from tracetui.comparison.regressions import parse_regression
from tracetui.export.comparison.document import comparison_json
from tracetui.export.comparison.text import comparison_text
from tracetui.export.sentences.notes import comparison_notes
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.comparison import EVERY, WATERFALL
from tracetui.export.text import cell_width
from tracetui.job.compare_jobs import Incomparable, compare_jobs
from tracetui.job.digest_run import run_of_digest
from tracetui.job.health import job_trust
from tracetui.job.job import job_of
from tracetui.job.roots import UNMATCHED
from tracetui.job.run_columns import StepSumColumns


def compared(name: str) -> Comparison:
    return compare_jobs(job(name, plain=True), job(name), ("base", "other"))


def roots(comparison: Comparison) -> tuple[ComparedRoot, ...]:
    assert comparison.job is not None
    return comparison.job.roots


def test_a_late_rank() -> None:
    """Rank 3 works 4 ms longer in Python in each step, and 3 others wait for it."""
    comparison, planted_truth = compared("late"), truth("late")
    (planted,) = planted_truth.roots
    assert comparison.job is not None
    first = roots(comparison)[0]
    assert (first.rank, first.kind, first.reason) == (3, "idle", planted.cause)
    assert first.frame is not None
    assert (first.frame.file, first.frame.line) == planted.line[:2]
    steps = len(comparison.other.numbers)
    assert float(first.delta_ns) * steps == pytest.approx(planted.lost_ns, rel=0.01)
    assert float(comparison.step.delta_ns) == pytest.approx(4e6, rel=0.01)
    assert {row.rank for row in comparison.job.ranks} == set(range(4))
    assert all(float(row.delta_ns) == pytest.approx(4e6, rel=0.01) for row in comparison.job.ranks)
    assert "a step in all, " in verdict(comparison)
    assert f"more than in BASE: rank 3, {planted.cause} at train_hybrid.py({first.frame.line})." in verdict(
        comparison
    )


def test_sums_hold() -> None:
    comparison = compared("late")
    assert comparison.job is not None
    assert sum(row.delta_ns for row in comparison.waterfall) == comparison.step.delta_ns
    for side in ("base_ns", "other_ns"):
        assert sum(getattr(row, side) for row in roots(comparison)) == getattr(comparison.job.waits, side)
        ranks = [getattr(row, side) for row in comparison.job.ranks]
        assert sum(ranks) / len(ranks) == getattr(comparison.step, side)
    for row in comparison.job.ranks:
        assert sum(term.delta_ns for term in row.waterfall) == row.delta_ns


@pytest.mark.parametrize("width", [80, 120, 200])
def test_all_forms_show_ranks_and_roots(width: int) -> None:
    comparison = compared("late")
    assert comparison.job is not None
    for asked in (None, *EVERY):
        lines = comparison_text(comparison, asked, 0, width).splitlines()
        assert max(map(cell_width, lines)) <= width
    text = comparison_text(comparison, None, None, width)
    root, rank = roots(comparison)[0], next(row for row in comparison.job.ranks if row.rank == 3)
    assert root.frame is not None
    assert f"rank 3, {root.reason} at train_hybrid.py({root.frame.line})" in text
    largest = max(rank.waterfall, key=lambda term: abs(term.delta_ns))
    assert f"rank 3, {largest.name} +" in text
    answer = json.loads(comparison_json(comparison))
    assert [row["rank"] for row in answer["ranks"]] == [row.rank for row in comparison.job.ranks]
    for row in answer["ranks"]:
        assert sum(term["delta_ns"] for term in row["waterfall"]) == pytest.approx(row["delta_ns"], abs=30)
    assert answer["other"]["ranks"] == list(range(4))
    first = answer["roots"][0]
    assert (first["rank"], first["cause"], first["line"]) == (3, root.reason, root.frame.line)


def test_a_job_with_itself() -> None:
    comparison = compare_jobs(job("late"), job("late"), ("a", "b"))
    assert verdict(comparison).startswith("Nothing changed: a step takes ")
    assert not any(row.delta_ns for table in (WATERFALL, *EVERY) for row in table.rows(comparison))
    assert all(len(table.rows(comparison)) for table in EVERY if table.by in ("rank", "root"))


def test_waits_that_steps_do_not_tell_from_chance_have_no_reason() -> None:
    comparison = compared("late")
    assert comparison.job is not None
    by_chance = replace(comparison.job, waits=replace(comparison.job.waits, changed=False))
    assert ": rank 3" in verdict(comparison)
    sentence = verdict(replace(comparison, job=by_chance))
    assert re.search(
        r"Waiting for each other costs the ranks \S+ ms a step in all, and \S+ \S+ in BASE\.$", sentence
    )


def test_ranks_that_one_job_lacks_are_not_compared() -> None:
    base, other = job("late", plain=True), job("late")
    part = job_of([rank for rank in other.ranks if rank.number in (2, 3)])
    comparison = compare_jobs(base, part, ("a", "b"))
    assert comparison.job is not None
    assert [row.rank for row in sorted(comparison.job.ranks, key=lambda row: row.rank)] == [2, 3]
    assert any(
        note.startswith("only BASE has ranks 0, 1: not compared") for note in comparison_notes(comparison)
    )
    checked = _check_regressions(comparison, (parse_regression("1%"),))
    assert any(note.startswith("only BASE has ranks 0, 1: not compared") for note in checked.notes)
    assert "2 ranks (2 to 3)" in comparison_text(comparison, None, None, 100)
    with pytest.raises(Incomparable, match="BASE has rank 0, OTHER ranks 2, 3"):
        compare_jobs(job_of(base.ranks[:1]), part, ("a", "b"))


def test_ranks_that_one_job_lacks_still_tell_why_others_waited_there() -> None:
    """Rank 3 is late in both; only OTHER has it, and so can say at which line."""
    base, other = job("late"), job("late")
    comparison = compare_jobs(job_of(base.ranks[:3]), other, ("a", "b"))
    lost = {(root.kind, bool(root.frame)): (root.base_ns, root.other_ns) for root in roots(comparison)[:2]}
    assert [side > 0 for side in lost["absent", False]] == [True, False]
    assert [side > 0 for side in lost["idle", True]] == [False, True]
    assert comparison.job is not None
    assert sum(root.other_ns for root in roots(comparison)) == comparison.job.waits.other_ns
    steps = len(other.common_steps)
    of_common = other.waits.wait_ns[other.waits.rank_place < 3]
    assert comparison.job.waits.other_ns * steps == int(of_common.sum())


def test_clocks_that_are_not_aligned_put_ranks_of_a_comparison_in_doubt() -> None:
    """As they do those of the job alone."""
    whole = job("late")
    apart = job_of([whole.ranks[0], whole.ranks[3]])
    assert apart.clocks.parts == 2, "they are in no group together"
    for pair in ((whole, apart), (apart, whole)):
        comparison = compare_jobs(*pair, ("a", "b"))
        assert comparison.trust["ranks"] == job_trust(apart)["ranks"] == "doubtful"
    assert compare_jobs(whole, whole, ("a", "b")).trust["ranks"] == "good"


def test_waits_for_another_rank_than_before_are_a_change() -> None:
    """What ranks lose in all is the same, and so are the steps of a mean rank."""
    comparison = compared("late")
    assert comparison.job is not None
    first = roots(comparison)[0]
    gone = replace(first, rank=1, base=first.other, other=first.base)
    waits = comparison.job.waits
    part = replace(comparison.job, roots=(first, gone), waits=replace(waits, base=waits.other, changed=False))
    same = compare_jobs(job("late"), job("late"), ("a", "b"))
    said = verdict(replace(same, step=replace(same.step, other=same.step.base), job=part))
    assert "but for another reason: rank 3, host.python" in said
    assert "instead of rank 1, host.python" in said
    assert moved_roots(part) == (first, gone)
    assert moved_roots(replace(part, roots=(first,))) is None
    assert moved_roots(replace(part, roots=(gone,))) is None
    untold = replace(first, kind=UNMATCHED, reason="", frame=None)
    assert moved_roots(replace(part, roots=(untold, gone))) is None


def test_a_rank_of_which_no_step_is_believed_is_in_no_mean() -> None:
    """A file that is cut in its first step has half of one, and would count as a whole one."""
    whole = job("late")
    *ranks, last = whole.ranks
    facts = last.digest.facts
    assert facts is not None
    for steps, members in (
        (last.digest.walls.number, (0, 1, 2)),
        (last.digest.walls.number[1:], (0, 1, 2, 3)),
    ):
        health = replace(facts.health, steps=tuple(steps.tolist()))
        cut = replace(last, digest=replace(last.digest, facts=replace(facts, health=health)))
        for pair in ((whole, job_of([*ranks, cut])), (job_of([*ranks, cut]), whole)):
            comparison = compare_jobs(*pair, ("a", "b"))
            assert comparison.base.members == comparison.other.members == members
            assert ("no step of rank 3 is to be believed" in str(comparison.notes)) == (len(members) == 3)
    one = job_of([cut])
    assert compare_jobs(one, one, ("a", "b")).base.members == (3,)


def test_waits_are_of_a_step_where_ranks_number_their_steps_apart() -> None:
    """As `ranks` has them: a job has as many steps as each of its ranks."""
    whole = job("late")
    *ranks, last = whole.ranks
    walls = replace(last.digest.walls, number=last.digest.walls.number + 100)
    apart = job_of([*ranks, replace(last, digest=replace(last.digest, walls=walls))])
    for pair in ((whole, apart), (apart, whole)):
        comparison = compare_jobs(*pair, ("a", "b"))
        assert comparison.job is not None
        base, other = comparison.job.waits.base_ns, comparison.job.waits.other_ns
        assert float(base) == pytest.approx(float(other), rel=0.01)
        assert base > 0


def test_a_rank_of_no_number_is_compared_where_both_jobs_have_as_many() -> None:
    """Its place among names tells the number that it has on the other side, if the others are there, too."""
    whole = job("late")
    unknown = [
        replace(rank, digest=replace(rank.digest, identity=replace(rank.digest.identity, rank=-1)))
        for rank in whole.ranks
    ]
    assert compare_jobs(job_of(unknown), whole, ("a", "b")).base.members == (0, 1, 2, 3)
    for pair in ((job_of(unknown[:1]), whole), (whole, job_of(unknown[:1]))):
        with pytest.raises(Incomparable, match="nothing tells which rank of one job is which of the other"):
            compare_jobs(*pair, ("a", "b"))


def test_waiting_and_moving_stand_together_where_one_rank_does_not_tell_them_apart() -> None:
    whole = job("late")
    first, *ranks = whole.ranks
    terms = first.digest.terms
    names = {first.digest.text(place): place for place in terms.term.tolist()}
    wait, transfer = (names[f"communication.{part}"] for part in ("wait", "transfer"))
    texts = (*first.digest.texts, "communication.unsplit")
    unsplit = np.where(np.isin(terms.term, [wait, transfer]), len(texts) - 1, terms.term)
    digest = replace(first.digest, texts=texts, terms=replace(terms, term=unsplit))
    mixed = job_of([replace(first, digest=digest), *ranks])
    for name, pair in (("OTHER", (whole, mixed)), ("BASE", (mixed, whole))):
        comparison = compare_jobs(*pair, ("a", "b"))
        times = {term.name: (term.base_ns, term.delta_ns) for term in comparison.waterfall}
        assert not any(times["communication.wait"] + times["communication.transfer"])
        assert times["communication.unsplit"][1] == 0
        assert not comparison.base.communication.is_split
        assert any(note.startswith(f"some ranks of {name} do not tell waiting") for note in comparison.notes)


def test_memory_is_compared_of_ranks_of_which_both_jobs_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rank that holds most tells in BASE alone: its peak is no change."""
    one = job("late", plain=True)
    uses = [MemoryUse({"PTA": size}, {}, {}) for size in (10, 20, 30, 90)]
    runs = [
        replace(run_of_digest(rank.digest, ""), memory=use)
        for side in (uses, [*uses[:3], None])
        for rank, use in zip(one.ranks, side)
    ]
    of_sides = iter(runs)
    monkeypatch.setattr("tracetui.job.compare_jobs.run_of_digest", lambda *_: next(of_sides))
    comparison = compare_jobs(one, one, ("a", "b"))
    (row,) = comparison.memory
    assert row.name == "peak allocated, PTA"
    assert row.base_ns == row.other_ns == 30
    assert "memory is compared of ranks 0, 1, 2 alone: of others not both sides tell" in comparison.notes


def test_what_is_alive_at_the_peak_is_told_of_the_same_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rank holds blocks of its own, and the fullest of BASE is not that of OTHER."""
    one = job("late", plain=True)
    runs = [
        replace(
            run_of_digest(rank.digest, ""),
            memory=MemoryUse({"PTA": size}, {}, {Holder(f"of rank {rank.number}", None): (90, 1)}),
        )
        for peaks in ((100, 99, 98, 97), (100, 101, 98, 97))
        for rank, size in zip(one.ranks, peaks)
    ]
    of_sides = iter(runs)
    monkeypatch.setattr("tracetui.job.compare_jobs.run_of_digest", lambda *_: next(of_sides))
    comparison = compare_jobs(one, one, ("a", "b"))
    alive = [row for row in comparison.memory if row.what == ALIVE]
    assert [(row.name, row.status, int(row.delta_ns)) for row in alive] == [("of rank 1", "matched", 0)]
    assert "what is alive at the peak of memory is told of rank 1" in comparison.notes


def test_a_job_has_the_scheduler_where_all_of_its_ranks_have_it() -> None:
    whole = job("late")
    ranks = []
    for rank in whole.ranks:
        assert rank.digest.facts is not None
        facts = replace(rank.digest.facts, scheduler=True)
        ranks.append(replace(rank, digest=replace(rank.digest, facts=facts)))
    comparison = compare_jobs(job_of(ranks), job_of([*ranks[:-1], whole.ranks[-1]]), ("a", "b"))
    assert (comparison.base.has_scheduler, comparison.other.has_scheduler) == (True, False)


def test_a_doubtful_rank_puts_the_job_in_doubt() -> None:
    """A finding of the last rank counts as one of the first."""
    whole = job("late")
    *ranks, last = whole.ranks
    assert last.digest.facts is not None
    cut = Doubt("file.truncated", int(Severity.DOUBTFUL), ("idle",), "the file is cut off")
    facts = replace(last.digest.facts, health=HealthFacts(doubts=(cut,), findings=(cut.id,)))
    doubtful = job_of([*ranks, replace(last, digest=replace(last.digest, facts=facts))])
    for pair in ((whole, doubtful), (doubtful, whole)):
        comparison = compare_jobs(*pair, ("a", "b"))
        assert comparison.trust["idle"] == "doubtful"
        assert cut.id in comparison.findings
        assert "cannot be believed in all: changes of idle time are not certain." in verdict(comparison)


def test_steps_that_differ_count_one_by_one() -> None:
    """Where a rank lacks the first step, means are of all steps of all ranks; those of all tell of chance."""
    whole = job("late")
    first, *later_ranks = whole.ranks
    digest, terms = first.digest, first.digest.terms
    assert digest.facts is not None
    steps = digest.facts.steps
    whole_numbers = tuple(digest.walls.number.tolist())
    of_devices = digest.device_terms
    parts = np.split(digest.parts.ns, np.cumsum(digest.part_counts)[:-1])
    less = replace(
        digest,
        facts=replace(digest.facts, steps=steps - 1, left_out=whole_numbers[:1]),
        walls=digest.walls.at(slice(1, None)),
        terms=replace(terms.at(terms.wall > 0), wall=terms.wall[terms.wall > 0] - 1),
        device_terms=replace(
            of_devices.at(of_devices.wall > 0), wall=of_devices.wall[of_devices.wall > 0] - 1
        ),
        parts=StepSumColumns(np.concatenate([columns[1:] for columns in parts])),
    )
    comparison = compare_jobs(whole, job_of([replace(first, digest=less), *later_ranks]), ("a", "b"))
    assert len(comparison.base.wall_ns) == steps
    assert len(comparison.other.wall_ns) == 4 * steps - 1
    lengths = [
        digest.walls.end - digest.walls.start for digest in (less, *(rank.digest for rank in later_ranks))
    ]
    assert comparison.step.other_ns == Fraction(sum(int(ns.sum()) for ns in lengths), 4 * steps - 1)
    assert f"{4 * steps - 1} steps of ranks" in comparison_text(comparison, None, None, 200)
    shared = comparison.base.numbers[1:]
    assert len(shared) < 3
    assert not comparison.knows_spread
    assert comparison.other.walls.left_out == (), "another rank kept it"
    assert {len(total.steps) for total in comparison.other.classes.values()} == {len(shared)}
    assert {len(total.steps) for total in comparison.other.causes.values()} == {len(shared)}
    kept = np.isin(whole.waits.step, shared)
    assert comparison.job is not None
    assert comparison.job.waits.other_ns == Fraction(int(whole.waits.wait_ns[kept].sum()), len(shared))
    assert sum(row.delta_ns for row in comparison.waterfall) == comparison.step.delta_ns
