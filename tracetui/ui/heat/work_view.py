"""Who works while the device starves: idle time on top, what else goes on below."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.work import Occupation, WorkMap, WorkRow, main_slice
from tracetui.analysis.raster import even_edges
from tracetui.language import clauses, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import TraceKind, Track
from tracetui.trace.stack import parse_frame
from tracetui.ui.drawing.ramp import Heat
from tracetui.ui.drawing.rows import idle_key, track_key, track_label
from tracetui.ui.heat.cell_words import between, device_prefix, frame_words, joined, mostly, share
from tracetui.ui.heat.sheet import AnalysisMap, AxisSpans, CellTarget, Sheet, SheetRow
from tracetui.units import format_duration, format_percent

_THREAD = re.compile(r"thread (\S+)(?: \((?:python[\d.]*|(.+))\))?", re.IGNORECASE)
_LABEL = 26


class WorkView(AnalysisMap):
    """Threads, streams and groups over time."""

    question = "Who works while the device starves?"
    heats = ((Heat.LOST, "lost"), (Heat.WORK, "works"), (Heat.WAIT, "waits"))
    total_title = "total while idle"

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis)
        self._map = WorkMap.from_analysis(analysis)
        self._calls = "CANN" if analysis.trace.kind is TraceKind.ASCEND else "runtime"
        self._while_idle = [self._map.while_idle(thing) for thing in self._map.things]
        self._rows = tuple(self._described())
        self.label_cells = max((cell_len(row.label) for row in self._rows), default=0)
        self.total_cells = max(cell_len(wording(self.total_title)), len("1234 ms 100.0 %"))

    def sheet(self, columns: int, lines: int, halves: bool) -> Sheet | None:
        trace = self._analysis.trace
        if not self._rows:
            return None
        edges = even_edges(trace.start_ns, trace.end_ns, columns)
        cells = self._map.cells(edges)
        return Sheet(
            self._rows,
            cells,
            edges,
            axis="time",
            total_title=self.total_title,
            column_spans=AxisSpans.between(edges),
        )

    def answer(self) -> str:
        idle = sum(device.idle_ns for device in self._analysis.devices)
        measured = zip(self._map.things, self._rows, self._while_idle)
        ranked = sorted(
            (-ns, row.label.strip()) for _, row, (ns, _) in measured if row.heat is Heat.WORK and ns
        )
        words = clauses(f"{label} {format_percent(-less, idle)}" for less, label in ranked[:3])
        answer = translate("idle {time}", time=format_duration(idle))
        return answer + (translate("; meanwhile: {workers}", workers=words) if words else "")

    def words(self, sheet: Sheet, row: int, column: int) -> str:
        thing, start, end = self._cell(sheet, row, column)
        ns, origin = int(sheet.cells.ns[row, column]), self._analysis.trace.start_ns
        if thing.doing is Occupation.IDLE:
            detail = mostly(self._reasons.between(thing.device, start, end))
        else:
            detail = self._main(thing, start, end)
        return joined(
            f"{self._rows[row].label.strip()} {between(start - origin, end - origin)}",
            share(ns, end - start),
            detail,
        )

    def target(self, sheet: Sheet, row: int, column: int) -> CellTarget | None:
        thing, start, end = self._cell(sheet, row, column)
        if thing.doing is Occupation.IDLE:
            device = self._analysis.devices[thing.device].device
            return CellTarget(start, end, line=idle_key(device))
        chosen = main_slice(self._analysis, thing, start, end)
        return CellTarget(start, end, row=chosen, line=track_key(thing.tracks[0]))

    def nothing(self) -> str:
        return "Nothing works in this trace: no thread, no stream."

    def _cell(self, sheet: Sheet, row: int, column: int) -> tuple[WorkRow, int, int]:
        return self._map.things[row], *sheet.time_of(column)

    def _main(self, thing: WorkRow, start: int, end: int) -> str:
        row = main_slice(self._analysis, thing, start, end)
        if row < 0:
            return ""
        name = self._analysis.trace.name(row)
        if thing.doing is Occupation.PYTHON:
            return translate("mostly {what}", what=frame_words(parse_frame(name)))
        return translate("mostly {what}", what=printable(name, 40))

    def _described(self) -> Iterator[SheetRow]:
        before: tuple[bool, bool] | None = None
        for thing, (while_idle, idle) in zip(self._map.things, self._while_idle):
            section = (thing.lost, thing.device < 0)
            apart = before is not None and section != before
            before = section
            waits = thing.doing in (Occupation.WAITS, Occupation.READY)
            heat = Heat.LOST if thing.lost else Heat.WAIT if waits else Heat.WORK
            total = format_duration(thing.times.total).rjust(7)
            part = "" if thing.lost else format_percent(while_idle, idle)
            yield SheetRow(self._label(thing), f"{total} {part:>8}", heat, apart)

    def _label(self, thing: WorkRow) -> str:
        if thing.lost:
            prefix = device_prefix(self._analysis, thing.device)
            device = prefix or f"{printable(self._analysis.devices[thing.device].device)} "
            return f"{device}{wording(thing.doing.value)}"
        track = thing.tracks[0]
        if thing.device >= 0:
            name = device_prefix(self._analysis, thing.device) + _stream_name(track)
            return name if thing.doing is Occupation.WORKS else f"{name[: _LABEL - 6]} {translate('waits')}"
        doing = self._calls if thing.doing is Occupation.CALLS else wording(thing.doing.value)
        return f"{_thread_name(self._analysis, track)[: _LABEL - cell_len(doing) - 1]} {doing}"


def _stream_name(track: Track) -> str:
    name = track_label(track)
    return name.removesuffix(" Communication") or name


def _thread_name(analysis: Analysis, track: Track) -> str:
    """Return "pt_autograd_0", "3178231" of a thread that is only called after its program."""
    match = _THREAD.fullmatch(track.name.strip())
    if match is None:
        return printable(track.name).strip() or printable(track.tid)
    return printable(match[2] or match[1])
