"""Row 0, string 0 and thread 0 are like any other: a slice before all others changes no answer."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

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
)
from tests.analysis.test_critical import any_run
from tests.analysis.test_explain import launched, stack
from tests.synthetic import piece, thread, trace_of
from tracetui.analysis.analyse import analyse

#: A range of the user without length, on a thread above all others, with strings of its own.
NOTHING = [*thread(PYTHON, 0, "nothing", -9), piece(PYTHON, 0, "nothing", "0.000", 0, "nothing")]


def answers(events: Events) -> dict[str, Any]:
    """What follows from a trace, with slices by name and start and strings by their text."""
    analysis = analyse(trace_of(events))
    trace, links, causes = analysis.trace, analysis.links, analysis.causes

    def slices(rows: Any) -> list[tuple[str, int] | None]:
        known = np.asarray(rows).tolist()
        return [None if row < 0 else (trace.name(row), int(trace.slices.start[row])) for row in known]

    def texts(strings: Any) -> list[str | None]:
        return [trace.string(string) for string in strings.tolist()]

    def plain(entries: Any) -> list[Any]:
        """Tables as tuples, their indices of gaps as lists."""
        return [
            tuple(np.asarray(v).tolist() if isinstance(v, np.ndarray) else v for v in astuple(e))
            for e in entries
        ]

    hops = ("tasks", "launch", "dequeue", "enqueue", "operator", "forward")
    advice = [
        (
            one.id,
            one.text,
            one.cost_ns,
            one.evidence,
            one.subjects,
            one.file,
            one.line,
            one.gaps.tolist(),
            slices(one.rows),
        )
        for one in analysis.advice
    ]
    return {
        "links": list(zip(*(slices(getattr(links, hop)) for hop in hops))),
        "gaps": [slices(analysis.gaps.before), slices(analysis.gaps.after), analysis.gaps.idle.tolist()],
        "causes": list(
            zip(
                causes.start.tolist(),
                causes.cause.tolist(),
                slices(causes.operator),
                texts(causes.stack),
                slices(causes.frame),
            )
        ),
        "exposing": [slices(causes.exposing), texts(causes.exposing_stack), slices(causes.exposing_frame)],
        "lines": plain(analysis.lines),
        "signatures": plain(analysis.signatures),
        "syncs": [
            (*plain([replace(sync, rows=sync.rows[:0])]), slices(sync.rows)) for sync in analysis.syncs
        ],
        "steps": plain([replace(step, row=0) for step in analysis.steps]),
        "critical": [
            (
                chain.start.tolist(),
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
        "leads": slices(np.flatnonzero(links.leads)),
    }


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


@settings(max_examples=40)
@given(any_run())
def test_whatever_runs(events: Events) -> None:
    assert answers([*NOTHING, *events]) == answers(events)
