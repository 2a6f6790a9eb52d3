"""How long a trace takes to open, and how much memory: in processes of their own, each with one thing to do.

python -m tests.benchmarks.opening cold|read|warm TRACE [--jobs N]     prints the seconds
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.floors import BareOrjson, bare_reading, cores
from tests.benchmarks.table import Row, seconds
from tests.benchmarks.traces import ROOT

_SAMPLE_S = 0.01


def rows(trace: Path, runs: int, jobs: int | None, cache: Path) -> list[Row]:
    """The lines about opening a trace; `cache` is an empty directory for what is kept of it."""
    processes = jobs or cores()
    file, floor, cold, reading = [], [], [], []
    with BareOrjson(trace, processes) as orjson:
        for _ in range(runs):  # in turns: what else the machine does concerns all of them
            file.append(bare_reading(trace))
            floor.append(orjson.run())
            cold.append(opening_seconds("cold", trace, jobs))
            reading.append(opening_seconds("read", trace, jobs))
    size = trace.stat().st_size
    peak, least = (peak_bytes(_command(what, trace, jobs)) for what in ("cold", "import"))
    output_of(_summary(trace), cache)  # read anew, and kept
    warm = [opening_seconds("warm", trace, jobs, cache) for _ in range(max(runs, 3))]
    summary = [timed(lambda: output_of(_summary(trace), cache)) for _ in range(runs)]
    of_orjson = f"orjson alone, {processes} process{'es' * (processes > 1)}"
    return [
        seconds("reading the file, nothing else", file),
        seconds("orjson alone, events thrown away", floor)._replace(ratio=f"{processes} processes"),
        seconds("opening it, fully analysed", cold, floor, of_orjson),
        seconds("opening it, beside reading the file", cold, file, "the time"),
        seconds("decoding into columns", reading, floor, of_orjson),
        _memory("peak memory of all processes (PSS)", peak, size),
        _memory("memory before there is a trace", least),
        seconds("opening it again, to the first picture", warm, cold, "opening it first"),
        seconds("`tracetui summary` of it, again", summary, cold, "opening it first"),
    ]


def _memory(what: str, peak: int, size: int | None = None) -> Row:
    ratio = f"{peak / size:.2f} x the file" if size else ""
    return Row(what, f"{peak / 1e6:,.0f} MB", ratio, told=ratio)


def peak_bytes(command: list[str]) -> int:
    """The most memory that a program and all its processes had together, shared pages counted once."""
    with subprocess.Popen(command, env=_environment(None), stdout=subprocess.DEVNULL) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(_resident, _tree(process.pid))))
            time.sleep(_SAMPLE_S)
    return peak


def _tree(root: int) -> list[int]:
    """A process and all it has started."""
    found = [root]
    for pid in found:
        for thread in _texts(f"/proc/{pid}/task", "children"):
            found += [int(child) for child in thread.split()]
    return found


def _texts(directory: str, name: str) -> list[str]:
    try:
        return [(task / name).read_text() for task in Path(directory).iterdir()]
    except OSError:  # it has ended
        return []


def _resident(pid: int) -> int:
    """Bytes of a process, those it shares with n others divided by n."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def opened(trace: Path, jobs: int | None, times: int = 1) -> list[str]:
    """The command that opens a trace, fully analysed, so often."""
    return [*_command("cold", trace, jobs), "--times", str(times)]


def timed(work: Callable[[], object]) -> float:
    """The seconds it took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _summary(trace: Path) -> list[str]:
    return [sys.executable, "-m", "tracetui", "summary", str(trace)]


def _command(what: str, trace: Path, jobs: int | None) -> list[str]:
    command = [sys.executable, "-m", "tests.benchmarks.opening", what, str(trace)]
    return [*command, "--jobs", str(jobs)] if jobs else command


def opening_seconds(what: str, trace: Path, jobs: int | None, cache: Path | None = None) -> float:
    """The seconds that opening a trace takes in a process of its own: "cold", "read" or "warm"."""
    return float(output_of(_command(what, trace, jobs), cache))


def output_of(command: list[str], cache: Path | None = None) -> str:
    """What a program prints; `cache`: where it keeps traces."""
    done = subprocess.run(command, env=_environment(cache), check=True, capture_output=True, text=True)
    return done.stdout


def processor_seconds(command: list[str]) -> float:
    """The seconds of the processor that a program and its processes took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output_of(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment(cache: Path | None) -> dict[str, str]:
    # One thread, as the command line has it, and modules compiled once, as of what is installed.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    return environment


def _cold(trace: Path, jobs: int | None) -> None:
    """Gaps, links, causes and the lines to blame: all that the first screen and a summary tell."""
    import tracetui

    analysis = tracetui.load(trace, cache=False, jobs=jobs)
    _ = analysis.causes, analysis.lines


def _read(trace: Path, jobs: int | None) -> None:
    from tracetui.reader.source import TraceFile

    with TraceFile(trace, jobs=jobs) as file:
        file.read()


def _warm(trace: Path, jobs: int | None) -> None:
    """All that comes before the first picture."""
    from tracetui.cache.traces import reopen
    from tracetui.reader.source import TraceFile
    from tracetui.ui.drawing.picture import Picture

    with TraceFile(trace) as file:
        kept = reopen(file)
        assert kept is not None, "not kept: too small, or only just written"
        Picture(kept).warm()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("cold", "read", "warm", "import"))
    parser.add_argument("trace", type=Path)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--times", type=int, default=1)
    asked = parser.parse_args()
    for module in ("tracetui.api", "tracetui.ui.drawing.picture"):  # before the clock starts
        importlib.import_module(module)
    work = {"cold": _cold, "read": _read, "warm": _warm}.get(asked.what)
    print([timed(lambda: work(asked.trace, asked.jobs)) if work else 0.0 for _ in range(asked.times)][-1])


if __name__ == "__main__":
    main()
