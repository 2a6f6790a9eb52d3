"""The story of one synchronisation: how often the host waited in it, what that exposes, how its line stands.

Pure: makes lines of styled text, knows no widget.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.saves import LineSaving
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.lines import LineIdle, LineKey
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.trace.clean import printable
from tracetui.ui.drawing.causes import cause_letter, cause_style, legend
from tracetui.ui.drawing.pen import Line
from tracetui.ui.stories.line_story import LineStory
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.hotspot_columns import line_name, times_a_step
from tracetui.units import format_count, format_duration, format_percent


class SyncStory(Story):
    """Writes of synchronisations."""

    def lines(
        self,
        analysis: Analysis,
        sync: SyncCall,
        line: LineIdle | None,
        savings: Mapping[LineKey, LineSaving] | None,
        width: int,
        height: int,
    ) -> list[Line]:
        """At most `height` lines; `line` is the idle time of its line, None where that has none."""
        told = [self._title(sync, width), self._waited(analysis, sync), self._exposed(analysis, sync)]
        of_line = LineStory(self._palette, self._glyphs)
        steps = of_line.in_steps(analysis, sync.exposed_by_step) if sync.exposed_ns else []
        told += [steps] if steps else []
        if sync.file is None:
            told.append([("No Python stack is recorded: its line is not known.", self._dim)])
            return told[:height]
        if line is None:
            told.append([("No idle time is charged to this line itself.", self._dim)])
        else:
            charged = f"Charged to the line: {format_duration(line.idle_ns)} of idle  "
            causes = legend(line.causes, self._palette, width - cell_len(charged))
            told.append([(charged, self._dim), *causes])
        if savings is not None:
            told.append(of_line.saves(sync if line is None else line, savings))
        return told[:height]

    def _title(self, sync: SyncCall, width: int) -> Line:
        place = line_name(sync) if sync.file is None else f"at {line_name(sync)}"
        return self._ruled(f"{printable(sync.call, 60)} {printable(place, 60)}", width)

    def _waited(self, analysis: Analysis, sync: SyncCall) -> Line:
        """ "The host waited 25.1 ms in 24 calls (8 a step), longest 13.6 ms" """
        often = times_a_step(analysis, sync.count)
        calls = "1 call" if sync.count == 1 else f"{format_count(sync.count)} calls"
        told = [
            ("The host waited ", self._text),
            (format_duration(sync.total_ns), self._bold),
            (f" in {calls}{f' ({often} a step)' if often else ''}", self._text),
        ]
        longest = f", longest {format_duration(sync.longest_ns)}" if sync.count > 1 else ""
        return [*told, (longest, self._dim)]

    def _exposed(self, analysis: Analysis, sync: SyncCall) -> Line:
        """ "S exposes 4.15 ms of idle, 10.7 % of all, in 23 gaps" """
        if not sync.exposed_ns:
            return [("It exposes no idle time: no device ran dry meanwhile.", self._text)]
        gaps = len(sync.gap_indices)
        share = format_percent(sync.exposed_ns, analysis.idle_ns)
        return [
            (f"{cause_letter(Cause.SYNC)} ", cause_style(Cause.SYNC, self._palette)),
            ("exposes ", self._text),
            (f"{format_duration(sync.exposed_ns)} of idle", self._bold),
            (f", {share} of all, in {'1 gap' if gaps == 1 else f'{format_count(gaps)} gaps'}", self._text),
        ]
