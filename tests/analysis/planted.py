"""Simulated runs, made once for all tests that look at all that is made of one."""

from __future__ import annotations

import io
import json
from functools import cache

from samples.scenarios import simulate
from samples.writer import TraceWriter
from tests.analysis.machine import Events
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse

ROUND_NS = 10_000


@cache
def events_of(scenario: str, steps: int) -> Events:
    """The events of a scenario; nobody changes them."""
    file = io.BytesIO()
    TraceWriter(simulate(scenario, steps), 2).write(file)
    events: Events = json.loads(file.getvalue())
    return events


def rounded(events: Events) -> Events:
    """Events that begin and end on multiples of `ROUND_NS`."""

    def nearest(ns: int) -> int:
        return ROUND_NS * round(ns / ROUND_NS) // 1000

    found = []
    for event in events:
        if "ts" in event:
            start, dur = (round(float(event.get(key, 0)) * 1000) for key in ("ts", "dur"))
            first, last = nearest(start), nearest(start + dur)
            event = {**event, "ts": f"{first}", **({"dur": f"{last - first}"} if "dur" in event else {})}
        found.append(event)
    return found


@cache
def planted(name: str) -> Analysis:
    """The analysis of two steps of a scenario, of their rounded times where the name says so."""
    scenario, _, is_rounded = name.partition("-")
    events = events_of(scenario, 2)
    return analyse(trace_of(rounded(events) if is_rounded else events))
