"""Write a sample trace: python -m samples.generate --scenario moba --out samples/moba/trace_view.json"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from samples.scenarios import SCENARIOS, simulate
from samples.writer import TraceWriter


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m samples.generate", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--scenario", choices=sorted(SCENARIOS), default="moba", help="which training program"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument(
        "--mb", type=float, default=0, help="repeat the steps until the file has about so many MB"
    )
    parser.add_argument("--level", type=int, choices=(0, 1, 2), default=2, help="profiler level (default 2)")
    parser.add_argument("--steps", type=int, default=0, help="simulated steps (default: the scenario's own)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the variation (default 1)")
    parser.add_argument("--no-task-queue", action="store_true", help="launch from the operators' own thread")
    chosen = parser.parse_args(arguments)

    recording = simulate(chosen.scenario, chosen.steps, chosen.seed, not chosen.no_task_queue)
    writer = TraceWriter(recording, chosen.level)
    times = writer.repetitions(int(chosen.mb * 1e6)) if chosen.mb else 1
    with chosen.out.open("wb") as file:
        size = writer.write(file, times)
    print(f"{chosen.out}: {size / 1e6:.2f} MB, {times * len(recording.steps)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
