"""Samples written, read back and analysed, for the tests of this package and of the analysis."""

from __future__ import annotations

import io
import json
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from simulator.recording import Recording
from simulator.scenarios import simulate
from simulator.truth import Truth
from simulator.writer import TraceWriter
from tests.once import once
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace

Event = dict[str, Any]
SCENARIO_NAMES = ("attached", "balanced", "mixed", "moba", "stalls")


@cache
def recording(scenario: str, task_queue: bool) -> Recording:
    return simulate(scenario, task_queue=task_queue)


@once
def written(scenario: str, level: int = 2, times: int = 1, task_queue: bool = True) -> bytes:
    file = io.BytesIO()
    TraceWriter(recording(scenario, task_queue), level).write(file, times)
    return file.getvalue()


@once
def events(scenario: str, level: int = 2, times: int = 1, task_queue: bool = True) -> list[Event]:
    """The events of a sample; nobody changes them."""
    loaded: list[Event] = json.loads(written(scenario, level, times, task_queue))
    return loaded


@once
def truth(scenario: str, level: int = 2, task_queue: bool = True) -> dict[str, Any]:
    return Truth(recording(scenario, task_queue), level).as_json()


@once
def analysed(scenario: str, level: int = 2, task_queue: bool = True) -> Analysis:
    """The analysis of a sample's file."""
    return analyse(read(recording(scenario, task_queue), level))


def read(recording: Recording, level: int = 2) -> Trace:
    """The trace of a recording, as the reader reads its file."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trace_view.json"
        with path.open("wb") as file:
            TraceWriter(recording, level).write(file)
        return read_file(path)


def read_file(path: Path) -> Trace:
    """The trace in a file."""
    with TraceFile(path) as source:
        return build_trace(source.read())


@cache
def nanoseconds(text: str) -> int:
    whole, _, part = text.partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


def start(event: Event) -> int:
    return nanoseconds(event["ts"])


def end(event: Event) -> int:
    microseconds: float = event["dur"]
    return start(event) + round(microseconds * 1000)


def processes(trace: list[Event]) -> dict[int, str]:
    """The names of the processes by pid."""
    return {event["pid"]: event["args"]["name"] for event in trace if event["name"] == "process_name"}


def slices(trace: list[Event], process: str) -> dict[int, list[Event]]:
    """The slices of a process by thread, sorted by start and longest first."""
    names = processes(trace)
    threads = defaultdict(list)
    for event in trace:
        if event["ph"] == "X" and names.get(event["pid"]) == process:
            threads[event["tid"]].append(event)
    for found in threads.values():
        found.sort(key=lambda event: (start(event), -event["dur"]))
    return threads
