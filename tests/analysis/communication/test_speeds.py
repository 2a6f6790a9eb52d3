"""Links beside what they are built for, and beside others that carry alike messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis import real
from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.links import Link
from tracetui.analysis.communication.speeds import Traffic, link_parts, nominal_speeds, slow_links

MB = 1_000_000


def link(ns: int, size: int = 10 * MB, count: int = 1, transport: str = "HCCS", dst: int = 1) -> Link:
    """`count` messages of one size that take `ns` together."""
    return Link(0, 0, dst, transport, transport, size * count, ns, {size: (count, ns)})


def slow(*links: Link) -> list[bool]:
    return slow_links([*map(link_parts, links)])


def test_a_link_is_slow_below_four_fifths_of_the_median_of_those_alike() -> None:
    fast = [link(MB), link(MB, dst=2)]  # 10 GB/s
    assert slow(*fast, link(1_251_565)) == [False, False, True]  # 7.99 GB/s
    assert slow(*fast, link(1_250_000)) == [False, False, False]  # 8 GB/s
    assert slow() == [] and slow(link(MB)) == [False]


def test_what_a_link_moved_is_told_apart_by_the_size_of_messages() -> None:
    """A class is that of sizes of as many bits: 4 to 7 bytes, 8 to 15."""
    link = Link(0, 0, 1, "HCCS", "HCCS", 0, 0, {4: (2, 10), 7: (1, 5), 8: (3, 20), 0: (1, 1)})
    assert link_parts(link) == {
        ("HCCS", 3): Traffic(3, 4 * 2 + 7, 15),
        ("HCCS", 4): Traffic(3, 24, 20),
        ("HCCS", 0): Traffic(1, 0, 1),
    }


def test_other_transports_and_sizes_of_messages_are_not_alike() -> None:
    fast = [link(MB), link(MB, dst=2)]
    assert slow(*fast, link(5 * MB, transport="PCIE")) == [False] * 3
    assert slow(*fast, link(5 * MB, size=2**23 - 1)) == [False] * 3
    assert slow(*fast, link(5 * MB, size=2**23)) == [False, False, True]


def test_links_of_small_messages_are_not_judged() -> None:
    small = [link(MB, MB - 1, 10), link(MB, MB - 1, 10, dst=2), link(9 * MB, MB - 1, 10, dst=3)]
    assert slow(*small) == [False] * 3
    large = [link(MB, MB, 10), link(MB, MB, 10, dst=2), link(9 * MB, MB, 10, dst=3)]
    assert slow(*large) == [False, False, True]
    assert slow(*large, link(0, MB, 10, dst=4)) == [False, False, True, False]


def test_a_link_is_slow_if_it_is_for_most_of_its_time() -> None:
    def mixed(slow_ns: int, dst: int) -> Link:
        sizes = {2 * MB: (1, slow_ns), 10 * MB: (1, MB)}
        return Link(0, 0, dst, "HCCS", "HCCS", 12 * MB, slow_ns + MB, sizes)

    fast = [mixed(200_000, 1), mixed(200_000, 2)]
    assert slow(*fast, mixed(MB, 3)) == [False] * 3
    assert slow(*fast, mixed(MB + 1, 3)) == [False, False, True]


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


def test_one_link_of_another_chip_leaves_none_certain() -> None:
    analysis = moving("AI_CORE", "EVENT_WAIT_SQE")
    (known,) = analysis.communication.link_table
    assert nominal_speeds(analysis.trace, [known, replace(known, link_type="SIO")]) == [None, None]
    assert nominal_speeds(analysis.trace, [known, known]) == [28.0, 28.0]


def test_real_links_of_910b(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    links = [link for link in analysis.communication.link_table if link.src != link.dst]
    assert nominal_speeds(analysis.trace, links) == [28.0] * 7
    assert slow(*links) == [False] * 7
