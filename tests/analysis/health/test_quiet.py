"""Stretches in which nothing starts are those that sorting all starts finds."""

from __future__ import annotations

import numpy as np
import pytest

from tracetui.analysis.health.leaps import LEAST_LEAP, quiet_stretches

EDGE = 20


@pytest.mark.parametrize("seed", range(6))
def test_they_are_those_between_sorted_starts(seed: int) -> None:
    random = np.random.default_rng(seed)
    starts = np.cumsum(random.choice([0, 1_000, 300_000, LEAST_LEAP - 1, LEAST_LEAP, 7_000_000], 500))
    begins, resumes = quiet_stretches(np.array_split(random.permutation(starts), seed + 1))
    wide = np.flatnonzero(np.diff(starts) >= LEAST_LEAP)
    wide = wide[(wide >= EDGE) & (wide < len(starts) - EDGE)]
    assert begins.tolist() == starts[wide].tolist()
    assert resumes.tolist() == starts[wide + 1].tolist()


def test_starts_in_a_hole_between_crowds_are_no_edge_of_it() -> None:
    crowd = np.arange(0, 40_000_000, 100_000)
    starts = np.concatenate((crowd, crowd + 60_000_000, crowd + 120_000_000))
    begins, resumes = quiet_stretches([starts])
    assert begins.tolist() == [39_900_000, 99_900_000]
    assert resumes.tolist() == [60_000_000, 120_000_000]
