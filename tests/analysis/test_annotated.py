"""Phases that the program annotates, where they cover a step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.analysis import real
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text


def _analysis(*annotated: tuple[str, int, int], tid: int = 7) -> Analysis:
    """Two steps of 100 us on thread 7, and annotations: name, start and length in us."""
    events: list[dict[str, Any]] = [*process(1, "python"), *process(0, "python", "GPU 0")]
    events += [piece(1, 7, f"ProfilerStep#{n}", 100 * n, 100, "user_annotation") for n in (1, 2)]
    events += [piece(1, tid, name, start, dur, "user_annotation") for name, start, dur in annotated]
    events += [piece(1, 7, "cudaLaunchKernel", 100 * n + 5, 2, "cuda_runtime", correlation=n) for n in (1, 2)]
    events += [piece(0, 3, "gemm", 100 * n + 20, 9, "kernel", correlation=n) for n in (1, 2)]
    return analyse(trace_of(events))


def test_phases_that_cover_a_step_count_once() -> None:
    """Also where one has two parts, one is inside another, or one reaches out of the step."""
    inside = ("## loss ##", 112, 5)
    found = _analysis(
        ("## forward ##", 100, 30),
        inside,
        ("## backward ##", 135, 45),
        ("## forward ##", 180, 19),
        ("## x ##", 199, 9),
    ).annotated_phases
    assert found == [(("forward", 49_000), ("backward", 45_000)), ()]


@pytest.mark.parametrize(
    "annotated",
    [
        [("## forward ##", 100, 79)],
        [("forward", 100, 100)],
        [("## forward ##", 90, 110)],
        [],
    ],
    ids=["too little", "another name", "around the step", "none"],
)
def test_what_does_not_cover_a_step_is_no_phase(annotated: list[tuple[str, int, int]]) -> None:
    analysis = _analysis(*annotated)
    assert analysis.annotated_phases == [(), ()]
    assert summary_document(analysis, Selection())["devices"][0]["steps"][0]["phases"] == []
    assert "on the host" not in summary_text(analysis, Selection(), None, 80)


def test_phases_may_cover_just_four_fifths_of_a_step() -> None:
    found = _analysis(("## forward ##", 100, 30), ("## backward ##", 150, 50)).annotated_phases
    assert found == [(("forward", 30_000), ("backward", 50_000)), ()]


def test_phases_of_another_thread_are_not_those_of_the_step() -> None:
    assert _analysis(("## forward ##", 100, 90), tid=8).annotated_phases == [(), ()]


def test_a_hostile_name_reaches_no_terminal() -> None:
    text = summary_text(_analysis(("## a\x1b[31m ##", 100, 95)), Selection(), None, 80)
    assert "\x1b" not in text and "of a mean step on the host: a" in text


@pytest.mark.parametrize(("name", "least"), [("sampled_rank-0.json.gz", 98), ("resnet_rank0.json.gz", 98)])
def test_real_phases_are_the_producers_annotations(real_traces: Path, name: str, least: int) -> None:
    analysis = real.gpu(real_traces, name)
    for step, phases in zip(analysis.steps, analysis.annotated_phases):
        assert {"forward", "backward", "optimizer"} <= {phase.name for phase in phases}
        whole = step.host_end_ns - step.host_start_ns
        assert least * whole <= 100 * sum(phase.ns for phase in phases) <= 100 * whole
