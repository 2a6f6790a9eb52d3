"""What a step of a job gains by fixes: each by itself, several together, and the lanes of a step then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from textual import events, on
from textual.widget import Widget

from tracetui.export.job.whatif import critical_words
from tracetui.export.sentences.rank_labels import labels
from tracetui.export.tables.column import Table
from tracetui.export.tables.whatif import TRIALS, TrialRows
from tracetui.job.job import Job
from tracetui.job.whatif.answer import Outcome, Replays, Trial, single_fixes
from tracetui.job.whatif.durations import UnknownFix
from tracetui.job.whatif.fixes import Fix
from tracetui.job.whatif.order import median_step
from tracetui.language import names, translate
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText
from tracetui.ui.ranks.job_session import JobSession, RankOpener
from tracetui.ui.ranks.lanes import RankLanes
from tracetui.ui.screens.job_screen import JobScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.columns import ViewColumn
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_error, format_percent

_BESIDE_LANES, _LANES_SHARE = 5, 0.3  #: lines beside table and lanes; share of the rest that lanes get each
_TRIED = "*"


@dataclass(frozen=True, eq=False)
class Trials:
    """What single fixes bring, as replayed, and the job as it was."""

    replays: Replays
    trials: tuple[Trial, ...]
    now: Outcome


class WhatifScreen(JobScreen[Trials]):
    """The fixes by what they save; below them what ranks do in a step now, and with what is tried."""

    DEFAULT_CSS = "WhatifScreen #now, WhatifScreen #then, WhatifScreen #legend { height: 1; }"
    BINDINGS = bindings("whatif")
    TITLE_OF = "What if"
    KEYS = (
        ("space", "try it too"),
        ("[ ]", "step"),
        ("R", "ranks"),
        ("P", "pipeline"),
        ("E", "experts"),
        ("N", "phases"),
    )

    def __init__(self, session: Session, job_session: JobSession, open_rank: RankOpener) -> None:
        super().__init__(session, job_session, open_rank)
        self._rows: list[Trial] = []
        self._then: Outcome | None = None  # with what is tried
        self._wanted: tuple[Fix, ...] = ()
        self._pointed: Fix | None = None  # that was tried last, for which the cursor was moved
        self._step = -1  # place among the steps of the lanes

    def below(self) -> Iterable[Widget]:
        yield Lines(id="now")
        yield RankLanes(id="lanes_now")
        yield Lines(id="then")
        yield RankLanes(id="lanes_then")
        yield Lines(id="legend")

    def find(self, job: Job) -> Trials:
        replays = self.job_session.replays_of(job)
        trials = replays.trials(single_fixes(job, len(replays.order), replays.durations))
        return Trials(replays, trials, replays.outcome(()))

    def clear(self, sentence: str) -> None:
        super().clear(sentence)
        for widget in self._lower:
            widget.display = False

    @property
    def _lower(self) -> list[Widget]:
        """What is below the table."""
        return [*self.query("#now, #then, #legend"), *self.query(RankLanes)]

    @property
    def fixes(self) -> list[Fix]:
        """What is tried together."""
        return self.job_session.fixes

    def show_found(self, job: Job, answer: Trials) -> None:
        tried = dict.fromkeys(self.fixes)
        listed = [trial for trial in answer.trials if trial.saves_ns > 0 or trial.fixes[0] in tried]
        for fix in self.fixes:
            if all(trial.fixes[0] != fix for trial in listed):
                try:
                    listed.append(answer.replays.trial((fix,)))
                except UnknownFix:
                    self.fixes.remove(fix)
        self._rows = sorted(listed, key=lambda trial: -trial.saves_ns)
        self._show_rows(answer)
        self._point_at_tried()
        if self._step < 0:
            self._step = median_step(answer.replays.steps)
        for widget in self._lower:
            widget.display = True
        self._set_heights()
        self._replay()

    def on_screen_resume(self, event: events.ScreenResume) -> None:  # Textual calls the base's as well
        if self.answer is not None and self.fixes and self.fixes[-1] != self._pointed:
            self.refresh_answer()

    def _point_at_tried(self) -> None:
        """Put the cursor on the fix that another screen asked to try, once."""
        last = self.fixes[-1] if self.fixes else None
        if last is not None and last != self._pointed:
            self.table.move_to_row([trial.fixes[0] for trial in self._rows].index(last))
        self._pointed = last

    def _show_rows(self, answer: Trials) -> None:
        tried = np.array([trial.fixes[0] in self.fixes for trial in self._rows], np.bool_)
        rows = TrialRows(answer.replays.step_ns, self._rows)
        mark = ViewColumn(
            "tried",
            "",
            tried,
            lambda row, _: _TRIED if tried[row] else "",
            1,
            style=self.style_of(Role.GOOD),
        )
        columns = laid_out(
            TRIALS,
            rows,
            (
                mark,
                ColumnLook("saves_ns", 0, style=self.style_of(Role.GOOD)),
                ColumnLook("share", 1),
                ColumnLook("step_ns", 1),
                ColumnLook("fix", 0, width=60),
            ),
        )
        self.table.empty = translate("No single fix saves anything.")
        self.table.show(columns, len(self._rows))

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        return TRIALS, TrialRows(0, self._rows)

    def on_resize(self) -> None:
        self._set_heights()

    def _set_heights(self) -> None:
        job = self.job_session.job
        lines = 1 + len(job.ranks if job is not None else ())
        room = max(int((self.size.height - _BESIDE_LANES) * _LANES_SHARE), 2)
        for lanes in self.query(RankLanes):
            lanes.styles.height = min(lines, room)

    # What is tried

    @on(TableWidget.Activated)
    def action_try_fix(self) -> None:
        """Try the fix under the cursor together with those that are tried, or no longer."""
        answer, row = self.answer, self.table.cursor_row
        if answer is None or not 0 <= row < len(self._rows):
            return
        self.job_session.try_fix(self._rows[row].fixes[0])
        self._pointed = self.fixes[-1] if self.fixes else None  # the cursor stays
        self._show_rows(answer)
        self._replay()

    @on(TableWidget.Moved)
    def _moved(self) -> None:
        if not self.fixes:
            self._replay()

    def action_beside_step(self, by: int) -> None:
        """Show another step in the lanes."""
        answer = self.answer
        if answer is not None:
            self._step = min(max(self._step + by, 0), len(answer.replays.order.steps) - 1)
            self._show_lanes()

    def _replay(self) -> None:
        """Have what is tried, else the fix under the cursor, replayed in a thread."""
        answer, row, job = self.answer, self.table.cursor_row, self.job_session.job
        if answer is None or job is None:
            return
        under = self._rows[row].fixes if 0 <= row < len(self._rows) else ()
        wanted = tuple(self.fixes) or under
        if self._then is not None and wanted == self._wanted and self._then.trial.fixes == wanted:
            self._show_lanes()
            return
        self._wanted, replays = wanted, answer.replays

        def replay() -> Outcome | None:
            try:
                return replays.outcome(wanted)
            except UnknownFix:
                return None

        self.in_background("outcome", replay, partial(self._take_outcome, job, wanted))

    def _take_outcome(self, job: Job, fixes: tuple[Fix, ...], outcome: Outcome | None) -> None:
        if fixes == self._wanted and job is self.job_session.job:
            self._then = outcome
            self._show_lanes()

    def failed(self, group: str, sentence: str) -> None:
        if group == "outcome":
            self.viewer.show_status(sentence)
        else:
            super().failed(group, sentence)

    # What is said and drawn

    def _show_lanes(self) -> None:
        answer, then = self.answer, self._then
        if answer is None:
            return
        self.show_answer(self._sentence(answer))
        order, now = answer.replays.order, answer.now
        step = order.steps[self._step]
        start, end = now.lanes.step_span(self._step)
        length = max(end - start, 1)
        title = translate("step {step} now: {time}", step=step, time=format_duration(length))
        critical = self._entitle("now", title, now)
        self.query_one("#lanes_now", RankLanes).show(
            now.lanes.of_step(self._step), labels(order.job), critical, (start, start + length), start
        )
        lanes = self.query_one("#lanes_then", RankLanes)
        lanes.visible = then is not None
        if then is None:
            self.query_one("#then", Lines).show([])
        else:
            start, end = then.lanes.step_span(self._step)
            fixes = names(printable(fix.text, 60) for fix in then.trial.fixes)
            title = translate("then, {fixes} fixed: {time}", fixes=fixes, time=format_duration(end - start))
            critical = self._entitle("then", title, then)
            span = (start, start + max(length, end - start))
            lanes.show(then.lanes.of_step(self._step), labels(order.job), critical, span, start)
        self.query_one("#legend", Lines).show([lanes.legend()])

    def _sentence(self, answer: Trials) -> str:
        """Say what is tried brings; where nothing is, what the best fix does; how far off the replay is."""
        replays, then = answer.replays, self._then
        error = format_error(replays.error)
        now = format_duration(replays.step_ns)
        if then is not None and self.fixes:
            template = "{then} instead of {now} a step: {share} less; replay off by {error}"
            if then.trial.saves_ns <= 0:
                template = "{then} instead of {now} a step: nothing is gained; replay off by {error}"
            return translate(
                template,
                then=format_duration(then.trial.step_ns),
                now=now,
                share=format_percent(max(then.trial.saves_ns, 0), replays.step_ns),
                error=error,
            )
        best = max((trial.saves_ns for trial in answer.trials), default=0)
        return translate(
            "One fix saves {share} of a step of {now}; replay off by {error}",
            share=format_percent(max(best, 0), replays.step_ns),
            now=now,
            error=error,
        )

    def _entitle(self, which: str, title: str, outcome: Outcome) -> int:
        """Say who is critical in the step; return the place of that rank, -1 where it is not here."""
        job, critical, rule = outcome.lanes.order.job, outcome.critical.rank(self._step), self.glyphs.rule
        pieces: list[StyledText] = [
            (f"{rule * 2} ", self.style_of(Role.RULE)),
            (title, self.style_of(Role.TITLE)),
            (f"  {critical_words(job, critical)}", self.style_of(Role.TEXT)),
        ]
        self.query_one(f"#{which}", Lines).show([pieces])
        number = critical.rank if critical is not None else None
        return next((place for place, rank in enumerate(job.ranks) if rank.number == number), -1)
