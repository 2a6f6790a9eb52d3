"""Write a simulated job of many ranks: python -m simulator.job --scenario late --out /tmp/late"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from simulator.job.directory import write_job
from simulator.job.scenarios import JOBS
from simulator.job.truth import simulate_truth
from simulator.scheduler import SimulatedScheduler


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m simulator.job", description=__doc__.splitlines()[0])
    parser.add_argument("--scenario", choices=sorted(JOBS), default="late", help="what is planted")
    parser.add_argument("--out", type=Path, required=True, help="the directory to write the ranks into")
    parser.add_argument("--level", type=int, choices=(0, 1, 2), default=1, help="profiler level (default 1)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the variation (default 1)")
    parser.add_argument("--steps", type=int, default=0, help="simulated steps (default: the job's own)")
    parser.add_argument("--fixed", action="store_true", help="the same job with nothing planted")
    parser.add_argument("--db", action="store_true", help="write databases instead of JSON")
    parser.add_argument("--truth", type=Path, help="also write the offsets, waits and their roots, as JSON")
    parser.add_argument(
        "--scheduler", type=Path, help="also write what the scheduler did, into a directory: a file a rank"
    )
    options = parser.parse_args(arguments)

    job = replace(JOBS[options.scenario], seed=options.seed)
    job = replace(job, extra={}, slow={}) if options.fixed else job
    truth = simulate_truth(replace(job, steps=options.steps) if options.steps else job)
    directories = write_job(truth.outcome, options.out, options.level, options.db)
    if options.scheduler:
        options.scheduler.mkdir(parents=True, exist_ok=True)
        for rank in truth.outcome.job.present:
            text = SimulatedScheduler(truth.outcome.recordings[rank], rank + 1, with_process=True).text()
            (options.scheduler / f"rank{rank}.txt").write_text(text, encoding="utf-8")
    if options.truth:
        options.truth.write_text(json.dumps(truth.as_json(), indent=1) + "\n", encoding="utf-8")
    print(
        f"{options.out}: {len(directories)} of {job.layout.world} ranks, waits {truth.waits_ns / 1e6:.1f} ms"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
