"""How fast traces are read: MB/s, the ratio to bare orjson in blocks of the same file, and peak memory.

python tests/benchmarks/bench_read.py [TRACE ...] [--mb N] [--runs N]

Without TRACE one is made: by the scale tool beside the checkout if it is there, else of a sample's events.
Each run is a process of its own, bare and reading in turns; seconds are those of the processor, so that
other programs matter less. The median of the runs counts; the ratio is the median of the turns' ratios.
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
from statistics import median

import orjson

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
SCALE_TOOL = SHARED / "tools" / "scale_trace.py"
REAL = SHARED / "traces/npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="*", type=Path, metavar="TRACE")
    parser.add_argument("--mb", type=int, default=100, help="size of the trace that is made")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=("bare", "read"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measured(options.traces[0], options.only)))
        return
    print(f"Python {sys.version.split()[0]}, orjson {orjson.__version__}, median of {options.runs} runs")
    print(
        f"{'trace':>10} {'events':>12} {'orjson':>10} {'read()':>10} {'ratio':>6} {'peak':>8} {'x file':>7}"
    )
    with tempfile.TemporaryDirectory() as directory:
        for trace in options.traces or [made_trace(Path(directory) / "trace.json", options.mb)]:
            print(line(trace, options.runs))


def line(trace: Path, runs: int) -> str:
    """One line of the table; `x file`: memory beside the interpreter's as a share of the file's size."""
    turns = [(run(trace, "bare"), run(trace, "read")) for _ in range(runs)]
    megabytes = trace.stat().st_size / 1e6
    bare = megabytes / median(bare["seconds"] for bare, _ in turns)
    read = megabytes / median(read["seconds"] for _, read in turns)
    ratio = median(read["seconds"] / bare["seconds"] for bare, read in turns)
    peak = max(read["peak_mb"] for _, read in turns)
    share = max(read["peak_mb"] - read["start_mb"] for _, read in turns) / megabytes
    return (
        f"{megabytes:>7,.0f} MB {turns[0][1]['events']:>12,.0f} {bare:>5,.0f} MB/s {read:>5,.0f} MB/s"
        f" {ratio:>6.2f} {peak:>5,.0f} MB {share:>7.2f}"
    )


def run(trace: Path, only: str) -> dict[str, float]:
    """Seconds, events and MB of memory of one run in a new process."""
    command = [sys.executable, __file__, str(trace), "--only", only]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def measured(trace: Path, only: str) -> dict[str, float]:
    """Read `trace` in this process; seconds and MB."""
    from tracetui.reader.source import TraceFile

    start_mb = _peak_mb()
    started = time.process_time()
    if only == "bare":
        events = bare_orjson(trace)
    else:
        with TraceFile(trace) as file:
            events = file.read().report.events
    seconds = time.process_time() - started
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
