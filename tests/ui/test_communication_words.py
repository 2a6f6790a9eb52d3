"""What the story of a gap tells of communication: times that add up, and no speed of half a transfer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.analysis import real
from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.gaps import Measure
from tracetui.ui.drawing.bars import unit_of
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.stories.communication_words import communication_sentences
from tracetui.ui.stories.gap_words import GapWords

TIME = re.compile(r"([\d,.]+)\u00a0(ns|µs|ms|s)")
SCALES = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def story_of(analysis: Analysis, gap: int) -> list[str]:
    sentences = communication_sentences(analysis, gap, "The NPU", Pen(Palette("none"), BLOCKS))
    return ["".join(text for text, _ in sentence) for sentence in sentences]


def worst(analysis: Analysis) -> int:
    return int(analysis.gaps.ranked(Measure.COMMUNICATION)[0])


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_a_late_peer_and_what_moved_then() -> None:
    moving = operation(10_000, 400_000, count=4_000_000)
    events = [*npu(), *group(0), task(0, 10_000), moving, plane_task(11_000, 99_000, peer=5)]
    analysis = analyse(trace_of([*events, task(410_000, 10)]))
    assert [plain(text) for text in story_of(analysis, worst(analysis))] == [
        "The NPU waited 100 µs for peer 5 of group 271, then moved 16.0 MB in 300 µs, 53.3 GB/s: "
        "hcom_allReduce__271_0_1."
    ]
    lines = GapWords(analysis, worst(analysis), Pen(Palette("none"), BLOCKS)).lines(1000)
    assert "waited" in plain("".join(text for text, _ in lines[1])), "what the gap has most of comes first"


def test_no_bytes_where_only_a_part_of_the_transfer_is_exposed() -> None:
    moving = operation(10_000, 400_000, count=4_000_000)
    events = [*npu(), *group(0), task(0, 10_000), moving, plane_task(11_000, 99_000, peer=5)]
    analysis = analyse(trace_of([*events, task(400_000, 50_000)]))
    assert [plain(text) for text in story_of(analysis, worst(analysis))] == [
        "The NPU waited 100 µs for peer 5 of group 271, then moved data for 290 µs: hcom_allReduce__271_0_1."
    ]


def test_without_planes_nobody_is_blamed() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 10_000), operation(10_000, 400_000), task(410_000, 10)]))
    (sentence,) = story_of(analysis, worst(analysis))
    assert plain(sentence) == (
        "The NPU communicated for 400 µs, waiting or moving (the trace does not tell): "
        "hcom_allReduce__271_0_1."
    )


def test_many_operations_are_summed_up() -> None:
    operations = [
        operation(10_000 * place, 10_000, f"hcom_allReduce__271_{place}_1") for place in range(1, 8)
    ]
    analysis = analyse(trace_of([*npu(), task(0, 10_000), *operations, task(80_000, 10)]))
    sentences = story_of(analysis, worst(analysis))
    assert len(sentences) == 4
    assert plain(sentences[-1]) == "4 more operations took 40 µs."


@pytest.mark.parametrize("rank", ["level0/rank1", "level2/rank0", "level2/rank1"])
def test_the_times_add_up_on_real_traces(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    gaps = analysis.gaps
    for gap in range(len(gaps)):
        sentences = story_of(analysis, gap)
        exposed = int(gaps.communication[gap])
        assert bool(sentences) == bool(exposed)
        times = [round(float(n) * SCALES[unit]) for n, unit in TIME.findall(" ".join(sentences))]
        if exposed:
            assert abs(sum(times) - exposed) * 2 <= unit_of(exposed)
