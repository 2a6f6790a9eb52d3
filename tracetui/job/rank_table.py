"""The table of the ranks of a job: the measures of each in a step, and which of them differ between ranks."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import StepColumns, TimeClass
from tracetui.job.health import compared_steps
from tracetui.job.job import Job
from tracetui.job.waits import waited_for

#: Percent of the mean stage by which ranks have to differ in a measure for it to be told.
DIFFERS = 5


@dataclass(frozen=True)
class Spread:
    """A measure of the steps of one rank, ns."""

    mean: int  #: rounded down
    lowest: int
    highest: int


@dataclass(frozen=True)
class Measures:
    """What a rank did in a step; None where the trace does not tell."""

    stage: Spread | None = None  #: the length of the step, as the producer calls it
    computing: Spread | None = None
    communication_wait: Spread | None = None
    communication_transfer: Spread | None = None
    communication_unsplit: Spread | None = None
    communication: Spread | None = None  #: exposed: the sum of the three
    copy: Spread | None = None
    idle: Spread | None = None
    preparing: Spread | None = None
    bubble: Spread | None = None
    iteration_gap: Spread | None = None
    forward_backward: Spread | None = None
    tail: Spread | None = None
    receive_only: Spread | None = None  #: |receive \\ C|, as far as the step table tells
    communication_without_receive: Spread | None = None


MEASURES = tuple(measure.name for measure in fields(Measures))
#: What to compare ranks by that divide their work in one way, as MindInsight has it.
VIEWS = {
    "data-parallel": ("iteration_gap", "forward_backward", "tail"),
    "model-parallel": ("iteration_gap", "computing", "communication"),
    "pipeline": (
        "iteration_gap",
        "computing",
        "stage",
        "receive_only",
        "communication_without_receive",
    ),
}
_COMMUNICATION = (TimeClass.WAIT, TimeClass.TRANSFER, TimeClass.UNSPLIT)


@dataclass(frozen=True)
class RankRow:
    """One rank of the table."""

    rank: Rank
    stage_number: int | None  #: of the pipeline
    steps: int  #: that means are of: as `compared_steps` has them
    all_steps: int  #: that `lost_ns` and `cost_ns` are of
    time_ns: int  #: of all steps together; of its window where there are none, or waits outside of them
    measures: Measures
    lost_ns: int  #: by waiting for others
    cost_ns: int  #: to others, by being waited for

    def mean(self, measure: str) -> int | None:
        """Return the mean of a measure."""
        spread: Spread | None = getattr(self.measures, measure)
        return None if spread is None else spread.mean


def rank_rows(job: Job, step: int | None = None) -> tuple[RankRow, ...]:
    """Return the rows of all ranks by number: means of their steps, or one step of them."""
    waits = job.waits.at_step(step)
    lost = np.zeros(len(job.ranks), np.int64)
    np.add.at(lost, waits.rank_place, waits.wait_ns)
    late_place = waited_for(job.ranks, job.channels, waits)
    cost = np.zeros(len(job.ranks), np.int64)
    np.add.at(cost, late_place[late_place >= 0], waits.wait_ns[late_place >= 0])
    waited_outside = bool(waits.wait_ns[waits.step < 0].any())
    rows = []
    for place, rank in enumerate(job.ranks):
        all_steps = rank.digest.steps
        if step is not None:
            all_steps = all_steps.at(all_steps.number == step)
        believed = all_steps if step is not None else compared_steps(job, rank)
        measures, time_ns = _step_measures(believed), int((all_steps.stage + all_steps.bubble).sum())
        if step is None and not len(all_steps):
            measures = _window_measures(rank)
        if step is None and (waited_outside or not len(all_steps)):
            time_ns = rank.digest.end - rank.digest.start if len(rank.digest.boundaries) else 0
        stage, waits_ns = rank.digest.identity.indices.get("pp"), (int(lost[place]), int(cost[place]))
        rows.append(RankRow(rank, stage, len(believed), len(all_steps), time_ns, measures, *waits_ns))
    return tuple(rows)


def differing(rows: tuple[RankRow, ...]) -> tuple[str, ...]:
    """Return the measures that differ between ranks by more than `DIFFERS`, most first."""
    stages = [stage for row in rows if (stage := row.mean("stage")) is not None]
    mean = sum(stages) / len(stages) if stages else 0.0
    range_by_measure = {}
    for measure in MEASURES:
        values = [ns for row in rows if (ns := row.mean(measure)) is not None]
        if values and mean and (max(values) - min(values)) * 100 > mean * DIFFERS:
            range_by_measure[measure] = max(values) - min(values)
    return tuple(sorted(range_by_measure, key=lambda measure: (-range_by_measure[measure], measure)))


def leading(rows: tuple[RankRow, ...], by: str | None) -> str | None:
    """Return the measure to sort by: of a view, or without `by` of all, the one that differs most.

    None where nothing is asked for and nothing differs.
    """
    if by is not None and by not in VIEWS:
        return by
    measures_apart = [measure for measure in differing(rows) if by is None or measure in VIEWS[by]]
    return measures_apart[0] if measures_apart else VIEWS[by][0] if by is not None else None


def sorted_by(rows: tuple[RankRow, ...], by: str) -> tuple[RankRow, ...]:
    """Return the rows with the most of a measure first, or of what leads a view; unknown ones last."""
    measure = leading(rows, by) or by
    return tuple(sorted(rows, key=lambda row: (row.mean(measure) is None, -(row.mean(measure) or 0))))


def _step_measures(steps: StepColumns) -> Measures:
    receive = steps.exposed - steps.exposed_without_receive
    return Measures(
        stage=_spread(steps.stage),
        computing=_spread(steps.computing),
        communication_wait=_spread(steps.wait),
        communication_transfer=_spread(steps.transfer),
        communication_unsplit=_spread(steps.unsplit),
        communication=_spread(steps.exposed),
        copy=_spread(steps.copies),
        idle=_spread(steps.idle),
        preparing=_spread(steps.preparing),
        bubble=_spread(steps.bubble),
        iteration_gap=_spread(steps.gap[steps.gap >= 0]),
        forward_backward=_spread(steps.forward_backward[steps.forward_backward >= 0]),
        tail=_spread(steps.tail[steps.tail >= 0]),
        receive_only=_spread(receive),
        communication_without_receive=_spread(steps.exposed_without_receive),
    )


def _spread(ns: Int64s) -> Spread | None:
    if not len(ns):
        return None
    return Spread(int(ns.sum()) // len(ns), int(ns.min()), int(ns.max()))


def _window_measures(rank: Rank) -> Measures:
    """Return the measures of a rank without steps: of all its time, where the device has any."""
    digest = rank.digest
    if not len(digest.boundaries):
        return Measures()
    classes = digest.by_class()

    def spread(ns: int) -> Spread:
        return Spread(ns, ns, ns)

    return Measures(
        stage=spread(digest.end - digest.start),
        computing=spread(classes[TimeClass.COMPUTING]),
        communication_wait=spread(classes[TimeClass.WAIT]),
        communication_transfer=spread(classes[TimeClass.TRANSFER]),
        communication_unsplit=spread(classes[TimeClass.UNSPLIT]),
        communication=spread(sum(map(classes.__getitem__, _COMMUNICATION))),
        copy=spread(classes[TimeClass.COPY]),
        idle=spread(classes[TimeClass.IDLE]),
    )
