"""Limits on memory: sizes are exact, and what just reaches a limit is within it."""

from __future__ import annotations

import pytest

from tests.analysis.memory.runs import Held, recorded
from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.limits import (
    GROWTH,
    MEMORY,
    MemoryLimit,
    find_memory_breaches,
    parse_size,
    unrecorded_measures,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("100B", 100),
        ("60GB", 60 * 10**9),
        ("1.5 MB", 1_500_000),
        ("0.001kB", 1),
        ("512MiB", 512 << 20),
        ("1.25KiB", 1280),
        (" 2TB ", 2 * 10**12),
        ("3.999999999999TiB", 4398046511103 - 1),
    ],
)
def test_a_size_is_exact_and_rounded_down(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "60", "GB", "1,5GB", "-1GB", "1.GB", "1e9B", "60 G", "١GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a size is a number with a unit"):
        parse_size(text)


def test_a_limit_that_is_just_reached_is_kept() -> None:
    """The device grows by 100 from each step to the next and holds 700 at most."""
    curve = [(0, 200), (100, 300), (200, 400), (250, 700), (300, 500), (399, 500)]
    memory = Memory(recorded(4, [Held(10)], curve))
    limits = tuple(MemoryLimit(MEMORY, size) for size in (699, 700))
    assert [
        (breach.limit.bytes, breach.bytes, breach.steps) for breach in find_memory_breaches(memory, limits)
    ] == [(699, 700, ())]
    limits = tuple(MemoryLimit(GROWTH, size) for size in (99, 100))
    assert [breach.limit.bytes for breach in find_memory_breaches(memory, limits)] == [99]
    assert unrecorded_measures(memory, limits) == ()
    assert unrecorded_measures(None, limits) == (GROWTH,)
    assert unrecorded_measures(Memory(recorded(1, [Held(10)], curve)), limits) == (GROWTH,)
