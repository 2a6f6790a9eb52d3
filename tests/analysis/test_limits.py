"""Limits are parsed or refused with a sentence, and breached only by more than they allow."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.analysis.idle.test_explain import launched
from tests.analysis.machine import npu, step
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.limits import (
    Limit,
    find_breaches,
    parse_cause_limit,
    parse_limit,
    unrecorded_causes,
)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("host.sync=5%", Limit("host.sync", Fraction(1, 20), None)),
        (" host = .5 % ", Limit("host", Fraction(1, 200), None)),
        ("queue=3ms", Limit("queue", None, 3_000_000)),
        ("unlinked=0%", Limit("unlinked", Fraction(0), None)),
        ("idle=100%", Limit("idle", Fraction(1), None)),
    ],
)
def test_limits_as_they_are_written(text: str, limit: Limit) -> None:
    assert parse_cause_limit(text) == limit


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("host.sync", "CAUSE=SHARE"),
        ("host.sync=", "like 10% or 3ms"),
        ("host.sync=5", "like 10% or 3ms"),
        ("host.sync=-5%", "like 10% or 3ms"),
        ("host.sync=nan%", "like 10% or 3ms"),
        ("host.sync=5e9%", "like 10% or 3ms"),
        ("host.sync=101%", "at most 100%"),
        ("host.synk=5%", "no such cause; there are host.gc"),
        ("=5%", "no such cause"),
        ("host.sync=\u0665%", "like 10% or 3ms"),
    ],
)
def test_what_is_no_limit(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse_cause_limit(text)


def trained() -> Analysis:
    """A device that is free for 100 ns of its first step, and for 10 ns between the two."""
    return analyse(
        trace_of(
            [
                *npu(),
                step(4, 900, 900),
                step(5, 1_850, 100),
                *launched(1_000, 1_100, dur=400),
                *launched(1_070, 1_600, dur=500),
                *launched(1_900, 2_110, dur=1_000),
            ]
        )
    )


def test_a_limit_of_what_was_measured_is_kept() -> None:
    analysis = trained()
    assert (analysis.devices[0].free_ns, analysis.devices[0].window_ns) == (110, 2_010)
    assert [step.free_ns for step in analysis.steps] == [100, 0]
    kept = [parse_limit("free", text) for text in ("10%", "110ns")]
    assert find_breaches(analysis, kept) == ()


def test_devices_and_steps_breach_a_limit() -> None:
    limits = [
        parse_limit("free", "9.9%"),
        parse_cause_limit("device.latency=99ns"),
        parse_limit("idle", "5.5%"),
    ]
    found = find_breaches(trained(), limits)
    measures = [f"{breach.limit.measure} {breach.limit.allowed}" for breach in found]
    assert [(of, b.device, b.step, b.measured, b.allowed) for of, b in zip(measures, found)] == [
        ("free 9.9 %", "NPU", 4, 0.1, 0.099),
        ("device.latency 99 ns", "NPU", None, 110, 99),
        ("device.latency 99 ns", "NPU", 4, 100, 99),
        ("idle 5.5 %", "NPU", 4, 0.1, 0.055),
    ]


def test_a_family_is_all_its_causes() -> None:
    assert [b.measured_ns for b in find_breaches(trained(), [parse_limit("device", "1ns")])] == [110, 100]


def test_compiling_is_unknown_without_calls_of_the_runtime() -> None:
    assert unrecorded_causes(has_scheduler=True, has_runtime=True) == set()
    assert unrecorded_causes(True, has_runtime=False) == {"host.compile", "launch.compile"}


def test_nothing_breaches_without_a_device() -> None:
    assert find_breaches(analyse(trace_of([])), [parse_limit("free", "0%")]) == ()
