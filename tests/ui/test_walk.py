"""The terminal shows what the app means: after random keys exactly what a full repaint shows, text and style.

The walks are the same each time; `python -m tests.benchmarks.walk` walks farther, by any seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.job.directory import write_job
from tests.job.planted import truth
from tests.ui.walking import KEYS, SIZES, SUSPEND, Emulator, Step, Walker, differences, drawn, walk, walker

LENGTH, LENGTH_OF_JOB, PACKETS = 120, 8, 9
SEED = 1
THOROUGH = 8  #: times as far over a job where all is tried

#: walks in which the terminal once showed something else
KNOWN: dict[str, tuple[tuple[int, int], list[Step]]] = {
    "a pane beside others is drawn": ((120, 36), ["H", "G", "H", "j", "tab", "tab"]),
    "back from the shell": ((80, 24), ["x", SUSPEND, "G", "slash", "a", SUSPEND, "escape"]),
    "a filter that matches nothing": ((40, 10), ["V", "slash", "0", "2"]),
    "resized": ((200, 60), ["H", (80, 24), "T", (120, 36), "G", (200, 60)]),
    "an editor": ((120, 36), ["H", "o", "j"]),
    "labels that grow": ((200, 60), ["t", "H", "B", "M", "enter", "space", "d"]),
}


#: what is opened, and keys of which more than one would close it
CLOSED_TWICE = (
    (["slash", "m", "o"], ["enter", "enter"]),
    (["H", "colon"], ["enter", "enter"]),
    (["i"], ["enter", "enter"]),
    (["i"], ["enter", "colon"]),
    (["question_mark"], ["escape", "q", "escape"]),
    (["e"], ["escape", "escape"]),
)


@pytest.fixture(scope="module")
def walked(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walker]:
    """The viewer of a training, which each test takes back to its timeline."""
    directory = tmp_path_factory.mktemp("walked")
    with walker(samples / "moba" / "trace_view.json", directory, size=(60, 20)) as walked:
        yield walked


def test_known_steps(walked: Walker) -> None:
    for name, (size, steps) in KNOWN.items():
        for step in (size, *steps):
            walked.take(step)
            walked.settle()
            assert not walked.lasting_differences(), (name, step)
        assert not walked.redrawn(), name
        walked.take(["escape", "escape", "T", "0"])


def test_known_keys_in_one_packet_are_survived(walked: Walker) -> None:
    walked.take((80, 24))
    for opened, keys in CLOSED_TWICE:
        survive(walked, opened, keys)


@pytest.mark.thorough
def test_random_keys_in_one_packet_are_survived(walked: Walker) -> None:
    rng = random.Random(SEED)
    walked.take((80, 24))
    for _ in range(PACKETS):
        survive(walked, [], rng.choices(KEYS, k=25))


def survive(walked: Walker, opened: list[str], keys: list[str]) -> None:
    """Open something, then press these keys at once."""
    burst = [key for key in keys if key != SUSPEND]
    walked.take(["escape", "escape", "T", *opened])
    walked.settle()
    walked.take(burst)
    walked.settle()  # raises where the viewer has ended
    assert not walked.lasting_differences(), (opened, burst)


@pytest.mark.thorough
def test_a_random_walk(samples: Path, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    with walker(samples / "moba" / "trace_view.json", tmp_path, size=rng.choice(SIZES)) as walked:
        stumble = walk(walked, rng, LENGTH)
    assert stumble is None, str(stumble)


def test_a_walk_over_the_ranks_of_a_job(tmp_path: Path, thorough: bool) -> None:
    write_job(truth("loader").outcome, tmp_path / "job", 1)
    rng = random.Random(SEED)
    with walker(tmp_path / "job", tmp_path, size=rng.choice(SIZES)) as walked:
        assert walked.answer["screen"] == "ranks"
        stumble = walk(walked, rng, LENGTH_OF_JOB * (THOROUGH if thorough else 1))
    assert stumble is None, str(stumble)


def test_a_difference_is_seen() -> None:
    screen = Emulator(4, 1)
    screen.draw("ab")
    meant = [drawn("ab", 4)]
    assert not differences(screen.cells(), meant)
    for line in ("aB", "a", "\x1b[1mab", "\x1b[2mab", "ab\x1b[7m ", "\x1b[31mab"):
        assert differences(screen.cells(), [drawn(line, 4)]), line
