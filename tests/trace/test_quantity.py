"""What the samples of a series are, told by their names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tracetui.trace.quantity import format_value, is_core_frequency, quantity_of


@pytest.mark.parametrize(
    ("unit", "bytes_"), [("B", 1), ("Bytes", 1), ("KB", 1024), ("MB", 1024**2), ("GB", 1024**3)]
)
def test_sizes_are_told_in_bytes(unit: str, bytes_: int) -> None:
    track: Any = SimpleNamespace(name=f"Memory · allocated({unit})")
    found = quantity_of(track)
    assert (found.unit, found.factor) == ("B", bytes_)


@pytest.mark.parametrize(
    ("title", "name", "unit"),
    [
        ("HBM 0/Read · Read(MB/s)", "HBM 0/Read", "MB/s"),
        ("HBM 0 · Write (MB/s)", "HBM 0 Write", "MB/s"),
        ("AI Core Freq · MHz", "AI Core Freq", "MHz"),
        ("QoS · OTHERS", "QoS OTHERS", ""),
        ("QoS OTHERS · others", "QoS OTHERS", ""),
        ("a · b · ms", "a · b", "ms"),
        ("plain", "plain", ""),
        ("PCIe · rate(a b)", "PCIe rate(a b)", ""),
    ],
)
def test_the_key_of_a_counter_is_its_unit_or_more_of_its_name(title: str, name: str, unit: str) -> None:
    track: Any = SimpleNamespace(name=title)
    found = quantity_of(track)
    assert (found.name, found.unit, found.factor) == (name, unit, 1.0)


@pytest.mark.parametrize(
    ("title", "unit", "factor"),
    [
        ("LLC 0 Hit Rate · %", "%", 100.0),
        ("LLC 0 Hit Rate · MB/s", "MB/s", 1.0),
        ("Other Rate · %", "%", 1.0),
    ],
)
def test_rates_that_are_written_as_fractions_are_told_in_percent(
    title: str, unit: str, factor: float
) -> None:
    track: Any = SimpleNamespace(name=title)
    found = quantity_of(track)
    assert (found.unit, found.factor) == (unit, factor)


@pytest.mark.parametrize(
    ("title", "is_frequency"),
    [("AI Core Freq · MHz", True), ("AI Core Freq · GHz", False), ("Uncore · MHz", False), ("MHz", False)],
)
def test_the_frequency_of_cores_is_in_mhz(title: str, is_frequency: bool) -> None:
    track: Any = SimpleNamespace(name=title)
    assert is_core_frequency(track) == is_frequency


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        *[(0.0, "", "0"), (84.25, "%", "84.25 %"), (999.9, "MB/s", "999.9 MB/s"), (1000.0, "C", "1,000 C")],
        *[(-1000.0, "C", "-1,000 C"), (19_457.4, "MB/s", "19,457 MB/s"), (1e15, "", "1e+15")],
        *[(999_999_999_999_999.0, "", "999,999,999,999,999")],
        *[(2.22e9, "B", "2.22 GB"), (1.5e6, "ns", "1.50 ms")],
    ],
)  # fmt: skip
def test_a_value_with_its_unit(value: float, unit: str, text: str) -> None:
    assert format_value(value, unit) == text
