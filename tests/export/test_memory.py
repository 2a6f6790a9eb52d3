"""The memory of a run, planted block by block: documents and frames say what follows by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.analysis.memory.runs import Held, recorded
from tracetui.analysis.memory.analyse import Memory
from tracetui.export.memory.document import memory_document
from tracetui.export.memory.frames import memory_blocks_frame, memory_lines_frame, memory_sizes_frame
from tracetui.export.memory.text import memory_text
from tracetui.export.sentences.memory import (
    alive_sentence,
    growth_sentence,
    ordinal,
    peak_parts,
    peak_sentence,
)
from tracetui.export.tables.column import records
from tracetui.export.tables.memory import BLOCKS, SIZES, BlockRows, MemoryRows

#: Steps 1 and 2 end at 200: the last block is of none. At 30 the device holds 512 bytes of before.
RECORDED = recorded(
    2,
    [Held(10, 60, 512), Held(20, None, 2048, "aten::cat", 90), Held(210, 260, 100)],
    curve=[(0, 512), (30, 3072), (120, 2048)],
)


@pytest.fixture(params=[True, False], ids=["timed", "numbered"])
def memory(request: pytest.FixtureRequest) -> Memory:
    """Also of a recording whose events have numbers and no times."""
    return Memory(replace(RECORDED, timed=request.param))


def values(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows, None where a value is missing."""
    return [
        {key: None if pd.isna(value) else value for key, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def blocks_of(memory: Memory, top: int = 0) -> list[dict[str, Any]]:
    return records(BLOCKS, BlockRows(memory, memory.all, top))


def sizes_of(memory: Memory, top: int = 0) -> list[dict[str, Any]]:
    return records(SIZES, MemoryRows(memory.recorded, memory.all.sizes, top))


def test_the_document_of_a_planted_peak(memory: Memory) -> None:
    timed = memory.recorded.timed
    document = memory_document(memory, memory.all)
    device: dict[str, Any] = {"device": "NPU 0"}
    assert document["components"] == [
        {
            **device,
            "name": "PyTorch",
            "peak_allocated_bytes": 3072,
            "peak_reserved_bytes": None,
            "peak_at_ns": 30 if timed else None,
            "end_allocated_bytes": 2048,
            "id": "component=NPU+0:PyTorch",
        }
    ]
    assert document["growth"] == [{**device, "step": 1, "bytes": 3072 - 512}]
    assert document["peak"] == {
        **device,
        "component": "PyTorch",
        "at_ns": 30 if timed else None,
        "step": 1,
        "bytes": 3072,
        "before_bytes": 512,
        "cached_bytes": None,
        "outside_bytes": None,
    }
    keys = (
        "line",
        "operator",
        "bytes_at_peak",
        "allocated_bytes",
        "allocations",
        "mean_life_ns",
        "alive_bytes",
    )
    assert [[line[key] for key in keys] for line in document["lines"]] == [
        [90, "aten::cat", 2048, 2048, 1, None, 2048],
        [88, "aten::mm", 512, 512 + 100, 2, 50 if timed else None, 0],
    ]
    assert document["alive_at_end"] == {"bytes": 2048, "blocks": 1}
    assert (document["growing"], document["warnings"]) == ([], [])


def test_blocks_and_sizes_are_those_that_were_planted(memory: Memory) -> None:
    keys = ("start_ns", "release_ns", "block_bytes", "line", "step", "at_peak")
    assert [[row[key] for key in keys] for row in blocks_of(memory)] == [
        [start if memory.recorded.timed else None, release if memory.recorded.timed else None, *values]
        for start, release, *values in (
            (20, None, 2048, 90, 1, True),
            (10, 60, 512, 88, 1, True),
            (210, 260, 100, 88, None, False),
        )
    ]
    assert [list(row.values()) for row in sizes_of(memory)] == [
        [2048, 1, 1, 1, "size=2048"],
        [512, 1, 1, 0, "size=512"],
        [100, 1, 0, 0, "size=100"],
    ]


@pytest.mark.parametrize("top", [0, 1, 2])
def test_frames_have_the_rows_of_the_documents(memory: Memory, top: int) -> None:
    lines = memory_document(memory, memory.all, top)["lines"]
    assert values(memory_lines_frame(memory, top=top)) == lines
    assert values(memory_sizes_frame(memory, top=top)) == sizes_of(memory, top)
    assert values(memory_blocks_frame(memory, top=top)) == blocks_of(memory, top)
    assert len(memory_blocks_frame(memory, top=top)) == (top or 3)


def test_sentences_of_a_planted_peak() -> None:
    memory = Memory(RECORDED)
    document = memory_document(memory, memory.all)
    assert peak_sentence(document, 10) == (
        "NPU 0: peak 3.07 kB at 0.000000 s in step 1: 2.05 kB of it allocated at train.py(90) f"
    )
    assert [*peak_parts(document["peak"])] == [
        "512 B of it is in no recorded block: allocated before, or left out"
    ]
    assert growth_sentence(document, 2) == "From step to step: +2.56 kB in 1"


def test_without_a_table_of_blocks_none_is_said_to_be_released() -> None:
    memory = Memory(replace(RECORDED, blocks=RECORDED.blocks.at(np.empty(0, np.int64))))
    document = memory_document(memory, memory.all)
    assert document["alive_at_end"] == {"bytes": None, "blocks": None}
    assert alive_sentence(document) == "Which blocks are held is not recorded."
    assert not [*peak_parts(document["peak"])]


def test_what_a_stretch_starts_with_is_held_in_it() -> None:
    curve = Memory(RECORDED).curves[0]
    place = int(curve.known_places[np.argmax(curve.allocated[curve.known_places])])
    start = int(curve.time[place]) + 1
    peak = Memory(RECORDED).between(start, start + 1).peak
    assert peak is not None
    assert (peak.at, peak.bytes) == (start, curve.allocated[place])


def test_ordinals() -> None:
    endings = {1: "st", 2: "nd", 3: "rd", 4: "th", 10: "th", 11: "th", 12: "th", 13: "th", 21: "st", 22: "nd"}
    endings |= {23: "rd", 101: "st", 111: "th", 112: "th", 113: "th", 114: "th", 122: "nd"}
    assert [ordinal(number) for number in endings] == [
        f"{number}{ending}" for number, ending in endings.items()
    ]


def test_nothing_is_known_at_a_peak_that_no_curve_tells(memory: Memory) -> None:
    curveless = Memory(replace(memory.recorded, curves=()))
    document = memory_document(curveless, curveless.all)
    assert document["peak"] is None
    assert {(line["bytes_at_peak"], line["blocks_at_peak"]) for line in document["lines"]} == {(None, None)}
    assert {size["blocks_at_peak"] for size in sizes_of(curveless)} == {None}
    assert "those first that allocate most" in memory_text(curveless, curveless.all, "line", 0, 0, 80, None)
