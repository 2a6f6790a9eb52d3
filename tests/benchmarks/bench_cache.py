"""How long a trace that was read before takes to open, up to the tables of its first picture.

python tests/benchmarks/bench_cache.py TRACE [--runs N]

In a cache of its own, which is removed at the end. The median of the runs counts.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tracetui.cache.traces import cached_traces, keep, reopen
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.ui.drawing.picture import Picture


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", type=Path, metavar="TRACE")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["XDG_CACHE_HOME"] = directory
        measure(options.trace, options.runs)


def measure(path: Path, runs: int) -> None:
    """Print one line."""
    started = time.perf_counter()
    with TraceFile(path) as trace_file:
        trace = build_trace(trace_file.read())
        read = time.perf_counter() - started
        kept = [seconds(lambda: keep(trace_file, trace)) for _ in range(3)]
    if not cached_traces():
        raise SystemExit(f"{path}: not kept: too small, or only just written")
    opened = [seconds(lambda: open_again(path)) for _ in range(runs)]
    size = cached_traces()[0].bytes
    print(
        f"{path.stat().st_size / 1e6:,.0f} MB, {size / 1e6:,.0f} MB kept: read {read:.2f} s,"
        f" kept in {median(kept):.3f} s,"
        f" opened in {median(opened):.3f} s ({min(opened):.3f} to {max(opened):.3f})"
    )


def open_again(path: Path) -> None:
    """All that comes before the first picture."""
    with TraceFile(path) as trace_file:
        trace = reopen(trace_file)
        assert trace is not None
        Picture(trace).warm()


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
