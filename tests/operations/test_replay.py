"""Replay: operations timed again, against the definitions stated one operation at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from math import floor
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tracetui

COLUMNS = ["op", "rank", "step", "kind", "start_ns", "end_ns", "group"]


def frame(*rows: tuple[Any, ...]) -> pd.DataFrame:
    table: pd.DataFrame = pd.DataFrame(list(rows), columns=COLUMNS)
    return table


def links(*rows: tuple[int, int]) -> pd.DataFrame:
    table: pd.DataFrame = pd.DataFrame(list(rows), columns=["op", "before"]).astype("int64")
    return table


def by_definition(
    operations: Any, after: Any, ideal: set[int], delays: bool
) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    """Time operations one after the other, as soon as what they need is timed."""
    rows: dict[int, Any] = {row.op: row for row in operations.itertuples()}
    befores, members = defaultdict(list), defaultdict(list)
    for row in after.itertuples():
        befores[row.op].append(row.before)
    for op, row in rows.items():
        members[(row.step, row.group) if row.group >= 0 else (op,)].append(op)
    starts = defaultdict(list)
    for row in rows.values():
        starts[row.step].append(row.start_ns)
    of_op = {op: key for key, ops in members.items() for op in ops}
    latest = {key: max(rows[op].start_ns for op in ops) for key, ops in members.items()}
    took = {op: row.end_ns - latest[of_op[op]] for op, row in rows.items()}
    kinds = defaultdict(list)
    for op, row in rows.items():
        kinds[row.kind, row.group >= 0].append(took[op])
    best = {
        (kind, moves): floor(median(ns)) if moves else round(mean(ns)) for (kind, moves), ns in kinds.items()
    }
    start: dict[int, int] = {}
    end: dict[int, int] = {}
    while len(end) < len(rows):
        before = len(start) + len(end)
        for op, row in rows.items():
            if op not in start and all(other in end for other in befores[op]):
                first = min(starts[row.step])
                ready = max((end[other] for other in befores[op]), default=first)
                measured = max((rows[other].end_ns for other in befores[op]), default=first)
                start[op] = ready + (row.start_ns - measured if delays else 0)
        for ops in members.values():
            if ops[0] not in end and all(op in start for op in ops):
                for op in ops:
                    ns = best[rows[op].kind, rows[op].group >= 0] if op in ideal else took[op]
                    end[op] = max(start[other] for other in ops) + ns
        assert len(start) + len(end) > before
    steps = {}
    for step, measured_starts in starts.items():
        ops = [op for op, row in rows.items() if row.step == step]
        bare = any(not befores[op] for op in ops)
        steps[step] = max(end[op] for op in ops) - (
            min(measured_starts) if bare else min(start[op] for op in ops)
        )
    return {op: (start[op], end[op]) for op in rows}, steps


@st.composite
def jobs(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw operations of some ranks that meet in groups, each rank's one after the other, and more links."""
    ranks, meetings = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    steps = draw(st.lists(st.integers(0, 5), min_size=1, max_size=2, unique=True))
    rows: list[tuple[Any, ...]] = []
    pairs: list[tuple[int, int]] = []
    ns = st.integers(0, 50)
    for step in steps:
        last: dict[int, int] = {}
        for meeting in range(meetings):
            for rank in range(ranks):
                for kind, group in ((draw(st.sampled_from("ab")), -1), ("move", meeting)):
                    op = len(rows) * 7 % 101
                    start = draw(ns) + 100 * step + 10 * meeting
                    rows.append((op, rank, step, kind, start, start + draw(ns), group))
                    if rank in last and (group >= 0 or draw(st.booleans())):
                        pairs.append((op, last[rank]))
                    last[rank] = op
    return frame(*rows), links(*pairs)


@given(jobs(), st.booleans(), st.integers(0, 3))
def test_operations_are_timed_as_defined(
    job: tuple[pd.DataFrame, pd.DataFrame], delays: bool, part: int
) -> None:
    operations, after = job
    ideal = set(operations["op"][operations["op"] % 4 <= part]) if part else set()
    chosen = pd.Series([op in ideal for op in operations["op"]], index=operations["op"])
    begun: Any
    begun, steps = tracetui.replay(operations, after, ideal=chosen, delays=delays)
    expected, step_ns = by_definition(operations, after, ideal, delays)
    assert {row.op: (row.start_ns, row.end_ns) for row in begun.itertuples(index=False)} == expected
    assert dict(zip(steps["step"], steps["step_ns"])) == step_ns


@given(jobs())
def test_with_measured_delays_and_durations_a_replay_is_what_was_measured(
    job: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    begun, _ = tracetui.replay(*job)
    assert begun["start_ns"].tolist() == job[0]["start_ns"].tolist()
    assert begun["end_ns"].tolist() == job[0]["end_ns"].tolist()


LATE = frame(
    (1, 0, 1, "compute", 0, 10, -1),
    (2, 1, 1, "compute", 0, 30, -1),
    (3, 0, 1, "all-reduce", 10, 35, 0),
    (4, 1, 1, "all-reduce", 30, 35, 0),
)
ORDER = links((3, 1), (4, 2))
#: Two operations more, in no group.
MORE = pd.concat([LATE, frame((5, 0, 1, "compute", 40, 50, -1), (6, 1, 1, "compute", 40, 50, -1))])


def test_the_last_to_come_moves_the_data() -> None:
    begun, steps = tracetui.replay(LATE, ORDER, ideal=pd.Series({2: True, 1: True}))
    assert begun["end_ns"].tolist() == [20, 20, 25, 25]
    assert steps.to_dict("list") == {"step": [1], "step_ns": [25]}


@pytest.mark.parametrize(
    ("operations", "after", "sentence"),
    [
        (LATE, links((3, 1), (1, 3)), "operations 1, 3 are waiting for each other"),
        (LATE, links((4, 3)), "operations 4, 3 are waiting for each other"),
        (LATE, links((1, 1)), "operation 1 is waiting for each other"),
        (MORE, links((5, 3), (5, 6), (6, 5)), "operations 5, 6 are waiting for each other"),
        (LATE, links((3, 9), (8, 1)), "operation 8 is unknown"),
        (LATE, links((3, 9)), "operation 9 is unknown"),
        (pd.concat([LATE, LATE.head(2)]), ORDER, "operations 1, 2 are there twice"),
        (LATE.drop(columns="group"), ORDER, "there is no column group"),
        (LATE.assign(start_ns=0.5), ORDER, "column start_ns holds something else than whole numbers"),
    ],
)
def test_what_cannot_be_replayed_is_an_error_with_the_operations(
    operations: pd.DataFrame, after: pd.DataFrame, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        tracetui.replay(operations, after)


def test_ideal_of_what_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="operation 7 is unknown"):
        tracetui.replay(LATE, ORDER, ideal=pd.Series({7: True}))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_value_says_not_whether_an_operation_is_ideal(missing: object) -> None:
    with pytest.raises(ValueError, match="operation 2 is without a value in `ideal`"):
        tracetui.replay(LATE, ORDER, ideal=pd.Series({1: True, 2: missing}))


def test_nothing_is_replayed_as_nothing() -> None:
    begun, steps = tracetui.replay(LATE.head(0), links())
    assert len(begun) == len(steps) == 0


def test_the_slowdown_of_a_late_rank() -> None:
    cost = tracetui.slowdown(LATE, ORDER)
    assert (cost.step_ns, cost.no_delay_ns, cost.ideal_ns) == (35, 35, 25)
    assert cost.slowdown == 35 / 25
    assert cost.by_kind == {"compute": 35 / 25, "all-reduce": 1.0}
    assert cost.by_rank == {0: 1.0, 1: 35 / 25}
    assert cost.worst_workers == 1.0
    assert cost.last_stage is None


@pytest.mark.parametrize(("ranks", "share"), [(33, 15 / 29), (34, 1.0)])
def test_three_of_a_hundred_workers_are_the_worst_rounded_up(ranks: int, share: float) -> None:
    """Two are late, and the ideal duration is 11 ns: with one of them ideal the other still takes 25 ns."""
    durations = {0: 40, 1: 25}
    rows = [(rank, rank, 1, "compute", 0, durations.get(rank, 10), -1) for rank in range(ranks)]
    assert tracetui.slowdown(frame(*rows), links()).worst_workers == share


def test_the_published_job(real_traces: Path) -> None:
    directory = real_traces / "straggler"
    columns = np.load(directory / "ST.npz")
    published = json.loads((directory / "ST.json").read_text())
    names = ("op", "rank", "stage", "step", "start_ns", "end_ns", "group")
    operations = pd.DataFrame({name: columns[name] for name in names})
    operations["kind"] = pd.Categorical.from_codes(columns["kind"], published["kinds"])
    cost = tracetui.slowdown(operations, pd.DataFrame(columns["after"], columns=["op", "before"]))
    assert cost.slowdown == pytest.approx(published["S"], abs=1e-6)
    assert cost.delays == pytest.approx(published["launch"], abs=1e-6)
    assert cost.worst_workers == pytest.approx(published["M_W"], abs=1e-5)
    assert cost.last_stage == pytest.approx(published["M_S"], abs=1e-5)
    for kind, ratio in published["S_kind"].items():
        assert cost.by_kind[kind.replace("pp-comm", "send-receive")] == pytest.approx(ratio, abs=1e-6)
