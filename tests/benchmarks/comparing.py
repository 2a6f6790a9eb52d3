"""How long two traces take to compare beside opening both, how much memory, and how long operators to match.

python -m tests.benchmarks.comparing TRACE [--jobs N]     compares a trace with itself, prints the seconds
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from tests.benchmarks.opening import opened, opening_seconds, output_of, peak_bytes, timed
from tests.benchmarks.table import Row, seconds
from tracetui.arrays import Int64s
from tracetui.compare.matching import match

OPERATORS, NAMES = 300_000, 60


def rows(trace: Path, runs: int, jobs: int | None) -> list[Row]:
    """The lines about comparing a trace with itself: each side is read, analysed and reduced anew."""
    opening, comparing = [], []
    for _ in range(runs):  # in turns: what else the machine does concerns both
        opening.append(2 * opening_seconds("cold", trace, jobs))
        comparing.append(float(output_of(_command(trace, jobs))))
    one, both = peak_bytes(opened(trace, jobs)), peak_bytes(_command(trace, jobs))
    ratio = f"{both / one:.2f} x opening it"
    return [
        seconds("comparing it with itself", comparing, opening, "opening it twice"),
        Row("peak memory of that", f"{both / 1e6:,.0f} MB", ratio, told=ratio),
        *(_matching(what, sides, runs) for what, sides in _sequences().items()),
    ]


def _matching(what: str, sides: tuple[Int64s, Int64s], runs: int) -> Row:
    return seconds(
        f"{OPERATORS:,} operators a side, {what}", [timed(lambda: match(*sides)) for _ in range(runs)]
    )


def _sequences() -> dict[str, tuple[Int64s, Int64s]]:
    """Pairs of sequences, by what differs."""
    random = np.random.default_rng(0)
    base = random.integers(0, NAMES, OPERATORS)
    kept = random.random(OPERATORS) > 0.01
    layer = random.integers(0, NAMES, 60)
    longer = np.concatenate((layer[:20], [NAMES], layer[20:]))
    layers = OPERATORS // len(layer)
    return {
        "1 in 100 gone": (base, base[kept]),
        "one more in each layer": (np.tile(layer, layers), np.tile(longer, layers)),
    }


def _command(trace: Path, jobs: int | None) -> list[str]:
    command = [sys.executable, "-m", "tests.benchmarks.comparing", str(trace)]
    return [*command, "--jobs", str(jobs)] if jobs else command


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--jobs", type=int)
    asked = parser.parse_args()
    from tracetui.api import compare
    from tracetui.compare.verdict import verdict

    print(timed(lambda: verdict(compare(asked.trace, asked.trace, cache=False, jobs=asked.jobs))))


if __name__ == "__main__":
    main()
