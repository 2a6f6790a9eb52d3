"""Why gaps were idle, as tables say it: the cause with the most time, its Python line, and every piece."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.search import pick, ranges
from tracetui.analysis.sums import most_of_each
from tracetui.arrays import Int8s, Int64s
from tracetui.export.cells import encodable
from tracetui.export.words import file_line
from tracetui.trace.stack import Frame


class Reasons:
    """The pieces of all idle intervals of an analysis, looked at by gap."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis, self._causes = analysis, analysis.causes
        self._gap = self._causes.intervals.gap[self._causes.interval]  # in order, as gaps and intervals are
        self._frames, self._frame = self._lines_of(self._causes.stack, self._causes.frame)

    def causes(self, gaps: Int64s) -> list[Cause | None]:
        """Of each gap the cause with the most time; None where it was never idle."""
        return [None if cause < 0 else Cause(cause) for cause in self._of_gaps[gaps].tolist()]

    def lines(self, gaps: Int64s) -> list[str | None]:
        """Of each gap the line with the most time of that cause, "train.py(88)" with the path as written."""
        names, places = self.named_lines()
        return [None if place < 0 else names[place] for place in places[gaps].tolist()]

    def named_lines(self) -> tuple[list[str], Int64s]:
        """The lines, and of all gaps the place of theirs (int64[gaps]), -1 where no file is known."""
        told = self._of_gaps[self._gap] == self._causes.cause
        most = most_of_each(self._gap[told], self._frame[told], self._causes.ns[told], len(self._of_gaps))
        names = [file_line(frame) or "" for frame in self._frames]
        in_file = np.array([*map(bool, names), False], np.bool_)
        return names, np.where(in_file[most], most, -1)

    def exposed_by(self, gaps: Int64s) -> list[str | None]:
        """Of each gap the line that was synchronising when (most of) its idle time began; None for none."""
        causes, idle = self._causes, self._causes.intervals
        frames, frame = self._lines_of(causes.exposing_stack, causes.exposing_frame)
        told = frame >= 0
        lengths = (idle.end - idle.start)[told]
        most = most_of_each(idle.gap[told], frame[told], lengths, len(self._analysis.gaps))
        return _names(frames, most[gaps])

    def pieces(self, gaps: Int64s) -> list[list[dict[str, Any]]]:
        """Of each gap the pieces of its idle intervals, by start; their dur_ns sum to its idle time."""
        causes = self._causes
        first, stop = np.searchsorted(self._gap, gaps), np.searchsorted(self._gap, gaps, "right")
        own = ranges(first, stop)
        names = pick(self._analysis.trace.slices.name, causes.operator[own])
        backward = causes.backward[own] & (self._frame[own] >= 0)
        columns = (causes.start[own], causes.ns[own], causes.cause[own], self._frame[own], backward, names)
        rows = zip(*(column.tolist() for column in columns))
        return [[self._piece(*row) for row in islice(rows, count)] for count in (stop - first).tolist()]

    def _piece(
        self, start: int, dur: int, cause: int, frame: int, backward: bool, name: int
    ) -> dict[str, Any]:
        op = self._analysis.trace.string(name)
        return {
            "start_ns": start,
            "dur_ns": dur,
            "cause": Cause(cause).label,
            **frame_document(None if frame < 0 else self._frames[frame]),
            "backward": backward,
            "op": None if op is None else encodable(op),
        }

    @cached_property
    def _of_gaps(self) -> Int8s:
        return self._causes.of_gaps(len(self._analysis.gaps))

    def _lines_of(self, stack: Any, frame: Int64s) -> tuple[list[Frame], Int64s]:
        return lines_of(self._analysis.trace, stack, frame, self._analysis.rules)


def frame_document(frame: Frame | None) -> dict[str, Any]:
    """Where a stack says that something came from; all unknown without one, the line without a file too."""
    if frame is None:
        return {"file": None, "line": None, "function": None}
    line = frame.line if frame.file else None
    return {"file": encodable(frame.file), "line": line, "function": encodable(frame.function)}


def _names(frames: list[Frame], places: Int64s) -> list[str | None]:
    names = [file_line(frame) for frame in frames]
    return [None if place < 0 else names[place] for place in places.tolist()]
