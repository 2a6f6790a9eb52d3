"""How long each part of an analysis takes beside reading the trace, in one process.

python tests/benchmarks/bench_analysis.py [TRACE] [--mb N]

Without TRACE one is made, as by bench_read.py. The whole analysis should take less time than the reading.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.bench_read import made_trace
from tracetui.analysis.analyse import analyse
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace

T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--mb", type=int, default=100, help="size of the trace that is made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        measure(options.trace or made_trace(Path(directory) / "trace.json", options.mb))


def measure(path: Path) -> None:
    """Read and analyse a trace, and print a line per part."""
    with TraceFile(path) as file:
        table, reading = timed(file.read)
        trace, building = timed(lambda: build_trace(table))
    analysis, first = timed(lambda: analyse(trace))
    parts: dict[str, Callable[[], object]] = {
        "causes": lambda: analysis.causes,
        "preparing": lambda: analysis.preparing,
        "lines": lambda: analysis.lines,
        "stacks": lambda: analysis.stacks,
        "signatures": lambda: analysis.signatures,
        "synchronisations": lambda: analysis.syncs,
        "saves at most": lambda: analysis.savings,
        "advice": lambda: analysis.advice,
    }
    took = {"activity, steps, gaps, links": first, **{name: timed(part)[1] for name, part in parts.items()}}
    slices, gaps, size = len(trace.slices), len(analysis.gaps), path.stat().st_size / 1e6
    print(f"{size:,.0f} MB, {slices:,} slices, {gaps:,} gaps, Python {sys.version.split()[0]}")
    for name, seconds in {"read": reading, "build the tracks": building, **took}.items():
        print(f"{name:30} {seconds:7.2f} s  {seconds / reading:5.2f} of the reading")
    whole = sum(took.values())
    print(f"{'the whole analysis':30} {whole:7.2f} s  {whole / reading:5.2f} of the reading")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` returns, and the seconds it took."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


if __name__ == "__main__":
    main()
