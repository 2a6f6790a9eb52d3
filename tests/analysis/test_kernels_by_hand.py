"""Facts and sums of a small table of kernels, its first row and its first texts like any other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.kernels import TEXTS, Kernels, TypeTime

TYPES, CORES, SHAPES = ["Mul", "Add"], ["AIC", "AIV"], ["2,3", "4"]
#: type, core, shapes, ns: -1 is not told
ROWS = [
    (0, 0, 0, 0),
    (0, 0, 1, 8),
    (0, 1, 0, 9),
    (1, -1, -1, 9),
    (1, 0, -1, -1),
    (1, 0, -1, 2),
    (-1, 0, 0, 99),
    (0, 0, 0, 1),
]


def table() -> Kernels:
    type_, core, shape, dur = (np.array(column) for column in zip(*ROWS))
    texts = {"type": (type_, TYPES), "core": (core, CORES), "input_shapes": (shape, SHAPES)}

    def text(key: str, row: int) -> str | None:
        place, strings = texts.get(key, (np.full(len(ROWS), -1), []))
        return strings[place[row]] if place[row] >= 0 else None

    few = {"wait": [0, -1, 5], "blocks": [0, -1, 6], "mix_blocks": [0, -1, 7]}
    numbers = {"dur": dur, **{key: np.array([*values, *[-1] * 5]) for key, values in few.items()}}
    kernel_table: Any = SimpleNamespace(rows=len(ROWS), texts=texts, numbers=numbers, floats={}, text=text)
    return Kernels(kernel_table, np.arange(len(ROWS)))


@pytest.mark.parametrize(
    ("by_shape", "among", "expected"),
    [
        (
            False,
            None,
            [
                ("Add", "", None, 1, 9, 9, 9),
                ("Mul", "AIC", None, 3, 9, 0, 8),
                ("Mul", "AIV", None, 1, 9, 9, 9),
                ("Add", "AIC", None, 1, 2, 2, 2),
            ],
        ),
        (
            True,
            None,
            [
                ("Add", "", None, 1, 9, 9, 9),
                ("Mul", "AIV", "2,3", 1, 9, 9, 9),
                ("Mul", "AIC", "4", 1, 8, 8, 8),
                ("Add", "AIC", None, 1, 2, 2, 2),
                ("Mul", "AIC", "2,3", 2, 1, 0, 1),
            ],
        ),
        (False, [0, 4, 6], [("Mul", "AIC", None, 1, 0, 0, 0)]),
    ],
)
def test_times_by_type(by_shape: bool, among: list[int] | None, expected: list[tuple[Any, ...]]) -> None:
    chosen = None if among is None else np.isin(np.arange(len(ROWS)), among)
    assert table().types(by_shape, chosen) == tuple(TypeTime(*fields) for fields in expected)


def test_what_is_told_of_a_task_is_0_where_that_is_told() -> None:
    facts = [table().facts(row) for row in range(3)]
    numbers = [(fact.wait_ns, fact.blocks, fact.mix_blocks) for fact in facts if fact is not None]
    assert numbers == [(0, 0, 0), (None, None, None), (5, 6, 7)]
    assert facts[0] is not None and {"type", "core", "input_shapes"} <= {*TEXTS}
    assert facts[0].texts == {"type": "Mul", "core": "AIC", "input_shapes": "2,3"}
    assert table().facts(99) is None
