"""The memory that the `[memory]` events in the trace of a GPU tell of: blocks, threads, and what is held."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.links import NOT_OPERATORS, Links, is_operator_track
from tracetui.analysis.memory.model import HOST, NEVER, PYTORCH, Blocks, Curve, Recorded, no_blocks, steps_at
from tracetui.analysis.memory.snapshot import releases
from tracetui.analysis.memory.tables import steps_of
from tracetui.analysis.search import distinct, first_equal, of_category, pick, runs
from tracetui.arrays import Int64s
from tracetui.trace.model import MemoryColumns, Trace
from tracetui.trace.nesting import enclosing

_NO_OPERATOR = "(no operator)"


def recorded_in_instants(trace: Trace, links: Links, rules: FrameRules) -> Recorded | None:
    """Return what the events of a trace tell; None where it has none of them."""
    memory = trace.memory
    known, place = _by_time(trace)
    if not len(known):
        return None
    time, track = trace.instants.time[place], trace.instants.track[place]
    device, size = memory.device[known].astype(np.int64), memory.size[known].astype(np.int64)
    freed = releases(device, memory.address[known].astype(np.int64), size < 0)
    (allocated,) = np.nonzero(size > 0)
    row = _operators(trace, track[allocated].astype(np.int64), time[allocated])
    called = links.callers.of(row)
    lines, line = lines_of(trace, called.stack, called.frame, rules)
    names = pick(trace.slices.name, row)
    different = distinct(names)
    steps = steps_of(trace)
    numbers = distinct(device)
    labels = tuple(map(_label, numbers.tolist()))
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
        step=steps_at(steps, time[allocated]),
    )
    operators = tuple(trace.string(name) or _NO_OPERATOR for name in different.tolist())
    curves = curves_in_instants(trace)
    of_host = device[allocated] < 0
    host_blocks = no_blocks()
    if of_host.any() and not of_host.all():
        blocks, host_blocks = blocks.at(~of_host), blocks.at(of_host)
    return Recorded(
        curves, blocks, labels, (PYTORCH,), operators, tuple(lines), steps, (), host_blocks=host_blocks
    )


def curves_in_instants(trace: Trace) -> tuple[Curve, ...]:
    """Return the curve of each device that the events of a trace tell of."""
    memory = trace.memory
    known, place = _by_time(trace)
    time, device = trace.instants.time[place], memory.device[known].astype(np.int64)
    return tuple(_curve(_label(number), memory, known[own], time[own]) for number, own in runs(device))


def _by_time(trace: Trace) -> tuple[Int64s, Int64s]:
    """The rows of `trace.memory` that can be read, by time, and of each the place of its instant."""
    memory = trace.memory
    place = first_equal(trace.instants.event, memory.event)
    (known,) = np.nonzero((place >= 0) & (memory.size != 0) & (memory.address >= 0))
    known = known[np.argsort(place[known], kind="stable")]  # instants are by time
    return known, place[known]


def _label(device: int) -> str:
    return HOST if device < 0 else f"GPU {device}"


def _operators(trace: Trace, track: Int64s, times: Int64s) -> Int64s:
    """The innermost operator around each time on its thread, -1 where none is; rows.

    The track of an instant is the first of its thread, which may be that of the frames of Python.
    """
    operators = ~of_category(trace, trace.slices.category, NOT_OPERATORS)
    found = np.full(len(times), -1, np.int64)
    for index, places in runs(track):
        for each in trace.tracks if index >= 0 else ():
            own = trace.tracks[index]
            if is_operator_track(each) and (each.pid, each.tid) == (own.pid, own.tid):
                row = enclosing(trace, each.lanes, times[places], operators, closed_end=True)
                found[places] = np.where(found[places] < 0, row, found[places])
    return found


def _curve(label: str, memory: MemoryColumns, places: Int64s, time: Int64s) -> Curve:
    """The curve of a device, of some rows that are by time."""
    columns = (memory.allocated[places].astype(np.int64), memory.reserved[places].astype(np.int64))
    before = int(columns[0][0]) - int(memory.size[places[0]]) if columns[0][0] >= 0 else -1
    return Curve(label, PYTORCH, time, *columns, np.full(len(time), -1, np.int64), max(before, -1))
