"""Which event frees a block, what recurs as a step does, and what is held: held against their definitions."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory import snapshot
from tracetui.analysis.memory.model import NEVER, MemoryStep
from tracetui.analysis.memory.native import within_a_module
from tracetui.analysis.memory.snapshot import recorded_in_snapshot, releases, repetitions
from tracetui.siblings.snapshot import SnapshotEvents
from tracetui.trace.stack import Frame


class Events:
    """What two devices did at four addresses, of which some, at first, was done before the recording."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)
        count = source.choice((0, 1, 3, 20, 40))
        self.before = source.choice((0, 0, 1, 3)) if count > 3 else 0
        self.device = [source.choice((2, 5)) for _ in range(count)]
        self.address = [source.randrange(4) for _ in range(count)]
        self.bytes = [source.choice((1, 2, 8)) for _ in range(count)]
        self.freed = [0] * self.before + [source.randrange(2) for _ in range(count - self.before)]
        self.stack = [source.randrange(3) for _ in range(count)]
        self.held = {device: source.randrange(50) for device in (2, 5, 7) if source.randrange(2)}
        self.reserved = [source.randrange(-9, 50) for _ in range(count)]
        self.reserved_before = {device: source.randrange(50) for device in self.held}
        self.number = [max(i - self.before + 1, 0) for i in range(count)]

    @property
    def columns(self) -> SnapshotEvents:
        names = ("device", "address", "bytes", "freed", "stack", "reserved")
        whole: dict[str, Any] = {name: np.array(getattr(self, name), np.int64) for name in names}
        stacks: list[Any] = [((("a.py", line, "f"),) if line else ()) for line in range(3) if self.stack]
        fields: dict[str, Any] = {"reserved_before": self.reserved_before}
        fields |= {"allocated_at_end": self.held, "allocated_before": self.before}
        return SnapshotEvents(**whole, stacks=stacks, skipped=0, **fields)

    def release(self, place: int) -> int:
        """The place of the event that frees the block that one allocates; -1 where none does."""
        for later in range(place + 1, len(self.device)):
            if (self.device[later], self.address[later]) == (self.device[place], self.address[place]):
                return later if self.freed[later] else -1
        return -1


@pytest.mark.parametrize("seed", range(40))
def test_blocks_and_curves_of_a_snapshot(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    events = Events(seed)
    monkeypatch.setattr(snapshot, "read_snapshot", lambda _: events.columns)
    found = recorded_in_snapshot(None, FrameRules())  # type: ignore[arg-type]
    every = range(len(events.device))
    columns = events.columns
    freed = releases(columns.device, columns.address, columns.freed == 1)
    assert freed.tolist() == [events.release(i) for i in every]

    allocated = [i for i in every if not events.freed[i]]
    blocks, numbers = found.blocks, [*events.number, NEVER]
    assert blocks.start.tolist() == [numbers[i] for i in allocated]
    assert blocks.release.tolist() == [numbers[events.release(i)] for i in allocated]
    assert blocks.bytes.tolist() == [events.bytes[i] for i in allocated]
    devices = sorted({*events.device, *(device for device, held in events.held.items() if held)})
    assert found.devices == tuple(f"NPU {device}" for device in devices)
    assert [devices[place] for place in blocks.device.tolist()] == [events.device[i] for i in allocated]
    lines = [found.lines[place].line if place >= 0 else 0 for place in blocks.line.tolist()]
    assert lines == [events.stack[i] for i in allocated]
    assert (blocks.line >= -1).all() and not found.timed
    assert {*blocks.row.tolist()} <= {-1} and {*blocks.component.tolist()} <= {0}
    recorded = [i for i in allocated if i >= events.before]
    end = events.number[-1] + 1 if events.number else 0
    assert found.steps == tuple(
        steps_of([events.number[i] for i in recorded], [events.stack[i] for i in recorded], end)
    )
    for device, curve in zip(devices, found.curves):
        events_of_device = [i for i in every if events.device[i] == device]
        changes = [-events.bytes[i] if events.freed[i] else events.bytes[i] for i in events_of_device]
        start = -min(sum(changes[:count]) for count in range(len(changes) + 1))
        if device in events.held:
            start = events.held[device] - sum(changes)
        held, reserved = {0: start}, {0: events.reserved_before.get(device, -1)}
        for i, change in zip(events_of_device, changes):
            start += change
            held[events.number[i]] = start
            if device in events.reserved_before:
                reserved[events.number[i]] = events.reserved_before[device] + events.reserved[i]
        assert curve.time.tolist() == [*held]
        assert curve.allocated.tolist() == [max(held_bytes, 0) for held_bytes in held.values()]
        assert curve.reserved.tolist() == [max(reserved.get(time, -1), -1) for time in held]
        assert {*curve.active.tolist()} == {-1} and len(curve.active) == len(held)


def steps_of(times: list[int], places: list[int], end: int) -> list[MemoryStep]:
    """The steps that what recurs tells of: a place in each stretch between which most of it recurs."""
    counts = Counter(places)
    recurring = {place for place, count in counts.items() if count > 1}
    fit = []
    for place in recurring:
        at = [i for i, other_place in enumerate(places) if other_place == place]
        stretches = [{*places[a:b]} & recurring for a, b in zip(at, at[1:])]
        if min(map(len, stretches)) >= max(len(recurring) / 2, 3):
            fit.append((-counts[place], at))
    if not fit:
        return []
    _, at = min(fit)
    bounds = [*(times[i] for i in at), end]
    return [MemoryStep(1 + n, a, b) for n, (a, b) in enumerate(zip(bounds, bounds[1:]))]


@pytest.mark.parametrize("seed", range(40))
def test_steps_are_told_by_what_recurs(seed: int) -> None:
    """A loop over some places, in any order, some of them left out at times; others recur before it."""
    source = random.Random(seed)
    loop = source.sample(range(12), source.randrange(2, 9))
    places = source.sample([*range(12, 20)] * 2, source.randrange(16))
    for _ in range(source.randrange(5)):
        for place in source.choice((loop, loop, source.sample(loop, len(loop)))):
            places += source.choice(([place], [place], [place], [place], [], [place] * 2, [place, 15, 16]))
    times = [3 + 2 * i for i in range(len(places))]
    end = 3 * len(places) + 10
    found = repetitions(np.array(times, np.int64), np.array(places, np.int64), end)
    assert [*found] == steps_of(times, places, end)


def test_a_loop_of_two_places_is_no_step_and_one_of_three_is() -> None:
    for size, steps in ((2, 0), (3, 4)):
        places = np.array([*range(size)] * 4)
        assert len(repetitions(np.arange(len(places)), places, 99)) == steps


CALL = Frame("/lib/torch/nn/modules/module.py", 1, "_call_impl")


@pytest.mark.parametrize("seed", range(30))
def test_what_all_goes_through_one_call_of_a_module_in_another_is_a_part_of_a_pass(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(10):
        common = source.choices((CALL, CALL, Frame("a.py", 1, "f")), k=source.randrange(4))
        stacks = []
        for _ in range(source.randrange(1, 4)):
            inner = [Frame(f"{source.choice('bc')}.py", 2, "g"), CALL][: source.randrange(3)]
            stacks.append(tuple(reversed([*common, *inner])))
        shared = 0
        while all(len(stack) > shared for stack in stacks) and len({s[-1 - shared] for s in stacks}) == 1:
            shared += 1
        calls = [frame for frame in stacks[0][::-1][:shared] if frame == CALL]
        assert within_a_module(stacks) == (len(calls) > 1 or not any(stacks))
