"""Memory that grows: by how much from step to step, and which blocks are never given back.

What is alive when the recording ends is no leak: the state of an optimizer is, and the tensors of the step
that goes on. A group of blocks, alike in component, operator, line and size, grows where each of at least
three consecutive steps up to the last leaves one more behind than the one before; in a recording of two
steps it may. Where none of an operator at a line grows, its blocks of all sizes are looked at together. From
one step nothing follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from tracetui.analysis.memory.model import NEVER, Blocks, Curve, MemoryRecording
from tracetui.analysis.memory.peak import whole_curve
from tracetui.analysis.search import distinct, group_by
from tracetui.arrays import Int64s
from tracetui.trace.order import starts_run
from tracetui.trace.stack import Frame

_ENOUGH = 3  #: steps in a row that leave something behind
_FEWEST = 2


class Verdict(Enum):
    """How sure it is that a group grows."""

    GROWS = "grows"
    MAY_GROW = "may grow"


@dataclass(frozen=True)
class StepGrowth:
    """What a device holds more at the start of the next step than at the start of this one."""

    device: str
    step: int  #: its number
    bytes: int | None  #: None where no sample tells, or only other processes; below 0 where it holds less


@dataclass(frozen=True)
class GrowingGroup:
    """Blocks that are alike, of which each step leaves some behind."""

    device: str
    component: str
    operator: str  #: as written by the producer: never print it unescaped
    frame: Frame | None
    block_bytes: int | None  #: of each; None where their sizes differ
    blocks: int  #: left behind in `steps`
    bytes: int  #: theirs
    steps: tuple[int, ...]  #: numbers of the consecutive steps, up to the last
    calls: int  #: of that operator at that line in the last step
    leaving: int  #: of those calls, how many leave a block behind
    nth: int | None  #: which call leaves one, from 1; None where several do, or not the same in each step
    example: int  #: place in MemoryRecording.blocks of the last block left behind
    verdict: Verdict

    @property
    def bytes_per_step(self) -> int:
        """Rounded down."""
        return self.bytes // len(self.steps)

    @property
    def blocks_per_step(self) -> int:
        """Rounded down."""
        return self.blocks // len(self.steps)


def growth_of_steps(recorded: MemoryRecording) -> tuple[StepGrowth, ...]:
    """Return the growth of each device over each step but the last, at the start of steps on the host.

    Where nothing tells what was held before a step began, as before the first sample of a table, the first
    sample from there on counts, and that of the next step likewise: the same point of both. The events in a
    trace say by how much each changed it, and so what was held before the first.
    """
    growths = []
    for device in recorded.devices:
        curve = whole_curve(recorded.curves, device)
        if curve is not None:
            for step, following in zip(recorded.steps, recorded.steps[1:]):
                known = device not in recorded.stepless
                difference = _difference(curve, step.start, following.start) if known else None
                growths.append(StepGrowth(device, step.number, difference))
    return tuple(growths)


def growing_groups(recorded: MemoryRecording) -> tuple[GrowingGroup, ...]:
    """Return the groups of blocks that grow in each of the last steps, those first that grow most."""
    if len(recorded.steps) < _FEWEST:
        return ()
    blocks = recorded.blocks
    kinds = _kind_numbers(recorded)
    rows = np.flatnonzero(np.isin(kinds, _keys_left_by_last_steps(recorded, kinds)))
    groups = list(_groups(recorded, rows, _pair_numbers(kinds[rows], blocks.bytes[rows])))
    # Sequences of other lengths make tensors of other sizes: what is left is looked at without the size.
    named_kinds = np.array([kinds[group.example] for group in groups], np.int64)
    rows = rows[~np.isin(kinds[rows], named_kinds)]
    groups += _groups(recorded, rows, kinds[rows])
    return tuple(sorted(groups, key=lambda group: (-group.bytes_per_step, group.frame or (), group.operator)))


def _difference(curve: Curve, start: int, end: int) -> int | None:
    values = curve.allocated_at(start), curve.allocated_at(end)
    if values[0] < 0:
        if not (curve.time[curve.known_places[:1]] < end).any():
            return None  # the first sample there is comes after the step
        values = curve.allocated_after(start), curve.allocated_after(end)
    return None if min(values) < 0 else values[1] - values[0]


def _kind_numbers(recorded: MemoryRecording) -> Int64s:
    """Return a number for each block, equal for blocks of equal device, component, operator and line."""
    blocks = recorded.blocks
    key = blocks.device.astype(np.int64) * (len(recorded.components) + 1) + blocks.component
    key = key * (len(recorded.operators) + 1) + blocks.operator
    return key * (len(recorded.lines) + 1) + blocks.line


def _pair_numbers(first: Int64s, second: Int64s) -> Int64s:
    """Return a number for each row that those equal in both columns share."""
    order = np.lexsort((second, first))
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(starts_run(first[order], second[order]))
    return number


def _keys_left_by_last_steps(recorded: MemoryRecording, key: Int64s) -> Int64s:
    """Return the keys of which each of the last steps left blocks behind: only these can grow."""
    blocks, last = recorded.blocks, len(recorded.steps) - 1
    (alive,) = np.nonzero(blocks.alive)
    keys = distinct(key[alive[blocks.step[alive] == last]])
    for step in range(max(len(recorded.steps) - _ENOUGH, 0), last):
        keys = np.intersect1d(keys, key[alive[blocks.step[alive] == step]])
    return keys


def _groups(recorded: MemoryRecording, rows: Int64s, key: Int64s) -> Iterator[GrowingGroup]:
    """Yield the groups of blocks that grow; blocks of equal key belong together."""
    alive = recorded.blocks.alive & (recorded.blocks.step >= 0)
    for _, places in group_by(key):
        members = rows[places]
        group = _growing_group(recorded, recorded.blocks.at(members), members[alive[members]])
        if group is not None:
            yield group


def _growing_group(recorded: MemoryRecording, group_blocks: Blocks, alive: Int64s) -> GrowingGroup | None:
    """Describe a group of blocks, `alive` those left behind; None where it does not grow."""
    blocks, steps = recorded.blocks, recorded.steps
    if not len(alive) or blocks.step[alive[-1]] < len(steps) - 1:
        return None
    left_per_step = np.bincount(blocks.step[alive], minlength=len(steps))
    ends = np.array([*(step.start for step in steps[1:]), NEVER - 1], np.int64)
    # A pool of the last few steps is left behind as well, but never larger than it was.
    held_at_end = np.searchsorted(np.sort(group_blocks.start), ends, "left")
    held_at_end -= np.searchsorted(np.sort(group_blocks.release), ends, "left")
    grows = (left_per_step > 0) & (np.diff(held_at_end, prepend=0) > 0)
    count = int(np.argmin(np.append(grows[::-1], False)))  # steps in a row, from the last
    if count < min(_ENOUGH, len(steps)):
        return None
    recent = alive[blocks.step[alive] >= len(steps) - count]
    example = int(recent[-1])
    sizes = distinct(blocks.bytes[recent])
    calls, leaving, nth = _calls(recorded, recent, range(len(steps) - count, len(steps)))
    return GrowingGroup(
        device=recorded.devices[blocks.device[example]] if recorded.devices else "",
        component=recorded.components[blocks.component[example]],
        operator=recorded.operators[blocks.operator[example]],
        frame=recorded.lines[blocks.line[example]] if blocks.line[example] >= 0 else None,
        block_bytes=int(sizes[0]) if len(sizes) == 1 else None,
        blocks=len(recent),
        bytes=int(blocks.bytes[recent].sum()),
        steps=tuple(step.number for step in steps[len(steps) - count :]),
        calls=calls,
        leaving=leaving,
        nth=nth,
        example=example,
        verdict=Verdict.GROWS if count >= _ENOUGH else Verdict.MAY_GROW,
    )


def _calls(recorded: MemoryRecording, rows: Int64s, steps: range) -> tuple[int, int, int | None]:
    """Count an operator's calls at a line in the last step, those that leave a block, and which one does."""
    blocks, example = recorded.blocks, rows[-1]
    matching = (blocks.operator == blocks.operator[example]) & (blocks.line == blocks.line[example])
    matching &= blocks.component == blocks.component[example]
    numbers: set[int] = set()
    count = leaving = 0
    for step in steps:
        calls = distinct_calls(blocks, np.flatnonzero(matching & (blocks.step == step)))
        leaving_calls = distinct_calls(blocks, rows[blocks.step[rows] == step])
        places = [calls.index(call) + 1 for call in leaving_calls]
        count, leaving = len(calls), len(places)
        numbers.update(places)
    return count, leaving, numbers.pop() if len(numbers) == 1 else None


def distinct_calls(blocks: Blocks, places: Int64s) -> list[int]:
    """Return the calls that allocated some blocks (places, by time), in order of time, as numbers.

    A call is an operator that allocates; where the operator is not in the trace, each block is of one.
    """
    rows = blocks.row[places]
    return list(dict.fromkeys(np.where(rows >= 0, rows, -2 - places).tolist()))


def nth_call(blocks: Blocks, place: int) -> tuple[int, int]:
    """Return which call allocated the block at a place, from 1, and of how many.

    Counted are the calls of its operator at its line for its component, in its step; of a block that is of
    no step, those that are of none either.
    """
    places = np.flatnonzero(blocks.line == blocks.line[place])
    for column in (blocks.step, blocks.operator, blocks.component):
        places = places[column[places] == column[place]]
    calls = distinct_calls(blocks, places)
    (call,) = distinct_calls(blocks, np.array([place]))
    return calls.index(call) + 1, len(calls)
