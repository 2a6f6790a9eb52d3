"""How the processor time of commands grows with the size of a trace: the exponent of a fit; 1 is linear."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks.opening import peak_bytes, processor_seconds
from tests.benchmarks.table import Row
from tests.benchmarks.traces import made_file

COMMANDS = ("summary", "gaps", "hotspots", "operators", "advice")
SIZES = (100, 300, 1000, 3000)  #: MB


def rows(directory: Path, sizes: Sequence[int], runs: int) -> list[Row]:
    """Return a line for each command, and one for the peak memory of the largest trace."""
    directory.mkdir(parents=True, exist_ok=True)
    traces = [made_file(directory / f"{size}.json", size) for size in sizes]
    sizes = [trace.stat().st_size for trace in traces]
    found = []
    for command in COMMANDS:
        took = [min(processor_seconds(_printed(command, trace)) for _ in range(runs)) for trace in traces]
        exponent = float(np.polyfit(np.log(sizes), np.log(took), 1)[0])
        seconds = ", ".join(f"{one:.1f}" for one in took)
        growth = f"exponent {exponent:.2f}"
        found.append(Row(f"growth of {command}", growth, "", f"{seconds} s", growth))
    peak = peak_bytes(_printed("summary", traces[-1]))
    ratio = f"{peak / sizes[-1]:.2f} x the file"
    return [*found, Row("peak memory of the largest", f"{peak / 1e6:,.0f} MB", ratio)]


def _printed(command: str, trace: Path) -> list[str]:
    return [sys.executable, "-m", "tracetui", command, str(trace), "--json", "--no-cache"]
