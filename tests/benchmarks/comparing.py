"""How long two traces take to compare beside opening both, and two sequences of operators to match."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from tests.benchmarks.opening import opened, output_of, peak_bytes, timed
from tests.benchmarks.table import Row, seconds
from tracetui.arrays import Int64s
from tracetui.comparison.sequence_diff import match_sequences

OPERATORS, NAMES = 300_000, 60


def rows(trace: Path, runs: int, jobs: int | None) -> list[Row]:
    """The lines about comparing a trace with itself: each side is read, analysed and reduced anew."""
    opening, comparing = [], []
    command = [sys.executable, "-m", "tracetui", "compare", str(trace), str(trace), "--no-cache"]
    command += ["--jobs", str(jobs)] if jobs else []
    for _ in range(runs):  # in turns: what else the machine does concerns both
        opening.append(timed(lambda: output_of(opened(trace, jobs, times=2))))
        comparing.append(timed(lambda: output_of(command)))
    one, both = peak_bytes(opened(trace, jobs)), peak_bytes(command)
    ratio = f"{both / one:.2f} x opening it"
    return [
        seconds("comparing it with itself", comparing, opening, "opening it twice"),
        Row("peak memory of that", f"{both / 1e6:,.0f} MB", ratio, told=ratio),
        *(_matching(what, sides, runs) for what, sides in _sequences().items()),
    ]


def _matching(what: str, sides: tuple[Int64s, Int64s], runs: int) -> Row:
    return seconds(
        f"{OPERATORS:,} operators a side, {what}",
        [timed(lambda: match_sequences(*sides)) for _ in range(runs)],
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
