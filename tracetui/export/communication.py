"""Exposed communication as tables say it: what it was, who was late, and the line that issued it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.search import pick, ranges
from tracetui.arrays import Int64s
from tracetui.export.cells import encodable
from tracetui.export.ranks import group_key
from tracetui.export.reasons import frame_document


def communication_causes(causes: Mapping[CommunicationCause, int]) -> dict[str, int]:
    """ns by the name of the cause, in the order given."""
    return {cause.label: ns for cause, ns in causes.items()}


class CommunicationPieces:
    """The pieces of all exposed communication of an analysis, looked at by gap."""

    def __init__(self, analysis: Analysis) -> None:
        self._trace = analysis.trace
        self._communication = analysis.communication
        self._exposed = self._communication.exposed
        stacks = (self._exposed.stack, self._exposed.frame)
        self._frames, self._frame = lines_of(self._trace, *stacks, analysis.rules)

    def causes(self, gaps: Int64s) -> Int64s:
        """int64[gaps, causes]: ns of each CommunicationCause in each gap."""
        exposed, places, of = self._exposed, *self._places(gaps)
        table = np.zeros((len(gaps), len(CommunicationCause)), np.int64)
        np.add.at(table, (of, exposed.cause[places]), exposed.ns[places])
        return table

    def pieces(self, gaps: Int64s) -> list[list[dict[str, Any]]]:
        """Of each gap its pieces, by start; their dur_ns sum to its exposed communication.

        `group_rank` and `rank` are those of the late rank, in its group and in the job; None where there is
        none, or where it is not known. With `ring` it, or a rank before it, was late.
        """
        exposed, slices = self._exposed, self._trace.slices
        own, of = self._places(gaps)
        operation, waits = exposed.operation[own], self._communication.waits
        waited = exposed.cause[own] == CommunicationCause.WAIT
        columns = (
            exposed.start[own],
            exposed.ns[own],
            exposed.cause[own],
            self._frame[own],
            exposed.backward[own] & (self._frame[own] >= 0),
            pick(slices.name, exposed.operator[own]),
            slices.name[self._communication.operations.row[operation]],
            self._communication.operations.group[operation],
            np.where(waited, waits.peer[operation], -1),
            waited & waits.ring[operation],
        )
        rows = zip(*(column.tolist() for column in columns))
        counts = np.bincount(of, minlength=len(gaps)).tolist()
        return [[self._piece(*row) for row in islice(rows, count)] for count in counts]

    def _places(self, gaps: Int64s) -> tuple[Int64s, Int64s]:
        """The places of the pieces of gaps, gap by gap, and for each the place of its gap among `gaps`."""
        first = np.searchsorted(self._exposed.gap, gaps)
        stop = np.searchsorted(self._exposed.gap, gaps, "right")
        return ranges(first, stop), np.repeat(np.arange(len(gaps)), stop - first)

    def _piece(
        self,
        start: int,
        dur: int,
        cause: int,
        frame: int,
        backward: bool,
        operator: int,
        collective: int,
        track: int,
        peer: int,
        ring: bool,
    ) -> dict[str, Any]:
        group = self._communication.groups[track]
        key = group_key(self._trace, group)
        op = self._trace.string(operator)
        return {
            "start_ns": start,
            "dur_ns": dur,
            "cause": CommunicationCause(cause).label,
            **frame_document(None if frame < 0 else self._frames[frame]),
            "backward": backward,
            "op": None if op is None else encodable(op),
            "collective": encodable(self._trace.strings[collective]),
            "group": None if key is None else encodable(key),
            "group_name": encodable(group.name) if group.name else None,
            "group_rank": None if peer < 0 else peer,
            "rank": None if peer < 0 else group.global_rank(peer),
            "ring": ring,
        }
