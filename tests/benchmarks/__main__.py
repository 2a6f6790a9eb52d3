"""Measure everything and print one table per part: python -m tests.benchmarks [TRACE] [--quick]

Seconds depend on the machine; ratios to a floor that is measured in the same run do not, or little.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks import (
    comparing,
    databases,
    frames,
    goals,
    growth,
    job_frames,
    jobs,
    keys,
    memory,
    opening,
    parts,
    recordings,
    slow_link,
    starting,
)
from tests.benchmarks.floors import cores
from tests.benchmarks.table import Row, show, show_markdown
from tests.benchmarks.traces import made_file

PARTS = (
    "start",
    "opening",
    "parts",
    "compare",
    "growth",
    "database",
    "scheduler",
    "memory",
    "frames",
    "tables",
    "link",
    "keys",
    "job",
)
#: what repeats parts for one table, and so is measured only where it is asked for
GOALS = "goals"


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.benchmarks", description=__doc__.partition("\n\n")[2])
    parser.add_argument("trace", nargs="?", type=Path, metavar="TRACE", help="in place of one that is made")
    parser.add_argument("--mb", type=int, default=200, help="size of the trace that is made")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, help="processes that decode; all cores without")
    parser.add_argument("--slices", type=int, default=10_000_000, help="of the trace that is drawn")
    parser.add_argument("--quick", action="store_true", help="small traces and few runs")
    every = (*PARTS, GOALS)
    parser.add_argument("--only", choices=every, action="append", metavar="PART", help=", ".join(every))
    parser.add_argument("--markdown", action="store_true", help="the table of docs/large-traces.md, too")
    asked = parser.parse_args()
    if asked.quick:
        asked.mb, asked.runs, asked.slices = min(asked.mb, 30), 2, 1_000_000
    print(f"Python {sys.version.split()[0]}, orjson {version('orjson')}, {cores()} cores", end="")
    print(f"; the median of {asked.runs} runs, and their range")
    with tempfile.TemporaryDirectory() as directory:
        found = measure(asked, Path(directory))
    if asked.markdown:
        show_markdown(found)


def measure(asked: argparse.Namespace, directory: Path) -> list[Row]:
    """Print the tables that are asked for; all their rows."""
    wanted = asked.only or PARTS
    found: list[Row] = []

    def tell(title: str, rows: list[Row]) -> None:
        show(title, rows)
        found.extend(rows)

    count = 10 if asked.quick else 40
    if not {"start", "opening", "parts", "compare", "keys", GOALS}.isdisjoint(wanted):
        trace = asked.trace or made_file(directory / "trace_view.json", asked.mb)
        what = f"a trace of {trace.stat().st_size / 1e6:,.0f} MB"
        if GOALS in wanted:
            tell(f"Goals, {what}", goals.rows(trace, asked.runs, directory / GOALS))
        if "start" in wanted:
            tell(f"Starting, and {what}", starting.rows(trace, asked.runs))
        if "opening" in wanted:
            tell(f"Opening {what}", opening.rows(trace, asked.runs, asked.jobs, directory / "cache"))
        if "keys" in wanted:
            tell(f"Keys, {what}, 200x60", keys.rows(trace, asked.runs, directory / "viewed"))
        if "parts" in wanted:
            show(f"Analysing {what}, one process", parts.rows(trace, asked.runs))
        if "compare" in wanted:
            tell(f"Comparing {what}", comparing.rows(trace, asked.runs, asked.jobs))
    if "growth" in wanted:
        sizes = [size // 10 for size in growth.SIZES] if asked.quick else growth.SIZES
        tell("Growth with the size of a trace", growth.rows(directory / "growth", sizes, asked.runs))
    if "database" in wanted:
        rows = databases.rows(directory / "database", asked.mb, asked.runs, asked.jobs)
        tell("Opening a database", rows)
    if "scheduler" in wanted:
        tell("A recording of the scheduler", recordings.rows(directory / "scheduler", asked.mb, asked.runs))
    if "memory" in wanted:
        blocks = 100_000 if asked.quick else 1_000_000
        tell(f"The memory of {blocks:,} blocks", memory.rows(directory / "memory", blocks, asked.runs))
        rows = asyncio.run(memory.frame_rows(directory / "memory", count))
        tell(f"The screen of {blocks:,} blocks, 200x60", rows)
    if "frames" in wanted:
        for palette in ("ansi", "true"):
            rows = asyncio.run(frames.timeline_rows(asked.slices, palette, count))
            tell(f"Frames of {asked.slices:,} slices, 200x60, palette {palette}", rows)
    if "tables" in wanted:
        rows = asyncio.run(frames.table_rows(asked.slices, count))
        tell(f"A table of {asked.slices // 10:,} gaps, 200x60", rows)
    if "job" in wanted:
        ranks = 128 if asked.quick else 1024
        tell(f"A job of {ranks:,} ranks", jobs.joined_rows(ranks, asked.runs, directory))
        rows = asyncio.run(job_frames.ranks_rows(directory / jobs.DIGESTS, count))
        tell(f"The screen of {ranks:,} ranks, 200x60", rows)
        size = min(asked.mb, jobs.RANK_MB)
        alone = jobs.digesting_rows(made_file(directory / "a_rank.json", size), asked.runs, directory)
        tell(f"Digesting {jobs.RANKS} ranks of {size:,} MB", alone)
    if "link" in wanted:
        rows = slow_link.rows(asked.slices, 1.0 if asked.quick else 3.0)
        tell(f"A terminal at the end of 4 Mbit/s, {asked.slices:,} slices, 200x60", rows)
    return found


if __name__ == "__main__":
    main()
