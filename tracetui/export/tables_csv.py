"""Tables as csv: the columns of the JSON documents, one gap, step, line or piece of advice a row."""

from __future__ import annotations

from typing import BinaryIO

from tracetui.analysis.analyse import Analysis
from tracetui.export.selection import Selection


def write_gaps(stream: BinaryIO, analysis: Analysis, selection: Selection, top: int = 0) -> int:
    """Write the gaps selected, in their order; returns the number of rows."""
    from tracetui.export.frames import gaps_frame, write_csv  # imports pandas

    return write_csv(stream, [gaps_frame(analysis, selection.gaps(analysis, top))])


def write_steps(stream: BinaryIO, analysis: Analysis, selection: Selection) -> int:
    """Write the steps selected; returns the number of rows."""
    from tracetui.export.frames import steps_frame, write_csv  # imports pandas

    return write_csv(stream, [steps_frame(analysis, selection.steps(analysis))])


def write_hotspots(stream: BinaryIO, analysis: Analysis, selection: Selection, top: int = 0) -> int:
    """Write the lines of Python behind the gaps selected, most idle first; returns the number of rows."""
    from tracetui.export.frames import hotspots_frame, write_csv  # imports pandas

    return write_csv(stream, [hotspots_frame(analysis, selection, top)])


def write_modules(stream: BinaryIO, analysis: Analysis, selection: Selection, top: int = 0) -> int:
    """Write the modules behind the gaps selected, most idle first; returns the number of rows."""
    from tracetui.export.frames import modules_frame, write_csv  # imports pandas

    return write_csv(stream, [modules_frame(analysis, selection, top)])


def write_frames(stream: BinaryIO, analysis: Analysis, selection: Selection, top: int = 0) -> int:
    """Write the frames behind the gaps selected, most idle first; returns the number of rows."""
    from tracetui.export.frames import frames_frame, write_csv  # imports pandas

    return write_csv(stream, [frames_frame(analysis, selection, top)])


def write_advice(stream: BinaryIO, analysis: Analysis) -> int:
    """Write the advice, that about the most time first; returns the number of rows."""
    from tracetui.export.frames import advice_frame, write_csv  # imports pandas

    return write_csv(stream, [advice_frame(analysis)])
