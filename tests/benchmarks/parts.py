"""How long each part of an analysis takes beside reading the trace, in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.benchmarks.table import Row, seconds
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace

T = TypeVar("T")

#: what is made when it is first asked for, in the order in which one part needs another
PARTS: dict[str, Callable[[Analysis], object]] = {
    "causes": lambda analysis: analysis.causes,
    "health": lambda analysis: analysis.health,
    "preparing": lambda analysis: analysis.preparing,
    "lines": lambda analysis: analysis.lines,
    "stacks": lambda analysis: analysis.stacks,
    "signatures": lambda analysis: analysis.signatures,
    "synchronisations": lambda analysis: analysis.syncs,
    "saves at most": lambda analysis: analysis.savings,
    "advice": find_advice,
}
#: what a trace is opened with, but its health
_OPENING = ("reading", "tracks", "activity, steps, gaps, links", "causes")


def rows(trace: Path, runs: int) -> list[Row]:
    """A line per part."""
    took = [_run(trace) for _ in range(runs)]
    reading = [run["reading"] for run in took]
    opening = [sum(run[part] for part in _OPENING) for run in took]
    of_opening = seconds(
        "health beside opening without it", [run["health"] for run in took], opening, "opening"
    )
    return [
        seconds(part, [run[part] for run in took], None if part == "reading" else reading, "reading")
        for part in took[0]
    ] + [of_opening]


def _run(path: Path) -> dict[str, float]:
    took: dict[str, float] = {}

    def timed(part: str, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = work()
        took[part] = time.perf_counter() - started
        return result

    with TraceFile(path, jobs=1) as file:
        table = timed("reading", file.read)
        trace = timed("tracks", lambda: build_trace(table))
    analysis = timed("activity, steps, gaps, links", lambda: analyse(trace))
    for part, of in PARTS.items():
        timed(part, lambda of=of: of(analysis))  # type: ignore[misc]
    took["the whole analysis"] = sum(took.values()) - took["reading"] - took["tracks"]
    return took
