"""What the samples of a series are, told by their names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tracetui.trace.quantity import quantity_of


@pytest.mark.parametrize(("unit", "bytes_"), [("B", 1), ("KB", 1024), ("MB", 1024**2), ("GB", 1024**3)])
def test_sizes_are_told_in_bytes(unit: str, bytes_: int) -> None:
    track: Any = SimpleNamespace(name=f"Memory · allocated({unit})")
    found = quantity_of(track)
    assert (found.unit, found.factor) == ("B", bytes_)
