"""The memory of a run in sentences, and what is known of components and blocks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.memory.model import NEVER, Curve
from tracetui.export.sentences.memory import (
    alive_sentence,
    calls_words,
    growing_sentence,
    growth_sentence,
    row_line_name,
)
from tracetui.export.tables.column import records
from tracetui.export.tables.memory import COMPONENTS, BlockRows, MemoryRows


def grown(*steps: tuple[str, int, int | None]) -> dict[str, Any]:
    return {"growth": [{"device": device, "step": step, "bytes": size} for device, step, size in steps]}


def test_growth_from_step_to_step() -> None:
    assert growth_sentence(grown(), 0) == "There are no steps to compare."
    assert growth_sentence(grown(), 1) == "Of one step nothing can be said about growth."
    assert growth_sentence(grown(), 2) == "No curve tells of growth."
    assert growth_sentence(grown(("NPU 0", 3, 1), ("NPU 1", 3, None)), 2) == (
        "From step to step: NPU 0: +1 B in 3; NPU 1: ? in 3"
    )
    nine = growth_sentence(grown(*(("NPU 0", step, -step) for step in range(1, 10))), 9)
    last_eight = ", ".join(f"-{step} B in {step}" for step in range(2, 10))
    assert nine == f"From step to step: ..., {last_eight}"
    eight = growth_sentence(grown(*(("NPU 0", step, -step) for step in range(2, 10))), 8)
    assert eight == f"From step to step: {last_eight}"


def group(**more: Any) -> dict[str, Any]:
    usual = {"steps": [1, 2], "operator": "Cast", "task": None, "verdict": "grows", "of": 28, "nth": 28}
    place = {"file": "/a/actor.py", "line": 41, "function": "f", "before": None, "after": None}
    return {**usual, **place, "leaving": 1, "bytes_per_step": 10, **more}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"of": 1, "nth": 1}, "the only call"),
        ({"of": 2, "nth": 2}, "the 2nd of 2 calls"),
        ({"of": 28, "nth": 28, "leaving": 2}, "2 of 28 calls"),
        ({"of": 1000, "nth": None}, "1 of 1,000 calls"),
    ],
)
def test_which_calls_leave_blocks(more: dict[str, Any], words: str) -> None:
    assert calls_words(group(**more)) == words


def test_a_group_of_blocks_that_grows() -> None:
    assert growing_sentence(group()) == (
        "grows 10 B a step: Cast, the 28th of 28 calls at actor.py(41) f, alive since steps 1, 2"
    )
    sentence = growing_sentence(group(task="MatMul", before="A", after="B", steps=[*range(1, 7)]), "x" * 121)
    assert sentence == (
        f"grows 10 B a step: Cast (MatMul), the 28th of 28 calls at actor.py(41) f `{'x' * 120}`, after A, "
        "before B, alive since steps 1, 2, 3, 4, 5, 6"
    )
    seven = growing_sentence(group(operator="", steps=[*range(1, 8)], verdict="may grow"))
    assert seven == (
        "may grow 10 B a step: the 28th of 28 calls at actor.py(41) f, alive since steps 1, 2, ..., 5, 6, 7"
    )


def test_what_is_alive_and_where_it_was_allocated() -> None:
    def alive(blocks: int) -> str:
        held = {"bytes": 10 * blocks, "blocks": blocks}
        return alive_sentence({"alive_at_end": held, "lines": [{"allocations": 1}]})

    assert alive(0) == "All that was allocated in this time was released before the recording ended."
    assert [alive(1), alive(2)] == [
        f"Of what was allocated in this time, {held} is alive at the end, which by itself is no leak."
        for held in ("10 B in 1 block", "20 B in 2 blocks")
    ]
    unknown = {"file": None, "line": None, "function": None}
    assert row_line_name(unknown) == "(no stack)"
    assert row_line_name({"file": "", "line": None, "function": "run"}) == "run"
    assert row_line_name({"file": "/a/b.py", "line": None, "function": None}) == "b.py(0) "


def test_components_are_told_at_their_most_and_at_the_end() -> None:
    """One has its most at time 0; of one only what is reserved is known, of one nothing."""

    def curve(allocated: list[int], reserved: list[int]) -> Curve:
        columns = np.array([[0, 10, 20], allocated, reserved, [-1] * 3], np.int64)
        return Curve("NPU 0", "PyTorch", columns[0], columns[1], columns[2], columns[3])

    curves = [
        curve([9, 3, -1], [1, 2, 0]),
        curve([-1] * 3, [1, 5, 4]),
        curve([-1] * 3, [-1] * 3),
        curve([0] * 3, [0] * 3),
    ]
    recorded: Any = SimpleNamespace(timed=True)
    keys = ("peak_allocated_bytes", "peak_reserved_bytes", "peak_at_ns", "end_allocated_bytes")
    values = [[record[key] for key in keys] for record in records(COMPONENTS, MemoryRows(recorded, curves))]
    assert values == [[9, 2, 0, 3], [None, 5, 10, None], [None, None, None, None], [0, 0, 0, 0]]


def test_a_block_may_begin_and_be_released_at_time_0() -> None:
    blocks = SimpleNamespace(start=np.array([0, 0, 0, 5]), release=np.array([0, 1, NEVER, 5]))
    rows: Any = SimpleNamespace(blocks=blocks)
    rows.release = BlockRows.release.fget(rows)  # type: ignore[attr-defined]
    assert rows.release.tolist() == [0, 1, -1, 5]
    assert BlockRows.life.fget(rows).tolist() == [0, 1, -1, 0]  # type: ignore[attr-defined]
