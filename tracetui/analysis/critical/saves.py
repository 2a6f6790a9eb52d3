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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.critical.chain import CriticalChain, CriticalKind
from tracetui.analysis.critical.dependencies import Dependencies
from tracetui.analysis.critical.meetings import Meetings
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import LineFields, LineKey, lines_of, python_line
from tracetui.analysis.idle.pieces import cut_at_edges
from tracetui.analysis.search import distinct, pick
from tracetui.analysis.sums import sums
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.trace.model import Trace
from tracetui.trace.order import numbered
from tracetui.trace.stack import Frame


@dataclass(frozen=True, eq=False)
class LineSaving(LineFields):
    """One line on the critical chains."""

    critical_ns: int  #: its time on the critical chain, of the device with the most
    saves_at_most_ns: int  #: that without what only lengthens waits, and at most the free time of the device
    steps: dict[int, int]  #: what it can save of the time of each step, at most: ns by index, in order
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
        trace: the trace.
        activities: of each device.
        rules: which frame of a stack is its line.
        chains: of each device.
        depends: where each step begins and is done.
        meetings: the collectives, by device, then time; None: nothing is taken off for the waits there.
    """
    step_devices = depends.points.device[depends.step_end]
    host = [np.flatnonzero(chain.kind == CriticalKind.HOST) for chain in chains]
    columns = [(c.stack[on_host], c.frame[on_host], c.backward[on_host]) for c, on_host in zip(chains, host)]
    stack, frame, backward = (np.concatenate(parts) for parts in zip(_NO_COLUMNS, *columns))
    keys, key_of_piece = keys_of(trace, stack, frame, backward, rules)
    critical, bound, capped = (np.zeros((len(chains), len(keys)), np.int64) for _ in range(3))
    steps: list[dict[int, int]] = [{} for _ in keys]
    begins, ends = depends.step_begin, depends.points.time[depends.step_end]
    first = 0
    for device, (chain, on_host, activity) in enumerate(zip(chains, host, activities)):
        keyed = key_of_piece[first : first + len(on_host)]
        first += len(on_host)
        start, end = chain.start[on_host], chain.end[on_host]
        np.add.at(critical[device], keyed, end - start)
        working = activity.compute | activity.communication
        lag = int(depends.clock_lag[device])
        free = chain.wall_ns - working.clip(chain.begin_ns - lag, chain.end_ns - lag).total
        (on_device,) = np.nonzero((step_devices == device) & (begins < ends))
        meeting_times, wait = _waits(meetings, device)
        parts = cut_at_edges(
            start, end, distinct(np.concatenate((begins[on_device], ends[on_device], meeting_times)))
        )
        step = _step_at(parts.start, begins[on_device], ends[on_device])
        stretch = np.searchsorted(meeting_times, parts.start, "right")
        code_of_part = keyed[parts.place] + len(keys) * (stretch + (len(meeting_times) + 1) * (step + 1))
        codes, spent = sums(code_of_part, parts.end - parts.start)
        stretch_code, line = np.divmod(codes, len(keys))
        step, stretch = np.divmod(stretch_code, len(meeting_times) + 1)
        step -= 1
        follows = stretch < len(meeting_times)
        follows[follows] = (
            _step_at(meeting_times[stretch[follows]], begins[on_device], ends[on_device]) == step[follows]
        )
        wait_after = np.zeros(len(codes), np.int64)
        wait_after[follows] = wait[stretch[follows]]
        unsaved = np.maximum(spent - wait_after, 0)
        np.add.at(capped[device], line, unsaved)
        bound[device] = np.minimum(critical[device], free)
        capped[device] = np.minimum(capped[device], free)
        busy = working.covered(begins[on_device] - lag, ends[on_device] - lag)
        free_steps: list[int] = (ends[on_device] - begins[on_device] - busy).tolist()
        pairs, saved = sums(step * len(keys) + line, unsaved)
        for code, ns in zip(pairs.tolist(), saved.tolist()):
            place, key = divmod(code, len(keys))
            if place >= 0 and ns:
                steps[key][int(on_device[place])] = min(ns, free_steps[place])
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


def _waits(meetings: Meetings | None, device: int) -> tuple[Int64s, Int64s]:
    """Return the distinct times at which a device meets others, in order, and its wait there; ns."""
    if meetings is None:
        return _NONE, _NONE
    on_device = meetings.device == device
    return sums(meetings.time[on_device], meetings.exposed[on_device])


def _step_at(times: Int64s, begins: Int64s, ends: Int64s) -> Int64s:
    """Return the place of the step at each time; -1: none."""
    step = np.searchsorted(begins, times, "right") - 1
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


def keys_of(
    trace: Trace, stack: Int32s, frame: Int64s, backward: Bools, rules: FrameRules
) -> tuple[list[LineKey], Int64s]:
    """Return the lines that pieces of host time are charged to, and the place among them of each piece's."""
    frames, line_of_piece = lines_of(trace, stack, frame, rules)
    codes, place = numbered(np.where(line_of_piece >= 0, line_of_piece * 2 + backward, -1))
    return [_key(frames, code) for code in codes.tolist()], place


def _key(frames: Sequence[Frame], code: int) -> LineKey:
    return (*python_line(frames[code // 2] if code >= 0 else None), code >= 0 and code % 2 == 1)


_NONE = np.empty(0, np.int64)
_NO_COLUMNS = (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.bool_))
