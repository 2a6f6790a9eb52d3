"""Tables of operators, and quantities over time, held against their definitions on a few slices."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.operator_types import ascend_task_type, gpu_kernel_type, host_operator_type
from tracetui.analysis.operators import OperatorSlices, operator_table
from tracetui.analysis.series import Series
from tracetui.trace.model import Activity, TraceKind

NAMES = ["Mul_1", "Add", "Mul_2", "Add#3", "aten::mm", "aclnnMul_MulAiCore_Mul"]


@pytest.mark.parametrize("seed", range(30))
def test_a_row_sums_up_the_slices_of_a_name_or_type(seed: int) -> None:
    source = random.Random(seed)
    count = source.choice((0, 1, 5, 60, 60))
    kind = source.choice((TraceKind.ASCEND, TraceKind.GPU))
    name = source.choices(range(len(NAMES)), k=2 * count)
    activity = source.choices((Activity.NONE, Activity.COMPUTE, Activity.AICPU), k=2 * count)
    start = source.choices(range(20), k=2 * count)
    rows = source.sample(range(2 * count), count)
    whole = source.choices((0, 1, 2, 3, 5, 8), k=count)
    self_times = [source.randrange(ns + 1) for ns in whole]
    columns = {"name": np.int32, "activity": np.int8, "start": np.int64}
    values: Any = {"name": name, "activity": activity, "start": start}
    slices = SimpleNamespace(**{key: np.array(values[key], columns[key]) for key in columns})
    trace: Any = SimpleNamespace(strings=NAMES, kind=kind, slices=slices)
    operators = OperatorSlices(trace, *(np.array(column, np.int64) for column in (rows, whole, self_times)))
    task_type = gpu_kernel_type if kind is TraceKind.GPU else ascend_task_type

    def type_of(row: int) -> str:
        text = NAMES[name[row]]
        return host_operator_type(text) if activity[row] is Activity.NONE else task_type(text)

    for table, text_of in (
        (operators.by_name(), lambda row: NAMES[name[row]]),
        (operators.by_type(), type_of),
    ):
        groups: dict[tuple[str, Activity], list[int]] = {}
        for place, row in enumerate(rows):
            groups.setdefault((text_of(row), activity[row]), []).append(place)
        told_rows = [table[place] for place in range(len(table))]
        assert sorted((found_row.name, found_row.activity) for found_row in told_rows) == sorted(groups)
        order = []
        for place, found in enumerate(told_rows):
            every = groups[found.name, found.activity]
            ns = sorted(whole[i] for i in every)
            own_ns = sum(self_times[i] for i in every)
            assert found.kind == ("host" if found.activity is Activity.NONE else "device")
            assert found.names == len({name[rows[i]] for i in every})
            assert (found.count, found.total_ns, found.self_ns) == (len(ns), sum(ns), own_ns)
            assert found.mean_ns == sum(ns) // len(ns)
            ranks = [next(n for n in range(1, 99) if 100 * n >= share * len(ns)) for share in (50, 95)]
            assert (found.p50_ns, found.p95_ns) == tuple(ns[rank - 1] for rank in ranks)
            assert (found.min_ns, found.max_ns) == (ns[0], ns[-1])
            assert found.share == own_ns / max(sum(self_times), 1)
            assert table.longest[place] in [rows[i] for i in every if whole[i] == ns[-1]]
            order.append((-own_ns, -sum(ns), found.name, found.activity))
            slices_of = sorted((rows[i] for i in every), key=lambda row: start[row])
            assert operators.instances(table, place).tolist() == slices_of
        assert order == sorted(order)
    for type_, of in {(type_of(row), activity[row]) for row in rows}:
        kept = [row for row in rows if (type_of(row), activity[row]) == (type_, of)]
        assert operators.of_type(type_, of).rows.tolist() == kept
    assert len(operators.of_type("none of them", Activity.COMPUTE).rows) == 0


@pytest.mark.parametrize("count", [*range(1, 21), 40, 100, 120, 202, 400])
def test_percentiles_are_the_durations_of_the_nearest_ranks(count: int) -> None:
    nothing = np.zeros(count, np.int64)
    trace: Any = SimpleNamespace(
        strings=["mm"], kind=TraceKind.ASCEND, slices=SimpleNamespace(name=nothing, activity=nothing)
    )
    table = operator_table(trace, np.arange(count), np.arange(count)[::-1])
    ranks = [next(n for n in range(count + 1) if 100 * n >= share * count) for share in (50, 95)]
    assert [table[0].p50_ns + 1, table[0].p95_ns + 1] == ranks


@pytest.mark.parametrize("seed", range(30))
def test_a_quantity_is_what_the_last_sample_says(seed: int) -> None:
    source = random.Random(seed)
    samples = sorted(
        (
            (source.randrange(1, 25), float(source.randrange(-3, 4)))
            for _ in range(source.choice((0, 1, 4, 12)))
        ),
        key=lambda sample: sample[0],
    )
    time, value = [t for t, _ in samples], [v for _, v in samples]
    series = Series.from_samples(np.array(time, np.int64), np.array(value, np.float64))
    held = {at: next((v for t, v in reversed(samples) if t <= at), None) for at in range(28)}
    assert {at: series.at(at) for at in held} == held
    assert series.bounds == ((min(value), max(value)) if samples else (0.0, 0.0))
    edges = sorted(source.choices([*range(28), *time, *time, *time], k=12))
    least, highest = series.columns(np.array(edges, np.int64))
    assert len(least) == len(highest) == len(edges) - 1
    for place, (start, end) in enumerate(zip(edges, edges[1:])):
        taken = [v for t, v in samples if start <= t < end]
        before = [v for t, v in samples if t < start][-1:]
        values = taken if any(t == start for t, _ in samples if t < end) else before + taken
        assert [least[place], highest[place]] == pytest.approx(
            [min(values), max(values)] if values else [np.nan] * 2, nan_ok=True
        )
    for _ in range(20):
        start, end = sorted((source.randrange(28), source.randrange(28)))
        quantity = series.within(start, end)
        known = {at: held[at] for at in range(start, end) if held[at] is not None}
        if not known:
            assert quantity is None
            continue
        inside = [(t, v) for t, v in samples if start <= t < end]
        going = [] if inside and inside[0][0] == start else [(start, held[start])]
        every = [(t, v) for t, v in going if v is not None] + inside
        low, high = min(v for _, v in every), max(v for _, v in every)
        assert quantity is not None
        assert (quantity.lowest, quantity.highest, quantity.samples) == (low, high, len(inside))
        assert quantity.lowest_ns == next(t for t, v in every if v == low)
        assert quantity.highest_ns == next(t for t, v in every if v == high)
        mean = sum(v for v in known.values() if v is not None) / len(known)
        assert quantity.mean == pytest.approx(mean, abs=1e-9)
        (found,) = series.mean_between(np.array([start]), np.array([end]))
        assert found == pytest.approx(mean if held[start] is not None else np.nan, abs=1e-9, nan_ok=True)
