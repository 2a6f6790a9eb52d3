"""Which rank a gap waited for: the one that cost it most, in however many operations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tracetui
from tests.analysis import real
from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.gaps import Measure
from tracetui.analysis.idle.main_line import main_line
from tracetui.export.sentences.late_ranks import capped_savings, late_rank
from tracetui.export.tables.column import Form
from tracetui.export.tables.communication import LinkRows
from tracetui.export.tables.gaps import GAPS, GapRows
from tracetui.export.trace.documents import gaps_document, summary_document
from tracetui.export.trace.markdown import summary_markdown
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text


def test_the_waits_of_a_gap_are_summed_by_rank() -> None:
    waits = ((10_000, 100_000, 3), (200_000, 70_000, 4), (300_000, 70_000, 4))
    events = [*npu(), *group(0), task(0, 10_000), task(400_000, 10)]
    for start, wait, peer in waits:
        events += [operation(start, wait + 1000), plane_task(start + 1000, wait - 1000, peer=peer)]
    analysis = analyse(trace_of(events))
    worst = int(analysis.gaps.ranked(Measure.COMMUNICATION)[0])
    assert late_rank(analysis, worst) == "peer 4 of group 271"
    assert "longest for peer 4 of group 271: " in capped_savings(analysis), "each of its waits is shorter"


def test_a_gap_without_communication_waited_for_nobody() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 1000), task(5000, 1000)]))
    assert late_rank(analysis, 0) is None


def test_links_are_those_of_the_window(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    middle = int(np.median(analysis.communication.transfers.start))
    every = LinkRows(analysis)
    half = LinkRows(analysis, window=(analysis.trace.start_ns, middle))
    assert {link.src for link in every.rows} == {0} and len(every.rows) == 7
    assert 0 < sum(link.bytes for link in half.rows) < sum(link.bytes for link in every.rows)
    assert summary_document(analysis, Selection(window=(0, 1)))["links"] == []
    assert "Links" not in summary_text(analysis, Selection(window=(0, 1)), None, 80)
    assert "Links" not in summary_markdown(analysis, Selection(window=(0, 1)), None)


def test_the_line_behind_a_gap_is_one_wherever_it_stands(samples: Path) -> None:
    """The sample's worst gap communicates: the operator after it, at line 135, waited as the device did."""
    analysis = tracetui.load(str(samples / "moba" / "trace_view.json"))
    ranked = analysis.gaps.ranked(Measure.LOST)
    assert analysis.gaps.communication[ranked[0]] > 100 * analysis.gaps.idle[ranked[0]]
    documents = gaps_document(analysis, Selection())["gaps"]
    behind = GAPS.column("behind", Form.TEXT).exact(GapRows(analysis, ranked))
    lines = [main_line(analysis, gap).stack for gap in ranked.tolist()]
    shown = [analysis.rules.line_of(stack) for stack in lines]
    places = [None if frame is None else f"{frame.file}({frame.line})" for frame in shown]
    assert places == behind == [document["line"] for document in documents]
    assert places[0] is None and places[1] == "/workspace/moba/train_moba.py(56)"
