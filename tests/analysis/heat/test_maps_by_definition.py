"""Maps of idle time, by step and by line of one step, held against their definitions ns by ns."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.heat.cells import HeatCells, share_columns
from tracetui.analysis.heat.fold import FoldMap, FoldPhase, _phases
from tracetui.analysis.heat.lengths import LengthMap, half_of_idle
from tracetui.analysis.heat.mostly import IdleReasons
from tracetui.analysis.heat.step_map import StepMap
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import union
from tracetui.analysis.raster import even_edges
from tracetui.trace.model import Activity

SEEDS = pytest.mark.parametrize("seed", range(30))
_Spans = list[tuple[int, int]]


def stretches(source: random.Random, limit: int) -> _Spans:
    """Some stretches of time that do not overlap."""
    cuts = sorted(source.sample(range(60), 2 * source.randrange(limit + 1)))
    return [*zip(cuts[::2], cuts[1::2])]


def columns_of(spans: _Spans) -> Any:
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    return SimpleNamespace(start=start, end=end)


def check_cell(cells: HeatCells, at: tuple[int, int], inside: dict[int, int], of: int) -> None:
    """Compare a cell with the ns that lie in it of each interval, by its place."""
    ns = sum(inside.values())
    longest = max(inside, key=lambda place: (inside[place], -place), default=-1)
    assert (cells.ns[at], cells.capacity[at], cells.main[at]) == (ns, of, longest)
    assert cells.share[at] == min(ns / of, 1) if of else np.isnan(cells.share[at])


def overlaps(spans: _Spans, begin: int, end: int) -> dict[int, int]:
    inside = {place: min(b, end) - max(a, begin) for place, (a, b) in enumerate(spans)}
    return {place: ns for place, ns in inside.items() if ns > 0}


@SEEDS
def test_a_page_holds_the_idle_time_of_its_phases(seed: int) -> None:
    source = random.Random(seed)
    idle, preparing = (stretches(source, 6) + stretches(source, 3) for _ in range(2))
    bounds = sorted(source.sample(range(60), 2 + source.randrange(4))) if seed else []
    phases = tuple(FoldPhase("", a, b, source.randrange(3) == 0) for a, b in zip(bounds, bounds[1:]))
    analysis: Any = SimpleNamespace(
        idle=columns_of(idle),
        preparing=SimpleNamespace(causes=SimpleNamespace(intervals=columns_of(preparing))),
        devices=[None] * source.randrange(1, 3),
    )
    fold = FoldMap(analysis, phases)
    lengths = [phase.end_ns - phase.start_ns for phase in phases]
    for lines in (*range(1, 20), sum(lengths)):
        fit = (n for n in range(1, 61) if sum(-(-length // n) for length in lengths) <= lines)
        expected = max(lengths, default=1)
        assert fold.line_ns(lines) == (next(fit, expected) if lengths else 1)
    lines, columns = source.randrange(1, 12), source.randrange(1, 5)
    length, place = fold.line_ns(lines), 0
    cells, edges = fold.cells(lines, columns), fold.edges(lines, columns)
    numbers, starts = fold.lines(lines)
    for number, phase in enumerate(phases):
        for begin in range(phase.start_ns, phase.end_ns, length):
            assert (numbers[place], starts[place]) == (number, begin)
            phase_edges = [
                min(begin + offset, phase.end_ns) for offset in even_edges(0, length, columns).tolist()
            ]
            assert edges[place].tolist() == phase_edges
            for column, (left, right) in enumerate(zip(phase_edges, phase_edges[1:])):
                inside = overlaps(preparing if phase.preparing else idle, left, right)
                if phase.preparing:  # no interval of the idle time
                    inside = {-1: sum(inside.values())} if inside else {}
                check_cell(cells, (place, column), inside, (right - left) * len(analysis.devices))
            place += 1
    assert place == len(numbers) == len(starts) == len(edges) == len(cells.ns)


def told_phases(step: Any, start: int, end: int, back: int | None) -> list[FoldPhase]:
    """What a step consists of: each phase lasts until the next one begins, none reaches out of the work."""
    gap = step.iteration_gap or (None, step.start_ns)
    begins = {"before the step": start, "iteration gap": gap[0], "step": gap[1]}
    if step.forward_backward and step.tail:
        first, turn = step.forward_backward
        split = back is not None and first < back < turn
        begins.update({"forward": first, "backward": back} if split else {"forward + backward": first})
        begins["tail"] = step.tail[0]
    known = [(name, begin) for name, begin in begins.items() if begin is not None]
    known.append(("after the step", max(step.end_ns, known[-1][1])))
    prepared = min(step.prepared_ns, start)
    found = (
        [FoldPhase("preparing", step.host_start_ns, prepared, True)] if step.host_start_ns < prepared else []
    )
    for (name, begin), (_, stop) in zip(known, [*known[1:], ("", end)]):
        begin, stop = max(begin, start), min(stop, end)
        if begin < stop:
            found.append(FoldPhase(name, begin, stop))
    return found


@SEEDS
def test_a_step_is_folded_by_what_is_known_of_it(seed: int) -> None:
    for case in range(5):
        check_phases(random.Random(5 * seed + case))


def check_phases(source: random.Random) -> None:
    """Compare the phases of a step of which some is known with what they are."""
    marks = sorted(source.choices(range(40), k=6))
    host, start, gap, first, turn, end = marks
    marks.append((first + turn) // 2)
    step: Any = SimpleNamespace(
        device="NPU 1",
        host_start_ns=host,
        prepared_ns=host + source.randrange(20),
        start_ns=start,
        end_ns=source.choice((end, turn, marks[-1], first, 60)),
        iteration_gap=source.choice((None, (gap, first), (gap, first))),
        forward_backward=(first, turn) if source.randrange(6) else None,
        tail=(turn, end) if source.randrange(6) else None,
    )
    kinds = (Activity.COMPUTE, Activity.AICPU, Activity.COPY)
    tasks = [
        (source.choice((source.randrange(60), *marks, marks[-1])), source.choice(kinds), source.randrange(3))
        for _ in range(source.choice((0, 1, 2, 3, 5)))
    ]
    linked = source.randrange(4) > 0
    starts, activities, backward = (
        (np.array(column) for column in zip(*tasks)) if tasks else [np.empty(0)] * 3
    )
    rows = np.array([row for row in range(len(tasks)) if row % 4 != 3], np.int64)
    analysis: Any = SimpleNamespace(
        devices=[SimpleNamespace(device="NPU 0"), SimpleNamespace(device="NPU 1", work=rows)],
        trace=SimpleNamespace(slices=SimpleNamespace(start=starts, activity=activities)),
        launch_chains=SimpleNamespace(
            tasks=tasks * linked, backward=backward.astype(np.bool_), index=lambda rows: rows
        ),
    )
    back = [
        tasks[row][0]
        for row in rows.tolist()
        if step.start_ns <= tasks[row][0] < step.end_ns
        and tasks[row][1] in (Activity.COMPUTE, Activity.AICPU)
        and tasks[row][2]
        and linked
    ]
    begin, stop = source.choice((host, start)), source.choice((end, 50))
    expected = told_phases(step, begin, stop, min(back, default=None))
    assert _phases(analysis, step, begin, stop) == expected


@pytest.mark.parametrize(("spans", "pages"), [([(5, 30), (2, 40)], [(2, 40)]), ([(5, 5)], []), ([], [])])
def test_without_steps_a_page_is_of_the_work_of_all_devices(spans: _Spans, pages: _Spans) -> None:
    analysis: Any = SimpleNamespace(
        devices=[SimpleNamespace(start_ns=start, end_ns=end) for start, end in spans], steps=()
    )
    assert FoldMap.from_analysis(analysis).phases == tuple(FoldPhase("", start, end) for start, end in pages)


def step_map(seed: int) -> tuple[StepMap, Any, list[_Spans]]:
    """The map of two devices, what it is made of, and when each device was free."""
    source = random.Random(seed)
    frees = [stretches(source, 8) for _ in range(2)]
    steps, idle = [], []
    for device, free in enumerate(frees):
        ends = [end for _, end in free] or [9]
        for _ in range(source.randrange(4)):
            base = source.choice((source.choice(ends), source.randrange(60)))
            preparing = source.choice((0, 1, 3))
            steps.append(
                SimpleNamespace(
                    device=f"NPU {device}",
                    host_start_ns=base - preparing if preparing else 70,
                    preparing_ns=preparing,
                    prepared_ns=base if preparing else 70,
                    start_ns=base if not preparing else 80,
                    end_ns=base + source.randrange(15) if not preparing else 80 + source.randrange(15),
                    idle_ns=source.randrange(12),
                )
            )
        idle += [(device, *span) for span in free if source.randrange(4)]
    source.shuffle(steps)
    of_device, start, end = np.array(idle, np.int64).reshape(-1, 3).T
    intervals = [union(*np.array(free, np.int64).reshape(-1, 2).T) for free in frees]
    by_device: dict[str, list[int]] = {}
    for place, step in enumerate(steps):
        by_device.setdefault(step.device, []).append(place)

    class Idle(SimpleNamespace):
        def __len__(self) -> int:
            return len(idle)

    analysis: Any = SimpleNamespace(
        idle=Idle(
            device=of_device.astype(np.int32),
            start=start,
            end=end,
            step=np.array([source.randrange(-1, 2) for _ in idle], np.int32),
        ),
        devices=[SimpleNamespace(device=f"NPU {n}", free=free) for n, free in enumerate(intervals)],
        steps=steps,
        steps_by_device=by_device,
    )
    return StepMap.from_analysis(analysis), analysis, frees


@pytest.mark.parametrize("seed", range(50))
def test_steps_are_laid_upon_each_other_at_their_first_work(seed: int) -> None:
    found, analysis, frees = step_map(seed)
    steps, idle = analysis.steps, analysis.idle
    rows: list[list[int]] = []
    column = [-1] * len(idle)
    for device, free in enumerate(frees):
        bases = {
            place: step.prepared_ns if step.preparing_ns else step.start_ns
            for place, step in enumerate(steps)
            if step.device == f"NPU {device}"
        }
        in_order = sorted(bases, key=lambda place: bases[place])
        begins: list[int] = []
        for place in in_order:
            gap = next((a for a, b in free if b == bases[place]), bases[place])
            begins.append(max([gap, *begins]))
        until = [*begins[1:], max(steps[in_order[-1]].end_ns, bases[in_order[-1]])] if in_order else []
        for i in range(len(idle)):
            at = int(idle.start[i])
            before = [n for n, begin in enumerate(begins) if begin <= at]
            if idle.device[i] == device and before and at < until[-1]:
                column[i] = len(rows) + before[-1]
        rows += [[place, bases[place], begin, stop] for place, begin, stop in zip(in_order, begins, until)]
    assert np.stack((found.step, found.base, found.start, found.end), axis=1).tolist() == rows
    assert found.column.tolist() == column and len(found) == len(rows)
    spans = [*zip(idle.start.tolist(), idle.end.tolist())]
    whole = found.whole_steps()
    for place, (index, *_) in enumerate(rows):
        step = steps[index]
        for row, ns in enumerate((step.idle_ns, step.preparing_ns)):
            length = max(step.end_ns - step.start_ns, 1)
            check_cell(whole, (row, place), {-1: ns}, length)
    assert found.beyond_ns == sum(b - a for (a, b), of in zip(spans, column) if of < 0)
    stepless = (idle.step < 0).tolist()
    assert found.between_ns == sum(
        b - a for (a, b), of, none in zip(spans, column, stepless) if of >= 0 and none
    )
    ends = [b - rows[of][1] for (_, b), of in zip(spans, column) if of >= 0]
    low = min([0, *(begin - base for _, base, begin, _ in rows)])
    assert found.low_ns == low
    assert found.high_ns == max([1, *ends, *(stop - base for _, base, _, stop in rows)])
    edges = found.edges(7)
    assert edges.tolist() == even_edges(low, found.high_ns, 7).tolist()
    cells = found.cells(edges)
    for place, (_, base, begin, stop) in enumerate(rows):
        held = {i: (a - base, b - base) for i, ((a, b), of) in enumerate(zip(spans, column)) if of == place}
        last = max([stop - base, *(b for _, b in held.values())])
        for row, (top, bottom) in enumerate(zip(edges.tolist(), edges[1:].tolist())):
            inside = {i: min(b, bottom) - max(a, top) for i, (a, b) in held.items()}
            inside = {i: ns for i, ns in inside.items() if ns > 0}
            check_cell(cells, (row, place), inside, max(min(bottom, last) - max(top, begin - base), 0))


@SEEDS
def test_a_column_of_several_things_shows_the_first_with_the_highest_share(seed: int) -> None:
    source = random.Random(seed)
    assert share_columns(0, 5).fullest == 0
    things, columns, rows = source.randrange(1, 12), source.randrange(6), 3
    ns = np.array([[source.randrange(4) for _ in range(things)] for _ in range(rows)])
    of = np.array([[source.choice((0, 3, 4)) for _ in range(things)] for _ in range(rows)])
    share = np.full(ns.shape, np.nan)
    np.divide(ns, of, out=share, where=of > 0)
    cells = HeatCells(ns, of, np.arange(ns.size).reshape(ns.shape), share)
    per_column = next(n for n in range(1, 20) if -(-things // n) <= max(columns, 1))
    shared = share_columns(things, columns)
    assert shared.first.tolist() == [*range(0, things, per_column), things]
    assert shared.fullest == min(per_column, things)
    starts, ends = shared.spans(np.arange(things), np.arange(things) + things)
    columns_found, shown = shared.columns(cells)
    for column, first in enumerate(range(0, things, per_column)):
        pooled_things = range(first, min(first + per_column, things))
        assert (starts[column], ends[column]) == (first, pooled_things[-1] + things)
        for row in range(rows):
            best = max(pooled_things, key=lambda n: (-1.0 if np.isnan(share[row, n]) else share[row, n], -n))
            assert shown[row, column] == best
            assert columns_found.ns[row, column] == sum(ns[row, pooled_things]) and columns_found.capacity[
                row, column
            ] == sum(of[row, pooled_things])
            assert columns_found.main[row, column] == cells.main[row, best]
            np.testing.assert_equal(columns_found.share[row, column], share[row, best])


@SEEDS
def test_a_row_of_lengths_holds_the_gaps_between_its_bounds(seed: int) -> None:
    source = random.Random(seed)
    scale = source.choice((1, 40, 10**6))
    lengths = [
        source.choice((0, 1, 10, 100, source.randrange(1, 99))) * scale for _ in range(source.randrange(9))
    ]
    idle, at = [], 0
    for gap, length in enumerate(lengths):
        for part in (length // 2, length - length // 2):
            if part:
                idle.append((gap, at, at + part))
            at += part + scale
    gap, start, end = np.array(idle, np.int64).reshape(-1, 3).T
    analysis: Any = SimpleNamespace(
        idle=SimpleNamespace(start=start, end=end, gap=gap),
        gaps=SimpleNamespace(
            idle=np.array(lengths, np.int64), ranked=lambda _: np.argsort(-np.array(lengths, np.int64))
        ),
        devices=[None] * 2,
    )
    rows = source.randrange(1, 30)
    found = LengthMap.from_analysis(analysis, rows)
    positive = [length for length in lengths if length]
    bounds = found.bounds.tolist()
    assert bounds == sorted({*bounds}, reverse=True)
    assert (not positive) == (not bounds)
    assert len(found.gaps) == len(found.idle) == max(len(bounds) - 1, 0)
    edges = np.array([0, at // 3, at // 2, at + 1], np.int64)
    cells = found.cells(edges)
    for row, (high, low) in enumerate(zip(bounds, bounds[1:])):
        row_gaps = [number for number, length in enumerate(lengths) if length and low <= length < high]
        assert found.gaps[row] == len(row_gaps) and found.idle[row] == sum(
            lengths[number_of_gap] for number_of_gap in row_gaps
        )
        for column, (left, right) in enumerate(zip(edges.tolist(), edges[1:].tolist())):
            inside = overlaps([(a, b) for _, a, b in idle], left, right)
            inside = {place: ns for place, ns in inside.items() if idle[place][0] in row_gaps}
            check_cell(cells, (row, column), inside, (right - left) * 2)
    assert found.gaps.sum() == len(positive) and found.idle.sum() == sum(positive)
    if positive:
        powers = [10**n for n in range(19)]
        first = max(power for power in powers if power <= min(positive))
        last = min(power for power in powers if power > max(positive))
        assert first <= bounds[-1] <= min(positive) and max(positive) < bounds[0] <= last
        assert len(bounds) - 1 <= max(rows, powers.index(last) - powers.index(first))
    ranked, total, count = sorted(positive, reverse=True), 0, 0
    while 2 * total < sum(positive):
        total += ranked[count]
        count += 1
    assert half_of_idle(analysis) == (count, ranked[count - 1] if count else 0)


@pytest.mark.parametrize("seed", range(40))
def test_the_reason_is_the_cause_with_most_and_its_line_with_most(seed: int) -> None:
    source = random.Random(seed)
    cuts = sorted(source.sample(range(60), source.choice((0, 4, 20))))
    rows = [
        (source.choice([*Cause][:3]), source.randrange(-1, 3), start, stop)
        for start, stop in zip(cuts, cuts[1:])
        if source.randrange(5)
    ]
    first = len(rows) // 3  # of the other device, at the same times
    cause, line, start, end = np.array(rows, np.int64).reshape(-1, 4).T
    reasons = IdleReasons.__new__(IdleReasons)
    causes: Any = SimpleNamespace(
        cause=cause,
        start=start,
        end=end,
        of_device=lambda device: slice(first * device, len(rows) if device else first),
    )
    frames: Any = ["a", "b", "c"]
    reasons._causes, reasons._frames, reasons._frame = causes, frames, line
    for only in (None, *[*Cause][:3]):
        for device in (0, 1):
            a, b = sorted(source.choices(range(62), k=2))
            every = rows[first:] if device else rows[:first]
            pieces = [
                (kind, at, min(stop, b) - max(begin, a))
                for kind, at, begin, stop in every
                if begin < b and stop > a and only in (None, kind)
            ]
            total: dict[int, int] = {}
            for kind, _, ns in pieces:
                total[kind] = total.get(kind, 0) + ns
            main = min(total, key=lambda kind: (-total[kind], kind), default=None)
            of_line: dict[int, int] = {}
            for kind, at, ns in pieces:
                if kind == main:
                    of_line[at] = of_line.get(at, 0) + ns
            main_line = min(of_line, key=lambda at: (-of_line[at], at), default=-1)
            found = reasons.between(device, a, b, only)
            assert found.idle_ns == sum(total.values())
            assert found.cause == main and found.cause_ns == (total[main] if main is not None else 0)
            assert found.frame == (frames[main_line] if main_line >= 0 else None)
