"""Write a sample trace: python -m simulator.generate --scenario moba --out samples/moba/trace_view.json"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from simulator.database import DatabaseWriter
from simulator.scenarios import SCENARIOS, simulate
from simulator.scheduler import SimulatedScheduler
from simulator.truth import Truth
from simulator.writer import TraceWriter


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m simulator.generate", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--scenario", choices=sorted(SCENARIOS), default="moba", help="which training program"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="the file to write: JSON, or a database (.db)"
    )
    parser.add_argument(
        "--mb",
        type=float,
        default=0,
        help="repeat the steps until the JSON has about so many MB",
    )
    parser.add_argument("--level", type=int, choices=(0, 1, 2), default=2, help="profiler level (default 2)")
    parser.add_argument("--steps", type=int, default=0, help="simulated steps (default: the scenario's own)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the variation (default 1)")
    parser.add_argument("--no-task-queue", action="store_true", help="launch from the operators' own thread")
    parser.add_argument("--truth", type=Path, help="also write why the device was idle, as JSON")
    parser.add_argument(
        "--scheduler", type=Path, help="also write what the scheduler did, as the kernel does"
    )
    options = parser.parse_args(arguments)
    if options.scheduler and options.mb:
        parser.error("--scheduler tells of one run: not with --mb")
    if options.truth and options.mb:
        parser.error("--truth tells of one run: not with --mb")

    recording = simulate(options.scenario, options.steps, options.seed, not options.no_task_queue)
    writer = TraceWriter(recording, options.level)
    times = writer.repetitions(int(options.mb * 1e6)) if options.mb else 1
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if options.out.suffix == ".db":
        options.out.unlink(missing_ok=True)
        DatabaseWriter(recording, options.level).write(options.out, times)
        size = options.out.stat().st_size
    else:
        with options.out.open("wb") as file:
            size = writer.write(file, times)
    if options.truth:
        answers = Truth(recording, options.level).as_json()
        options.truth.write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    if options.scheduler:
        text = SimulatedScheduler(recording, options.seed, with_process=True).text()
        options.scheduler.write_text(text, encoding="utf-8")
    print(f"{options.out}: {size / 1e6:.2f} MB, {times * len(recording.steps)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
