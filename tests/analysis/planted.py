"""Simulated runs, made once for all tests that look at all that is made of one."""

from __future__ import annotations

import io
import json
import tempfile
from functools import cache
from pathlib import Path

from samples.mindspore.graph import GraphProfile
from samples.mindspore.pynative import PyNativeTrace
from samples.scenarios import simulate
from samples.writer import TraceWriter
from tests.analysis.machine import Events
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.api import load

ROUND_NS = 10_000


@cache
def events_of(scenario: str, steps: int) -> Events:
    """The events of a scenario, or of a run of MindSpore; nobody changes them."""
    if scenario == "pynative":
        return PyNativeTrace(steps).events
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
    """The analysis of two steps of a scenario, of their rounded times where the name says so.

    "graph": a raw export of MindSpore's graph mode, with two iterations.
    """
    if name == "graph":
        with tempfile.TemporaryDirectory() as directory:
            return load(GraphProfile(2).write(Path(directory)), cache=False, jobs=1)
    scenario, _, is_rounded = name.partition("-")
    events = events_of(scenario, 2)
    return analyse(trace_of(rounded(events) if is_rounded else events))
