"""How soon something is there: the answer of --version and --help, and the first picture of a large trace.

In processor time, which hardly depends on what else the machine does; the picture in seconds, too.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tests.benchmarks.opening import processor_seconds
from tests.benchmarks.table import Row, seconds
from tests.ui.terminal import Terminal, program
from tracetui.reader.skeleton import SMALLEST
from tracetui.reader.source import TraceFile
from tracetui.trace.clean import printable
from tracetui.ui.drawing.sketch import Sketch

_VIEWED = ("--no-cache", "--palette", "ansi,dark")


def rows(trace: Path, runs: int) -> list[Row]:
    """Return the lines about starting; those about a picture only of a trace large enough to be sampled."""
    bare, version, help_ = [], [], []
    for _ in range(max(runs, 7)):  # in turns: what else the machine does concerns all of them
        bare.append(processor_seconds([sys.executable, "-c", "pass"]))
        version.append(processor_seconds([sys.executable, "-m", "tracetui", "--version"]))
        help_.append(processor_seconds([sys.executable, "-m", "tracetui", "--help"]))
    found = [
        seconds("tracetui --version, processor time", version, bare, "Python alone"),
        seconds("tracetui --help, processor time", help_, bare, "Python alone"),
    ]
    if trace.stat().st_size < SMALLEST:
        return found
    name = _first_name(trace)
    pictures = [_first_picture(trace, name) for _ in range(runs)]
    worked, waited = ([picture[part] for picture in pictures] for part in range(2))
    return [
        *found,
        seconds("first picture of it, processor time", worked),
        seconds("first picture of it", waited),
    ]


def _first_name(trace: Path) -> bytes:
    """Return what the picture says of the trace and nothing else does: the name of a device, or a process."""
    with TraceFile(trace) as file:
        skeleton = file.skeleton()
    assert skeleton is not None, "it is not sampled"
    sketch = Sketch(skeleton)
    return printable((*sketch.devices, sketch.tracks[0].process)[0]).encode()


def _first_picture(trace: Path, name: bytes) -> tuple[float, float]:
    """Return seconds of the processor, and seconds, until a terminal of 200x60 has a row of a trace."""
    started = time.monotonic()
    with program("tracetui", str(trace), *_VIEWED, size=(200, 60), PYTHONDONTWRITEBYTECODE="") as terminal:
        while name not in terminal.output:
            assert terminal.process.poll() is None, terminal.output[-500:]
            terminal.read(0.005)
        return _processor_time(terminal), time.monotonic() - started


def _processor_time(terminal: Terminal) -> float:
    """Return the seconds of the processor that the viewer has taken so far."""
    fields = Path(f"/proc/{terminal.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
