"""The table of synchronisations, held against its definition on small runs of several threads."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.analysis.idle.test_explain import launched, stack
from tests.analysis.machine import AUTOGRAD, MAIN, Events, call, frame, npu, operator, step
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.calls import cause_of_call, cause_of_frame, cause_of_operator
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.host import HostThread
from tracetui.analysis.idle.syncs import SyncCall, sync_table
from tracetui.arrays import Bools
from tracetui.trace.model import Family, Trace
from tracetui.trace.stack import parse_call_stack, parse_frame

THREADS = (MAIN, AUTOGRAD, 900)
SYNCS = ("aten::item", "aten::nonzero", "aten::_local_scalar_dense")
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
RUNTIME = ("AscendCL@aclrtSynchronizeStream", "AscendCL@aclrtSynchronizeDevice")
#: What names stand for, by the family of their track.
CAUSES = {
    Family.OPERATORS: cause_of_operator,
    Family.CALLS: cause_of_call,
    Family.FRAMES: cause_of_frame,
}
FRAMES = ("torch_npu/npu/utils.py(9): synchronize", "train.py(3): train", "train.py(4): log")


class Sync(NamedTuple):
    start: int
    end: int
    row: int
    line: tuple[str | None, int, str]


def some_run(source: random.Random) -> Events:
    """Threads that launch work, wait for it and do other things, at few times: many begin together."""
    events, recorded = npu(), source.random() < 0.5
    if source.random() < 0.7:
        events += [step(1, 900, 1_500), step(2, 2_400, 700)]
    for at in sorted(source.sample(range(1_000, 3_000, 40), source.randrange(2, 8))):
        tid, late = source.choice(THREADS[:2]), source.choice((40, 60, 200))
        events += launched(at, at + late, source.randrange(1, 4), tid, dur=source.choice((10, 50, 300)))
    for _ in range(source.randrange(1, 9)):
        at, dur = source.randrange(1_000, 3_000, 20), source.choice((10, 50, 90, 300))
        stacked = {"stack": stack(source.randrange(1, 4))} if source.random() < 0.8 else {}
        tid = source.choice(THREADS)
        events.append(operator(at, dur, source.choice((*SYNCS, "aten::add", LOADER)), tid, **stacked))
        if source.random() < 0.3:
            events.append(operator(at + source.choice((0, 5)), dur - 5, source.choice(SYNCS), tid, **stacked))
    for number in range(source.randrange(5)):
        at, dur = source.randrange(1_000, 3_000, 20), source.choice((10, 70, 200))
        events.append(call(at, dur, 7_000 + number, source.choice(RUNTIME), source.choice(THREADS)))
    for _ in range(source.randrange(4) if recorded else 0):
        at, dur = source.randrange(1_000, 3_000, 20), source.choice((30, 100, 900))
        events.append(frame(at, dur, source.choice(FRAMES), source.choice(THREADS[:2])))
    if recorded:
        for event in events:
            event.get("args", {}).pop("Call stack", None)
    return events


def innermost(trace: Trace, rows: range, time: int) -> int:
    """The slice of some that starts last, of those the shortest, of what holds a time."""
    start, end = trace.slices.start, trace.slices.end
    held = [r for r in rows if start[r] <= time < end[r]]
    return max(held, key=lambda r: (start[r], -end[r], r), default=-1)


def line_of(analysis: Analysis, row: int, around: int) -> tuple[str | None, int, str]:
    """The line of an operator's stack; where none is recorded, of the frames around."""
    trace, called = analysis.trace, analysis.launch_chains.callers.call_sites(np.array([row]))
    text, frame = int(called.stack[0]), around if around >= 0 else int(called.frame[0])
    frames = parse_call_stack(trace.strings[text]) if text >= 0 else ()
    while frame >= 0 and not trace.slices.have_stacks:
        frames = (*frames, parse_frame(trace.strings[trace.slices.name[frame]]))
        frame = int(analysis.launch_chains.callers.ancestors.parents_of(np.array([frame]))[0])
    found = analysis.rules.line_of(frames)
    return (None, 0, "") if found is None else (found.file, found.line or 0, found.function)


def syncs_of(analysis: Analysis, index: int) -> list[Sync]:
    """The synchronisations of a thread: each is that of the longest that waits of what begins with it."""
    trace, thread = analysis.trace, analysis.host_threads.thread(index)
    spans = thread.spans.get(Cause.SYNC)
    if spans is None or not len(thread.operators):
        return []
    waiting = [
        row
        for family, cause_of in CAUSES.items()
        for t in trace.tracks
        if t.family == family and len(t.rows)
        if analysis.host_threads.of_rows(np.array([t.rows.start]))[0] == index
        for row in t.rows
        if cause_of(trace.name(row)) is Cause.SYNC
    ]
    found = []
    for start, end in zip(spans.starts.tolist(), spans.ends.tolist()):
        running = running_at(thread, start)
        row = max((r for r in waiting if trace.slices.start[r] == start), key=lambda r: trace.slices.end[r])
        after = [r for r in thread.line_slices.tolist() if trace.slices.start[r] > start]
        waiting_row = running if running >= 0 else (after or [-1])[0]
        around = max((innermost(trace, t.rows, start) for t in thread.frames), default=-1)
        found.append(Sync(start, end, row, line_of(analysis, waiting_row, around)))
    return found


def running_at(thread: HostThread, time: int) -> int:
    return int(thread.running(np.array([time]))[0])


def exposing(analysis: Analysis, threads: list[list[Sync]]) -> list[Sync | None]:
    """Of each piece of idle time the synchronisation that exposes it."""
    causes = analysis.causes
    found: list[Sync | None] = []
    for piece in range(len(causes)):
        interval, cause = int(causes.interval[piece]), Cause(causes.cause[piece])
        begin, start = int(causes.intervals.start[interval]), int(causes.start[piece])
        emptied = int(causes.sync_thread[interval])
        teller = int(causes.operator[piece]) if causes.operator[piece] >= 0 else int(causes.frame[piece])
        thread = int(analysis.host_threads.of_rows(np.array([teller]))[0]) if teller >= 0 else -1
        whole = [s for s in (threads[emptied] if emptied >= 0 else ()) if s.start <= begin < s.end]
        part = [
            s
            for index, syncs in enumerate(threads)
            for s in syncs
            if cause is Cause.SYNC and thread in (-1, index) and s.start <= start < s.end
        ]
        several = whole or part
        found.append(several[-1] if several and not cause.facts.reason_of_its_own else None)
    return found


def table(
    analysis: Analysis, window: tuple[int, int] | None = None, gaps: Bools | None = None
) -> list[dict[str, Any]]:
    """The table, by its definition."""
    causes, slices = analysis.causes, analysis.trace.slices
    threads = [syncs_of(analysis, index) for index in range(len(analysis.host_threads))]
    by = exposing(analysis, threads)
    gap_of = causes.intervals.gap[causes.interval].tolist()
    if gaps is not None:
        by = [sync if gaps[gap] else None for sync, gap in zip(by, gap_of)]
    every = [sync for syncs in threads for sync in syncs]
    kept = [s for s in every if window is None or window[0] <= s.start < window[1] or any(s is b for b in by)]
    groups: dict[Any, list[Sync]] = {}
    for sync in kept:
        name = analysis.trace.strings[slices.name[sync.row]]
        groups.setdefault((name, sync.line), []).append(sync)
    rows = []
    for (name, line), syncs in groups.items():
        pieces = [p for p, sync in enumerate(by) if any(sync is sync_of_piece for sync_of_piece in syncs)]
        ns = {p: int(causes.end[p] - causes.start[p]) for p in pieces}
        steps, per_gap = Counter[int](), Counter[int]()
        for p in pieces:
            steps[int(causes.intervals.step[causes.interval[p]])] += ns[p]
            per_gap[gap_of[p]] += ns[p]
        longest = sorted(syncs, key=lambda sync: sync.start - sync.end)
        rows.append(
            {
                "call": name,
                "file": line[0],
                "line": line[1],
                "function": line[2],
                "count": len(syncs),
                "total_ns": sum(sync.end - sync.start for sync in syncs),
                "longest_ns": max(sync.end - sync.start for sync in syncs),
                "dry_count": sum(any(sync is by[piece] for piece in pieces) for sync in syncs),
                "exposed_ns": sum(ns.values()),
                "exposed_by_step": dict(sorted(steps.items())),
                "gap_indices": sorted(per_gap, key=lambda gap: (-per_gap[gap], gap)),
                "rows": [sync.row for sync in longest],
            }
        )
    return sorted(rows, key=lambda row: (-row["exposed_ns"], -row["total_ns"], row["call"], row["line"]))


def rows_of(syncs: tuple[SyncCall, ...]) -> list[dict[str, Any]]:
    arrays = ("gap_indices", "rows")
    return [{**vars(sync), **{name: getattr(sync, name).tolist() for name in arrays}} for sync in syncs]


@pytest.mark.parametrize("seed", range(40))
def test_the_table_is_what_its_definition_says(seed: int) -> None:
    source = random.Random(seed)
    analysis = analyse(trace_of(some_run(source)))
    parts = analysis.trace, analysis.host_threads, analysis.causes, analysis.rules
    assert rows_of(sync_table(*parts)) == table(analysis)
    every = [sync for index in range(len(analysis.host_threads)) for sync in syncs_of(analysis, index)]
    for sync in every[:3]:
        chosen = np.array([source.random() < 0.5 for _ in range(len(analysis.gaps))], np.bool_)
        for window in ((sync.start, sync.end), (sync.start - 100, sync.start)):
            assert rows_of(sync_table(*parts, window, chosen)) == table(analysis, window, chosen)
