"""Peaks, lines, sizes and growth of random recordings, held against their definitions block by block."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.analysis.memory.growth import GrowingGroup, Verdict, distinct_calls, nth_call
from tracetui.analysis.memory.model import (
    NEVER,
    Blocks,
    Curve,
    MemoryRecording,
    MemoryStep,
    no_blocks,
    steps_at,
)
from tracetui.trace.stack import Frame

DEVICES = ("NPU 0", "NPU 1", "CPU")
COMPONENTS = ("PTA", "GE")
CURVES = ("GE", "PTA", "PTA+GE", "MindSpore", "MindSpore+GE", "APP", "PyTorch")
OPERATORS = ("mm", "add")
LINES = (Frame("a.py", 1, "f"), Frame("a.py", 2, "f"))
TIMES = range(-1, 50)


class Run:
    """Blocks of two operators at two lines, steps of some length, curves of some components."""

    def __init__(self, seed: int, steps: int, blocks: int) -> None:
        self.source = source = random.Random(seed)
        bounds = sorted(source.sample(range(2, 40), 2 * steps))
        if seed % 2:  # each step begins where the one before ends
            bounds = [time for pair in zip(bounds[::2], [*bounds[2::2], 40]) for time in pair]
        self.steps = tuple(
            MemoryStep(7 + place, start, end)
            for place, (start, end) in enumerate(zip(bounds[::2], bounds[1::2]))
        )
        begins = [0, *bounds, 39]
        start = sorted(source.choice((source.choice(begins), source.randrange(40))) for _ in range(blocks))
        self.blocks = [self._block(time) for time in start]
        columns: dict[str, Any] = {
            key: np.array([block[key] for block in self.blocks], np.int64)
            for key in ("start", "release", "bytes", "device", "component", "operator", "row", "line")
        }
        step = steps_at(self.steps, columns["start"])
        for block, place in zip(self.blocks, step.tolist()):
            block["step"] = place
        self.recorded = MemoryRecording(
            tuple(self._curve(device, name) for device in DEVICES for name in self._some_curves()),
            Blocks(**columns, step=step),
            DEVICES,
            COMPONENTS,
            OPERATORS,
            LINES,
            self.steps,
            (),
        )
        self.memory = Memory(self.recorded)

    def _block(self, start: int) -> dict[str, int]:
        source = self.source
        return {
            "start": start,
            "release": source.choice((NEVER, NEVER, min(start + source.randrange(9), 40))),
            "bytes": source.choice((4, 4, 4, 8, 12)),
            "device": source.choice((0, 0, 0, 1)),
            "component": source.choice((0, 0, 0, 1)),
            "operator": source.choice((0, 0, 0, 1)),
            "row": source.choice((-1, 0, 1, 2)),
            "line": source.choice((0, 0, -1, 1)),
        }

    def _some_curves(self) -> list[str]:
        return [name for name in CURVES if self.source.random() < 0.4]

    def _curve(self, device: str, component: str) -> Curve:
        source = self.source
        time = sorted(source.choices(range(40), k=source.choice((0, 1, 3, 12))))
        columns = ([source.choice((-1, 0, 0, 5, 9, 40)) for _ in time] for _ in range(3))
        arrays = [np.array(column, np.int64) for column in (time, *columns)]
        return Curve(device, component, arrays[0], arrays[1], arrays[2], arrays[3])


def samples(curve: Curve, values: str = "allocated") -> list[tuple[int, int, int]]:
    """Place, time and value of each sample that tells one."""
    columns = zip(curve.time.tolist(), getattr(curve, values).tolist())
    return [(place, time, value) for place, (time, value) in enumerate(columns) if value >= 0]


def samples_held(curve: Curve, start: int, end: int) -> list[tuple[int, int, int]]:
    """The samples in [start, end), after the last before it where none is at its start."""
    inside = [sample for sample in samples(curve) if start <= sample[1] < end]
    before = [sample for sample in samples(curve) if sample[1] < start < end]
    return inside if inside and inside[0][1] == start else before[-1:] + inside


def at(curve: Curve, time: int, values: str = "allocated") -> int:
    return next((value for _, when, value in reversed(samples(curve, values)) if when <= time), -1)


def after(curve: Curve, time: int) -> int:
    return next((value for _, when, value in samples(curve) if when >= time), -1)


@pytest.mark.parametrize("seed", range(4))
def test_a_curve_tells_of_any_time(seed: int) -> None:
    for curve in Run(seed, 2, 0).recorded.curves:
        for time in TIMES:
            assert curve.allocated_at(time) == at(curve, time)
            assert curve.allocated_after(time) == after(curve, time)
            assert curve.reserved_at(time) == at(curve, time, "reserved")
            for end in range(time, 50, 3):
                held = samples_held(curve, time, end)
                assert curve.peak(time, end) == max(held, key=lambda sample: sample[2], default=(-1,))[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_block_is_of_the_step_that_it_starts_in(seed: int) -> None:
    run = Run(seed, 4, 0)
    of = [next((i for i, step in enumerate(run.steps) if step.start <= t < step.end), -1) for t in TIMES]
    assert steps_at(run.steps, np.array(TIMES)).tolist() == of
    assert steps_at((), np.array(TIMES)).tolist() == [-1] * len(TIMES)


def whole(recorded: MemoryRecording, device: str) -> Curve | None:
    curves = [curve for curve in recorded.curves if curve.device == device and samples(curve)]
    names = ("PTA+GE", "MindSpore+GE", "PTA", "MindSpore", "PyTorch")
    named = [curve for name in names for curve in curves if curve.component == name]
    return named[0] if named else max(curves, key=lambda curve: max(curve.allocated.tolist()), default=None)


def reserved(recorded: MemoryRecording, device: str, component: str, time: int) -> int:
    curves = {(curve.device, curve.component): curve for curve in recorded.curves}
    found = curves.get((device, component))
    return -1 if found is None else at(found, time, "reserved")


def held_at_peak(run: Run, part: MemoryPart, start: int, end: int) -> list[int]:
    """The places of the blocks of the peak of [start, end), which is compared with its definition."""
    highest: tuple[int, int, Curve, int] | None = None
    for device in DEVICES:
        curve = whole(run.recorded, device)
        candidates = [] if curve is None else samples_held(curve, start, end)
        if curve is not None and candidates:
            place, _, value = max(candidates, key=lambda sample: sample[2])
            if highest is None or (device != "CPU", value) > highest[:2]:
                highest = (device != "CPU", value, curve, place)
    if highest is None:
        assert part.peak is None
        return []
    _, bytes_, curve, place = highest
    time = max(int(curve.time[place]), start)
    held = [
        i
        for i, block in enumerate(run.blocks)
        if block["start"] <= time < block["release"]
        and DEVICES[block["device"]] == curve.device
        and curve.component != COMPONENTS[1 - block["component"]]
    ]
    peak, kept = part.peak, int(curve.reserved[place])
    assert peak is not None
    assert (peak.device, peak.component, peak.at, peak.bytes) == (curve.device, curve.component, time, bytes_)
    assert peak.before_bytes == max(bytes_ - sum(run.blocks[i]["bytes"] for i in held), 0)
    assert peak.cached_bytes == (max(kept - bytes_, 0) if kept >= 0 else -1)
    process, *own = (reserved(run.recorded, curve.device, name, time) for name in ("APP", "PTA", "MindSpore"))
    allocator = kept if kept >= 0 else max(own)  # what "cached" is a part of is not outside too
    assert peak.outside_bytes == (max(process - allocator, 0) if min(process, allocator) >= 0 else -1)
    assert peak.step == next((i for i, step in enumerate(run.steps) if step.start <= time < step.end), -1)
    return held


@pytest.mark.parametrize("seed", range(40))
def test_a_part_of_the_recording(seed: int) -> None:
    run = Run(seed, 2, 25)
    start, end = sorted(run.source.choices(range(40), k=2))
    held = held_at_peak(run, run.memory.all, -1, NEVER)
    assert run.memory.part(None, None, None) is run.memory.all
    step = run.steps[1]
    of_step = run.memory.part(step.number, None, None)
    held_at_peak(run, of_step, step.start, step.end)
    cut = run.memory.part(step.number, step.start + 1, step.end - 1)
    held_at_peak(run, cut, step.start + 1, step.end - 1)
    part = run.memory.part(None, start, end)
    held = held_at_peak(run, part, start, end)
    inside = [i for i, block in enumerate(run.blocks) if start <= block["start"] < end]
    places = sorted({*inside, *held})
    assert part.places.tolist() == places
    assert part.at_peak.tolist() == [i in held for i in places]
    assert part.allocated.tolist() == [i in inside for i in places]
    assert part.blocks.start.tolist() == [run.blocks[i]["start"] for i in places]
    alive = [run.blocks[i]["bytes"] for i in inside if run.blocks[i]["release"] == NEVER]
    assert part.alive_at_end == (sum(alive), len(alive))
    _check_lines(run, part, inside, held)
    _check_sizes(run, part, inside, held)
    assert sum(line.alive_bytes for line in part.lines) == part.alive_at_end[0]


def _check_lines(run: Run, part: MemoryPart, inside: list[int], held: list[int]) -> None:
    """Of each line what is held at the peak, and what of `inside` it allocated."""
    alike: dict[Any, list[int]] = {}
    for i in sorted({*inside, *held}):
        alike.setdefault((run.blocks[i]["line"], run.blocks[i]["operator"]), []).append(i)
    rows = []
    for (line, operator), alike_places in alike.items():
        allocated = [i for i in alike_places if i in inside]
        freed = [i for i in allocated if run.blocks[i]["release"] != NEVER]
        lives = [run.blocks[i]["release"] - run.blocks[i]["start"] for i in freed]
        rows.append(
            (
                LINES[line] if line >= 0 else None,
                OPERATORS[operator],
                sum(run.blocks[i]["bytes"] for i in alike_places if i in held),
                len({*alike_places} & {*held}),
                sum(run.blocks[i]["bytes"] for i in allocated),
                len(allocated),
                sum(lives) // len(lives) if lives else -1,
                sum(run.blocks[i]["bytes"] for i in allocated if i not in freed),
            )
        )
    rows.sort(key=lambda row: (-row[2], -row[4], row[0] or (), row[1]))
    assert [tuple(vars(line).values()) for line in part.lines] == rows


def _check_sizes(run: Run, part: MemoryPart, inside: list[int], held: list[int]) -> None:
    rows = []
    for size in {run.blocks[i]["bytes"] for i in (*inside, *held)}:
        allocated = [i for i in inside if run.blocks[i]["bytes"] == size]
        alive = [i for i in allocated if run.blocks[i]["release"] == NEVER]
        rows.append((size, len(allocated), len(alive), sum(run.blocks[i]["bytes"] == size for i in held)))
    rows.sort(key=lambda row: (-row[0] * row[1], -row[0]))
    assert [tuple(vars(size).values()) for size in part.sizes] == rows


@pytest.mark.parametrize("seed", range(20))
def test_the_curves_of_all_that_tensors_hold_come_first(seed: int) -> None:
    recorded = Run(seed, 0, 0).recorded
    first = [whole(recorded, device) for device in DEVICES]
    expected = sorted(
        recorded.curves, key=lambda curve: all(curve is not tensor_curve for tensor_curve in first)
    )
    assert [id(curve) for curve in Memory(recorded).curves] == [id(curve) for curve in expected]


@pytest.mark.parametrize("seed", range(20))
def test_growth_from_step_to_step(seed: int) -> None:
    run = Run(seed, 3, 0)
    expected = []
    for device in DEVICES:
        curve = whole(run.recorded, device)
        for step, later in zip(run.steps, run.steps[1:]) if curve is not None else ():
            assert curve is not None
            ends = [at(curve, step_window.start) for step_window in (step, later)]
            known = curve.time[curve.allocated >= 0].tolist()
            if ends[0] < 0 and not any(step.start <= time < later.start for time in known):
                ends = [-1]
            elif ends[0] < 0:
                ends = [after(curve, step_window.start) for step_window in (step, later)]
            expected.append((device, step.number, None if min(ends) < 0 else ends[-1] - ends[0]))
    assert [tuple(vars(step_window).values()) for step_window in run.memory.growth] == expected


def growing(run: Run, places: list[int]) -> dict[str, Any] | None:
    """What a group of blocks is, where it grows."""
    blocks, steps = run.blocks, run.steps
    ends = [*(step.start for step in steps[1:]), NEVER - 1]
    held = [sum(blocks[i]["start"] < end <= blocks[i]["release"] for i in places) for end in ends]
    left = [
        [i for i in places if blocks[i]["release"] == NEVER and blocks[i]["step"] == step]
        for step in range(len(steps))
    ]
    count = 0
    for now, before, behind in reversed([*zip(held, [0, *held], left)]):
        if not behind or now <= before:
            break
        count += 1
    if count < min(3, len(steps)):
        return None
    kept = [i for behind in left[len(steps) - count :] for i in behind]
    example = blocks[kept[-1]]
    sizes = {blocks[i]["bytes"] for i in kept}
    numbers, calls, leaving = set(), 0, 0
    for step in range(len(steps) - count, len(steps)):

        def called(i: int) -> tuple[int, int]:
            return blocks[i]["row"], i if blocks[i]["row"] < 0 else -1

        keys = ("operator", "line", "component")
        alike = [
            i
            for i, block in enumerate(blocks)
            if block["step"] == step and all(block[key] == example[key] for key in keys)
        ]
        every = [*dict.fromkeys(map(called, alike))]
        callers = {called(i) for i in left[step]}
        numbers |= {every.index(call) + 1 for call in callers}
        calls, leaving = len(every), len(callers)
    return {
        "device": DEVICES[example["device"]],
        "component": COMPONENTS[example["component"]],
        "operator": OPERATORS[example["operator"]],
        "frame": LINES[example["line"]] if example["line"] >= 0 else None,
        "block_bytes": sizes.pop() if len(sizes) == 1 else None,
        "blocks": len(kept),
        "bytes": sum(blocks[i]["bytes"] for i in kept),
        "steps": tuple(step.number for step in steps[len(steps) - count :]),
        "calls": calls,
        "leaving": leaving,
        "nth": numbers.pop() if len(numbers) == 1 else None,
        "example": kept[-1],
        "verdict": Verdict.GROWS if count >= 3 else Verdict.MAY_GROW,
    }


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(15))
def test_what_grows(seed: int, steps: int) -> None:
    """Of one size, or else of any, most first."""
    run = Run(seed, steps, 20 * steps)
    alike: dict[Any, dict[int, list[int]]] = {}
    for i, block in enumerate(run.blocks):
        key = tuple(block[key] for key in ("device", "component", "operator", "line"))
        alike.setdefault(key, {}).setdefault(block["bytes"], []).append(i)
    expected = []
    for sizes in alike.values() if steps > 1 else ():
        found = [group for group in (growing(run, places) for places in sizes.values()) if group is not None]
        every = growing(run, sorted(i for places in sizes.values() for i in places))
        expected += found or ([every] if every is not None else [])
    groups: tuple[GrowingGroup, ...] = run.memory.growing
    assert sorted((vars(group) for group in groups), key=lambda group: group["example"]) == sorted(
        expected, key=lambda group: group["example"]
    )
    order = [(-(g.bytes // len(g.steps)), g.frame or (), g.operator) for g in groups]
    assert order == sorted(order)
    assert [group.blocks_per_step for group in groups] == [g.blocks // len(g.steps) for g in groups]


@pytest.mark.parametrize("seed", range(5))
def test_which_call_of_how_many_allocates_a_block(seed: int) -> None:
    run = Run(seed, 2, 30)
    for place, block in enumerate(run.blocks):
        keys = ("operator", "line", "component", "step")
        alike = [i for i, one in enumerate(run.blocks) if all(one[key] == block[key] for key in keys)]
        calls = [*dict.fromkeys((run.blocks[i]["row"], i * (run.blocks[i]["row"] < 0)) for i in alike)]
        nth = calls.index((block["row"], place * (block["row"] < 0)))
        assert nth_call(run.recorded.blocks, place) == (nth + 1, len(calls))


def test_a_block_without_its_operator_is_of_a_call_of_its_own() -> None:
    blocks = replace(no_blocks(), row=np.array([0, -1, -1, 0, 1, -1]))
    assert len(distinct_calls(blocks, np.arange(6))) == 5
    assert {len(column) for column in vars(no_blocks()).values()} == {0}


def test_of_groups_that_grow_alike_the_first_device_and_component_come_first() -> None:
    run = Run(0, 2, 0)
    columns: dict[str, Any] = dict.fromkeys(Blocks.__annotations__, np.zeros(8, np.int64))
    columns["start"] = np.repeat([step.start for step in run.steps], 4)
    columns.update(
        release=np.full(8, NEVER),
        step=np.repeat([0, 1], 4),
        device=np.array([1, 0, 0, 1] * 2),
        component=np.array([1, 1, 0, 0] * 2),
    )
    grown = Memory(replace(run.recorded, blocks=Blocks(**columns))).growing
    keys = [(group.device, group.component) for group in grown]
    assert keys == [(device, component) for device in DEVICES[:2] for component in COMPONENTS]
