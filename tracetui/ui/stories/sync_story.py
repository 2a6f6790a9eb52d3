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
from tracetui.language import clauses, counted, tell
from tracetui.trace.clean import printable
from tracetui.ui.drawing.causes import cause_letter, cause_style, legend
from tracetui.ui.drawing.pen import Line, said
from tracetui.ui.stories.line_story import LineStory
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.hotspot_columns import line_name, times_a_step
from tracetui.units import format_duration, format_percent


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
            told.append([(tell("No Python stack is recorded: its line is not known."), self._dim)])
            return told[:height]
        if line is None:
            told.append([(tell("No idle time is charged to this line itself."), self._dim)])
        else:
            charged = tell("Charged to the line: {time} of idle", time=format_duration(line.idle_ns)) + "  "
            causes = legend(line.causes.items(), self._palette, self._glyphs, width - cell_len(charged))
            told.append([(charged, self._dim), *causes])
        if savings is not None:
            told.append(of_line.saves(sync if line is None else line, savings))
        return told[:height]

    def _title(self, sync: SyncCall, width: int) -> Line:
        call, place = printable(sync.call, 60), printable(line_name(sync), 60)
        title = "{call} {line}" if sync.file is None else "{call} at {line}"
        return self._ruled(tell(title, call=call, line=place), width)

    def _waited(self, analysis: Analysis, sync: SyncCall) -> Line:
        """ "The host waited 25.1 ms in 24 calls (8 a step), longest 13.6 ms" """
        often = times_a_step(analysis, sync.count)
        calls = counted(sync.count, "1 call", "{count} calls")
        told = (
            "The host waited {time} in {calls} ({often} a step)"
            if often
            else "The host waited {time} in {calls}"
        )
        waited = (format_duration(sync.total_ns), self._bold)
        line = [*said(told, self._text, time=waited, calls=calls, often=often)]
        if sync.count > 1:
            longest = tell("longest {time}", time=format_duration(sync.longest_ns))
            line.append((clauses(["", longest]), self._dim))
        return line

    def _exposed(self, analysis: Analysis, sync: SyncCall) -> Line:
        """ "S exposes 4.15 ms of idle, 10.7 % of all, in 23 gaps" """
        if not sync.exposed_ns:
            return [(tell("It exposes no idle time: no device ran dry meanwhile."), self._text)]
        gaps = len(sync.gap_indices)
        share = format_percent(sync.exposed_ns, analysis.idle_ns)
        return [
            (f"{cause_letter(Cause.SYNC)} ", cause_style(Cause.SYNC, self._palette)),
            *said(
                "exposes {idle}, {share} of all, in {gaps}",
                self._text,
                idle=(tell("{time} of idle", time=format_duration(sync.exposed_ns)), self._bold),
                share=share,
                gaps=counted(gaps, "1 gap", "{count} gaps"),
            ),
        ]
