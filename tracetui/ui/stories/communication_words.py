"""The exposed communication of a gap in plain words: whom it waited for, what it then moved, and how fast.

All times are in one unit and add up to the exposed communication of the gap.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.search import group_by
from tracetui.analysis.sums import most_first
from tracetui.export.sentences.late_ranks import NAME_CELLS, late_rank_of
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.bars import apportion, format_share, unit_of
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.strips import StyledText, unbroken
from tracetui.units import format_bytes

MAX_NAMED = 3  #: operations that have a sentence; the rest is summed up

_CAUSES = tuple(CommunicationCause)


def communication_sentences(
    analysis: Analysis, gap: int, device: str, pen: Pen
) -> Iterator[list[StyledText]]:
    """Yield a sentence for each operation of a gap, those first that it was exposed to longest.

    "The NPU waited 86.2 ms for peer 5 of group 271, then moved 16.0 MB in 0.3 ms, 52.0 GB/s:
    hcom_allReduce__271_0_1 at train.py(88) main."
    """
    exposed = analysis.communication.exposed
    pieces = exposed.at(exposed.of_gap(gap))
    if not len(pieces):
        return
    order, _ = most_first(pieces.operation, pieces.ns)
    table = np.zeros((len(order), len(_CAUSES)), np.int64)  # ns exposed by operation and cause
    index_of = {operation: index for index, operation in enumerate(order.tolist())}
    for operation, rows in group_by(pieces.operation):
        np.add.at(table[index_of[operation]], pieces.cause[rows], pieces.ns[rows])
    named_count = len(order) if len(order) <= MAX_NAMED + 1 else MAX_NAMED
    total = int(table.sum())
    unit = unit_of(total)
    parts = [*table[:named_count].reshape(-1).tolist(), int(table[named_count:].sum())]
    units = apportion(parts, (total + unit // 2) // unit)
    for index, operation in enumerate(order[:named_count].tolist()):
        columns = slice(index * len(_CAUSES), (index + 1) * len(_CAUSES))
        ns_by_cause = dict(zip(_CAUSES, parts[columns]))
        times = {
            cause: format_share(share, unit)
            for cause, share in zip(_CAUSES, units[columns])
            if ns_by_cause[cause]
        }
        moved_ns = ns_by_cause[CommunicationCause.TRANSFER]
        words = _OperationWords(analysis, operation, pen)
        actions = words.actions(times, moved_ns)
        yield pen.compose("{device} {did}: {name}.", device=device, did=actions, name=words.name())
    if len(order) > named_count:
        rest = unbroken(format_share(units[-1], unit))
        count = f"{len(order) - named_count:,}"
        yield pen.compose("{count} more operations took {time}.", count=count, time=rest)


class _OperationWords:
    """What one communication operation did in a gap, and its name and line, in words."""

    def __init__(self, analysis: Analysis, operation: int, pen: Pen) -> None:
        self._analysis, self._operation, self._pen = analysis, operation, pen
        self._communication = analysis.communication

    def actions(self, times: dict[CommunicationCause, str], moved_ns: int) -> Iterator[StyledText]:
        """Yield "waited 86.2 ms for peer 5, then moved 16.0 MB in 0.3 ms".

        `times` are the exposed times in words; of the transfer `moved_ns` were exposed in this gap.
        """
        pen = self._pen
        if CommunicationCause.WAIT in times:
            wait_time = self._time_text(times[CommunicationCause.WAIT])
            late_rank = late_rank_of(self._analysis, self._operation)
            yield from pen.compose("waited {time} for {rank}", time=wait_time, rank=late_rank)
            if CommunicationCause.TRANSFER in times:
                yield pen.text(translate(", then "))
        if CommunicationCause.TRANSFER in times:
            yield from self._moved_texts(times[CommunicationCause.TRANSFER], moved_ns)
        if CommunicationCause.UNSPLIT in times:
            template = "communicated for {time}, waiting or moving (the trace does not tell)"
            yield from pen.compose(template, time=self._time_text(times[CommunicationCause.UNSPLIT]))

    def name(self) -> Iterator[StyledText]:
        """Yield the name of the operation, and the line that issued it."""
        pen, analysis = self._pen, self._analysis
        row = int(self._communication.operations.row[self._operation])
        name = pen.text(printable(analysis.trace.name(row), NAME_CELLS), Role.NUMBER)
        task = analysis.launch_chains.index(np.array([row]))
        stack, frame = analysis.launch_chains.stack[task], analysis.launch_chains.frame[task]
        lines, line_index = lines_of(analysis.trace, stack, frame, analysis.rules)
        if line_index[0] < 0:
            yield name
            return
        line = pen.python_line(lines[int(line_index[0])], bool(analysis.launch_chains.backward[task][0]))
        yield from pen.compose("{name} at {line}", name=name, line=line)

    def _moved_texts(self, time: str, moved_ns: int) -> Iterator[StyledText]:
        """Yield "moved 16.0 MB in 0.3 ms, 52.0 GB/s".

        Bytes are given only where the whole transfer is exposed in this gap.
        """
        pen, operations = self._pen, self._communication.operations
        length = int(operations.end[self._operation] - operations.start[self._operation])
        transfer = length - int(self._communication.waits.wait_ns[self._operation])
        size = int(operations.size[self._operation])
        if size < 0 or moved_ns != transfer:
            yield from pen.compose("moved data for {time}", time=self._time_text(time))
            return
        yield from pen.compose(
            "moved {size} in {time}, {speed} GB/s",
            size=format_bytes(size),
            time=self._time_text(time),
            speed=f"{size / transfer:.1f}",
        )

    def _time_text(self, time: str) -> StyledText:
        """Return a time held together by a space that does not break."""
        return self._pen.text(unbroken(time), Role.NUMBER)
