"""The ranks of a job: a map of them, why they waited for each other, and the way into each rank's trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from textual import events, on
from textual.widget import Widget

from tracetui.export.sentences.job import LINKS_TITLE, NO_WAIT, STAGES_TITLE, head_words
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import JobRows
from tracetui.job.grids import GridMeasure, JobLanes
from tracetui.job.job import Job
from tracetui.job.waits import NOBODY
from tracetui.job.whatif.answer import NoReplay
from tracetui.job.whatif.fixes import Fix
from tracetui.language import translate
from tracetui.places import SharedPlace
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, wrapped
from tracetui.ui.heat.sheet import Sheet
from tracetui.ui.ranks.job_session import JobSession, RankOpener
from tracetui.ui.ranks.lanes import RankLanes
from tracetui.ui.ranks.rank_tables import RankTables
from tracetui.ui.ranks.rank_view import WORDS, RankPlace, RankView
from tracetui.ui.screens.job_screen import JobTableKeys
from tracetui.ui.screens.map_screen import MapScreen
from tracetui.ui.session import Session
from tracetui.ui.widgets.heat import HeatMap
from tracetui.ui.widgets.lines import Lines
from tracetui.ui.widgets.table import TableWidget

TABLES = ("why", "lines", "ranks", "links", "stages", "notes")
_TITLES = {
    "why": "Why they waited: what the late rank did longer",
    "lines": "Idle lines, preparing included, all ranks together",
    "ranks": "Ranks, means of their steps",
    "links": LINKS_TITLE,
    "stages": STAGES_TITLE,
    "notes": "Notes",
}
_NO_RANK = "A note opens no rank."
_EMPTY = {
    "why": NO_WAIT,
    "lines": "No rank was ever idle.",
    "ranks": "",
    "links": "No planes in these traces: profiler level 1 or 2 records what moved between which ranks.",
    "stages": "The job is no pipeline, as far as its traces tell.",
}
#: lines of a terminal from which there is a legend, from which the verdict has more than one line
LEGEND_FROM, ROOMY_FROM = 16, 34
LANES = len(WORDS)  #: the number of the lanes among the maps
MEASURES = tuple(WORDS)
#: lines of the map besides its rows, and of a row at most
BESIDE_ROWS, ROW_LINES = 2, 3


class RanksScreen(JobTableKeys, MapScreen):
    """A measure of all ranks by step, or what each did over time; below it a table of the job."""

    DEFAULT_CSS = """
    RanksScreen HeatMap, RanksScreen RankLanes { height: 1fr; }
    RanksScreen #verdict { height: auto; }
    RanksScreen #what { height: 1; }
    RanksScreen TableWidget { height: 1fr; }
    """
    AUTO_FOCUS = "HeatMap"
    BINDINGS = bindings("ranks")
    TITLE_OF = "Ranks"
    KEYS = (
        ("enter", "open the rank"),
        ("x", "next worst"),
        ("1-7", "map"),
        ("tab", "table"),
        ("J K", "its rows"),
        ("%", "try its fix"),
        ("S", "what if"),
    )

    def __init__(self, session: Session, job_session: JobSession, open_rank: RankOpener) -> None:
        super().__init__(session)
        self.job_session, self.open_rank = job_session, open_rank
        self._chosen: GridMeasure | None = None  # None: what answers most of the job as it is
        self._lanes = False  # in place of the map
        self._table = 0
        self._job: Job | None = None  # the one shown
        self._ranks: RankView | None = None
        self._tables: RankTables | None = None
        self._replays_job: Job | None = None  # of which a thread replays the rows of a table
        self._lanes_of_job: JobLanes | None = None
        #: the cell under the cursor when another screen was shown
        self._left_at: tuple[int, int] | None = None

    @property
    def heading(self) -> str:
        if self._lanes:
            return "What does each rank do?"
        return self.TITLE_OF if self._ranks is None else self._ranks.question

    def body(self) -> Iterable[Widget]:
        yield Lines(id="verdict")
        yield HeatMap()
        yield RankLanes()
        yield Lines(id="legend")
        yield Lines(id="readout")
        yield Lines(id="what")
        yield TableWidget()

    @property
    def table(self) -> TableWidget:
        """The table of the ranks and their roots."""
        return self.query_one(TableWidget)

    @property
    def lanes(self) -> RankLanes:
        """The lanes, a rank each, that stand in for the map."""
        return self.query_one(RankLanes)

    @property
    def unanswered(self) -> str:
        return "" if self.job_session.job is not None else self.job_session.unanswered

    @property
    def ways_out(self) -> tuple[tuple[str, str], ...]:
        stop = (("esc", "stop reading"),) if self.job_session.reading else ()
        return (*stop, ("q", "quit"))

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#legend").display = event.size.height >= LEGEND_FROM
        self._set_heights()
        self._show_table()
        self.call_after_refresh(self.refresh_answer)

    # Places

    @property
    def shown_view(self) -> str:
        return f"{self.map_shown + 1} {TABLES[self._table]}"

    def show_view(self, name: str) -> None:
        number, _, table = name.partition(" ")
        numbers = [str(one + 1) for one in range(len(MEASURES) + 1)]
        if number in numbers:
            self._lanes = number == numbers[-1]
            self._chosen = self._chosen if self._lanes else MEASURES[numbers.index(number)]
        if table in TABLES:
            self._table = TABLES.index(table)
            self._show_table()

    def take_place(self, place: SharedPlace) -> None:
        super().take_place(place)
        self._go_to_awaited()

    # The map

    def _cursor_on(self, sheet: Sheet) -> tuple[int, int]:
        row, column = super()._cursor_on(sheet)
        return (min(self.map.row, len(sheet.rows) - 1), column) if self._moved else (row, column)

    @property
    def map_names(self) -> Sequence[str]:
        return [*(words.name for words in WORDS.values()), "lanes"]

    @property
    def map_shown(self) -> int:
        return LANES if self._lanes else MEASURES.index(self._measure)

    def beside_answer(self) -> list[StyledText]:
        reading = self.job_session.reading
        if reading:
            return [
                (
                    f"{translate('reading {what}', what=reading)}  {translate('esc stops')}",
                    self.style_of(Role.NUMBER),
                )
            ]
        return super().beside_answer()

    def build(self) -> None:
        job = self.job_session.job
        assert job is not None
        if job is not self._job:
            unread = self.job_session.unread
            self._job, self._tables = job, RankTables(job, self.palette, unread, self.glyphs)
            self._lanes_of_job = JobLanes(job)
            self._set_heights()
            self._show_table()
        self._replay_next()
        measure, unread = self._measure, self.job_session.unread
        head = printable(head_words(job), 400)
        if self._ranks is not None and self._ranks.job is job and self._ranks.measure is measure:
            self._show_view(self._ranks)
            return
        self.in_background("ranks", lambda: RankView(job, measure, head, unread), self._show_made)

    def _replay_next(self) -> None:
        """Have the rows of the next table replayed, that on screen first, once all ranks are digested."""
        job, tables, session = self._job, self._tables, self.job_session
        if job is None or tables is None or session.progress is not None or self._replays_job is job:
            return
        wanted = [
            name for name in (TABLES[self._table], *TABLES) if name not in tables.saves and name != "notes"
        ]
        if not wanted:
            return
        self._replays_job, table = job, wanted[0]

        def replay() -> tuple[dict[Fix, int] | None, float]:
            try:
                replays = session.replays_of(job)
            except NoReplay:
                return None, 0.0
            return replays.saves(tables.fixes(table), lambda: session.leaving), replays.error

        self.in_background("saves", replay, lambda replayed: self._show_saves(job, table, *replayed))

    def _show_saves(self, job: Job, table: str, saves: dict[Fix, int] | None, error: float) -> None:
        """Show what a step gains by the fix of each row of a table of a job; None: it cannot be replayed."""
        self._replays_job = None
        if job is self._job and self._tables is not None:
            self._tables.saves[table], self._tables.error = saves, error
            if table == TABLES[self._table]:
                self._show_table()
        self._replay_next()

    def action_try_row(self) -> None:
        """Try the fix of the row of the table, beside those that are tried already."""
        tables, row = self._tables, self.table.cursor_row
        fixes = tables.fixes(TABLES[self._table]) if tables is not None else []
        fix = fixes[row] if 0 <= row < len(fixes) else None
        if fix is None:
            self.viewer.show_status("No fix of this row can be tried.")
            return
        if fix not in self.job_session.fixes:
            self.job_session.try_fix(fix)
        self.viewer.action_go("whatif")

    def _show_made(self, view: RankView) -> None:
        if view.job is self._job and view.measure is self._measure:
            self._ranks = view
            self._set_heights()
            self.call_after_refresh(self.refresh_answer)

    def _show_view(self, view: RankView) -> None:
        self._say_verdict()
        self.map.display, self.lanes.display = not self._lanes, self._lanes
        sheet = view.sheet(*self.map.room(view.label_cells, view.total_cells), self.map.halves)
        self.show_map(view, sheet, view.whole[0])
        if self._lanes:
            self.map.move_to(min(self.map.row, self.last_row), self.map.column)
            self._show_lanes()

    @property
    def last_row(self) -> int:
        """A missing rank has a row of the map, and no lane."""
        if self._lanes and self._ranks is not None:
            return len(self._ranks.job.ranks) - 1
        return super().last_row

    def _set_heights(self) -> None:
        """Make the map as high as its ranks want, and half of the screen at most."""
        ranks = len(self._job.ranks) if self._job is not None else 1
        absent = len(self._ranks.absent) if self._ranks is not None else 0
        limit = max(self.size.height // 2, 4)
        self.map.styles.height = min(BESIDE_ROWS + ROW_LINES * (ranks + absent), limit)
        self.lanes.styles.height = min(BESIDE_ROWS + ranks, limit)

    def _say_verdict(self) -> None:
        assert self._tables is not None
        sentences = self._tables.verdict
        height, style = self.size.height, self.style_of(Role.TEXT)
        roomy = height >= ROOMY_FROM
        room = 4 if roomy else 2 if height >= LEGEND_FROM else 1
        width = self.size.width - 1
        paragraphs = [wrapped(printable(sentence, 300), width) for sentence in sentences[:3]]
        last = f" {self.glyphs.ellipsis}"
        lines = [[(f" {line}", style)] for paragraph in paragraphs for line in paragraph]
        if len(lines) > room:
            lines[room - 1].append((last, style))
            del lines[room:]
        self.query_one("#verdict", Lines).show_whole(lines)

    def _show_lanes(self) -> None:
        """Show the lanes of the step under the cursor, of all time where there are no steps."""
        view, sheet = self._ranks, self.map.sheet
        if view is None or sheet is None:
            return
        moment = view.moment(sheet, self.map.column)
        ranks = len(view.job.ranks)
        assert self._lanes_of_job is not None
        self.lanes.show(self._lanes_of_job, view.labels[:ranks], self.map.row, moment, view.whole[0])
        self.query_one("#legend", Lines).show([self.lanes.legend()])

    def _place(self) -> RankPlace | None:
        """Return what the cursor of the map is on; None of a missing rank."""
        view, sheet = self._ranks, self.map.sheet
        if view is None or sheet is None:
            return None
        return view.place(sheet, self.map.row, self.map.column)

    @on(HeatMap.Moved)
    def _cursor_moved(self) -> None:
        if self._lanes:
            self._show_lanes()

    @property
    def _measure(self) -> GridMeasure:
        """What the map is of: what was chosen, else who is late where anybody is."""
        job = self.job_session.job
        if self._chosen is not None or job is None:
            return self._chosen or GridMeasure.COST
        return GridMeasure.COST if (job.waits.late_place != NOBODY).any() else GridMeasure.WAITED

    def action_show_map(self, number: int) -> None:
        before = self._measure, self._lanes
        self._lanes = number > len(MEASURES)
        if not self._lanes:
            self._chosen = MEASURES[number - 1]
        if (self._measure, self._lanes) != before:
            self._moved = self._moved or self._measure is before[0]
            self.refresh_answer()

    def failed(self, group: str, sentence: str) -> None:
        if group != "saves":  # without it the screen is of use
            super().failed(group, sentence)

    # The table

    @property
    def contents(self) -> tuple[Table[Any], JobRows] | None:
        return None if self._tables is None else self._tables.contents(TABLES[self._table])

    def action_export_table(self) -> None:
        if self.contents is None:
            self.viewer.show_status("Notes are not exported as a table.")
        else:
            super().action_export_table()

    def export_name(self) -> str:
        return TABLES[self._table]

    def action_next_view(self, by: int = 1) -> None:
        self._table = (self._table + by) % len(TABLES)
        self._show_table()

    def action_notes(self) -> None:
        """Show the table of what the traces of the ranks lack."""
        self._table = TABLES.index("notes")
        self._show_table()

    def _show_table(self) -> None:
        name = TABLES[self._table]
        self._show_what()
        if self._tables is not None:
            self.table.empty = _EMPTY[name] if name != "notes" else self._tables.agreement
            self.table.show(*self._tables.columns(name, self.size.width), sort=None)

    def _show_what(self) -> None:
        """Show which table it is, and which there are."""
        names: list[StyledText] = []
        tables = self._tables
        for place, key in enumerate(TABLES):
            name, finding = translate(key), tables.finding(key) if tables is not None else ""
            if finding:
                name = translate("{table}: {finding}", table=name, finding=finding)
            if key == "notes" and tables is not None and tables.notes:
                name = finding = translate("{count} notes", count=len(tables.notes))
            role = Role.TITLE if place == self._table else Role.WARNING if finding else Role.DIM
            names.append((f"{'  ' if place else ''}{name}", self.style_of(role)))
        title = translate(_TITLES[TABLES[self._table]])
        room = self.size.width - sum(cell_len(text) for text, _ in names) - 4
        while cell_len(title) > room and (rest := re.search("[:,：，][^:,：，]*$", title)):
            title = title[: rest.start()]  # the first words say enough
        title = f"{self.glyphs.rule * 2} {title}"
        self.query_one("#what", Lines).show([[(title, self.style_of(Role.RULE))]], names)

    def action_row(self, rows: int) -> None:
        """Go to another row of the table, and with it to the rank that it is about."""
        self.table.action_cursor(rows)

    @on(TableWidget.Activated)
    def action_open_row(self) -> None:
        """Open the trace of the rank that the row of the table is about."""
        row = self.table.cursor_row
        if self._tables is None or row < 0:
            return
        table = TABLES[self._table]
        rank = self._tables.rank_at(table, row)
        if rank < 0:
            self.viewer.show_status(_NO_RANK) if table == "notes" else self._say_missing()
            return
        self.map.move_to(rank, self.map.column)
        self.action_open_cell()

    # The ranks' own traces

    @property
    def pointed_at(self) -> RankPlace | None:
        """The rank and the time under the cursor; None where that was left there and nobody has moved it."""
        return self._place() if (self.map.row, self.map.column) != self._left_at else None

    def on_screen_suspend(self) -> None:
        self._left_at = self.map.row, self.map.column

    @on(HeatMap.Activated)
    def action_open_cell(self) -> None:
        """Open the trace of the rank at the time of the cell."""
        place = self._place()
        if place is not None:
            self.open_rank(place.rank, place.start_ns, place.end_ns)
        elif self.map.sheet is not None:
            self._say_missing()

    def _say_missing(self) -> None:
        session = self.job_session
        unread = "not read yet" if session.reading else "not read"
        why = translate(unread) if session.unread else translate("missing")
        self.viewer.show_status(translate("The trace of that rank is {why}.", why=why))
