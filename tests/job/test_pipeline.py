"""Pipelines of simulated jobs: their schedule, and bubbles that are those of the closed form."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simulator.job.dualpipe import PassKind, dualpipe
from simulator.job.pipeline import CHUNKS, SCHEDULES
from tests.job.planted import job
from tracetui.export.job.pipeline import pipeline_document, pipeline_sentences
from tracetui.job.dualpipe import dualpipe_blocks
from tracetui.job.job import job_of
from tracetui.job.pipeline import Pipeline, find_pipeline
from tracetui.job.pipeline_blocks import (
    BACKWARD,
    BOTH,
    FORWARD,
    GOES_FORWARD,
    INPUTS,
    WEIGHTS,
    StageBlock,
    trim_blocks,
)
from tracetui.job.pipeline_chart import stage_chart
from tracetui.job.whatif.answer import NoReplay, Replays, what_if
from tracetui.job.whatif.order import COMPUTING, COPY

STAGES, MICROBATCHES = 4, 8


def pipeline(name: str) -> Pipeline:
    found = find_pipeline(job(f"pipeline-{name}"))
    assert found is not None
    return found


def working(found: Pipeline, block: StageBlock) -> int:
    """Return how long a block works: what is idle in it is of the bubble."""
    if block.lead_ns or block.trail_ns:
        return (
            int(found.order.end[block.last] - found.order.start[block.first]) - block.lead_ns - block.trail_ns
        )
    return int(found.order.parts[block.work][:, [COMPUTING, COPY]].sum())


@pytest.mark.parametrize(
    ("name", "schedule"),
    [("1f1b", "1f1b"), ("uneven", "1f1b"), ("gpipe", "gpipe"), ("interleaved", "interleaved")],
)
def test_the_schedule_is_recognised(name: str, schedule: str) -> None:
    found = pipeline(name)
    assert found.schedule == schedule
    assert [stage.number for stage in found.stages] == [0, 1, 2, 3]
    assert {stage.microbatches for stage in found.stages} == {MICROBATCHES}
    assert found.chunks == (CHUNKS if schedule == "interleaved" else 1)
    planted = SCHEDULES[schedule]
    for stage in range(STAGES):
        blocks = [block for block in found.blocks if block.stage == stage and block.step == 0]
        ways = [way for block in blocks for way in block.ways]
        expected = [FORWARD if block.forward else BACKWARD for block in planted(stage, STAGES, MICROBATCHES)]
        assert ways == expected


WAYS = {
    PassKind.FORWARD: FORWARD,
    PassKind.BACKWARD: BACKWARD,
    PassKind.INPUTS: INPUTS,
    PassKind.WEIGHTS: WEIGHTS,
}


def planted_ways(stage: int, stages: int, microbatches: int) -> list[int]:
    """Return the ways of the blocks that the simulator runs."""
    blocks = dualpipe(stage, stages, microbatches)
    return [WAYS[block[0].kind] if len(block) == 1 else BOTH for block in blocks]


def test_dualpipe_is_recognised() -> None:
    found = pipeline("dualpipe")
    assert found.schedule == "dualpipe"
    assert {stage.microbatches for stage in found.stages} == {MICROBATCHES}
    for stage in range(STAGES):
        for step in range(len(found.order.steps)):
            blocks = [block for block in found.blocks if (block.stage, block.step) == (stage, step)]
            ways = [way for block in blocks for way in block.ways]
            assert ways == planted_ways(stage, STAGES, MICROBATCHES)


def test_passes_are_numbered_by_what_they_are() -> None:
    """Of eight micro-batches each goes forward and backward once; the weights of some come later."""
    chart = stage_chart(pipeline("dualpipe"), 0)
    assert chart is not None
    for passes in chart.passes.values():
        forward = [drawn.number for drawn in passes if drawn.way in GOES_FORWARD]
        assert forward == [*range(MICROBATCHES)]
        backward = [drawn.number for drawn in passes if drawn.way in (BACKWARD, INPUTS)]
        assert backward[-1] == MICROBATCHES - 1
        weights = [drawn.number for drawn in passes if drawn.way == WEIGHTS]
        assert weights == [*range(sum(drawn.way == INPUTS for drawn in passes))]


@pytest.mark.parametrize(("stages", "microbatches"), [(4, 8), (6, 12), (8, 20), (16, 48)])
def test_the_blocks_of_dualpipe_are_those_that_are_simulated(stages: int, microbatches: int) -> None:
    for stage in range(stages):
        blocks = dualpipe_blocks(stage, stages, microbatches)
        assert [block.way for block in blocks] == planted_ways(stage, stages, microbatches)


def test_the_bubble_of_dualpipe_is_that_of_the_paper() -> None:
    found = pipeline("dualpipe")
    lengths = {
        way: median(working(found, block) for block in found.blocks if block.ways == (way,))
        for way in (BOTH, BACKWARD, INPUTS)
    }
    weights = lengths[BACKWARD] - lengths[INPUTS]
    paper = (STAGES // 2 - 1) * (lengths[BOTH] + lengths[BACKWARD] - 3 * weights)
    assert found.closed_form_ns == pytest.approx(paper, rel=0.01)
    for stage in found.stages:
        assert stage.schedule_ns == pytest.approx(paper, rel=0.015)
        assert abs(stage.imbalance_ns) < 0.01 * stage.bubble_ns


@pytest.mark.parametrize("name", ["1f1b", "gpipe", "interleaved"])
def test_the_bubble_of_the_schedule_is_the_closed_form(name: str) -> None:
    found = pipeline(name)
    lengths = {
        way: [working(found, block) for block in found.blocks if block.ways == (way,) and not block.lead_ns]
        for way in (FORWARD, BACKWARD)
    }
    passes = median(lengths[FORWARD]) + median(lengths[BACKWARD])
    assert found.closed_form_ns == pytest.approx((STAGES - 1) * passes, rel=0.01)
    for stage in found.stages:
        assert stage.schedule_ns == pytest.approx((STAGES - 1) * passes, rel=0.01)
        assert abs(stage.imbalance_ns) < 0.01 * stage.bubble_ns


@pytest.mark.parametrize("name", ["1f1b", "gpipe", "interleaved", "dualpipe"])
def test_of_some_stages_the_schedule_is_not_known(name: str) -> None:
    """Two neighbours of four: what they do follows one of two stages as well, which would cost less."""
    whole = job(f"pipeline-{name}")
    found = find_pipeline(job_of(whole.ranks[1:3]))
    assert found is not None
    assert (len(found.stages), found.stage_count) == (2, STAGES)
    assert (found.schedule, found.closed_form_ns) == ("unknown", None)
    assert {stage.microbatches for stage in found.stages} == {None}
    assert {stage["microbatches"] for stage in pipeline_document(found.order.job, found)["stages"]} == {None}
    sentences = pipeline_sentences(found)
    assert sentences[0] == "2 of 4 stages are here: which schedule they follow is not known."
    assert "by the schedule" not in " ".join(sentences)
    assert what_if(job_of(whole.ranks[:2])).last_stage is None
    assert what_if(whole).last_stage is not None


def test_bubbles_across_clocks_that_are_not_aligned_are_not_told() -> None:
    apart = job_of(job("pipeline-1f1b").ranks)
    clocks = replace(apart.clocks, family=np.array([0, 0, 1, 1]))
    vars(apart)["_matched"] = (apart.channels, clocks, apart.strangers)
    with pytest.raises(NoReplay, match="the clocks of its stages are not aligned"):
        find_pipeline(apart)


def test_with_one_micro_batch_two_schedules_are_the_same() -> None:
    found = pipeline("1f1b")
    one = replace(found, stages=tuple(replace(stage, microbatches=1) for stage in found.stages), error=0.04)
    sentences = pipeline_sentences(one)
    assert sentences[0] == "4 stages follow 1F1B or GPipe with 1 micro-batch."
    assert "What of the order of its operations is not in the traces is not modelled." in sentences
    assert not any("modelled" in sentence for sentence in pipeline_sentences(found))


@pytest.mark.parametrize("name", ["1f1b", "gpipe", "interleaved", "uneven", "dualpipe"])
def test_the_parts_of_a_bubble_sum_to_what_is_measured(name: str) -> None:
    found = pipeline(name)
    times = found.order.times(delays=True)
    for stage in found.stages:
        bubbles = []
        for step in range(len(found.order.steps)):
            blocks = [block for block in found.blocks if block.step == step]
            low = min(block.start(times) for block in blocks)
            high = max(block.end(times) for block in blocks)
            stage_blocks = [block for block in blocks if block.stage == stage.number]
            bubbles.append(high - low - sum(working(found, block) for block in stage_blocks))
        assert stage.bubble_ns == pytest.approx(sum(bubbles) / len(bubbles), rel=0.02)
        assert stage.warmup_ns + stage.steady_ns + stage.drain_ns > stage.bubble_ns


def test_a_longer_stage_is_imbalance_of_the_others() -> None:
    found = pipeline("uneven")
    imbalance = [stage.imbalance_ns for stage in found.stages]
    assert imbalance[2] < 0 < min(imbalance[0], imbalance[1], imbalance[3])
    assert found.balance_saves_ns > 0.1 * found.step_ns
    assert abs(pipeline("1f1b").balance_saves_ns) < 0.002 * found.step_ns


def test_equal_stages_and_late_hosts_are_as_good_as_the_job_that_has_them() -> None:
    """A stage that computes 1.4 times as long, brought to 1.1 as all others are then."""
    even, uneven = Replays(job("pipeline-1f1b")).step_ns, pipeline("uneven")
    assert uneven.step_ns - uneven.balance_saves_ns == pytest.approx(1.1 * even, rel=0.02)


def test_a_replay_of_a_pipeline_is_the_step_that_was() -> None:
    assert Replays(job("pipeline-uneven")).error <= 0.001


def test_a_stage_whose_neighbours_are_missing_is_in_a_bubble_all_the_time() -> None:
    """Ranks 0, 2 and 3 of a DualPipe: rank 0 exchanges with rank 1 alone."""
    found = find_pipeline(job_of([rank for rank in job("pipeline-dualpipe").ranks if rank.number != 1]))
    assert found is not None
    assert (found.schedule, found.closed_form_ns) == ("unknown", None)
    lonely = found.stages[0]
    assert (lonely.microbatches, lonely.warmup_ns, lonely.drain_ns) == (None, 0, 0)
    assert lonely.bubble_ns > max(stage.bubble_ns for stage in found.stages[1:])


def test_ranks_that_do_not_send_are_no_pipeline() -> None:
    assert find_pipeline(job("loader")) is None


def test_other_work_at_both_ends_of_a_step_is_told_from_its_passes() -> None:
    """Of 10 ns forward (the median), 20 backward: before a first pass forward, after a last one backward."""
    passes = [FORWARD, FORWARD, FORWARD, BACKWARD, BACKWARD, BACKWARD]  # with other work at both ends
    steps = [passes, passes[::-1], passes]
    whole = [[30, 9, 9, 20, 20, 50], [50, 20, 20, 10, 10, 30], [10, 11, 11, 20, 20, 20]]
    computing = [[6, 9, 9, 20, 20, 15], [50, 20, 20, 10, 10, 30], [5, 11, 11, 20, 20, 5]]
    length = np.array(whole).ravel()
    parts = np.zeros((length.size, 8), np.int64)
    parts[:, COMPUTING] = np.array(computing).ravel()
    end = np.cumsum(length)
    order: Any = SimpleNamespace(start=end - length, end=end, parts=parts)
    blocks = [
        StageBlock(0, 0, step, place, place, (way,), np.array([place]))
        for place, (step, way) in enumerate((step, way) for step, ways in enumerate(steps) for way in ways)
    ]
    trim_blocks(order, blocks)
    assert {place: block.lead_ns for place, block in enumerate(blocks) if block.lead_ns} == {0: 30 - 6}
    assert {place: block.trail_ns for place, block in enumerate(blocks) if block.trail_ns} == {5: 50 - 15}
