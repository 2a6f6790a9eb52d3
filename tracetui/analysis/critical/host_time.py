"""What stretches of host threads' time are charged to: the operator that runs or the next one, and its stack.

While a thread has woken the autograd thread and before that has begun, what comes next is its operator. Knows
nothing of devices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.idle.host import AutogradBursts, HostThreads
from tracetui.analysis.search import distinct, pick
from tracetui.arrays import EMPTY, Bools, Int32s, Int64s, Wholes, searchsorted
from tracetui.trace.model import Trace


class HostPieces(NamedTuple):
    """Stretches cut wherever the thread does something else; columns of equal length, rows of -1: none."""

    place: Int64s  #: the stretch each is of
    start: Int64s  #: ns
    end: Int64s  #: ns
    operator: Int64s  #: row of the innermost operator that ran
    stack: Int32s  #: string of the `Call stack` it is charged to
    frame: Int64s  #: row of the innermost python_function slice it is charged to
    backward: Bools  #: charged to an operator of the backward pass


class HostTime:
    """The time of the threads of a trace."""

    def __init__(self, trace: Trace, host_threads: HostThreads) -> None:
        self._threads = host_threads
        self._bursts = [found for _, found in autograd_bursts(trace, host_threads)]
        self._by_frame = not trace.slices.have_stacks

    def pieces(self, thread: Wholes, start: Int64s, end: Int64s) -> HostPieces:
        """Return the pieces of stretches `[start, end)` of threads, by thread; they sum to their stretch."""
        parts = [(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY)]
        for index in distinct(thread).tolist():
            (on_thread,) = np.nonzero(thread == index)
            cuts = self._threads.thread(index).cut(start[on_thread], end[on_thread], self._by_frame)
            charges = self._threads.charge_times(index, cuts.start, self._woken_operators(index, cuts.start))
            parts.append((on_thread[cuts.place], cuts.start, cuts.end, *charges))
        place, starts, ends, running, charged_slice, frame = (
            np.concatenate(columns) for columns in zip(*parts)
        )
        del parts  # they are as large as the columns
        sites = self._threads.callers.call_sites(charged_slice)
        frame = np.where(frame >= 0, frame, sites.frame)
        return HostPieces(place, starts, ends, running, sites.stack, frame, sites.backward)

    def _woken_operators(self, index: int, times: Int64s) -> Int64s:
        """Return, for each time, the first operator of the next burst that a thread wakes another for."""
        operator = np.full(len(times), -1, np.int64)
        for bursts in self._bursts:
            if bursts.waker != index:
                continue
            place = searchsorted(bursts.starts, times, "left")
            next_operator = pick(bursts.operators, np.where(place < len(bursts.starts), place, -1))
            operator = self._threads.earlier_of(operator, next_operator)
        return operator


def autograd_bursts(trace: Trace, host_threads: HostThreads) -> list[tuple[int, AutogradBursts]]:
    """Return the autograd threads (indices) whose waker is known, and their bursts of work."""
    first = np.array([track.rows.start for track in trace.tracks if len(track.rows)], np.int64)
    threads = distinct(host_threads.of_rows(first))
    candidates = [(index, host_threads.bursts(index)) for index in threads[threads >= 0].tolist()]
    return [(index, bursts) for index, bursts in candidates if bursts is not None]
