"""What making a line of Python faster can save, at most.

Idle time under a line is no bound of that: what the host does while the device is still busy delays later
launches too. A line's host-critical time is one: without it, the critical chain is shorter by that, and what
is done can be done sooner by that at most. The device's work does not go away, so neither can more be saved
than the time in which it neither computes nor communicates.

Times are of one device: where several wait for the same line, the most that any of them can save counts, not
their sum, for they wait at the same time. Bounds of several lines do not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.critical.chain import Critical, CriticalChain
from tracetui.analysis.critical.dependencies import Dependencies
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.lines import LineKey, OfLine, lines_of, python_line
from tracetui.analysis.idle.pieces import cut
from tracetui.analysis.search import distinct, pick
from tracetui.analysis.sums import sums
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.trace.model import Trace
from tracetui.trace.order import numbered
from tracetui.trace.stack import Frame


@dataclass(frozen=True, eq=False)
class LineSaving(OfLine):
    """One line on the critical chains."""

    critical_ns: int  #: its time on the critical chain, of the device with the most
    saves_at_most_ns: int  #: that, but at most the free time of the device; of the device with the most
    steps: dict[int, int]  #: what it can save of the time of each step, at most: ns by index, in order


def line_savings(
    trace: Trace,
    chains: Sequence[CriticalChain],
    activities: Sequence[DeviceActivity],
    depends: Dependencies,
    rules: FrameRules,
) -> tuple[LineSaving, ...]:
    """Return all lines on the critical chains, those first that can save most.

    Args:
        trace: the trace.
        chains: of each device.
        activities: of each device.
        depends: where each step begins and is done.
        rules: which frame of a stack is its line.
    """
    step_devices = depends.points.device[depends.step_end]
    host = [np.flatnonzero(chain.kind == Critical.HOST) for chain in chains]
    columns = [(c.stack[own], c.frame[own], c.backward[own]) for c, own in zip(chains, host)]
    stack, frame, backward = (np.concatenate(parts) for parts in zip(_NO_COLUMNS, *columns))
    keys, of_piece = keys_of(trace, stack, frame, backward, rules)
    critical, bound = (np.zeros((len(chains), len(keys)), np.int64) for _ in range(2))
    steps: list[dict[int, int]] = [{} for _ in keys]
    begins, ends = depends.step_begin, depends.points.time[depends.step_end]
    first = 0
    for device, (chain, own, activity) in enumerate(zip(chains, host, activities)):
        keyed = of_piece[first : first + len(own)]
        first += len(own)
        start, end = chain.start[own], chain.end[own]
        np.add.at(critical[device], keyed, end - start)
        working = activity.compute | activity.communication
        late = int(depends.behind[device])
        free = chain.wall_ns - working.clip(chain.begin_ns - late, chain.end_ns - late).total
        bound[device] = np.minimum(critical[device], free)
        (held,) = np.nonzero((step_devices == device) & (begins < ends))
        parts = cut(start, end, distinct(np.concatenate((begins[held], ends[held]))))
        within = np.searchsorted(begins[held], parts.start, "right") - 1
        inside = (within >= 0) & (parts.start < pick(ends[held], within))
        busy = working.covered(begins[held] - late, ends[held] - late)
        free_steps: list[int] = (ends[held] - begins[held] - busy).tolist()
        pair = within[inside] * len(keys) + keyed[parts.place[inside]]
        pairs, taken = sums(pair, (parts.end - parts.start)[inside])
        for code, ns in zip(pairs.tolist(), taken.tolist()):
            step, at = divmod(code, len(keys))
            steps[at][int(held[step])] = min(ns, free_steps[step])
    rows = [
        LineSaving(*key, int(critical[:, at].max()), int(bound[:, at].max()), steps[at])
        for at, key in enumerate(keys)
    ]
    return tuple(
        sorted(
            rows,
            key=lambda row: (-row.saves_at_most_ns, -row.critical_ns, row.file or "", *row.key[1:]),
        )
    )


def keys_of(
    trace: Trace, stack: Int32s, frame: Int64s, backward: Bools, rules: FrameRules
) -> tuple[list[LineKey], Int64s]:
    """Return the lines that pieces of host time are charged to, and the place among them of each piece's."""
    frames, of_frame = lines_of(trace, stack, frame, rules)
    codes, place = numbered(np.where(of_frame >= 0, of_frame * 2 + backward, -1))
    return [_key(frames, code) for code in codes.tolist()], place


def _key(frames: Sequence[Frame], code: int) -> LineKey:
    return (*python_line(frames[code // 2] if code >= 0 else None), code >= 0 and code % 2 == 1)


_NO_COLUMNS = (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.bool_))
