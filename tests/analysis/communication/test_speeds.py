"""Links beside what they are built for, and beside others that carry alike messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis import real
from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.links import Link
from tracetui.analysis.communication.speeds import nominal_speeds, slow_links

MB = 1_000_000


def link(ns: int, size: int = 10 * MB, count: int = 1, transport: str = "HCCS", dst: int = 1) -> Link:
    """`count` messages of one size that take `ns` together."""
    return Link(0, 0, dst, transport, transport, size * count, ns, {size: (count, ns)})


def test_a_link_is_slow_below_four_fifths_of_the_median_of_those_alike() -> None:
    # 10, 10 and 7.9 or 8 GB/s: the median is 10
    fast = [link(MB), link(MB, dst=2)]
    assert slow_links([*fast, link(1_265_823)]) == [False, False, True]  # 7.9000 GB/s
    assert slow_links([*fast, link(1_250_000)]) == [False, False, False]  # 8 GB/s
    assert slow_links([]) == [] and slow_links([link(MB)]) == [False]


def test_other_transports_and_messages_are_not_alike() -> None:
    fast = [link(MB), link(MB, dst=2)]
    assert slow_links([*fast, link(5 * MB, transport="PCIE")]) == [False] * 3
    assert slow_links([*fast, link(5 * MB, size=9 * MB)]) == [False] * 3
    assert slow_links([*fast, link(5 * MB, size=11 * MB)]) == [False, False, True]


def test_links_of_small_messages_are_not_judged() -> None:
    small = [link(MB, MB - 1, 10), link(MB, MB - 1, 10, dst=2), link(9 * MB, MB - 1, 10, dst=3)]
    assert slow_links(small) == [False] * 3
    large = [link(MB, MB, 10), link(MB, MB, 10, dst=2), link(9 * MB, MB, 10, dst=3)]
    assert slow_links(large) == [False, False, True]
    assert slow_links([*large, link(0, MB, 10, dst=4)]) == [False, False, True, False]


def moving(*types: str, link_type: str = "HCCS") -> Analysis:
    """A trace with tasks of some types and one transfer by a link."""
    return analyse(
        trace_of(
            [
                *npu(),
                *group(0),
                operation(10_000, 400_000),
                plane_task(11_000, 99_000, "Memcpy", size=MB, link_type=link_type),
                *(task(500_000 + 100 * at, 50, kind) for at, kind in enumerate(types)),
            ]
        )
    )


@pytest.mark.parametrize(
    ("types", "link_type", "nominal"),
    [
        (["AI_CORE", "EVENT_WAIT_SQE"], "HCCS", 28.0),
        (["AI_CORE", "EVENT_WAIT_SQE"], "PCIE", None),
        (["AI_CORE", "REDUCE_ASYNC_V2"], "HCCS", 18.0),
        (["AI_CORE", "REDUCE_ASYNC_V2"], "PCIE", 20.0),
        (["AI_CORE"], "HCCS", None),
        (["AI_CORE", "REDUCE_ASYNC_V2", "EVENT_WAIT_SQE"], "HCCS", None),
        (["AI_CORE", "EVENT_WAIT_SQE"], "HCCS_SW", None),
    ],
)
def test_what_a_link_is_built_for_is_told_only_of_chips_that_are_certain(
    types: list[str], link_type: str, nominal: float | None
) -> None:
    analysis = moving(*types, link_type=link_type)
    links = analysis.communication.link_table
    assert len(links) == 1
    assert nominal_speeds(analysis.trace, links) == [nominal]


def test_real_links_of_910b(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    links = [link for link in analysis.communication.link_table if link.src != link.dst]
    assert nominal_speeds(analysis.trace, links) == [28.0] * 7
    assert slow_links(links) == [False] * 7
