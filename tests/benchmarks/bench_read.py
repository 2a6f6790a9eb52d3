"""How fast a trace is read: MB/s, the ratio to bare orjson in blocks of the same file, and peak memory.

python tests/benchmarks/bench_read.py [TRACE] [--mb N] [--runs N]

Without TRACE one is made: by the scale tool beside the checkout if it is there, else of a sample's events.
Each run is a process of its own, the best of the runs counts.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
SCALE_TOOL = SHARED / "tools" / "scale_trace.py"
REAL = SHARED / "traces/npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--mb", type=int, default=100, help="size of the trace that is made")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=("bare", "read"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measured(options.trace, options.only)))
        return
    with tempfile.TemporaryDirectory() as directory:
        trace = options.trace or made_trace(Path(directory) / "trace.json", options.mb)
        size = trace.stat().st_size
        found = {only: best(trace, only, options.runs) for only in ("bare", "read")}
    bare, read = found["bare"], found["read"]
    print(f"{size / 1e6:,.0f} MB, {read['events']:,.0f} events, Python {sys.version.split()[0]}")
    for name, result in (("orjson, in blocks", bare), ("read()", read)):
        print(
            f"{name:18} {size / result['seconds'] / 1e6:6.0f} MB/s  {result['seconds']:7.2f} s"
            f"  peak {result['peak_mb']:,.0f} MB"
        )
    print(f"ratio {read['seconds'] / bare['seconds']:.2f}")
    print(
        f"memory beside the interpreter's: {(read['peak_mb'] - read['start_mb']) / (size / 1e6):.2f} x file"
    )


def best(trace: Path, only: str, runs: int) -> dict[str, float]:
    """The fastest of some runs, each in a new process."""
    command = [sys.executable, __file__, str(trace), "--only", only]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    results = [
        json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
        for _ in range(runs)
    ]
    return min(results, key=lambda result: result["seconds"])


def measured(trace: Path, only: str) -> dict[str, float]:
    """Read `trace` in this process; seconds and MB."""
    from tracetui.reader.source import TraceFile

    start_mb = _peak_mb()
    started = time.perf_counter()
    if only == "bare":
        events = bare_orjson(trace)
    else:
        with TraceFile(trace) as file:
            events = file.read().report.events
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "events": events, "peak_mb": _peak_mb(), "start_mb": start_mb}


def _peak_mb() -> float:
    # Not getrusage: its maximum starts with that of the process this one was forked from.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def bare_orjson(trace: Path) -> int:
    """Decode all events in the reader's blocks and throw them away."""
    from tracetui.reader.source import BLOCK
    from tracetui.reader.split import last_boundary

    gc.disable()
    events = 0
    with trace.open("rb") as file:
        at = file.read(1 << 16).index(b"[") + 1
        while True:
            text = os.pread(file.fileno(), BLOCK, at)
            boundary = last_boundary(text)
            if boundary is None:
                return events + 1
            events += len(orjson.loads(b"".join((b"[", text[: boundary[0]], b"]"))))
            at += boundary[1]


def made_trace(path: Path, megabytes: int) -> Path:
    """A trace of about so many MB at `path`."""
    if SCALE_TOOL.exists() and REAL.exists():
        command = [sys.executable, str(SCALE_TOOL), str(REAL), str(path), "--mb", str(megabytes)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return path
    samples = sorted((ROOT / "samples").rglob("*.json"), key=lambda sample: sample.stat().st_size)
    if not samples:
        sys.exit("no trace given, and none beside this checkout to make one of")
    document = json.loads(samples[-1].read_text(encoding="utf-8"))
    events = document if isinstance(document, list) else document["traceEvents"]
    piece = json.dumps(events)[1:-1].encode()
    with path.open("wb") as file:
        file.write(b"[" + piece)
        for _ in range(megabytes * 1_000_000 // len(piece)):
            file.write(b", " + piece)
        file.write(b"]")
    return path


if __name__ == "__main__":
    main()
