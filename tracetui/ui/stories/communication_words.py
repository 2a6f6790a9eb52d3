"""The exposed communication of a gap in plain words: whom it waited for, what it then moved, and how fast.

All times are in one unit and add up to the exposed communication of the gap.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.search import runs
from tracetui.analysis.sums import most_first
from tracetui.export.late import NAME_CELLS, late_rank_of
from tracetui.language import tell
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.shares import apportion, format_share, unit_of
from tracetui.ui.drawing.strips import Piece
from tracetui.units import format_bytes

NAMED = 3  #: operations that have a sentence; the rest is summed up

_CAUSES = tuple(CommunicationCause)


def communication_sentences(analysis: Analysis, gap: int, device: str, pen: Pen) -> Iterator[list[Piece]]:
    """Yield a sentence for each operation of a gap, those first that it was exposed to longest.

    "The NPU waited 86.2 ms for peer 5 of group 271, then moved 16.0 MB in 0.3 ms, 52.0 GB/s:
    hcom_allReduce__271_0_1 at train.py(88) main."
    """
    exposed = analysis.communication.exposed
    own = exposed.at(exposed.of_gap(gap))
    if not len(own):
        return
    order, _ = most_first(own.operation, own.ns)
    table = np.zeros((len(order), len(_CAUSES)), np.int64)
    place_of = {operation: place for place, operation in enumerate(order.tolist())}
    for operation, places in runs(own.operation):
        np.add.at(table[place_of[operation]], own.cause[places], own.ns[places])
    named = len(order) if len(order) <= NAMED + 1 else NAMED
    total = int(table.sum())
    unit = unit_of(total)
    parts = [*table[:named].reshape(-1).tolist(), int(table[named:].sum())]
    units = apportion(parts, (total + unit // 2) // unit)
    for place, operation in enumerate(order[:named].tolist()):
        columns = slice(place * len(_CAUSES), (place + 1) * len(_CAUSES))
        told = {cause: (ns, own) for cause, ns, own in zip(_CAUSES, parts[columns], units[columns]) if ns}
        times = {cause: format_share(share, unit) for cause, (_, share) in told.items()}
        moved_ns = told.get(CommunicationCause.TRANSFER, (0, 0))[0]
        words = _Operation(analysis, operation, pen)
        told_of = words.told(times, moved_ns)
        yield [*pen.said("{device} {did}: {name}.", device=device, did=told_of, name=words.name())]
    if len(order) > named:
        rest = format_share(units[-1], unit).replace(" ", "\u00a0")
        count = f"{len(order) - named:,}"
        yield [*pen.said("{count} more operations took {time}.", count=count, time=rest)]


class _Operation:
    """Tells of one operation."""

    def __init__(self, analysis: Analysis, operation: int, pen: Pen) -> None:
        self._analysis, self._operation, self._pen = analysis, operation, pen
        self._communication = analysis.communication

    def told(self, times: dict[CommunicationCause, str], moved_ns: int) -> Iterator[Piece]:
        """What it did, of which `moved_ns` of its transfer were exposed here."""
        pen = self._pen
        if CommunicationCause.WAIT in times:
            waited = self._time(times[CommunicationCause.WAIT])
            late = late_rank_of(self._analysis, self._operation)
            yield from pen.said("waited {time} for {rank}", time=waited, rank=late)
            if CommunicationCause.TRANSFER in times:
                yield pen.text(tell(", then "))
        if CommunicationCause.TRANSFER in times:
            yield from self._moved(times[CommunicationCause.TRANSFER], moved_ns)
        if CommunicationCause.UNSPLIT in times:
            told = "communicated for {time}, waiting or moving (the trace does not tell)"
            yield from pen.said(told, time=self._time(times[CommunicationCause.UNSPLIT]))

    def name(self) -> Iterator[Piece]:
        """What it is called, and the line that issued it."""
        pen, analysis = self._pen, self._analysis
        row = int(self._communication.operations.row[self._operation])
        name = pen.text(printable(analysis.trace.name(row), NAME_CELLS), Role.NUMBER)
        task = analysis.links.index(np.array([row]))
        stack, frame = analysis.links.stack[task], analysis.links.frame[task]
        lines, place = lines_of(analysis.trace, stack, frame, analysis.rules)
        if place[0] < 0:
            yield name
            return
        line = lines[int(place[0])]
        where: list[Piece] = [pen.text(printable(line.function, NAME_CELLS))]
        if line.file:
            path = printable(path_end(line.file, 2), NAME_CELLS)
            where.insert(0, pen.text(f"{path}({line.line}) ", Role.USER_LINE))
        if analysis.links.backward[task][0]:
            where.append(pen.text(tell(" (backward of it)"), Role.DIM))
        yield from pen.said("{name} at {line}", name=name, line=where)

    def _moved(self, time: str, moved_ns: int) -> Iterator[Piece]:
        """ "moved 16.0 MB in 0.3 ms, 52.0 GB/s"; bytes only where all of its transfer is exposed here."""
        pen, operations = self._pen, self._communication.operations
        length = int(operations.end[self._operation] - operations.start[self._operation])
        transfer = length - int(self._communication.waits.wait[self._operation])
        size = int(operations.size[self._operation])
        if size < 0 or moved_ns != transfer:
            yield from pen.said("moved data for {time}", time=self._time(time))
            return
        yield from pen.said(
            "moved {size} in {time}, {speed} GB/s",
            size=format_bytes(size),
            time=self._time(time),
            speed=f"{size / transfer:.1f}",
        )

    def _time(self, time: str) -> Piece:
        return self._pen.text(time.replace(" ", "\u00a0"), Role.NUMBER)
