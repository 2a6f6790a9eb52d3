"""What gaps are made of, piece by piece: of idle time and of exposed communication, each with its reason.

A piece has a cause, the Python line that it is charged to, and the operator behind it. Here they are looked
at by gap: the line and the cause with the most time, and every piece as JSON has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.exposed import ExposedPieces
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.search import pick, ranges
from tracetui.analysis.sums import most_of_each
from tracetui.arrays import Bools, Int8s, Int64s
from tracetui.export.cells import encodable
from tracetui.export.sentences.causes import file_line
from tracetui.export.sentences.ranks import group_key
from tracetui.export.tables.column import CodedTexts, texts_at
from tracetui.trace.stack import Frame


class GapPieces:
    """Pieces of time as columns of equal length, by gap, then start."""

    def __init__(
        self, analysis: Analysis, of: Causes | ExposedPieces, gap: Int64s, labels: Sequence[str]
    ) -> None:
        self.analysis, self.trace = analysis, analysis.trace
        self.gap = gap  #: index, in order
        self.start, self.ns, self.cause = of.start, of.ns, of.cause
        self.labels = labels  #: of the causes, by their numbers
        self.frames, self.frame = lines_of(analysis.trace, of.stack, of.frame, analysis.rules)
        self.backward = of.backward & (self.frame >= 0)
        self.operator = of.operator  #: slice row of what ran or launched, -1 where none did

    @cached_property
    def main_cause(self) -> Int8s:
        """int8[gaps]: the cause with the most time of each gap, the lowest of equals; -1 without any."""
        return self.main_key(self.cause.astype(np.int64)).astype(np.int8)

    def main_key(self, keys: Int64s, places: Bools | slice = slice(None)) -> Int64s:
        """Return int64[gaps]: the one of `keys`, of the pieces at `places`, with the most time; else -1."""
        return most_of_each(self.gap[places], keys[places], self.ns[places], len(self.analysis.gaps))

    def main_line_of(self, places: Bools | slice = slice(None)) -> CodedTexts:
        """Return, for each gap, the line with most of its time: "train.py(88)" with its whole path."""
        main_lines = self.main_key(self.frame, places)
        in_file = np.array([*(name is not None for name in self.lines), False], np.bool_)
        return texts_at(np.where(in_file[main_lines], main_lines, -1), self.lines)

    @cached_property
    def lines(self) -> list[str | None]:
        """What the lines are called, None where no file is known."""
        return [*map(file_line, self.frames)]

    def places_of_gaps(self, gaps: Int64s) -> tuple[Int64s, Int64s]:
        """Return the places of the pieces of gaps, gap by gap, and how many each gap has."""
        first, stop = np.searchsorted(self.gap, gaps), np.searchsorted(self.gap, gaps, "right")
        return ranges(first, stop), stop - first

    def by_cause(self, gaps: Int64s) -> Int64s:
        """Return int64[gaps, causes]: ns of each cause in each gap."""
        places, counts = self.places_of_gaps(gaps)
        table = np.zeros((len(gaps), len(self.labels)), np.int64)
        np.add.at(table, (np.repeat(np.arange(len(gaps)), counts), self.cause[places]), self.ns[places])
        return table

    def documents(self, gaps: Int64s) -> list[list[dict[str, Any]]]:
        """Return the pieces of each gap, by start; they sum to its idle time, or exposed communication."""
        places, counts = self.places_of_gaps(gaps)
        frame_documents = [*map(frame_document, self.frames), frame_document(None)]  # -1 is the last one
        name = pick(self.trace.slices.name, self.operator[places])
        piece_columns = (self.start, self.ns, self.cause, self.frame, self.backward)
        columns = (*(column[places] for column in piece_columns), name)
        rows = (
            {
                "start_ns": start,
                "dur_ns": ns,
                "cause": self.labels[cause],
                **frame_documents[frame],
                "backward": in_backward,
                "op": self._name(operator),
                **fields,
            }
            for (start, ns, cause, frame, in_backward, operator), fields in zip(
                zip(*(column.tolist() for column in columns)), self.more_fields(places)
            )
        )
        return [[*islice(rows, count)] for count in counts.tolist()]

    def more_fields(self, places: Int64s) -> Sequence[dict[str, Any]]:
        """Return what else JSON says of pieces at some places."""
        return [{}] * len(places)

    def _name(self, name: int) -> str | None:
        operator = self.trace.string(name)
        return None if operator is None else encodable(operator)


class GapIdlePieces(GapPieces):
    """The pieces of all idle intervals."""

    def __init__(self, analysis: Analysis) -> None:
        causes = analysis.causes
        super().__init__(
            analysis, causes, causes.intervals.gap[causes.interval], [cause.label for cause in Cause]
        )

    @cached_property
    def main_line(self) -> CodedTexts:
        """Of each gap the line with the most time of its main cause."""
        return self.main_line_of(self.main_cause[self.gap] == self.cause)


class GapCommunicationPieces(GapPieces):
    """The pieces of all exposed communication."""

    def __init__(self, analysis: Analysis) -> None:
        exposed = analysis.communication.exposed
        super().__init__(analysis, exposed, exposed.gap, [cause.label for cause in CommunicationCause])

    def more_fields(self, places: Int64s) -> Sequence[dict[str, Any]]:
        """Return what communicated, and for whom.

        `group_rank` and `rank` are those of the late rank, in its group and in the job; None where there is
        none, or where it is not known. With `ring` it, or a rank before it, was late.
        """
        communication = self.analysis.communication
        operation, waits = communication.exposed.operation[places], communication.waits
        is_wait = self.cause[places] == CommunicationCause.WAIT
        collective = self.trace.slices.name[communication.operations.row[operation]]
        tracks = communication.operations.group[operation]
        peers = np.where(is_wait, waits.peer[operation], -1)
        ring = is_wait & waits.ring[operation]
        groups = communication.groups
        keys = {track: group_key(self.trace, group) for track, group in groups.items()}
        columns = (column.tolist() for column in (collective, tracks, peers, ring))
        return [
            {
                "collective": encodable(self.trace.strings[name]),
                **group_document(keys[track], groups[track].name),
                "group_rank": None if peer < 0 else peer,
                "rank": None if peer < 0 else groups[track].global_rank(peer),
                "ring": in_ring,
            }
            for name, track, peer, in_ring in zip(*columns)
        ]


def synchronising_lines(analysis: Analysis) -> CodedTexts:
    """Return of each gap the line that was synchronising when (most of) its idle time began."""
    causes, idle = analysis.causes, analysis.causes.intervals
    stacks = (causes.sync_stack, causes.sync_frame)
    frames, frame = lines_of(analysis.trace, *stacks, analysis.rules)
    has_line = frame >= 0
    lengths = (idle.end - idle.start)[has_line]
    longest_line = most_of_each(idle.gap[has_line], frame[has_line], lengths, len(analysis.gaps))
    return texts_at(longest_line, [*map(file_line, frames)])


def frame_document(frame: Frame | None) -> dict[str, Any]:
    """Return where a stack says that something came from; without one, or a file, what is unknown is None."""
    if frame is None:
        return {"file": None, "line": None, "function": None}
    line = frame.line if frame.file else None
    return {"file": encodable(frame.file), "line": line, "function": encodable(frame.function)}


def group_document(key: str | None, name: str) -> dict[str, Any]:
    """Return what a communication group is called; None where nothing tells it."""
    return {"group": None if key is None else encodable(key), "group_name": encodable(name) if name else None}
