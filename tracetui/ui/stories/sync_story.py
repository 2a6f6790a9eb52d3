"""The story of one synchronisation: how often the host waited in it, what that exposes, how its line stands.

Makes lines of styled text and knows no widget.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.saves import LineSaving
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import LineIdle, LineKey
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.language import clauses, counted, translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.causes import cause_legend, cause_letter, cause_style
from tracetui.ui.drawing.pen import Line, compose_sentence
from tracetui.ui.stories.line_story import LineStory
from tracetui.ui.stories.story import Story
from tracetui.ui.tables.hotspot_columns import line_label, times_a_step
from tracetui.units import format_duration, format_percent


class SyncStory(Story):
    """The story of a synchronising call, for the pane below their table."""

    def lines(
        self,
        analysis: Analysis,
        sync: SyncCall,
        line: LineIdle | None,
        savings: Mapping[LineKey, LineSaving] | None,
        width: int,
        height: int,
    ) -> list[Line]:
        """Return at most `height` lines; `line` is the idle time of its line, None where that has none."""
        lines = [
            self._title_line(sync, width),
            self._wait_line(analysis, sync),
            self._exposed_line(analysis, sync),
        ]
        line_story = LineStory(self._palette, self._glyphs)
        steps = line_story.steps_line(analysis, sync.exposed_by_step) if sync.exposed_ns else []
        lines += [steps] if steps else []
        if sync.file is None:
            lines.append([(translate("No Python stack is recorded: its line is not known."), self._dim)])
            return lines[:height]
        if line is None:
            lines.append([(translate("No idle time is charged to this line itself."), self._dim)])
        else:
            charged = (
                translate("Charged to the line: {time} of idle", time=format_duration(line.idle_ns)) + "  "
            )
            causes = cause_legend(line.causes.items(), self._palette, self._glyphs, width - cell_len(charged))
            lines.append([(charged, self._dim), *causes])
        if savings is not None:
            lines.append(line_story.savings_line(sync if line is None else line, savings))
        return lines[:height]

    def _title_line(self, sync: SyncCall, width: int) -> Line:
        call, place = printable(sync.call, 60), printable(line_label(sync), 60)
        title = "{call} {line}" if sync.file is None else "{call} at {line}"
        return self._ruled(translate(title, call=call, line=place), width)

    def _wait_line(self, analysis: Analysis, sync: SyncCall) -> Line:
        """Return "The host waited 25.1 ms in 24 calls (8 a step), longest 13.6 ms"."""
        calls_a_step = times_a_step(analysis, sync.count)
        calls = counted(sync.count, "1 call", "{count} calls")
        template = (
            "The host waited {time} in {calls} ({often} a step)"
            if calls_a_step
            else "The host waited {time} in {calls}"
        )
        wait_time = (format_duration(sync.total_ns), self._bold)
        line = compose_sentence(template, self._text, time=wait_time, calls=calls, often=calls_a_step)
        if sync.count > 1:
            longest = translate("longest {time}", time=format_duration(sync.longest_ns))
            line.append((clauses(["", longest]), self._dim))
        return line

    def _exposed_line(self, analysis: Analysis, sync: SyncCall) -> Line:
        """Return "S exposes 4.15 ms of idle, 10.7 % of all, in 23 gaps"."""
        if not sync.exposed_ns:
            return [(translate("It exposes no idle time."), self._text)]
        gaps = len(sync.gap_indices)
        share = format_percent(sync.exposed_ns, analysis.idle_ns)
        return [
            (f"{cause_letter(Cause.SYNC)} ", cause_style(Cause.SYNC, self._palette)),
            *compose_sentence(
                "exposes {idle}, {share} of all, in {gaps}",
                self._text,
                idle=(translate("{time} of idle", time=format_duration(sync.exposed_ns)), self._bold),
                share=share,
                gaps=counted(gaps, "1 gap", "{count} gaps"),
            ),
        ]
