"""Chains of tasks, and where operators were called from, held against definitions applied row by row.

The runs have little sense in them, times of a few ns and ids of a few numbers: much begins where something
else ends, at time 0, in row 0, and more than one slice or arrow fits.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.analysis.machine import (
    AUTOGRAD,
    CANN,
    GROUPS,
    HARDWARE,
    MAIN,
    PYTHON,
    QUEUE,
    Events,
    arrow,
    call,
    collective,
    dequeue,
    enqueue,
    frame,
    npu,
    operator,
    task,
)
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis.activity import TASK_FAMILIES
from tracetui.analysis.launch_chains import NEVER, LaunchChains, frames_of, link_tasks, operators_of_dequeues
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family, Layer, Trace, Track
from tracetui.trace.stack import parse_call_stack, parse_frame

THREADS = (MAIN, QUEUE, AUTOGRAD)
NAMES = ("aten::mm", "aten::add", "ProfilerStep#1", "autograd::engine::evaluate_function: Mm", "MmBackward0")
CALLS = ("Node@launch", "Hccl@launch", "AscendCL@memcpy", "other")


@cache
def any_run(seed: int) -> Trace:
    """Slices of three threads, a runtime, two streams and a group; each third has a thread of autograd."""
    source = random.Random(seed)

    def random_slices(limit: int) -> Iterator[tuple[int, int, int, int]]:
        """Start, length, id and thread of some slices."""
        for _ in range(source.randrange(limit)):
            at, dur = source.randrange(12), source.choice((0, 2, 5, 10, 20))
            yield at, dur, source.randrange(4), source.choice(THREADS)

    first = source.choice(THREADS)
    number, length = source.randrange(4), source.choice((1, 25))
    first_of_all = source.choice(
        (
            operator(0, length, "train.py(1): f", first),  # string 0, which is a call stack as well
            operator(0, length, "train.py(1): f", first, stack=["train.py(1): f"]),
            operator(0, length, NAMES[3], first, stack=["train.py(2): f"]),
            enqueue(0, length, number, first),
            dequeue(0, length, number, first),
            call(0, length, number, tid=first),
        )
    )
    machine = [*npu(), *thread(PYTHON, first, "first", -1), *thread(CANN, first, "first", -1)]
    machine += [*thread(GROUPS, 1, "Plane 0"), *thread(GROUPS, 2, "Group 1 Communication")]
    machine += process(first_of_all["pid"], "", sort_index=-1)[1:]
    events: Events = []
    events += [frame(at, dur, f"train.py({number}): f", tid) for at, dur, number, tid in random_slices(6)]
    events = events[: source.randrange(6)]
    for at, dur, number, tid in random_slices(12):
        stack = [f"train.py({number}): f"] if source.random() < 0.3 else None
        names = NAMES if seed % 3 else NAMES[3:] if tid == AUTOGRAD else NAMES[:2]
        events.append(operator(at, dur, source.choice(names), tid, stack=stack))
    events += [enqueue(at, dur, number, tid) for at, dur, number, tid in random_slices(6)]
    events += [dequeue(at, dur, number, tid) for at, dur, number, tid in random_slices(6)]
    events += [call(at, dur, number, source.choice(CALLS), tid) for at, dur, number, tid in random_slices(6)]
    for at, dur, number, _ in random_slices(8):
        kind = source.choice(("AI_CORE", "AI_CORE", "PCIE_DMA_SQE"))
        events.append(task(at, dur, kind, source.choice((1, 2)), source.choice((number, number, None))))
    for at, dur, number, _ in random_slices(5):
        events.append({**collective(at, dur, connection=number), "tid": source.choice((0, 2))})
    events.append(piece(GROUPS, 1, "Memcpy", 0, 1))
    ends = {
        "fwdbwd": (PYTHON, PYTHON),
        "async_npu": (PYTHON, HARDWARE),
        "HostToDevice": (CANN, HARDWARE),
        "async_mindspore": (PYTHON, PYTHON),
    }
    hosts = [event for event in events if event["pid"] in (PYTHON, CANN)] or [first_of_all]
    for number in range(source.randrange(12)):
        category = source.choice(list(ends)) if seed % 3 else "fwdbwd"
        begin, end = (
            (pid, 1 if pid == HARDWARE else event["tid"], round(float(event["ts"]) * 1000))
            for pid, event in zip(ends[category], source.choices([*hosts, first_of_all], k=2))
        )
        events += arrow(category, number, begin, end)
    source.shuffle(events)
    return trace_of([*machine, first_of_all, *events])


class Definition:
    """What the module docstrings say, one row at a time."""

    def __init__(self, trace: Trace) -> None:
        self.trace, slices = trace, trace.slices
        self.start, self.end = slices.start.tolist(), slices.end.tolist()
        self.id, self.stack = slices.correlation.tolist(), slices.stack.tolist()
        self.category = [trace.string(number) for number in slices.category.tolist()]
        self.names = [trace.name(row) for row in range(len(slices))]
        tracks = trace.tracks
        self.calls = [row for t in tracks if t.family == Family.CALLS for row in t.rows]
        self._arrows: dict[Collection[str], list[tuple[int, int, int, int]]] = {}
        self._outer: dict[int, list[int]] = {}
        self.hosts = [t for t in tracks if t.layer == Layer.PYTHON and t.family == Family.OPERATORS]

    def arrows(self, categories: Collection[str]) -> list[tuple[int, int, int, int]]:
        """Source, target, time and thread of the arrows of some categories."""
        if categories in self._arrows:
            return self._arrows[categories]
        flows = self.trace.flows
        columns = (flows.source, flows.target, flows.source_time, flows.source_thread)
        kept = [self.trace.string(number) in categories for number in flows.category.tolist()]
        rows = zip(*(column.tolist() for column in columns))
        self._arrows[categories] = [one for one, keep in zip(rows, kept) if keep]
        return self._arrows[categories]

    def around(self, tracks: list[Track], time: int, rows: list[int], closed: bool = False) -> int:
        """The innermost of some rows of tracks around a time, which are sorted by lane; -1 for none."""
        return max(
            (row for t in tracks for row in t.rows if row in rows and self.holds(row, time, closed)),
            default=-1,
        )

    def holds(self, row: int, time: int, closed: bool) -> bool:
        start, end = self.start[row], self.end[row]
        return start <= time < end or start == time or (closed and time == end)

    def parent(self, row: int) -> int:
        return next(iter(self.outer(row)), -1)

    def outer(self, row: int) -> list[int]:
        """The slices of lanes further out that hold all of a slice, the innermost first."""
        if row in self._outer:
            return self._outer[row]
        track, lane = self.trace.track_of(row), self.trace.lane_of(row)
        around = [other for other in track.rows if self.trace.lane_of(other) < lane]
        inside = [o for o in around if self.start[o] <= self.start[row] and self.end[row] <= self.end[o]]
        self._outer[row] = sorted(inside, reverse=True)
        return self._outer[row]

    def nearest(self, row: int, accepted: Collection[int]) -> int:
        while row >= 0 and row not in accepted:
            row = self.parent(row)
        return row

    def rows(self, categories: Collection[str]) -> list[int]:
        """The rows of operator tracks that are of some categories."""
        return [row for t in self.hosts for row in t.rows if self.category[row] in categories]

    def launch(self, row: int) -> tuple[int, int, int]:
        """The call of a task, the time of its launch and the thread that launched it."""
        trace = self.trace
        copies = trace.slices.activity[row] in (Activity.COPY, Activity.EVENT, Activity.WAIT)
        prefixes = KNOWN.calls.copy_beginnings if copies else KNOWN.calls.kernel_beginnings

        def rank(call: int) -> Any:
            fits = (i for i, prefix in enumerate(prefixes) if self.names[call].startswith(prefix))
            return next(fits, len(prefixes)), self.start[call], call

        same_id = [one for one in self.calls if self.id[one] == self.id[row] >= 0]
        if same_id:
            launch = min(same_id, key=rank)
            track = trace.track_of(launch)
            return launch, self.start[launch], trace.threads.index((track.pid, track.tid))
        alike = [row, *(t for t in self.tasks() if self.id[t] == self.id[row] >= 0)]
        arrows = self.arrows(KNOWN.flows.launch)
        for one in alike:
            for source, target, time, number in arrows:
                if target == one:
                    return source if source in self.calls else -1, time, number
        return -1, -1, -1

    def tasks(self) -> list[int]:
        return [row for t in self.trace.tracks if t.family in TASK_FAMILIES for row in t.rows]

    def chain(self, row: int) -> tuple[list[int], bool]:
        """Launch, its point, dequeue, enqueue, its point and operator; and whether that handed it over."""
        launch, point, thread = self.launch(row)
        tid = self.trace.threads[thread][1] if thread >= 0 else None
        threads = [t for t in self.hosts if t.tid == tid]
        dequeue = self.around(threads, point, self.rows(KNOWN.categories.dequeues), closed=True)
        enqueue, operator = self.enqueued(dequeue)
        if dequeue < 0:
            operator = self.around(threads, point, self.operators())
        if operator < 0:
            arrows = self.arrows(KNOWN.flows.operator)
            operator = next((source for source, target, *_ in arrows if target == row), -1)
        enqueued = self.start[enqueue] if enqueue >= 0 else -1
        stage, giver, time = self.handed(operator)
        if giver >= 0 and enqueue < 0:
            return [launch, point, stage, giver, time, giver], True
        return [launch, point, dequeue, enqueue, enqueued, operator], False

    def operators(self) -> list[int]:
        excluded = KNOWN.categories.enqueues | KNOWN.categories.dequeues | KNOWN.categories.annotations
        return [row for t in self.hosts for row in t.rows if self.category[row] not in excluded]

    def enqueued(self, dequeue: int) -> tuple[int, int]:
        """The enqueue of a dequeue, and its operator."""
        queued = self.rows(KNOWN.categories.enqueues) if dequeue >= 0 else []
        enqueue = next((one for one in queued if self.id[one] == self.id[dequeue] >= 0), -1)
        if enqueue < 0:
            return -1, -1
        return enqueue, self.around([self.trace.track_of(enqueue)], self.start[enqueue], self.operators())

    def handed(self, row: int) -> tuple[int, int, int]:
        arrows = [one for one in self.arrows(KNOWN.flows.dispatch) if min(one[:2]) >= 0]
        stage, giver, when = -1, -1, -1
        for _ in range(8):
            row = self.nearest(row, [target for _, target, _, _ in arrows])
            if row < 0:
                break
            source, time = next((source, time) for source, target, time, _ in arrows if target == row)
            stage = row if stage < 0 else stage
            giver, when, row = source, time, source
        return stage, giver, when

    def called(self, row: int) -> tuple[int, int, int, bool]:
        """Forward operator, stack, frame and whether it is of the backward pass, of an operator."""
        arrows = [(one[0], one[1]) for one in self.arrows(KNOWN.flows.backward) if min(one[:2]) >= 0]
        evaluating = [
            i for i, name in enumerate(self.names) if name.startswith(KNOWN.operators.backward_beginnings)
        ]
        target = self.nearest(row, [target for _, target in arrows])
        forward = next((source for source, end in arrows if end == target), -1)
        if forward < 0 and row in evaluating:
            forward = next((source for source, end in arrows if self.parent(end) == row), -1)
        asked = forward if forward >= 0 else self.handed(row)[1]
        steps = [i for i, name in enumerate(self.names) if name.startswith(KNOWN.operators.step_beginnings)]
        stacked = [i for i, stack in enumerate(self.stack) if stack >= 0 and i not in steps]
        nearest, through = self.nearest(row, stacked), self.nearest(asked, stacked)
        source_row = next((one for one in (through, nearest, row) if one >= 0), -1)
        place = asked if asked >= 0 else row
        return (
            forward,
            self.stack[source_row] if source_row >= 0 else -1,
            self.frame(place, self.start[place]) if place >= 0 else -1,
            forward >= 0 or self.nearest(row, evaluating) >= 0,
        )

    def frame(self, row: int, time: int) -> int:
        """The innermost frame at a time on the thread of a slice."""
        track = self.trace.track_of(row)
        frames = [
            t
            for t in self.trace.tracks
            if t.family == Family.FRAMES and (t.pid, t.tid) == (track.pid, track.tid)
        ]
        return self.around(frames, time, [row for t in frames for row in t.rows])


def chain_at(chains: LaunchChains, place: int) -> list[int]:
    hops = (chains.launch, chains.launch_time, chains.dequeue, chains.enqueue, chains.enqueue_time)
    return [int(column[place]) for column in (*hops, chains.operator)]


@pytest.mark.parametrize("seed", range(50))
def test_the_chains_of_tasks(seed: int) -> None:
    chains, definition = link_tasks(any_run(seed)), Definition(any_run(seed))
    assert chains.tasks.tolist() == definition.tasks()
    assert chains.index(chains.tasks).tolist() == list(range(len(chains.tasks)))
    assert chains.linked == sum(row >= 0 for row in chains.operator.tolist())
    hops = np.concatenate((chains.launch, chains.dequeue, chains.enqueue, chains.operator)).tolist()
    assert np.flatnonzero(chains.leads).tolist() == sorted({row for row in hops if row >= 0})
    for place, row in enumerate(definition.tasks()):
        check(chains, definition, place)
        chain, given = definition.chain(row)
        *_, time, operator = chain
        assert chain_at(chains, place) == chain
        forward, stack, frame, backward = definition.called(operator)
        assert [chains.forward[place], chains.stack[place], chains.backward[place]] == [
            forward,
            stack,
            backward,
        ]
        assert chains.frame[place] == (definition.frame(operator, time) if given else frame)


def check(chains: LaunchChains, definition: Definition, place: int) -> None:
    """What else is told of a task, from its columns."""
    row, start = int(chains.tasks[place]), definition.start
    launch, point, dequeue, enqueue, enqueued, operator = chain_at(chains, place)
    hops = {"operator": operator, "enqueue": enqueue, "dequeue": dequeue, "launch": launch, "task": row}
    rows = [at for at in dict.fromkeys(hops.values()) if at >= 0]
    waits = [start[later] - start[at] for at, later in zip(rows, [*rows[1:], row])]
    chain = chains.chain(row)
    assert chain is not None and chains.chain(len(start)) is None
    assert [(hop.row, hop.start_ns, hop.wait_ns) for hop in chain.hops] == list(
        zip(rows, map(start.__getitem__, rows), waits)
    )
    assert [hops[hop.name] for hop in chain.hops] == rows
    known = [time for time in (enqueued, point, start[operator] if operator >= 0 else -1) if time >= 0]
    assert chains.enqueued(np.array([row])).tolist() == [*known, NEVER][:1]
    text, frame = int(chains.stack[place]), int(chains.frame[place])
    frames = [frame, *definition.outer(frame)] if frame >= 0 else []
    called = tuple(parse_frame(definition.names[at]) for at in frames)
    assert chain.stack == (parse_call_stack(definition.trace.strings[text]) if text >= 0 else called)
    missing = "operator"
    if operator >= 0:
        missing = "" if chain.stack else "stack"
    elif point < 0:
        missing = "launch"
    elif dequeue < 0 and (chains.dequeue >= 0).any():
        missing = "dequeue"
    elif dequeue >= 0 > enqueue:
        missing = "enqueue"
    assert (chain.missing or "") == missing


@pytest.mark.parametrize("seed", range(50))
def test_where_operators_were_called_from(seed: int) -> None:
    trace = any_run(seed)
    definition, callers = Definition(trace), link_tasks(trace).callers
    rows = [-1, *(row for t in definition.hosts for row in t.rows)] * 2
    asked = np.array(rows, np.int64)
    called, handed = callers.call_sites(asked), callers.handoffs(asked)
    assert list(
        zip(*(column.tolist() for column in (called.forward, called.stack, called.frame, called.backward)))
    ) == [definition.called(row) for row in rows]
    assert list(zip(*(column.tolist() for column in handed))) == [definition.handed(row) for row in rows]
    assert callers.ancestors.parents_of(asked).tolist() == [
        definition.parent(row) if row >= 0 else -1 for row in rows
    ]
    for row in rows:
        frames = (parse_frame(definition.names[at]) for at in (row, *definition.outer(row)))
        assert row < 0 or frames_of(trace, row) == tuple(frames)
    dequeues = [-1, *definition.rows(KNOWN.categories.dequeues)]
    assert operators_of_dequeues(trace, np.array(dequeues, np.int64)).tolist() == [
        definition.enqueued(row)[1] for row in dequeues
    ]
    assert callers.work_takers.tolist() == sorted(
        {target for source, target, *_ in definition.arrows(KNOWN.flows.dispatch) if min(source, target) >= 0}
    )
