"""Row 0, string 0, thread 0 and time 0 are like any other: a slice before all others changes no answer, nor a
later beginning of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.analysis.critical.test_critical import any_run
from tests.analysis.idle.test_explain import launched, stack
from tests.analysis.machine import (
    AUTOGRAD,
    CANN,
    MAIN,
    PYTHON,
    QUEUE,
    Events,
    arrow,
    call,
    npu,
    operator,
    step,
    task,
    us,
)
from tests.analysis.planted import events_of
from tests.synthetic import piece, thread, trace_of
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.heat.work import WorkMap, main_slice
from tracetui.analysis.raster import even_edges
from tracetui.analysis.steps import Step
from tracetui.export.sentences.advice_english import english_words

#: A range of the user without length, on a thread above all others, with strings of its own.
NOTHING = [*thread(PYTHON, 0, "nothing", -9), piece(PYTHON, 0, "nothing", "0.000", 0, "nothing")]


def answers(events: Events, base_ns: int = 0) -> dict[str, Any]:
    """What follows from a trace, with slices by name and start and strings by their text.

    Times are told from `base_ns` on, that of the document, which the events count from.
    """
    analysis = analyse(trace_of(events, baseTimeNanoseconds=base_ns))
    trace, chains, causes = analysis.trace, analysis.launch_chains, analysis.causes
    start = trace.slices.start

    def slices(rows: Any) -> list[tuple[str, int] | None]:
        known = np.asarray(rows).tolist()
        return [None if row < 0 else (trace.name(row), int(start[row]) - base_ns) for row in known]

    def texts(strings: Any) -> list[str | None]:
        return [trace.string(string) for string in strings.tolist()]

    def plain(entries: Any) -> list[Any]:
        """Tables as tuples, their indices of gaps as lists."""
        return [
            tuple(np.asarray(v).tolist() if isinstance(v, np.ndarray) else v for v in astuple(e))
            for e in entries
        ]

    def times_of(step: Step) -> dict[str, Any]:
        fields = ("host_start_ns", "host_end_ns", "start_ns", "end_ns", "prepared_ns", "work_start_ns")
        return {field: getattr(step, field) - base_ns for field in fields}

    hops = ("tasks", "launch", "dequeue", "enqueue", "operator", "forward")
    advice = [
        (
            one.id,
            english_words(one).text,
            one.cost_ns,
            one.evidence,
            one.subjects,
            one.file,
            one.line,
            one.gaps.tolist(),
            slices(one.rows),
        )
        for one in find_advice(analysis)
    ]
    return {
        "links": list(zip(*(slices(getattr(chains, hop)) for hop in hops))),
        "gaps": [slices(analysis.gaps.before), slices(analysis.gaps.after), analysis.gaps.idle.tolist()],
        "causes": list(
            zip(
                (causes.start - base_ns).tolist(),
                causes.cause.tolist(),
                slices(causes.operator),
                texts(causes.stack),
                slices(causes.frame),
            )
        ),
        "exposing": [
            slices(causes.sync_operator),
            texts(causes.sync_stack),
            slices(causes.sync_frame),
        ],
        "lines": plain(analysis.lines),
        "signatures": plain(analysis.signatures),
        "syncs": [
            (*plain([replace(sync, rows=sync.rows[:0])]), slices(sync.rows)) for sync in analysis.syncs
        ],
        "steps": plain([replace(step, row=0, **times_of(step)) for step in analysis.steps]),
        "critical": [
            (
                (chain.start - base_ns).tolist(),
                chain.kind.tolist(),
                slices(chain.row),
                texts(chain.stack),
                slices(chain.frame),
            )
            for chain in analysis.critical
        ],
        "savings": plain(analysis.savings.values()),
        "after": [
            (answer.before_ns, answer.after_ns)
            for answer in (analysis.what_ifs.faster(key, 0.0) for key in analysis.savings)
        ],
        "modules": [(module.path, module.idle_ns) for module in analysis.modules],
        "communication": plain(analysis.communication.lines),
        "operators": sorted(
            (row.name, row.count, row.self_ns) for row in table_of(analysis.device_operators)
        ),
        "advice": advice,
        "leads": slices(np.flatnonzero(chains.leads)),
        "work": list(_work(analysis, slices)),
    }


def _work(analysis: Analysis, slices: Callable[[Any], Any]) -> Iterator[Any]:
    """What ran in each row of the map of work, in each third of the time of a device."""
    spans = [(device.start_ns, device.end_ns) for device in analysis.devices] or [(0, 1_000)]
    edges = even_edges(*spans[0], 3).tolist()
    for thing in WorkMap.from_analysis(analysis).things:
        main = [main_slice(analysis, thing, *interval) for interval in zip(edges, edges[1:])]
        yield thing.doing, thing.times.total, slices(main)


def table_of(table: Any) -> list[Any]:
    return [table[place] for place in range(len(table))]


LOOP = [event for turn in range(6) for event in launched(1_000 + 100 * turn, 1_100 + 100 * turn, dur=20)]
AI_CPU = launched(1_000, 1_100, kind="AI_CPU", dur=50_000)
COPY = [
    *[operator(900, 300, "aten::to"), operator(910, 280, "aten::copy_")],
    *[operator(1_300, 300, "aten::item"), operator(1_310, 280, "aten::copy_")],
    *launched(1_400, 1_440, kind="PCIE_DMA_SQE"),
]
BACKWARD = [
    *launched(1_000, 1_100, 3),
    *[event for event in launched(2_000, 2_040, 4, AUTOGRAD) if event.get("cat") != "cpu_op"],
    operator(1_200, 100, "aten::ones_like", stack=stack(5)),
    operator(1_800, 400, "autograd::engine::evaluate_function: MmBackward0", AUTOGRAD),
    operator(1_810, 390, "MmBackward0", AUTOGRAD),
    *arrow("fwdbwd", 1, (PYTHON, MAIN, 995), (PYTHON, AUTOGRAD, 1_810)),
]
QUEUED = [step(0, 800, 10), *launched(3_000, 3_100, 3)]
SYNC = [
    operator(900, 1_300, "aten::item", stack=stack(3)),
    call(950, 900, 99, "AscendCL@aclrtSynchronizeStream", MAIN),
    *launched(1_000, 1_100, 3),
    *launched(2_300, 2_400, 5),
]


@pytest.mark.parametrize("above", [MAIN, QUEUE, AUTOGRAD])
@pytest.mark.parametrize(
    "events",
    [LOOP, AI_CPU, COPY, BACKWARD, SYNC, QUEUED],
    ids=["loop", "ai cpu", "copy", "backward", "sync", "queued"],
)
def test_what_stands_first(events: Events, above: int) -> None:
    events = [
        *npu(),
        *thread(PYTHON, above, "above", -1),
        *thread(CANN, above, "above", -1),
        step(1, 2_900, 10),
        *events,
    ]
    assert answers([*NOTHING, *events]) == answers(events)


def since(events: Events, ns: int) -> Events:
    """Events that begin at a time or later, which is their time 0."""
    timed = [(round(float(event["ts"]) * 1000) - ns, event) for event in events if "ts" in event]
    untimed = [event for event in events if "ts" not in event]
    return [*untimed, *({**event, "ts": us(later)} for later, event in timed if later >= 0)]


@pytest.mark.parametrize(
    ("events", "first"),
    [
        *[(LOOP, first) for first in (1_000, 1_010)],
        *[(BACKWARD, first) for first in (995, 1_800)],
        *[(SYNC, first) for first in (900, 950, 1_000)],
        (COPY, 1_400),
        (QUEUED, 800),
    ],
)
def test_what_begins_at_time_0(events: Events, first: int) -> None:
    machine = since([*npu(), *task_alone(first), *events], first)
    assert answers(machine, 1_000) == answers(machine)


def task_alone(ns: int) -> Events:
    """A task that nothing is known of: a device waits after it."""
    return [task(ns + 3, 2)]


@settings(max_examples=settings().max_examples // 2)  # of two answers each
@given(any_run())
def test_whatever_runs(events: Events) -> None:
    assert answers([*NOTHING, *events]) == answers(events)


#: Processes and threads of the planted run, as it numbers them.
HOST, RUNTIME = 3178231, 3254508768
FRAMES, OPERATORS, WORKER, HANDED, CALLS, LAUNCHES, TASKS = range(7)
TRACKS = {
    FRAMES: (HOST, 3178231),
    OPERATORS: (HOST, 3178231),
    WORKER: (HOST, 3186523),
    HANDED: (HOST, 3181770),
    CALLS: (RUNTIME, 3178231),
    LAUNCHES: (RUNTIME, 3181770),
    TASKS: (3254508960, 2),
}


def beginning(track: int, place: int) -> Events:
    """The planted run, of which a track stands first, and begins with its slice at a place."""
    pid, tid = TRACKS[track]
    events = []
    for event in sorted(events_of("attached", 1), key=lambda event: float(event.get("ts", 0))):
        on_thread = (event["pid"], event["tid"]) == (pid, tid)
        if event["ph"] == "X" and on_thread and (event.get("cat") == "python_function") == (track == FRAMES):
            place -= 1
            if place >= 0:
                continue
        above = (track > HANDED and event["pid"] == HOST) or (track == TASKS and event["pid"] == RUNTIME)
        if event["ph"] == "X" and (above or (track > FRAMES and event.get("cat") == "python_function")):
            continue
        if on_thread and event["name"] == "thread_sort_index":
            event = {**event, "args": {"sort_index": -5}}
        events.append(event)
    return events


@pytest.mark.parametrize(
    ("track", "place"),
    [
        *[(FRAMES, place) for place in (0, 9)],
        *[(OPERATORS, place) for place in (0, 1, 2, 5, 7, 19, 56, 59, 96)],
        *[(WORKER, place) for place in (0, 1, 22, 31)],
        *[(track, place) for track in (HANDED, CALLS, LAUNCHES) for place in (0, 3)],
        *[(TASKS, place) for place in (0, 30)],
    ],
)
def test_what_stands_first_in_a_planted_run(track: int, place: int) -> None:
    events = beginning(track, place)
    process = HOST if track <= HANDED else RUNTIME
    nothing = [
        *thread(process, 5, "nothing", -9),
        piece(process, 5, "nothing", events[-1]["ts"], 0, "nothing"),
    ]
    assert answers([*nothing, *events]) == answers(events)
