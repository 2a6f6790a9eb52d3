"""What making a line of Python faster can save, at most.

Idle time under a line is no bound of that: what the host does while the device is still busy delays later
launches too. A line's host-critical time is one: without it, the critical chain is shorter by that, and what
is done can be done sooner by that at most. The device's work does not go away, so neither can more be saved
than the time in which it neither computes nor communicates.

Times are of one device: where several wait for the same line, the most that any of them can save counts, not
their sum, for they wait at the same time. Bounds of several lines do not add up.

Of other ranks one trace knows only when they came. Between two collectives a rank works alone: what a line
saves there of c ns, before a collective at which the device then waits w ns for a late peer and computes
nothing, first becomes waiting. All ranks go on from there together, so only max(0, c - w) is carried beyond,
through later collectives too. So the bound is the sum of max(0, c - w) over the stretches between collectives
(as the host enqueues them), with w = 0 after the last one of a step. Where the critical chain does not lead
through the wait, more of c may count: the chain on which late peers come when they came tells (from such a
collective it goes back to the last one that had ended when the peer came), and its bound counts where it is
the greater. Neither is more than the bound without waits, which is told beside it: what a line saves at most
if the peers come as much sooner, as they may where the same line is theirs too.

Of one step what the line takes of the way to its end counts, back to where the way to the end of a step
before is met: the host runs ahead, and that may lie in the time of that step. What is saved of steps before,
and carried over, is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.critical.chain import CriticalChain
from tracetui.analysis.critical.dependencies import Dependencies
from tracetui.analysis.critical.meetings import Meetings
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import LineFields, line_keys
from tracetui.analysis.idle.pieces import cut_at_edges
from tracetui.analysis.search import distinct, pick
from tracetui.analysis.sums import sums
from tracetui.arrays import EMPTY, Int64s, searchsorted
from tracetui.trace.model import Trace


@dataclass(frozen=True, eq=False)
class LineSaving(LineFields):
    """One line on the critical chains."""

    critical_ns: int  #: its time on the critical chain, of the device with the most
    saves_at_most_ns: int  #: that without what only lengthens waits, and at most the free time of the device
    #: what it can save of each step, at most, where only what the step is the first to wait for takes no
    #: time: ns by index, in order
    steps: dict[int, int]
    #: what it could save at most if the peers that this rank waits for came as much sooner: its critical
    #: time, at most the free time; never less than `saves_at_most_ns`, and equal to it where nothing waits
    saves_with_peers_ns: int


def line_savings(
    trace: Trace,
    activities: Sequence[DeviceActivity],
    rules: FrameRules,
    chains: Sequence[CriticalChain],
    depends: Dependencies,
    meetings: Meetings | None = None,
) -> tuple[LineSaving, ...]:
    """Return all lines on the critical chains, those first that can save most.

    Args:
        activities: of each device.
        rules: which frame of a stack is its line.
        chains: of each device.
        depends: where each step begins and is done.
        meetings: the collectives, by device, then time; None: nothing is taken off for the waits there.
    """
    step_device = depends.points.device[depends.step_end]
    pieces = [chain.host_ways.pieces for chain in chains]
    columns = [(of_device.stack, of_device.frame, of_device.backward) for of_device in pieces]
    stack, frame, backward = (np.concatenate(parts) for parts in zip(_NO_COLUMNS, *columns))
    keys, key_of_piece = line_keys(trace, stack, frame, backward, rules)
    critical, bound, capped = (np.zeros((len(chains), len(keys)), np.int64) for _ in range(3))
    steps: list[dict[int, int]] = [{} for _ in keys]
    begins, ends = depends.step_begin, depends.points.time[depends.step_end]
    first = 0
    for device, (chain, activity) in enumerate(zip(chains, activities)):
        step, on_chain, host = chain.host_ways
        line = key_of_piece[first : first + len(step)]
        first += len(step)
        np.add.at(critical[device], line[on_chain], (host.end - host.start)[on_chain])
        working = activity.compute | activity.communication
        lag = int(depends.clock_lag[device])
        free = chain.wall_ns - working.clip(chain.begin_ns - lag, chain.end_ns - lag).total
        (on_device,) = np.nonzero((step_device == device) & (begins < ends))
        device_begins, device_ends = begins[on_device], ends[on_device]
        waits = _waits(trace, meetings, device, lag)
        cuts = cut_at_edges(
            host.start[on_chain], host.end[on_chain], distinct(np.concatenate((device_begins, device_ends)))
        )
        parts = _LineParts(
            line[on_chain][cuts.place], _step_at(cuts.start, device_begins, device_ends), cuts.start, cuts.end
        )
        _, lines, unsaved = _unsaved(parts, waits, _step_at(waits.time, device_begins, device_ends))
        np.add.at(capped[device], lines, unsaved)
        bound[device] = np.minimum(critical[device], free)
        capped[device] = np.minimum(capped[device], free)
        busy = working.covered(device_begins - lag, device_ends - lag)
        free_of_step = dict(zip(on_device.tolist(), (device_ends - device_begins - busy).tolist()))
        parts = _LineParts(line, step, host.start, host.end)
        done_in = searchsorted(device_ends, waits.done)
        waited_step = pick(on_device, np.where(done_in < len(on_device), done_in, -1))
        for index, key, ns in zip(*(column.tolist() for column in _unsaved(parts, waits, waited_step))):
            if ns and index in free_of_step:
                steps[key][index] = min(ns, free_of_step[index])
    rows = [
        LineSaving(
            *key,
            int(critical[:, line_place].max()),
            int(capped[:, line_place].max()),
            steps[line_place],
            int(bound[:, line_place].max()),
        )
        for line_place, key in enumerate(keys)
    ]
    return tuple(sorted(rows, key=_rank))


class _LineParts(NamedTuple):
    """Stretches of the host's time on a way; columns of equal length."""

    line: Int64s  #: place of its line
    step: Int64s  #: that waits for it, -1 where none
    start: Int64s  #: ns
    end: Int64s  #: ns


class _Waits(NamedTuple):
    """Where a device meets others, by time, and what it waits there; columns of equal length."""

    time: Int64s  #: ns: when the host enqueued it; distinct
    done: Int64s  #: ns on the clock of the host
    ns: Int64s


def _waits(trace: Trace, meetings: Meetings | None, device: int, lag: int) -> _Waits:
    """Return the waits of a device whose clock is `lag` behind that of the host."""
    if meetings is None:
        return _Waits(EMPTY, EMPTY, EMPTY)
    on_device = meetings.device == device
    enqueued = meetings.time[on_device]
    time, ns = sums(enqueued, meetings.exposed[on_device])
    done = np.full(len(time), np.iinfo(np.int64).min)
    np.maximum.at(done, searchsorted(time, enqueued), trace.slices.end[meetings.row[on_device]] + lag)
    return _Waits(time, done, ns)


def _unsaved(parts: _LineParts, waits: _Waits, waited_step: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return step, line, and how much of the line the waits of the step leave: max(0, c - w), summed.

    `waited_step`: which step each wait is of.
    """
    line, step, start, end = parts
    cuts = cut_at_edges(start, end, waits.time)
    stretch = searchsorted(waits.time, cuts.start, "right")
    width = int(line.max(initial=0)) + 1
    code = line[cuts.place] + width * (stretch + (len(waits.time) + 1) * (step[cuts.place] + 1))
    codes, spent = sums(code, cuts.end - cuts.start)
    codes, line = np.divmod(codes, width)
    step, stretch = np.divmod(codes, len(waits.time) + 1)
    follows = stretch < len(waits.time)
    follows[follows] = waited_step[stretch[follows]] == step[follows] - 1
    waited = np.zeros(len(codes), np.int64)
    waited[follows] = waits.ns[stretch[follows]]
    pairs, left = sums(step * width + line, np.maximum(spent - waited, 0))
    step, line = np.divmod(pairs, width)
    return step - 1, line, left


def _step_at(times: Int64s, begins: Int64s, ends: Int64s) -> Int64s:
    """Return the place of the step at each time; -1: none."""
    step = searchsorted(begins, times, "right") - 1
    return np.where((step >= 0) & (times < pick(ends, step)), step, -1)


def least_capped(savings: Sequence[LineSaving], alone: Sequence[LineSaving]) -> tuple[LineSaving, ...]:
    """Return the bounds of lines, each the greater of two; those first that save most.

    Args:
        savings: of the chains on which collectives take as long as they took, less the waits.
        alone: of the chains on which late peers come when they came.
    """
    lone_by_key = {saving.key: saving for saving in alone}
    bounds = []
    for saving in savings:
        lone = lone_by_key.get(saving.key)
        if lone is not None:
            cap = min(max(saving.saves_at_most_ns, lone.saves_at_most_ns), saving.saves_with_peers_ns)
            steps = {
                step: max(ns, saving.steps.get(step, 0))
                for step, ns in sorted({**saving.steps, **lone.steps}.items())
            }
            saving = replace(saving, saves_at_most_ns=cap, steps=steps)
        bounds.append(saving)
    return tuple(sorted(bounds, key=_rank))


def _rank(row: LineSaving) -> tuple[int, int, int, str, int, str, bool]:
    return -row.saves_at_most_ns, -row.saves_with_peers_ns, -row.critical_ns, row.file or "", *row.key[1:]


_NO_COLUMNS = (np.empty(0, np.int32), EMPTY, np.empty(0, np.bool_))
