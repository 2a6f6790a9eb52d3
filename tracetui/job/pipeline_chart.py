"""The chart of a pipeline: the passes of each stage over one step."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tracetui.job.pipeline import Pipeline, parted
from tracetui.job.pipeline_blocks import BACKWARD, BOTH, FORWARD, INPUTS, WEIGHTS
from tracetui.job.whatif.order import median_step


class Pass(NamedTuple):
    """A forward or backward pass of a micro-batch through a stage."""

    way: int  #: FORWARD, BACKWARD, BOTH, INPUTS or WEIGHTS
    number: int  #: among the forward, backward or weight passes of its stage, from 0; of BOTH the forward one
    start: int  #: ns of the replay
    end: int


#: What passes are counted as: a backward pass without the weights is one all the same.
_KINDS = {
    FORWARD: (FORWARD,),
    BACKWARD: (BACKWARD,),
    INPUTS: (BACKWARD,),
    BOTH: (FORWARD, BACKWARD),
    WEIGHTS: (WEIGHTS,),
}


class StageChart(NamedTuple):
    """The passes of the first rank of each stage in one step."""

    step: int  #: number
    start: int  #: of the first pass of any stage, ns of the replay
    end: int  #: of the last one
    passes: dict[int, tuple[Pass, ...]]  #: by stage


def usual_step(pipeline: Pipeline) -> int:
    """Return the place of the step of median length."""
    times = pipeline.times
    return median_step(pipeline.order.step_times(times.start, times.end))


def stage_chart(pipeline: Pipeline, step: int) -> StageChart | None:
    """Return the chart of a step, by its place; None where it has no passes."""
    blocks = [block for block in pipeline.blocks if block.step == step]
    if not blocks:
        return None
    times = pipeline.times
    passes: dict[int, tuple[Pass, ...]] = {}
    for stage in pipeline.stages:
        of_stage = [block for block in blocks if block.stage == stage.number]
        place = min((block.place for block in of_stage), default=-1)
        counts: Counter[int] = Counter()
        found = []
        for block in of_stage:
            if block.place == place:
                for way, start, end in parted(block, times, pipeline.shares):
                    kinds = _KINDS[way]
                    found.append(Pass(way, counts[kinds[0]], start, end))
                    counts.update(kinds)
        passes[stage.number] = tuple(found)
    return StageChart(
        step=pipeline.order.steps[step],
        start=min(block.start(times) for block in blocks),
        end=max(block.end(times) for block in blocks),
        passes=passes,
    )
