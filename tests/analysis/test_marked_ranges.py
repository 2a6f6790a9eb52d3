"""Which slices are ranges that people marked, and when each was the device's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.job.planted import digests
from tracetui.analysis.marked_ranges import host_ranges, range_name
from tracetui.api import load


@pytest.mark.parametrize(("name", "called"), [("## forward ##", "forward"), ("generate", "generate")])
def test_a_range_is_called_what_people_called_it(name: str, called: str) -> None:
    assert range_name(name) == called


def test_what_pytorch_marks_itself_is_no_range() -> None:
    for digest in digests(
        "loader"
    ):  # its optimizer is `Optimizer.step#AdamW.step`, its steps `ProfilerStep#50`
        assert digest.ranges is not None
        assert len(digest.ranges) == 0


def test_nodes_of_autograd_are_no_ranges(real_traces: Path) -> None:
    """PyTorch 1.8 calls them `AddmmBackward`, without a namespace; they hold operators, as ranges do."""
    analysis = load(real_traces / "gpu" / "workers4", cache=False)
    assert len(host_ranges(analysis.trace)) == 0
