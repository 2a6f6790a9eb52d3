"""Long walks through the viewer: whether the terminal shows what is meant, and whether bursts are survived.

python -m tests.benchmarks.walk [TRACE ...] [--keys 20000] [--burst 25] [--seed 1]     random keys
python -m tests.benchmarks.walk --pairs     every two keys in one packet, on every screen and panel
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from simulator.job.directory import write_job
from simulator.job.scenarios import JOBS
from simulator.job.truth import simulate_truth
from tests.ui.terminal import ROOT
from tests.ui.walking import KEYS, SIZES, SUSPEND, Gone, Walker, walk, walker
from tracetui.ui.screen_specs import SCREENS

PALETTES = ("ansi", "256", "true", "none")
LEG = 1000  #: keys after which the viewer is opened anew, in another size and palette
PANELS = (("slash",), ("colon",), ("question_mark",), ("t",), ("e",), ("i",), ("i", "e"))
LETTERS = tuple(spec.key for spec in SCREENS.values() if len(spec.key) == 1)
#: where pairs are pressed: the keys that lead there from the timeline
PLACES: tuple[tuple[str, ...], ...] = (*((key,) for key in LETTERS), *(("T", *keys) for keys in PANELS))


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m tests.benchmarks.walk", description=__doc__.partition("\n")[0]
    )
    sample = ROOT / "samples" / "moba" / "trace_view.json"
    parser.add_argument(
        "traces",
        nargs="*",
        type=Path,
        metavar="TRACE",
        help="the sample and a job without; a directory is a job",
    )
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--burst", type=int, default=1, help="keys in one packet, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        traces = asked.traces or [sample, _made_job(Path(directory))]
        failed = pairs(traces[0]) if asked.pairs else walks(traces, asked.keys, asked.burst, asked.seed)
    sys.exit(failed)


def _made_job(directory: Path) -> Path:
    """The directory of a job of four ranks, one of which is late."""
    write_job(simulate_truth(JOBS["loader"]).outcome, directory, 1)
    return directory


def walks(traces: Sequence[Path], keys: int, burst: int, seed: int) -> int:
    """Walk over the traces in turn, a leg each; tells each difference, and returns how many there were."""
    stumbles, pressed, started, leg = 0, 0, time.monotonic(), 0
    while pressed < keys:
        trace, size = traces[leg % len(traces)], SIZES[leg % len(SIZES)]
        palette = PALETTES[leg // len(SIZES) % len(PALETTES)]
        rng = random.Random(seed * 1_000_003 + leg)
        with tempfile.TemporaryDirectory() as directory:
            with walker(trace, Path(directory), palette, size) as walked:
                stumble = walk(walked, rng, min(LEG, keys - pressed), burst)
            pressed, leg = pressed + walked.pressed, leg + 1
        if stumble is not None:
            stumbles += 1
            print(f"leg {leg - 1} of seed {seed}, palette {palette}, {trace.name}: {stumble}")
        rate = (time.monotonic() - started) / pressed * 1e3
        print(f"{pressed:,} keys, {stumbles} differences, {rate:.0f} ms a key", flush=True)
    return stumbles


def pairs(trace: Path) -> int:
    """Press every two keys at once at every place; tells those that end the viewer, and counts them."""
    ended = tried = 0
    keys = [key for key in KEYS if key != SUSPEND]
    for place in PLACES:
        left = deque((first, second) for first in keys for second in keys)
        while left:
            with tempfile.TemporaryDirectory() as directory, walker(trace, Path(directory)) as walked:
                count = len(left)
                try:
                    _press(walked, place, left)
                except Gone as end:
                    ended += 1
                    print(f"{place} then {left.popleft()}: {end}")
                tried += count - len(left)
        print(f"{place}: {tried:,} pairs, {ended} ended the viewer", flush=True)
    return ended


def _press(walked: Walker, place: Sequence[str], left: deque[tuple[str, str]]) -> None:
    """Press the pairs that are left, each at the place; the first one left is the one that is pressed."""
    there: tuple[object, ...] = ()
    while left:
        if (walked.answer["screen"], *walked.answer["panels"]) != there:
            walked.take(["ctrl+c"] * 3)
            walked.take(["escape", "escape", "T"])
            walked.settle(at_rest=False)
            walked.take([*place])
            walked.settle(at_rest=False)
            there = (walked.answer["screen"], *walked.answer["panels"])
        walked.take([*left[0]])
        walked.settle(at_rest=False)
        left.popleft()


if __name__ == "__main__":
    main()
