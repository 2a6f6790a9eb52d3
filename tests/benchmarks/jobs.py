"""How long a job takes: digests of its ranks, and what follows from them when they are together.

python -m tests.benchmarks.jobs DIRECTORY     joins the digests in it, and prints seconds of the processor
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.benchmarks.opening import opened, output_of, peak_bytes, processor_seconds
from tests.benchmarks.table import Row, seconds

COLLECTIVES, STEPS = 1_000, 3
DIGESTS = "digests"  #: directory of those that are made
RANKS = 16  #: of the job whose traces are digested
RANK_MB = 100  #: of each of them, at most


def joined_rows(ranks: int, runs: int, directory: Path) -> list[Row]:
    """The lines about joining the digests of a job that is made, of 1,000 collectives in 3 steps each."""
    from tests.benchmarks.digests import made_digests
    from tracetui.job.digest_bytes import encode
    from tracetui.job.digest_files import SUFFIX

    digests = directory / DIGESTS
    digests.mkdir()
    sizes = []
    for digest in made_digests(ranks, COLLECTIVES, STEPS):
        data = encode(digest)
        sizes.append(len(data))
        (digests / f"{digest.identity.rank:05d}{SUFFIX}").write_bytes(data)
    command = [sys.executable, "-m", "tests.benchmarks.jobs", str(digests)]
    took = [[float(part) for part in output_of(command).split()] for _ in range(runs)]
    peak = f"{peak_bytes(command) / 1e6:,.0f} MB"
    reading, joining = ([run[part] for run in took] for part in range(2))
    together = [sum(run) for run in took]
    return [
        seconds("reading their digests, processor time", reading),
        seconds("matching, clocks, waits and their roots", joining),
        seconds("both", together)._replace(told=f"{sum(together) / len(together):.0f} s"),
        Row("peak memory", peak, told=peak),
        Row("the largest digest", f"{max(sizes) / 1e3:,.0f} kB", told=f"{max(sizes) / 1e3:,.0f} kB"),
    ]


def digesting_rows(trace: Path, runs: int, directory: Path) -> list[Row]:
    """The lines about digesting ranks that have one trace each, beside opening each alone.

    Both in processor time: the ranks share the cores, a trace that is opened alone has them all.
    """
    ranks = [directory / f"rank{number}.json" for number in range(RANKS)]
    for rank in ranks:
        os.link(trace, rank)
    out = directory / "made"
    command = [sys.executable, "-m", "tracetui", "digest", *map(str, ranks), "-o", str(out)]
    command += ["--no-cache", "--force"]
    opening, digesting = [], []
    for _ in range(runs):  # in turns: what else the machine does concerns both
        opening.append(RANKS * processor_seconds(opened(trace, None)))
        digesting.append(processor_seconds(command))
    size = max(path.stat().st_size for path in out.iterdir())
    share = f"{size / trace.stat().st_size * 100:.2f} % of its trace"
    return [
        seconds(f"digesting {RANKS} ranks, processor time", digesting, opening, "opening each"),
        Row("the digest of one", f"{size / 1e3:,.0f} kB", share, told=share),
    ]


def _join(directory: Path) -> tuple[float, float]:
    from tracetui.job.channels import Rank
    from tracetui.job.digest_bytes import decode
    from tracetui.job.job import job_of

    started = time.process_time()
    digests = [decode(path.read_bytes()) for path in sorted(directory.iterdir())]
    read = time.process_time()
    job = job_of([Rank(digest.identity.rank, digest, "") for digest in digests])
    assert job.root_breakdown.total_ns and not job.unmatched
    return read - started, time.process_time() - read


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.benchmarks.jobs")
    parser.add_argument("directory", type=Path)
    print(*_join(parser.parse_args().directory))


if __name__ == "__main__":
    main()
