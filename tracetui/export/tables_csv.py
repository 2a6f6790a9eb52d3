"""The tables of gaps and of steps as csv: the columns of the JSON documents, one gap or step a row."""

from __future__ import annotations

from typing import BinaryIO

from tracetui.analysis.analyse import Analysis
from tracetui.export.selection import Selection


def write_gaps(stream: BinaryIO, analysis: Analysis, selection: Selection, top: int = 0) -> int:
    """Write the gaps selected, most idle first; returns the number of rows."""
    from tracetui.export.frames import gaps_frame, write_csv  # imports pandas

    return write_csv(stream, [gaps_frame(analysis, selection.gaps(analysis, top))])


def write_steps(stream: BinaryIO, analysis: Analysis, selection: Selection) -> int:
    """Write the steps selected; returns the number of rows."""
    from tracetui.export.frames import steps_frame, write_csv  # imports pandas

    return write_csv(stream, [steps_frame(analysis, selection.steps(analysis))])
