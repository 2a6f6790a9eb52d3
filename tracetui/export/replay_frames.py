"""Replay operations of DataFrames: when each begins, and how long steps take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.operations.graph import ALONE, CircularOrder
from tracetui.operations.slowdown import MeasuredOperations, Slowdown, TimedOperations, replayed, slowdown_of

if TYPE_CHECKING:
    import pandas as pd

_MOST_SHOWN = 10  #: operations that the sentence of an error lists
_WHOLE_COLUMNS = ("op", "rank", "step", "start_ns", "end_ns", "group")


def replay(
    operations: pd.DataFrame,
    after: pd.DataFrame,
    *,
    ideal: pd.Series[bool] | None = None,
    delays: bool = True,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return when operations begin and end, and how long steps take, were some operations ideal.

    An operation begins once all that it comes after has ended, and its delay is over: its measured start
    minus the latest end of what it comes after, or minus the start of its step where it comes after none. One
    that computes ends after its duration. Those of one group and step end after their transfers: their
    measured ends minus the latest start among them, counted from the latest start in the replay. Ideally an
    operation that computes takes the mean of its kind, and a transfer the median of its kind.

    Args:
        operations: a row per operation: `op` (int64, each once), `rank`, `step`, `kind` (str), `start_ns`,
            `end_ns` and `group` (int64: those of one step and group transfer together; -1: it computes).
        after: a row per dependency: `op` comes after `before`.
        ideal: whether an operation takes its ideal duration or transfer, by op; others take the measured
            one. None: no operation does.
        delays: whether operations are delayed as they were.

    Returns:
        A DataFrame of op, start_ns, end_ns with the rows of `operations`, and one of step, step_ns by step:
        the time from the start of a step to the end of its last operation.

    Raises ValueError, with the operations that it is about, where operations wait for each other or members
    of a group for their own group, and where an op is unknown or there twice.
    """
    import pandas as pd

    job = _replayed(operations, after)
    chosen = None if ideal is None else _chosen(operations, ideal)
    times = job.times(chosen, delays)
    begun = pd.DataFrame({"op": operations["op"].to_numpy(), "start_ns": times.start, "end_ns": times.end})
    steps = np.array(job.operations.steps, np.int64)
    return begun, pd.DataFrame({"step": steps, "step_ns": job.step_times(times)})


def slowdown(operations: pd.DataFrame, after: pd.DataFrame) -> Slowdown:
    """Return what slow operations cost: S, and how much of it is that of each kind and rank.

    Args:
        operations: as of `replay`; with a column `stage` (int64) also the share of the last stage is known,
            and the slowdown of a rank is the lesser of those of its stage and of its data-parallel copy: the
            ranks of a stage are numbered as copies in their order.
        after: as of `replay`.

    Raises ValueError as `replay` does.
    """
    job = _replayed(operations, after)
    if "stage" not in operations:
        return slowdown_of(job)
    stage = _whole(operations, "stage")
    return slowdown_of(job, stage, _copies(stage, job.operations.rank))


def _replayed(operations: pd.DataFrame, after: pd.DataFrame) -> TimedOperations:
    op, rank, step, start, end, group = (_whole(operations, name) for name in _WHOLE_COLUMNS)
    numbers, kinds = _kinds(operations)
    order = np.argsort(op, kind="stable")
    ordered = op[order]
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise ValueError(f"{_listed(np.unique(twice))} there twice")
    later, earlier = (_places(ordered, order, _whole(after, name)) for name in ("op", "before"))
    steps, of_step = np.unique(step, return_inverse=True)
    measured = MeasuredOperations(
        rank=rank,
        step=of_step.astype(np.int64),
        kind=numbers,
        start=start,
        end=end,
        group=_groups(of_step.astype(np.int64), group),
        steps=tuple(steps.tolist()),
        kinds=kinds,
    )
    try:
        return replayed(measured, later, earlier)
    except CircularOrder as circle:
        raise ValueError(f"{_listed(op[circle.operations])} waiting for each other") from None


def _whole(frame: pd.DataFrame, name: str) -> Int64s:
    """Return a column as int64. Raises ValueError where it is missing or holds something else."""
    if name not in frame:
        raise ValueError(f"there is no column {name}")
    column = frame[name].to_numpy()
    if column.dtype == np.bool_ or not len(column):
        return column.astype(np.int64)
    try:
        with np.errstate(invalid="ignore"):  # what is no number is no whole one: see below
            whole: Int64s = column.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"column {name} holds something else than whole numbers") from None
    if not bool(np.all(whole == column)):
        raise ValueError(f"column {name} holds something else than whole numbers")
    return whole


def _kinds(operations: pd.DataFrame) -> tuple[Int64s, tuple[str, ...]]:
    import pandas as pd

    if "kind" not in operations:
        raise ValueError("there is no column kind")
    numbers, kinds = pd.factorize(operations["kind"].astype(object), use_na_sentinel=False)
    return numbers.astype(np.int64), tuple(str(kind) for kind in kinds)


def _places(ordered: Int64s, order: Int64s, wanted: Int64s) -> Int64s:
    """Return the rows of some ops."""
    at = np.searchsorted(ordered, wanted)
    unknown = at == len(ordered)
    unknown[~unknown] = ordered[at[~unknown]] != wanted[~unknown]
    if unknown.any():
        raise ValueError(f"{_listed(np.unique(wanted[unknown]))} unknown: `after` names what is not there")
    rows: Int64s = order[at]
    return rows


def _groups(step: Int64s, group: Int64s) -> Int64s:
    """Return a number for each group of each step, ALONE of operations that compute."""
    together = group >= 0
    pairs = np.stack((step[together], group[together]))
    numbers = np.full(len(group), ALONE, np.int64)
    if pairs.shape[1]:
        order = np.lexsort(pairs[::-1])
        opens = np.any(np.diff(pairs[:, order], axis=1, prepend=-1), axis=0)
        group_number = np.empty(len(order), np.int64)
        group_number[order] = np.cumsum(opens) - 1
        numbers[together] = group_number
    return numbers


def _chosen(operations: pd.DataFrame, ideal: pd.Series[bool]) -> Bools:
    """Return which rows are ideal. Raises ValueError of ops unknown, there twice or without a value."""
    import pandas as pd

    if not ideal.index.is_unique:
        raise ValueError(f"{_listed(ideal.index[ideal.index.duplicated()].unique().to_numpy())} there twice")
    if ideal.isna().any():
        raise ValueError(f"{_listed(ideal.index[ideal.isna()].to_numpy())} without a value in `ideal`")
    known = pd.Index(operations["op"])
    unknown = ideal.index.difference(known)
    if len(unknown):
        raise ValueError(f"{_listed(unknown.to_numpy())} unknown: `ideal` names what is not there")
    values: Any = ideal.reindex(known, fill_value=False).to_numpy()
    return np.asarray(values, np.bool_)


def _copies(stage: Int64s, rank: Int64s) -> Int64s:
    """Return the number of each rank within its stage."""
    copies = np.zeros(len(rank), np.int64)
    for number in np.unique(stage).tolist():
        of_stage = stage == number
        copies[of_stage] = np.searchsorted(np.unique(rank[of_stage]), rank[of_stage])
    return copies


def _listed(ops: Any) -> str:
    """Return "operation 3 is", "operations 3, 4 are"."""
    shown = ", ".join(map(str, ops[:_MOST_SHOWN])) + (", ..." if len(ops) > _MOST_SHOWN else "")
    return f"operation {shown} is" if len(ops) == 1 else f"operations {shown} are"
