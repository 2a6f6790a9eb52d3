"""The memory that the `[memory]` events in the trace of a GPU tell of: blocks, threads, and what is held."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.launch_chains import NOT_OPERATORS, LaunchChains, is_operator_track
from tracetui.analysis.memory.model import (
    HOST,
    NEVER,
    PYTORCH,
    Blocks,
    Curve,
    MemoryRecording,
    no_blocks,
    steps_at,
)
from tracetui.analysis.memory.snapshot import releases
from tracetui.analysis.memory.tables import memory_steps
from tracetui.analysis.search import distinct, group_by, of_category, pick
from tracetui.arrays import Int64s, first_equal
from tracetui.trace.model import MemoryColumns, Trace
from tracetui.trace.nesting import enclosing

_NO_OPERATOR = "(no operator)"


def recorded_in_instants(trace: Trace, chains: LaunchChains, rules: FrameRules) -> MemoryRecording | None:
    """Return what the events of a trace tell; None where it has none of them."""
    memory = trace.memory
    usable, place = _by_time(trace)
    if not len(usable):
        return None
    time, track = trace.instants.time[place], trace.instants.track[place]
    device, size = memory.device[usable].astype(np.int64), memory.size[usable].astype(np.int64)
    freed = releases(device, memory.address[usable].astype(np.int64), size < 0)
    (allocated,) = np.nonzero(size > 0)
    row = _operators_around(trace, track[allocated].astype(np.int64), time[allocated])
    sites = chains.callers.call_sites(row)
    lines, line = lines_of(trace, sites.stack, sites.frame, rules)
    names = pick(trace.slices.name, row)
    different = distinct(names)
    pid, steps = memory_steps(trace)
    has_steps = np.array([*(candidate.pid == pid for candidate in trace.tracks), False])[track]
    numbers = distinct(device)
    label_of = _labels(trace, numbers)
    labels = tuple(label_of[number] for number in numbers.tolist())
    release = freed[allocated]
    blocks = Blocks(
        start=time[allocated],
        release=np.where(release < 0, NEVER, time[release]),
        bytes=size[allocated],
        device=np.searchsorted(numbers, device[allocated]).astype(np.int32),
        component=np.zeros(len(allocated), np.int32),
        operator=np.searchsorted(different, names).astype(np.int32),
        row=row,
        line=line,
        step=np.where(has_steps[allocated], steps_at(steps, time[allocated]), -1),
    )
    operators = tuple(trace.string(name) or _NO_OPERATOR for name in different.tolist())
    curves = curves_in_instants(trace)
    on_host = device[allocated] < 0
    host_blocks = no_blocks()
    if on_host.any() and not on_host.all():
        blocks, host_blocks = blocks.at(~on_host), blocks.at(on_host)
    with_steps = {label_of[number] for number in distinct(device[has_steps]).tolist()}
    return MemoryRecording(
        curves,
        blocks,
        labels,
        (PYTORCH,),
        operators,
        tuple(lines),
        steps,
        (),
        host_blocks=host_blocks,
        stepless=frozenset(labels) - with_steps,
    )


def curves_in_instants(trace: Trace) -> tuple[Curve, ...]:
    """Return the curve of each device that the events of a trace tell of."""
    memory = trace.memory
    usable, place = _by_time(trace)
    time, device = trace.instants.time[place], memory.device[usable].astype(np.int64)
    label_of = _labels(trace, distinct(device))
    return tuple(
        _curve(label_of[number], memory, usable[group], time[group]) for number, group in group_by(device)
    )


def _by_time(trace: Trace) -> tuple[Int64s, Int64s]:
    """Return the readable rows of `trace.memory`, by time, and the place of the instant of each."""
    memory = trace.memory
    place = first_equal(trace.instants.event, memory.event)
    (usable,) = np.nonzero((place >= 0) & (memory.size != 0) & (memory.address >= 0))
    usable = usable[np.argsort(place[usable], kind="stable")]  # instants are by time
    return usable, place[usable]


def _labels(trace: Trace, numbers: Int64s) -> dict[int, str]:
    """Return what the trace calls the device of each number, "GPU n" where it has none; below 0 is the host.

    An allocator counts the devices that its process may use: of one in both, whatever its number, it is that.
    """
    names = {number: f"GPU {number}" for number in numbers.tolist() if number >= 0}
    if len(names) == 1 and len(trace.devices) == 1:
        names = dict.fromkeys(names, trace.devices[0])
    for number in names:
        alike = (device for device in trace.devices if device.endswith(f" {number}"))
        names[number] = next(alike, names[number])
    return {number: names.get(number, HOST) for number in numbers.tolist()}


def _operators_around(trace: Trace, track: Int64s, times: Int64s) -> Int64s:
    """Return the row of the innermost operator around each time on its thread, -1 where there is none.

    The track of an instant is the first of its thread, which may be that of the frames of Python.
    """
    operators = ~of_category(trace, trace.slices.category, NOT_OPERATORS)
    innermost = np.full(len(times), -1, np.int64)
    for index, places in group_by(track):
        for candidate in trace.tracks if index >= 0 else ():
            instant_track = trace.tracks[index]
            if is_operator_track(candidate) and (candidate.pid, candidate.tid) == (
                instant_track.pid,
                instant_track.tid,
            ):
                row = enclosing(trace, candidate.lanes, times[places], operators, closed_end=True)
                innermost[places] = np.where(innermost[places] < 0, row, innermost[places])
    return innermost


def _curve(label: str, memory: MemoryColumns, places: Int64s, time: Int64s) -> Curve:
    """Return the curve of a device from rows that are by time."""
    columns = (memory.allocated[places].astype(np.int64), memory.reserved[places].astype(np.int64))
    initial = int(columns[0][0]) - int(memory.size[places[0]]) if columns[0][0] >= 0 else -1
    return Curve(label, PYTORCH, time, *columns, np.full(len(time), -1, np.int64), max(initial, -1))
