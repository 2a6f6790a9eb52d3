"""What threads of the host did, held against definitions applied row by row and time by time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.analysis.machine import AUTOGRAD, MAIN, PYTHON, QUEUE, arrow, npu, operator
from tests.analysis.test_launch_chains_by_definition import Definition, any_run
from tests.synthetic import trace_of
from tracetui.analysis.idle.calls import cause_of_operator, is_wrapper
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.launch_chains import NOT_OPERATORS, link_tasks
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Family, Layer

TIMES = np.arange(-1, 35)


class Threads(Definition):
    """The threads, which are those with operators, by their places."""

    def thread(self, row: int) -> int:
        if row < 0:
            return -1
        track = self.trace.track_of(row)
        if track.layer not in (Layer.PYTHON, Layer.RUNTIME):
            return -1
        return next((i for i, host in enumerate(self.hosts) if host.tid == track.tid), -1)

    def frames(self, thread: int) -> list[int]:
        tracks = [t for t in self.trace.tracks if t.family == Family.FRAMES]
        return [row for t in tracks if t.tid == self.hosts[thread].tid for row in t.rows]

    def real(self, thread: int) -> list[int]:
        """The operators of a thread that take time and do not just wrap Python, by start."""
        rows = list(self.hosts[thread].rows)
        operators = [
            row for row in rows if not is_wrapper(self.names[row]) and self.start[row] < self.end[row]
        ]
        operators = [row for row in operators if self.category[row] not in NOT_OPERATORS]
        wrapping = {
            outer
            for row in operators
            if self.stack[row] >= 0 and (outer := self.parent(row)) >= 0
            if -1 != self.stack[outer] != self.stack[row]
        }
        begins = [self.start[row] for row in self.frames(thread)]
        wrapping |= {row for row in operators if any(self.start[row] < at < self.end[row] for at in begins)}
        kept = [
            row for row in operators if row not in wrapping or cause_of_operator(self.names[row]) is not None
        ]
        return sorted(kept, key=lambda row: (self.start[row], row))

    def telling(self, thread: int) -> list[int]:
        """Those, and what has a call stack, by start."""
        real = self.real(thread)
        rows = [row for row in self.hosts[thread].rows if row in real or self.stack[row] >= 0]
        return sorted(rows, key=lambda row: (self.start[row], row))

    def waker(self, thread: int) -> int:
        """The thread of most of the forward operators of a thread that evaluates functions of autograd."""
        arrows = [one[:2] for one in self.arrows(KNOWN.flows.backward) if min(one[:2]) >= 0]
        from_ = [self.thread(source) for source, target in arrows if self.thread(target) == thread]
        from_ = [waker for waker in from_ if waker not in (thread, -1)]
        real = [self.names[row] for row in self.real(thread)]
        if from_ and any(name.startswith(KNOWN.operators.backward_beginnings) for name in real):
            return max(from_, key=lambda waker: (from_.count(waker), waker))
        holding = [
            i
            for i, t in enumerate(self.hosts)
            if any(self.names[row].startswith(KNOWN.operators.step_beginnings) for row in t.rows)
        ]
        runs_engine = any(
            name.startswith((*KNOWN.operators.backward_beginnings, *KNOWN.operators.engine_beginnings))
            for name in real
        )
        return holding[0] if len(holding) == 1 and thread not in holding and runs_engine else -1

    def bursts(self, thread: int) -> list[int] | None:
        """The first operators of bursts: the waker has begun another one since, and none runs any more."""
        real, waker = self.real(thread), self.waker(thread)
        if waker < 0 or not real:
            return None
        begun = [sum(self.start[one] < self.start[row] for one in self.real(waker)) for row in real]
        return [
            row
            for i, row in enumerate(real)
            if i == 0
            or (begun[i] != begun[i - 1] and self.start[row] >= max(self.end[one] for one in real[:i]))
        ]


@pytest.mark.parametrize("seed", range(50))
def test_what_a_thread_does_at_any_time(seed: int) -> None:
    trace = any_run(seed)
    host_threads, definition = HostThreads(link_tasks(trace)), Threads(trace)
    assert len(host_threads) == len(definition.hosts)
    for index, track in enumerate(definition.hosts):
        thread, real, telling = host_threads.thread(index), definition.real(index), definition.telling(index)
        assert (thread.operators.tolist(), thread.line_slices.tolist()) == (real, telling)
        assert thread.running(TIMES).tolist() == [
            definition.around([track], at, real) for at in TIMES.tolist()
        ]
        assert thread.next_line_slice(TIMES).tolist() == [
            next((row for row in telling if definition.start[row] > at), -1) for at in TIMES.tolist()
        ]
        frames = definition.frames(index)
        tracks = [t for t in trace.tracks if t.family == Family.FRAMES and t.tid == track.tid]
        assert thread.frame(TIMES).tolist() == [
            definition.around(tracks, at, frames) for at in TIMES.tolist()
        ]
        rows = frames or [*track.rows]
        spans = [(definition.start[row], definition.end[row]) for row in rows]
        if not frames:
            spans = [(min(start for start, _ in spans), max(end for _, end in spans))]
        assert (thread.python_recorded.index_at(TIMES) >= 0).tolist() == [
            any(start <= at < end for start, end in spans) for at in TIMES.tolist()
        ]
        burst, firsts = host_threads.bursts(index), definition.bursts(index)
        assert (burst is None) == (firsts is None)
        if burst is not None and firsts is not None:
            assert (burst.waker, burst.operators.tolist()) == (definition.waker(index), firsts)
            assert burst.starts.tolist() == [definition.start[row] for row in firsts]


@pytest.mark.parametrize("seed", range(20))
def test_the_thread_of_a_task_and_the_sooner_of_two(seed: int) -> None:
    trace, source = any_run(seed), random.Random(seed)
    host_threads, definition = HostThreads(link_tasks(trace)), Threads(trace)
    columns = [[source.randrange(-1, len(trace.slices)) for _ in range(12)] for _ in range(3)]
    threads = [[definition.thread(row) for row in column] for column in columns]
    last = [next((one for one in reversed(candidates) if one >= 0), -1) for candidates in zip(*threads)]
    launch, operator, enqueue = (np.array(column, np.int64) for column in columns)
    assert host_threads.of_tasks(launch, operator, enqueue).tolist() == [
        one if one >= 0 and definition.real(one) else -1 for one in last
    ]
    assert host_threads.of_rows(launch).tolist() == threads[0]
    never = 99
    starts = [[definition.start[row] if row >= 0 else never for row in column] for column in columns]
    assert host_threads.earlier_of(launch, operator).tolist() == [
        columns[1][i] if starts[1][i] <= starts[0][i] and columns[1][i] >= 0 else columns[0][i]
        for i in range(12)
    ]


@pytest.mark.parametrize(("outer", "inner"), [(1, 2), (2, 1)])
def test_python_goes_on_in_an_operator_that_holds_another_line(outer: int, inner: int) -> None:
    """Whichever of the lines is the first string of the trace."""
    lines = ["", "train.py(1): f", "train.py(2): f"]
    events = [operator(90, 1, lines[1], QUEUE), operator(0, 50, "aten::a", stack=[lines[outer]])]
    host_threads = HostThreads(
        link_tasks(trace_of([*npu(), *events, operator(10, 10, "aten::b", stack=[lines[inner]])]))
    )
    assert np.flatnonzero(host_threads.is_real_operator).tolist() == [1, 2]


def test_a_burst_may_begin_as_the_one_before_ends() -> None:
    events = [*npu(), operator(0, 5), operator(15, 2)]
    events += [operator(at, 10, "autograd::engine::evaluate_function: Mm", AUTOGRAD) for at in (10, 20)]
    events += arrow("fwdbwd", 1, (PYTHON, MAIN, 0), (PYTHON, AUTOGRAD, 10))
    host_threads = HostThreads(link_tasks(trace_of(events)))
    burst = host_threads.bursts(1)
    assert burst is not None and burst.starts.tolist() == [10, 20]
