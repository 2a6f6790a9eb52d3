"""The memory that a snapshot of PyTorch's allocator tells of: no times and no operators, but every stack.

Of its events only the order is used: their numbers stand for times, and the innermost frame of Python for the
operator, or what the C++ below the user's line was called for. Steps are told by what recurs: a place that
allocates once in every stretch in which most of all that recurs does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory.model import (
    NEVER,
    PYTORCH,
    Blocks,
    Curve,
    MemoryRecording,
    MemoryStep,
    steps_at,
)
from tracetui.analysis.memory.native import native_operator, of_a_gpu, python_frames, within_a_module
from tracetui.analysis.search import group_by
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.language import state
from tracetui.siblings.snapshot import SnapshotEvents, read_snapshot
from tracetui.trace.stack import Frame, path_end
from tracetui.units import format_count

_MOST_TRIED = 16  #: places looked at for each number of recurrences
_MOST_TOLD = 0.5  #: share of all places that recur which a repetition holds, at least
_FEWEST = 3  #: places: fewer are a loop, no step


def recorded_in_snapshot(path: Path, rules: FrameRules) -> MemoryRecording:
    """Return what the snapshot at a path tells. Raises Refusal with a sentence where there is none."""
    events = read_snapshot(path)
    allocated = np.flatnonzero(events.freed == 0)
    numbers = _numbers(events)
    release = releases(events.device, events.address, events.freed == 1)[allocated]
    whole = [tuple(Frame(*frame) for frame in stack) for stack in events.stacks]
    stacks = [python_frames(stack) for stack in whole]
    lines, line = rules.lines_of(stacks)
    leaves = [
        _leaf(stack, lines[place] if place >= 0 else None) or native_operator(all_frames)
        for all_frames, stack, place in zip(whole, stacks, line.tolist())
    ]
    operators = tuple(dict.fromkeys(leaves)) or ("",)
    operator = np.array([operators.index(leaf) for leaf in leaves], np.int32)
    in_snapshot = allocated[events.allocated_before :]
    end = int(numbers[-1]) + 1 if len(numbers) else 0
    steps = repetitions(numbers[in_snapshot], events.stack[in_snapshot], end, stacks)
    devices = sorted(
        {*np.unique(events.device).tolist(), *(n for n, amount in events.allocated_at_end.items() if amount)}
    )
    blocks = Blocks(
        start=numbers[allocated],
        release=np.where(release < 0, NEVER, numbers[release]),
        bytes=events.bytes[allocated],
        device=np.searchsorted(devices, events.device[allocated]).astype(np.int32),
        component=np.zeros(len(allocated), np.int32),
        operator=operator[events.stack[allocated]],
        row=np.full(len(allocated), -1, np.int64),
        line=line[events.stack[allocated]],
        step=steps_at(steps, numbers[allocated]),
    )
    on_gpu = events.blocks_have_history or of_a_gpu(whole, events.settings)
    labels = tuple(f"{'GPU' if on_gpu else 'NPU'} {number}" for number in devices)
    curves = tuple(_curve(events, numbers, number, label) for number, label in zip(devices, labels))
    problems: tuple[str, ...] = ()
    if not len(in_snapshot):
        problems = (
            state("the snapshot has no history of allocations: its peak is what is known to be held"),
        )
    if events.skipped:
        skipped = format_count(events.skipped)
        problems += (state("{count} events of the snapshot cannot be read", count=skipped),)
    return MemoryRecording(curves, blocks, labels, (PYTORCH,), operators, lines, steps, problems, timed=False)


def _numbers(events: SnapshotEvents) -> Int64s:
    """Return the number of each event, shown in place of its time; 0 for blocks alive before the first."""
    return np.maximum(np.arange(len(events.freed)) - events.allocated_before + 1, 0)


def _leaf(stack: tuple[Frame, ...], line: Frame | None) -> str:
    """Return what allocates, where that is no line of the user's: "adam.py(174) _init_group"."""
    if not stack or stack[0] == line:
        return ""
    file, number, function = stack[0]
    return f"{path_end(file)}({number}) {function}"


def releases(device: Int32s | Int64s, address: Int64s, freed: Bools) -> Int64s:
    """Return, for each allocation among ordered events, the place of the event that frees it; -1 for none.

    That is the next event at its address, if it is one that frees.
    """
    order = np.lexsort((np.arange(len(address)), address, device))
    release = np.full(len(address), -1, np.int64)
    first, following = order[:-1], order[1:]
    pairs = (device[first] == device[following]) & (address[first] == address[following])
    pairs &= freed[following]
    release[first[pairs]] = following[pairs]
    return release


def repetitions(
    times: Int64s, places: Int32s, end: int, stacks: Sequence[tuple[Frame, ...]] = ()
) -> tuple[MemoryStep, ...]:
    """Return the steps of a program of which only the places are known that allocate, one after the other.

    A place begins a step where each stretch between two of its allocations holds at least half of all places
    that allocate more than once, and is more than a part of the model; of those that do so most often, the
    first.

    Args:
        times: when something is allocated, sorted.
        places: the stack of each, as a number.
        end: when the recording ends.
        stacks: the frames of Python of each place, leaf first; none where they do not tell of modules.
    """
    counts = np.bincount(places)
    positions = dict(group_by(places))
    least = max(_MOST_TOLD * np.count_nonzero(counts > 1), _FEWEST)
    for count in sorted(set(counts[counts > 1].tolist()), reverse=True):
        candidates = [int(place) for place in np.flatnonzero(counts == count)]
        candidates = [place for place in candidates if np.diff(positions[place]).min() >= least]
        candidates.sort(key=lambda place: int(positions[place][0]))
        for place in candidates[:_MOST_TRIED]:
            begins = positions[place]
            inside = [places[first:last] for first, last in zip(begins.tolist(), begins[1:].tolist())]
            if all(_count_recurring(part, counts) >= least for part in inside) and not (
                stacks and any(_is_part(part, stacks) for part in inside)
            ):
                bounds = [*times[begins].tolist(), end]
                return tuple(MemoryStep(n, a, b) for n, (a, b) in enumerate(zip(bounds, bounds[1:]), 1))
    return ()


def _is_part(places: Int32s, stacks: Sequence[tuple[Frame, ...]]) -> bool:
    """Return whether all of these places lie in one part of a pass through the model."""
    return within_a_module([stacks[place] for place in np.unique(places).tolist()])


def _count_recurring(places: Int32s, counts: Int64s) -> int:
    """Count the distinct places among some that recur."""
    return len(np.unique(places[counts[places] > 1]))


def _curve(events: SnapshotEvents, numbers: Int64s, number: int, label: str) -> Curve:
    """Return what a device holds before the first event and after each of its own.

    At last it is what the segments of the snapshot say.
    """
    (of_device,) = np.nonzero(events.device == number)
    size = events.bytes[of_device]
    time = np.append(0, numbers[of_device])
    amount = np.cumsum(np.append(0, np.where(events.freed[of_device] == 1, -size, size)))
    if number in events.allocated_at_end:
        amount += events.allocated_at_end[number] - int(amount[-1])
    else:
        amount -= amount.min()  # at least what it gives back was there before
    unknown = np.full(len(time), -1, np.int64)
    reserved = unknown
    if number in events.reserved_before:
        reserved = events.reserved_before[number] + np.append(0, events.reserved[of_device])
    last = np.append(time[1:] != time[:-1], True)  # of all that was there before the first event
    amount, reserved = np.maximum(amount[last], 0), np.maximum(reserved[last], -1)
    return Curve(label, PYTORCH, time[last], amount, reserved, unknown[last])
