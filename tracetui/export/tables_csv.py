"""The tables of gaps and of steps as csv: the columns of the JSON documents, one gap or step a row."""

from __future__ import annotations

from typing import Any, BinaryIO

from tracetui.analysis.analyse import Analysis
from tracetui.export.cells import text_cell, write_rows
from tracetui.export.documents import STEP_SUMS, gaps_document, summary_document
from tracetui.export.selection import Selection

_SUMS = ("start_ns", "dur_ns", "idle_ns", "aicpu_ns", "communication_ns", "copy_ns", "step")
GAP_HEADER = ("device", *_SUMS, "before", "before_stream", "after", "after_stream", "line")
STEP_HEADER = ("device", "step", "start_ns", "end_ns", *STEP_SUMS)


def write_gaps(stream: BinaryIO, analysis: Analysis, selection: Selection, top: int = 0) -> int:
    """Write the gaps selected, most idle first; returns the number of rows."""
    return write_rows(stream, GAP_HEADER, map(_gap_row, gaps_document(analysis, selection, top)["gaps"]))


def write_steps(stream: BinaryIO, analysis: Analysis, selection: Selection) -> int:
    """Write the steps selected; returns the number of rows."""
    devices = summary_document(analysis, selection)["devices"]
    rows = (
        [text_cell(device["device"]), *(step[key] for key in STEP_HEADER[1:])]
        for device in devices
        for step in device["steps"]
    )
    return write_rows(stream, STEP_HEADER, rows)


def _gap_row(gap: dict[str, Any]) -> list[object]:
    tasks = (gap[side] or {"name": "", "stream": ""} for side in ("before", "after"))
    texts = [text_cell(task[key]) for task in tasks for key in ("name", "stream")]
    return [text_cell(gap["device"]), *(gap[key] for key in _SUMS), *texts, text_cell(gap["line"] or "")]
