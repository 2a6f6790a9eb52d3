"""Late ranks, links and the communication of gaps: the same in JSON, DataFrames, text and Markdown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.analysis import real
from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.cause import Cause
from tracetui.export.trace.documents import gaps_document, summary_document
from tracetui.export.trace.frames import gaps_frame, late_peers_frame, links_frame
from tracetui.export.trace.markdown import summary_markdown
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text
from tracetui.siblings.metadata import group_hash
from tracetui.ui.drawing.bars import time_inks
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.tables.gap_columns import gap_columns

ALL = Selection()
MB = 1_000_000
#: rank 0 waits 99 us for rank 1, then sends 10 MB to each of three ranks: to the last at half the speed
EVENTS = [
    *npu(),
    *group(0),
    operation(10_000, 4_400_000),
    plane_task(11_000, 99_000, peer=1),
    *(
        plane_task(200_000 + at, ns, "Memcpy", plane, peer, size=10 * MB)
        for plane, (peer, at, ns) in enumerate([(1, 0, MB), (2, 0, MB), (3, 0, 2 * MB)])
    ),
    task(0, 5_000, "EVENT_WAIT_SQE"),
    task(0, 10_000),
    task(4_410_000, 50_000),
]


@pytest.fixture(scope="module")
def late() -> Analysis:
    return analyse(trace_of(EVENTS))


def values(frame: pd.DataFrame) -> list[dict[str, object]]:
    """The rows, None where unknown."""
    columns = {
        str(key): [None if pd.isna(value) else value for value in column.tolist()]
        for key, column in frame.items()
    }
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def test_late_ranks_and_links_of_a_planted_wait(late: Analysis) -> None:
    document = summary_document(late, ALL)
    (peer,) = document["late_peers"]
    assert peer == {
        "group": "271",
        "group_name": None,
        "group_rank": 1,
        "rank": None,
        "ring": False,
        "operations": 1,
        "wait_ns": 100_000,
        "exposed_ns": 100_000,
        "longest_ns": 100_000,
        "id": "peer=271:1",
    }
    links = document["links"]
    assert [(link["src"], link["dst"], link["bytes"], link["dur_ns"]) for link in links] == [
        (0, 3, 10 * MB, 2 * MB),
        (0, 1, 10 * MB, MB),
        (0, 2, 10 * MB, MB),
    ]
    assert [link["gb_per_s"] for link in links] == [5.0, 10.0, 10.0]
    assert [link["slow"] for link in links] == [True, False, False]
    assert {link["nominal_gb_per_s"] for link in links} == {28.0}
    assert [link["nominal_share"] for link in links] == [5 / 28, 10 / 28, 10 / 28]
    assert values(late_peers_frame(late)) == document["late_peers"]
    assert values(links_frame(late)) == links


def test_text_and_markdown_mark_slow_links(late: Analysis) -> None:
    text = summary_text(late, ALL, None, 100)
    rows = [" ".join(line.split()) for line in text.splitlines() if " HCCS " in line]
    assert rows[0] == "10.0 MB 2.00 ms 5.0 17.9 % HCCS slow peer 0 to 3 of group 271"
    assert rows[1] == "10.0 MB 1.00 ms 10.0 35.7 % HCCS peer 0 to 1 of group 271"
    marked = summary_markdown(late, ALL, None)
    assert "| moved | in | GB/s | of nominal | by | slow | link |" in marked
    assert "| 10.0 MB | 2.00 ms | 5.0 | 17.9 % | HCCS | slow | `peer 0 to 3 of group 271` |" in marked


def test_the_communication_of_a_gap_has_a_cause_and_a_line(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    gaps = gaps_document(analysis, ALL)["gaps"]
    frame = gaps_frame(analysis)
    for key in ("communication_cause", "communication_line"):
        assert [row[key] for row in values(frame)] == [gap[key] for gap in gaps]
    for gap in gaps:
        causes: dict[str, int] = {}
        lines: dict[str | None, int] = {}
        for part in gap["communication_pieces"]:
            line = f"{part['file']}({part['line']})" if part["file"] else None
            causes[part["cause"]] = causes.get(part["cause"], 0) + part["dur_ns"]
            lines[line] = lines.get(line, 0) + part["dur_ns"]
        if causes:
            assert causes[gap["communication_cause"]] == max(causes.values())
            assert lines[gap["communication_line"]] == max(lines.values())
        else:
            assert gap["communication_cause"] is gap["communication_line"] is None
    assert {gap["communication_cause"] for gap in gaps} >= {"communication.wait", None}


@pytest.mark.parametrize("by", [*Measure])
def test_the_viewer_shows_the_cause_of_what_ranks_a_gap(late: Analysis, by: Measure) -> None:
    palette = Palette("none")
    columns = gap_columns(late, by, palette, time_inks(palette, BLOCKS))
    cause = next(column for column in columns if column.key == "cause")
    (gap,) = np.flatnonzero(late.gaps.communication).tolist()
    idle = Cause(int(late.causes.of_gaps(len(late.gaps))[gap])).label if late.gaps.idle[gap] else None
    expected = idle if by is Measure.IDLE else CommunicationCause.TRANSFER.label
    assert cause.exported(gap) == expected
    assert cause.width >= len("moving") or by is Measure.IDLE


def test_peer_0_may_be_late(tmp_path: Path) -> None:
    groups = {communicator(271): {"group_name": "dp", "group_rank": 1, "global_ranks": [4, 13]}}
    (tmp_path / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    wait = plane_task(11_000, 99_000, peer=0, src_rank=1)
    tasks = [task(0, 10_000), task(410_000, 50_000)]
    trace = trace_of([*npu(), *group(0), operation(10_000, 400_000), wait, *tasks])
    analysis = analyse(replace(trace, path=str(tmp_path / "trace_view.json")))
    (gap,) = gaps_document(analysis, ALL)["gaps"]
    pieces = [piece for piece in gap["communication_pieces"] if piece["cause"] == "communication.wait"]
    assert [(piece["group_rank"], piece["rank"]) for piece in pieces] == [(0, 4)]


def communicator(number: int) -> str:
    """A communicator whose operations carry a number."""
    return next(key for key in map(str, range(10_000)) if group_hash(key).endswith(str(number)))
