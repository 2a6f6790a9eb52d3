"""The memory of a run with a million blocks and a million samples: what is to be had within a second."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path

from simulator.memory import write_run
from tests.benchmarks.frames import SIZE, CountingApp, frames_row
from tests.benchmarks.table import Row, seconds
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.tables import MemoryTables, join_tables, read_tables
from tracetui.api import load
from tracetui.cli.entry import collect_rarely
from tracetui.ui.options import ViewerOptions
from tracetui.ui.session import Session
from tracetui.ui.widgets.table import TableWidget

STEPS = 8  #: simulated, each with some hundred blocks


def rows(directory: Path, blocks: int, runs: int) -> list[Row]:
    """The seconds to read the tables of so many blocks, to join them to the trace, and to explain them."""
    analysis = made(directory, blocks)
    tables = read_tables(Path(analysis.trace.path))
    analysis.launch_chains.callers.ancestors.parents_of(analysis.launch_chains.operator)
    memory = explained(analysis, tables)
    count = len(memory.recorded.blocks)
    samples = sum(len(curve.time) for curve in memory.curves)
    path = Path(analysis.trace.path)
    reading = _times(lambda: read_tables(path), runs)
    explaining = _times(lambda: explained(analysis, tables), runs)
    return [
        seconds(f"reading {count:,} blocks, {samples:,} samples", reading),
        seconds("joining and explaining them", explaining, reading, "reading"),
    ]


async def frame_rows(directory: Path, count: int) -> list[Row]:
    """A line per kind of key on the screen of a run that `rows` made."""
    collect_rarely()  # as the command line does
    options = ViewerOptions(palette="ansi")
    trace = load(directory, cache=False, jobs=1).trace
    app = CountingApp([Session(Path(trace.path), options, trace=trace)], options)
    async with app.run_test(size=SIZE) as pilot:
        while app.session.analysing:
            await pilot.pause(0.1)
        await app.press("Y")
        while not any(table.cursor_row >= 0 for table in app.screen.query(TableWidget)):
            await pilot.pause(0.1)
        moves = [await app.press(key) for key in "jk" * count]
        tables = [await app.press("tab") for _ in range(count)]
        return [frames_row("row of the table", moves), frames_row("another table", tables)]


def explained(analysis: Analysis, tables: MemoryTables) -> Memory:
    """The memory of tables that were read, with all that is shown of it."""
    memory = Memory(
        join_tables(analysis.trace, analysis.launch_chains, analysis.rules, tables), analysis.launch_chains
    )
    assert memory.all.lines and memory.growth and memory.growing and memory.neighbours
    return memory


def made(directory: Path, blocks: int) -> Analysis:
    """A simulated run whose tables are so much longer: each row again and again, released at once."""
    directory.mkdir(exist_ok=True)
    rows_per_run = len(write_run(directory, STEPS))
    for name in ("operator_memory.csv", "memory_record.csv"):
        with (directory / name).open(encoding="utf-8", newline="") as file:
            titles, *lines = csv.reader(file)
        with (directory / name).open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(titles)
            table.writerows(lines)
            if name == "operator_memory.csv":
                lines = [[*line[:3], line[2], line[2], "0.000", *line[6:]] for line in lines]
                times = blocks // rows_per_run
            else:
                times = blocks // len(lines)
            for _ in range(times):
                table.writerows(lines)
    return load(directory, cache=False, jobs=1)


def _times(run: Callable[[], object], runs: int) -> list[float]:
    took = []
    for _ in range(runs):
        begun = time.perf_counter()
        run()
        took.append(time.perf_counter() - begun)
    return took
