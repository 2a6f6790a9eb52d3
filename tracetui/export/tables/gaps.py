"""The table of AICore gaps: what each lost, why, for whom, and the Python line behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.gaps import Measure
from tracetui.analysis.health.finding import Severity
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.preparing import COPY
from tracetui.analysis.search import pick, track_of_rows
from tracetui.arrays import Bools, Int64s
from tracetui.export.sentences.late_ranks import late_rank
from tracetui.export.tables.column import (
    CodedTexts,
    Column,
    Form,
    Table,
    Values,
    data,
    duration,
    ids_column,
    json_only,
    listed,
    texts_at,
    worded,
)
from tracetui.export.tables.common import trust_columns
from tracetui.export.tables.pieces import (
    GapCommunicationPieces,
    GapIdlePieces,
    GapPieces,
    frame_document,
    synchronising_lines,
)
from tracetui.export.tables.row_ids import gap_ids
from tracetui.units import format_time

Document = dict[str, Any]


class GapRows:
    """Some gaps of an analysis, in an order, and what ranks them."""

    def __init__(self, analysis: Analysis, chosen: Int64s, by: Measure = Measure.LOST) -> None:
        self.analysis, self.chosen, self.by = analysis, chosen, by
        self.gaps, self.trace = analysis.gaps, analysis.trace

    def __len__(self) -> int:
        return len(self.chosen)

    def at(self, texts: CodedTexts) -> CodedTexts:
        """Return the texts of these gaps, of one for each gap of the analysis."""
        return CodedTexts(texts.codes[self.chosen], texts.text_of)

    @cached_property
    def idle(self) -> GapIdlePieces:
        """What idle time is made of."""
        return GapIdlePieces(self.analysis)

    @cached_property
    def severities(self) -> list[Severity]:
        """What the idle time of each gap and its causes are worth."""
        start, end = (column[self.chosen] for column in (self.gaps.start, self.gaps.end))
        worst = self.analysis.health.severities_between(start, end, ("idle", "causes"))
        return [*map(Severity, worst.tolist())]

    @cached_property
    def communication(self) -> GapCommunicationPieces:
        """What exposed communication is made of."""
        return GapCommunicationPieces(self.analysis)

    @cached_property
    def communicated(self) -> Int64s:
        """int64[rows, causes]: ns of each CommunicationCause."""
        return self.communication.by_cause(self.chosen)

    @cached_property
    def pieces(self) -> list[list[Document]]:
        """The pieces of the idle time of each."""
        return self.idle.documents(self.chosen)

    @cached_property
    def communication_pieces(self) -> list[list[Document]]:
        """The pieces of the exposed communication of each."""
        return self.communication.documents(self.chosen)

    @cached_property
    def leads_lost(self) -> list[Document | None]:
        """Where the host lost its lead before each."""
        return [lead_lost_document(self.analysis, gap) for gap in self.chosen.tolist()]

    @cached_property
    def causes(self) -> list[dict[str, int]]:
        """Of each ns of what ranks it by the name of the cause: of idle time, of communication, copies."""
        copies = self.gaps.copy[self.chosen].tolist()
        rows = zip(self.pieces, self.communication_pieces, copies)
        return [gap_causes(self.by, *row) for row in rows]

    @cached_property
    def late(self) -> list[str | None]:
        """Of each the late rank that it waited for longest, "peer 5 of group 271"; None where for none."""
        return [late_rank(self.analysis, gap) for gap in self.chosen.tolist()]

    @property
    def main_cause(self) -> Int64s:
        """int64[rows]: the cause behind most of what ranks a gap, -1 without any.

        Those of communication are counted from behind the last one of idle time, and copies behind those.
        """
        idle, communication = (pieces.main_cause[self.chosen] for pieces in (self.idle, self.communication))
        moved = np.where(communication < 0, -1, communication.astype(np.int64) + len(self.idle.labels))
        copies = len(self.idle.labels) + len(CommunicationCause)
        return np.where(self.by_copies, copies, np.where(self.by_idle, idle, moved))

    @property
    def by_copies(self) -> Bools:
        """bool[rows]: whether what ranks a gap is copies more than anything else."""
        others = np.maximum(self.gaps.idle, self.gaps.communication)[self.chosen]
        more: Bools = (self.gaps.copy[self.chosen] > others) & (self.by is Measure.LOST)
        return more

    @property
    def by_idle(self) -> Bools:
        """bool[rows]: whether what ranks a gap is idle time in the first place, not communication."""
        if self.by is not Measure.LOST:
            return np.full(len(self.chosen), self.by is Measure.IDLE)
        more: Bools = (self.gaps.idle >= self.gaps.communication)[self.chosen]
        return more


def gap_causes(
    by: Measure, idle: list[Document], communication: list[Document], copy_ns: int
) -> dict[str, int]:
    """Return ns of what ranks a gap by the name of the cause."""
    kinds = {Measure.IDLE: (idle,), Measure.COMMUNICATION: (communication,)}.get(by, (idle, communication))
    causes: dict[str, int] = {}
    for piece in (piece for pieces in kinds for piece in pieces):
        causes[piece["cause"]] = causes.get(piece["cause"], 0) + piece["dur_ns"]
    if by is Measure.LOST and copy_ns:
        causes[COPY] = copy_ns
    return causes


def _largest_part(parts: Mapping[str, int]) -> str | None:
    return max(parts, key=parts.__getitem__, default=None)


def _ns(name: str) -> Callable[[GapRows], Values]:
    return lambda rows: getattr(rows.gaps, name)[rows.chosen]


def _device(rows: GapRows) -> CodedTexts:
    return CodedTexts(rows.gaps.device[rows.chosen], lambda index: rows.analysis.devices[index].device)


def _task(rows: GapRows, side: str) -> CodedTexts:
    """Return the task before or after each gap."""
    tasks = getattr(rows.gaps, side)[rows.chosen]
    return CodedTexts(pick(rows.trace.slices.name, tasks), rows.trace.string)


def _stream(rows: GapRows, side: str) -> CodedTexts:
    """Return where each gap's last task ran."""
    tasks = getattr(rows.gaps, side)[rows.chosen]
    return CodedTexts(track_of_rows(rows.trace, tasks), lambda index: rows.trace.tracks[index].name)


def _task_columns(side: str, title: str, **more: Any) -> tuple[Column[GapRows], ...]:
    """Return the task before or after a gap: one object in JSON, two columns elsewhere."""
    name: Column[GapRows] = Column(side, title, partial(_task, side=side), **more)
    stream: Column[GapRows] = Column(f"{side}_stream", "", partial(_stream, side=side), forms=Form.FRAME)

    def objects(rows: GapRows) -> list[Document | None]:
        pairs = zip(name.exact(rows), stream.exact(rows))
        return [None if task is None else {"name": task, "stream": track} for task, track in pairs]

    return json_only(side, objects), name, stream


def _idle_line(rows: GapRows) -> CodedTexts:
    return rows.at(rows.idle.main_line)


def _communication_line(rows: GapRows) -> CodedTexts:
    return rows.at(rows.communication.main_line_of())


def _behind(rows: GapRows) -> CodedTexts:
    """Return the line behind most of what ranks a gap: idle time or communication; None behind copies."""
    idle, communication = _idle_line(rows).codes, _communication_line(rows).codes
    moved = np.where(communication < 0, -1, communication + len(rows.idle.lines))
    codes = np.where(rows.by_copies, -1, np.where(rows.by_idle, idle, moved))
    return texts_at(codes, [*rows.idle.lines, *rows.communication.lines])


def _cause(rows: GapRows, of: str) -> CodedTexts:
    """Return the cause with the most time: `of` the idle time, or of the communication."""
    pieces: GapPieces = getattr(rows, of)
    return texts_at(pieces.main_cause[rows.chosen], pieces.labels)


def _exposed(cause: CommunicationCause) -> Column[GapRows]:
    return Column(f"{cause.label}_ns", "", lambda rows: rows.communicated[:, cause], forms=Form.FRAME)


def _loses(rows: GapRows, form: Form) -> bool:
    return form is Form.VIEWER or rows.by is Measure.LOST


def _communicates(rows: GapRows, form: Form) -> bool:
    if form is not Form.VIEWER and rows.by is Measure.IDLE:
        return False
    return rows.by is Measure.COMMUNICATION or bool(rows.gaps.communication[rows.chosen].any())


GAPS: Table[GapRows] = Table(
    columns=(
        Column(
            "device",
            "device",
            _device,
            when=lambda rows, form: form is Form.MARKDOWN or len(rows.analysis.devices) > 1,
        ),
        Column("start_ns", "at", _ns("start"), lambda ns, rows: format_time(ns - rows.trace.start_ns)),
        duration("dur_ns", "gap", lambda rows: (rows.gaps.end - rows.gaps.start)[rows.chosen]),
        duration("idle_ns", "idle", _ns("idle")),
        data("aicpu_ns", _ns("beside_cores")),
        duration("communication_ns", "comm", _ns("communication"), when=_communicates),
        data("copy_ns", _ns("copy")),
        Column(
            "step",
            "step",
            lambda rows: rows.analysis.step_numbers[rows.gaps.step[rows.chosen]],
            optional=True,
            when=lambda rows, _: bool(rows.analysis.steps),
        ),
        *_task_columns("before", "ran before", forms=Form.FRAME | Form.VIEWER),
        *_task_columns("after", "until", forms=Form.FRAME | Form.MARKDOWN | Form.VIEWER, unknown="the end"),
        data("cause", partial(_cause, of="idle")),
        data("line", _behind),
        Column(
            "exposed_by",
            "exposed by",
            lambda rows: rows.at(synchronising_lines(rows.analysis)),
            forms=Form.DATA | Form.MARKDOWN,
            path=True,
        ),
        json_only("pieces", lambda rows: rows.pieces),
        duration("lost_ns", "lost", _ns("lost"), when=_loses),
        *map(_exposed, CommunicationCause),
        json_only("communication_pieces", lambda rows: rows.communication_pieces),
        json_only("lead_lost", lambda rows: rows.leads_lost),
        *trust_columns(),
        data("communication_cause", partial(_cause, of="communication")),
        data("communication_line", _communication_line),
        ids_column(lambda rows: gap_ids(rows.analysis, rows.chosen)),
        # of what ranks them: idle time or communication
        worded("why", "why", lambda rows: [*map(_largest_part, rows.causes)], forms=Form.MARKDOWN),
        Column("late", "waited for", lambda rows: listed(rows.late), forms=Form.MARKDOWN),
        Column("behind", "Python line", _behind, forms=Form.TEXT | Form.MARKDOWN, path=True),
        Column("line", "Python line", _behind, forms=Form.VIEWER, path=True),
    ),
    order=(
        *("start_ns", "device", "dur_ns", "lost_ns", "communication_ns", "idle_ns", "step", ...),
        *("why", "late", "behind", "exposed_by", "after"),
    ),
    kind="gap",
)


def lead_lost_document(analysis: Analysis, gap: int) -> dict[str, Any] | None:
    """Return where the lead was lost before a gap; None where the host had none, or did not cause it."""
    losses = analysis.lead_losses
    place = losses.of_gap(gap)
    if place < 0:
        return None
    cause, line = int(losses.cause[place]), int(losses.line[place])
    start = int(losses.pause_start[place])
    return {
        "at_ns": int(losses.lost_at[place]),
        "tasks": int(losses.count[place]),
        "work_ns": int(losses.work[place]),
        "pause_start_ns": start,
        "pause_ns": int(losses.pause_end[place]) - start,
        "cause": Cause(cause).label if cause >= 0 else None,
        **frame_document(losses.lines[line] if line >= 0 else None),
    }
