"""How long a recording of the scheduler takes to read, beside reading the file and looking at nothing.

python -m tests.benchmarks.recordings TEXT     prints the seconds
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

from simulator.scenarios import simulate
from simulator.scheduler import SimulatedScheduler
from tests.benchmarks.floors import bare_reading
from tests.benchmarks.opening import output_of, peak_bytes
from tests.benchmarks.table import Row, seconds
from tracetui.siblings.scheduler.recording import read_text

_TIME = re.compile(r" (\d+)(\.\d{6}: )")


def rows(directory: Path, megabytes: int, runs: int) -> list[Row]:
    """Return the lines about a text of tracefs of about so many MB."""
    directory.mkdir(parents=True, exist_ok=True)
    path = write_recording(directory / "trace.txt", megabytes)
    command = [sys.executable, "-m", "tests.benchmarks.recordings", str(path)]
    reading, bare = [], []
    for _ in range(runs):  # in turns: what else the machine does concerns both
        bare.append(bare_reading(path))
        reading.append(float(output_of(command)))
    size, peak = path.stat().st_size, peak_bytes(command)
    ratio = f"{peak / size:.2f} x the file"
    return [
        seconds("reading the file, nothing else", bare),
        seconds(f"reading its events, {size / 1e6:,.0f} MB", reading, bare, "the time"),
        Row("peak memory of that", f"{peak / 1e6:,.0f} MB", ratio),
    ]


def write_recording(path: Path, megabytes: int) -> Path:
    """Write the scheduler of a simulated run again and again, each time some seconds later."""
    text = SimulatedScheduler(simulate("mixed"), with_process=True).text()
    head, _, events = text.rpartition("#\n")
    times = [int(match[1]) for match in _TIME.finditer(events)]
    template, length = (
        _TIME.sub(r" {}\2", events.replace("{", "{{").replace("}", "}}")),
        max(times) - min(times) + 1,
    )
    with path.open("w") as file:
        file.write(f"{head}#\n")
        for copy in range(max(1, round(megabytes * 1e6 / len(events)))):
            file.write(template.format(*(second + copy * length for second in times)))
    return path


def main() -> None:
    started = time.perf_counter()
    assert not read_text(Path(sys.argv[1])).skipped
    print(time.perf_counter() - started)


if __name__ == "__main__":
    main()
