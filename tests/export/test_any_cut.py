"""However a text is cut, wherever its reading begins, whoever decodes it: every exported byte is the same."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import orjson
import pandas as pd
import pytest

from tracetui.analysis.analyse import Analysis, analyse
from tracetui.export.data_frame import write_frames
from tracetui.export.trace.documents import (
    advice_document,
    gaps_document,
    hotspots_document,
    summary_document,
)
from tracetui.export.trace.frames import (
    advice_frame,
    events_frame,
    gaps_frame,
    hotspots_frame,
    operators_frame,
    signatures_frame,
    steps_frame,
    syncs_frame,
)
from tracetui.export.trace.selection import Selection
from tracetui.reader import source
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace

_FRAMES: tuple[Callable[[Analysis], pd.DataFrame], ...] = (
    events_frame,
    gaps_frame,
    steps_frame,
    hotspots_frame,
    signatures_frame,
    syncs_frame,
    advice_frame,
)
PATH = Path(__file__).resolve().parents[2] / "samples" / "moba" / "trace_view.json"


def exported(path: Path, block_bytes: int, part_bytes: int, jobs: int, first: int = 0) -> list[bytes]:
    """All documents and tables of a trace."""
    with TraceFile(path, block_bytes=block_bytes, part_bytes=part_bytes, jobs=jobs) as trace_file:
        analysis = analyse(build_trace(trace_file.read(first=first)))
    everything = Selection(None)
    documents = [of(analysis, everything) for of in (summary_document, gaps_document, hotspots_document)]
    documents.append(advice_document(analysis))
    tables = [frame(analysis) for frame in _FRAMES]
    tables.append(operators_frame(analysis.device_operators))
    texts = [orjson.dumps(document) for document in documents]
    for table in tables:
        stream = io.BytesIO()
        write_frames(stream, [table])
        texts.append(stream.getvalue())
    return texts


@cache
def as_usual() -> list[bytes]:
    return exported(PATH, source.BLOCK, source.PART, 1)


@pytest.mark.parametrize(
    ("block", "part", "jobs", "first"),
    [
        pytest.param(3_001, 20_011, 1, 0, marks=pytest.mark.thorough),
        (3_001, 20_011, 1, 80_000),
        (50_021, 70_001, 2, 300_000),
        pytest.param(9_973, 40_009, 3, 0, marks=pytest.mark.thorough),
    ],
)
def test_exports_do_not_depend_on_the_cuts(
    block: int, part: int, jobs: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = as_usual()
    monkeypatch.setattr(source, "SMALLEST", 0)  # workers for any file
    assert exported(PATH, block, part, jobs, first) == expected
