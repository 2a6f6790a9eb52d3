"""Operators matched by the shapes of their inputs, however their producer writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracetui
from tests.comparison.test_real_pairs import pair
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.shapes import shapes_of


@pytest.mark.parametrize(
    ("args", "shapes"),
    [
        ({"Input Dims": "32,3,224,224;\r\n64,3,11,11;\r\n;\r\n"}, "32,3,224,224;64,3,11,11"),
        ({"Input Dims": [[32, 3, 224, 224], [64, 3, 11, 11], [], []]}, "32,3,224,224;64,3,11,11"),
        ({"Input dims": [[], [8]]}, ";8"),
        ({"Input Dims": [[[2, 2], [3]], [1]]}, "[2,2 3];1"),
        ({"Input Dims": 7}, ""),
        ({}, ""),
    ],
)
def test_one_spelling(args: dict[str, object], shapes: str) -> None:
    assert shapes_of(args) == shapes


def test_of_the_sample(samples: Path) -> None:
    trace = samples / "moba" / "trace_view.json"
    side = run_of(tracetui.load(trace))
    by_name, shaped = tracetui.compare(side, side), tracetui.compare(trace, trace, shapes=True)
    assert shaped.step.delta_ns == 0
    assert not shaped.new and not shaped.gone
    linear = [row for row in shaped.operators if row.name.startswith("aten::linear [")]
    (whole,) = (row for row in by_name.operators if row.name == "aten::linear")
    assert len(linear) > 1
    assert sum(row.base.ns for row in linear) == whole.base.ns
    assert sum(row.base.count for row in linear) == whole.base.count


def test_shapes_that_one_side_lacks(real_traces: Path) -> None:
    """The trace of the A100 has none: both are matched by name."""
    names = "gpu/alexnet_a100.json.gz", "npu/level2/rank0_ascend_pt"
    by_name = pair(real_traces, *names)
    base, other = (real_traces / name for name in names)
    shaped = tracetui.compare(base, other, shapes=True)
    assert [row.name for row in shaped.operators] == [row.name for row in by_name.operators]
    assert any(note.startswith("BASE: it tells no shapes") for note in shaped.notes)
