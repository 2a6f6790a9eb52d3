"""What a run held in the part of it that is compared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.model import HOST, Curve
from tracetui.comparison.memory_use import memory_use
from tracetui.comparison.walls import StepChoice


def curve(device: str, component: str, allocated: list[int]) -> Curve:
    sizes = np.array(allocated)
    return Curve(device, component, np.arange(len(sizes)) * 10, sizes, 2 * sizes, sizes)


@pytest.mark.parametrize(
    ("choice", "allocated"),
    [
        (StepChoice(), {"PTA": 9, "APP": 4}),
        (StepChoice(step=3), {"PTA": 7, "APP": 2}),
        (StepChoice(window=(10, 30)), {"PTA": 7, "APP": 2}),
        (StepChoice(window=(10, 31)), {"PTA": 9, "APP": 2}),
        (StepChoice(window=(11, 30)), {"PTA": 7, "APP": 2}),
        (StepChoice(window=(12, 18)), {"PTA": 7, "APP": 2}),
    ],
)
def test_peaks_are_of_the_chosen_part_with_what_it_starts_with_and_without_its_end(
    choice: StepChoice, allocated: dict[str, int]
) -> None:
    """Of several devices the one that held most counts, and the host only where there is nothing else."""
    memory: Any = SimpleNamespace(
        curves=(
            curve("NPU 0", "PTA", [1, 3, 5, 9]),
            curve("NPU 1", "PTA", [1, 7, 2, 8]),
            curve("NPU 0", "APP", [4, 2, 1, 0]),
            curve(HOST, "PTA", [99, 99, 99, 99]),
        ),
        recorded=SimpleNamespace(steps=(SimpleNamespace(number=3, start=10, end=30),), stepless=frozenset()),
        part=lambda step, start, end: SimpleNamespace(lines=()),
    )
    use = memory_use(cast(Memory, memory), choice)
    assert use is not None
    assert use.allocated == allocated
    assert memory_use(cast(Memory, memory), StepChoice(step=4)) is None
    assert use.reserved == {name: 2 * size for name, size in allocated.items()}
