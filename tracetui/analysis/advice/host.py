"""Advice about the host's own work: loops of small operators, synchronisation, data, memory, collections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tracetui.analysis.advice.evidence import Evidence
from tracetui.analysis.advice.model import (
    COLLECTION,
    DATA_LOADER,
    DATA_QUEUE_EMPTY,
    DATA_QUEUE_SHARE,
    LAUNCH_PAUSE,
    LAUNCH_SHARE,
    LOOP_KERNEL,
    LOOP_REPEATS,
    LOOP_SHARE,
    MEMORY,
    START_UP,
    SYNC_REPEATS,
    Advice,
    Figures,
)
from tracetui.analysis.idle.calls import allocates_memory, cause_of_operator
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.search import distinct, group_by, name_meanings, track_of_rows
from tracetui.analysis.sums import most_first
from tracetui.arrays import EMPTY, Bools, Int32s, Int64s
from tracetui.siblings.minddata import MindData, minddata_of
from tracetui.trace.model import Activity, Family
from tracetui.trace.order import starts_run
from tracetui.trace.stack import parse_call_stack

#: The idle time that one launch instead of many saves.
PER_LAUNCH = (
    Cause.OPERATOR,
    Cause.PYTHON,
    Cause.QUEUE_BUSY,
    Cause.QUEUE_WAKEUP,
    Cause.LAUNCH_DISPATCH,
    Cause.LATENCY,
)


_NEVER = np.iinfo(np.int64).max


def launch_bound(evidence: Evidence) -> Iterator[Advice]:
    """Find a device that is idle for most of the time while the host launches short kernels from anywhere."""
    chains, slices = evidence.analysis.launch_chains, evidence.trace.slices
    tasks = evidence.work[np.isin(slices.activity[evidence.work], (Activity.COMPUTE, Activity.AICPU))]
    places = chains.index(tasks)
    tasks, places = tasks[chains.operator[places] >= 0], places[chains.operator[places] >= 0]
    pieces = evidence.caused(*PER_LAUNCH)
    cost = evidence.idle_ns(pieces)
    if not len(tasks) or not LAUNCH_SHARE.reached(cost, evidence.window_ns):
        return
    launch = chains.launch[places]
    launches = len(np.unique(np.where(launch >= 0, launch, _launches(evidence, places))))
    mean = int(slices.dur[tasks].mean())
    if mean > LOOP_KERNEL.value or cost > launches * LAUNCH_PAUSE.value:
        return
    remedy = "torch.cuda.CUDAGraph, or torch.compile with mode='reduce-overhead'"
    if not evidence.is_gpu:
        remedy = "torch.npu.NPUGraph, or torch.compile with the backend of torchair; MindSpore: graph mode"
    yield Advice(
        id="launch_bound",
        cost_ns=cost,
        evidence={
            "launches": launches,
            "launches_per_step": evidence.per_step(launches),
            "mean_kernel_ns": mean,
            "idle_ns": cost,
            "share_of_window": cost / max(evidence.window_ns, 1),
            "graph": remedy,
        },
        gaps=evidence.gaps(pieces),
    )


def small_operators(evidence: Evidence) -> Iterator[Advice]:
    """Find loops: lines that enqueue the same few operators again and again, each for a short kernel."""
    chains, slices = evidence.analysis.launch_chains, evidence.trace.slices
    tasks = evidence.work[np.isin(slices.activity[evidence.work], (Activity.COMPUTE, Activity.AICPU))]
    places = chains.index(tasks)
    line, launched = evidence.task_lines(tasks), _launches(evidence, places)
    waiting = evidence.caused(*PER_LAUNCH) & ~evidence.causes.backward
    candidates = np.flatnonzero((line >= 0) & ~chains.backward[places] & (chains.operator[places] >= 0))
    caller = _callers(
        evidence,
        chains.operator[places[candidates]],
        chains.stack[places[candidates]],
        chains.frame[places[candidates]],
    )
    candidates = candidates[
        _repeated(
            line[candidates], caller, slices.name[chains.operator[places[candidates]]], launched[candidates]
        )
    ]
    for line_place, group in group_by(line[candidates]):
        rows = tasks[candidates[group]]
        _, first = np.unique(launched[candidates[group]], return_index=True)
        operators = chains.operator[places[candidates[group]]][first]
        names, count = np.unique(slices.name[operators], return_counts=True)
        launches, repeats = evidence.per_step(len(operators)), evidence.per_step(int(count.max()))
        mean = int(slices.dur[rows].mean())
        pieces = waiting & (evidence.piece_lines == line_place)
        cost = evidence.idle_ns(pieces)
        if repeats < LOOP_REPEATS.value or mean > LOOP_KERNEL.value:
            continue
        if not LOOP_SHARE.reached(cost, evidence.window_ns):
            continue
        saved = launches - len(names)
        order = np.argsort(-count, kind="stable")
        yield Advice(
            id="small_operators_in_loop",
            cost_ns=cost,
            evidence={
                "launches": len(operators),
                "launches_per_step": launches,
                "repeats_per_step": repeats,
                "operators": len(names),
                "launches_saved_per_step": saved,
                "mean_kernel_ns": mean,
                "idle_ns": cost,
            },
            # Frames tell where a function is defined, and nothing of the lines in it.
            context={"of_function": int(not slices.have_stacks)},
            subjects=tuple(evidence.trace.strings[name] for name in names[order].tolist()),
            **evidence.line(line_place)._asdict(),
            gaps=evidence.gaps(pieces),
            rows=operators,
        )


def _callers(evidence: Evidence, operators: Int64s, stacks: Int32s, frames: Int64s) -> Int64s:
    """Return a number for the call of the function that each operator is called from.

    That is the innermost frame that is not built in. Where only call stacks are recorded, it is a call as
    long as the thread calls operators from that function, called from the same place, and from no other.
    """
    trace, slices = evidence.trace, evidence.trace.slices
    builtin = np.array([text.startswith("<built-in") for text in trace.strings], np.bool_)
    caller_rows = evidence.analysis.launch_chains.callers.ancestors.nearest(
        frames, lambda rows: ~builtin[slices.name[rows]]
    )
    functions: dict[tuple[str, ...], int] = {}
    codes = np.full(len(trace.strings) + 1, -1, np.int64)
    for code in distinct(stacks[stacks >= 0]).tolist():
        frames_of = parse_call_stack(trace.strings[code])
        leaf = [f"{frame.file}:{frame.function}" for frame in frames_of[:1]]
        path = (*leaf, *(str(frame) for frame in frames_of[1:]))
        codes[code] = functions.setdefault(path, len(functions))
    function, thread = codes[stacks], track_of_rows(trace, operators).astype(np.int64)
    order = np.lexsort((slices.start[operators], thread))
    call = np.empty(len(order), np.int64)
    call[order] = np.cumsum(starts_run(function[order], thread[order]))
    return np.where(stacks >= 0, -2 - call, caller_rows)


def _repeated(line: Int64s, caller: Int64s, name: Int32s, launched: Int64s) -> Bools:
    """Return which tasks are of a line that, in one call of a function, launches one operator repeatedly."""
    _, first = np.unique(launched, return_index=True)
    _, place = np.unique(np.stack((line, caller, name.astype(np.int64))), axis=1, return_inverse=True)
    place = place.reshape(-1)
    return np.bincount(place[first], minlength=int(place.max(initial=-1)) + 1)[place] >= LOOP_REPEATS.value


def _launches(evidence: Evidence, places: Int64s) -> Int64s:
    """Return what is equal for the tasks of one launch: the enqueue; without a queue the operator."""
    chains = evidence.analysis.launch_chains
    return np.where(chains.enqueue[places] >= 0, chains.enqueue[places], chains.operator[places])


def sync_in_loop(evidence: Evidence) -> Iterator[Advice]:
    """Find lines that wait for the device several times a step; without steps, for much of the time."""
    for sync in evidence.analysis.syncs:
        per_step, idle = evidence.per_step(sync.count), sync.exposed_ns
        is_worth = evidence.worth(idle) if evidence.steps else LOOP_SHARE.reached(idle, evidence.window_ns)
        if per_step < SYNC_REPEATS.value or not is_worth:
            continue
        yield Advice(
            id="sync_in_loop",
            cost_ns=sync.exposed_ns,
            evidence={
                "count": sync.count,
                "count_per_step": per_step,
                "dry_count": sync.dry_count,
                "wait_ns": sync.total_ns,
                "longest_wait_ns": sync.longest_ns,
                "exposed_idle_ns": sync.exposed_ns,
            },
            subjects=(sync.call,) if sync.call else (),
            file=sync.file,
            line=sync.line,
            function=sync.function,
            gaps=sync.gap_indices,
            rows=sync.rows,
        )


def data_loader(evidence: Evidence) -> Iterator[Advice]:
    """Find a data loader that takes long, on threads that launch, while the device is idle."""
    operators, threads = evidence.analysis.host_rows, evidence.analysis.host_threads
    loading = operators[name_meanings(evidence.trace, operators, cause_of_operator) == Cause.DATALOADER]
    outer = evidence.outermost(loading[np.isin(threads.of_rows(loading), evidence.launching)])
    spans = evidence.time_of(outer)
    step = evidence.host_steps_at(spans.starts) if evidence.steps else np.arange(len(spans))
    loading_ns = np.zeros(max(evidence.steps, len(spans)) + 1, np.int64)
    np.add.at(loading_ns, step, spans.ends - spans.starts)
    loading_ns[-1] = 0  # what begins in no step, -1, is summed there
    slow = loading_ns[loading_ns >= DATA_LOADER.value]
    pieces = evidence.caused(Cause.DATALOADER)
    cost = evidence.idle_ns(pieces)
    if not len(slow) or not evidence.worth(cost):
        return
    rows = evidence.longest_first(outer)
    before = evidence.idle_ns_before_windows(Cause.DATALOADER)
    yield Advice(
        id="data_loader_slow",
        cost_ns=cost,
        evidence={
            "batches": len(outer),
            f"slow_{'steps' if evidence.steps else 'batches'}": len(slow),
            "slowest_ns": int(slow.max()),
            "total_ns": spans.total,
            "idle_ns": cost,
            **({"before_window_ns": before} if before else {}),
        },
        subjects=evidence.names(rows, 1),
        **evidence.line(_line_of(evidence, rows))._asdict(),
        gaps=evidence.gaps(pieces),
        rows=rows,
    )


def collections(evidence: Evidence) -> Iterator[Advice]:
    """Find garbage collections of Python that stop the thread that launches."""
    slices, threads = evidence.trace.slices, evidence.analysis.host_threads
    launching = evidence.launching[evidence.launching >= 0].tolist()
    all_collections = distinct(np.concatenate([EMPTY, *map(threads.collections, launching)]))
    rows = evidence.longest_first(all_collections[slices.dur[all_collections] >= COLLECTION.value])
    pieces = evidence.caused(Cause.GC)
    cost = evidence.idle_ns(pieces)
    if not len(rows) or not cost:
        return
    longest, total = int(slices.dur[rows[0]]), int(slices.dur[rows].sum())
    yield Advice(
        id="garbage_collection",
        cost_ns=cost,
        evidence={"count": len(rows), "longest_ns": longest, "total_ns": total, "idle_ns": cost},
        gaps=evidence.gaps(pieces),
        rows=rows,
    )


def memory_stalls(evidence: Evidence) -> Iterator[Advice]:
    """Find memory that is taken from the driver, or given back to it, while the device is idle."""
    calls = evidence.rows_of(Family.CALLS)
    rows = evidence.outermost(calls[name_meanings(evidence.trace, calls, allocates_memory) == 1])
    during = evidence.idle_during(rows)
    cost = int(during.sum())
    if cost < MEMORY.value:
        return
    rows = evidence.longest_first(rows)
    total, longest = evidence.time_of(rows).total, int(evidence.trace.slices.dur[rows[0]])
    is_early = evidence.trace.slices.start[rows[0]] < evidence.analysis.host_spans[:, 1].min(initial=_NEVER)
    setting, call = "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True", "torch.npu.empty_cache()"
    if evidence.is_gpu:
        setting, call = setting.replace("NPU", "CUDA"), call.replace("npu", "cuda")
    yield Advice(
        id="memory_allocation_stalls",
        remedy="start_up" if is_early and longest >= START_UP.value and longest * 2 >= total else "settings",
        cost_ns=cost,
        evidence={
            "calls": len(rows),
            "calls_per_step": evidence.per_step(len(rows)),
            "total_ns": total,
            "longest_ns": longest,
            "idle_ns": cost,
            "setting": setting,
            "without": call,
        },
        subjects=evidence.names(rows),
        **evidence.worst_line(during > 0)._asdict(),
        gaps=most_first(evidence.causes.charges.gap[during > 0], during[during > 0])[0],
        rows=rows,
    )


def _line_of(evidence: Evidence, operators: Int64s) -> int:
    """Return the line of the first operator that has one, -1 where none has."""
    lines = evidence.operator_lines(operators[:64])
    with_line = lines[lines >= 0]
    return int(with_line[0]) if len(with_line) else -1


def data_queues(evidence: Evidence) -> Iterator[Advice]:
    """Idle time between steps for which the queues of MindData tell who is late."""
    steps = evidence.analysis.steps
    cost = sum(step.phase_idle_ns[0] for step in steps)
    if not DATA_QUEUE_SHARE.reached(cost, evidence.window_ns):
        return
    data = minddata_of(Path(evidence.trace.path))
    if data is None or not (data.looks or data.operators):
        return
    variant, subjects = _verdict(data)
    context: Figures = {}
    figures: Figures = {"iteration_gap_idle_ns": cost, "batches": data.looks, "empty": data.empty}
    if data.host_queue is not None:
        figures["host_queue_empty_share"] = max(data.host_queue.empty_pct, 0.0) / 100
        context["host_queue_empty_pct"] = data.host_queue.empty_pct
    if data.slowest is not None and subjects:
        figures["workers"] = data.slowest.workers
    yield Advice(
        id="data_queue",
        variant=variant,
        cost_ns=cost,
        evidence=figures,
        context=context,
        subjects=subjects,
    )


def _verdict(data: MindData) -> tuple[str, tuple[str, ...]]:
    """Return who is late, and the operator to look at, by MindSpore's rules for the lengths of the queues."""
    host = data.host_queue
    if data.looks and not DATA_QUEUE_EMPTY.exceeded(data.empty, data.looks):
        return "taking", ()
    if host is not None and host.empty_pct <= 0:
        return "sending", ()
    slowest = data.slowest
    return "pipeline", (slowest.name,) if slowest is not None else ()
