"""Queries over the tables of a trace, a job or a comparison: a line of SQL, and the table that answers it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from tracetui.arrays import Int64s
from tracetui.export.queries.query import QueryError, QueryResult, is_installed, run_query
from tracetui.export.queries.relations import Relations, comparison_relations, job_relations, trace_relations
from tracetui.export.queries.row_screens import place_in_comparison, place_in_job, place_in_trace
from tracetui.export.tables.advice import ADVICE
from tracetui.language import restate, translate
from tracetui.places import is_row_id
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.comparing.comparing import COMPARE, Comparing
from tracetui.ui.drawing.palette import Role
from tracetui.ui.messages import PlaceAsked
from tracetui.ui.query_history import QueryHistory
from tracetui.ui.ranks.job_session import JobSession, RankOpener
from tracetui.ui.screens.job_screen import JobTableKeys
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.answer_columns import answer_columns, id_of, interval_of
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.ui.widgets.query_field import QueryField
from tracetui.ui.widgets.table import TableWidget

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 100_000  #: of an answer that are shown
_LONGEST_SHARED = 1000  #: characters of a query that a place has
NOT_INSTALLED = "Queries need DuckDB: pip install tracetui[sql]"
NO_ID = "This row names no place: select id too, and enter opens it."
NO_TIME = "This row names no place: select id or start_ns too, and enter opens it."
_EXAMPLE = "select cause, sum(idle_ns) from gaps group by cause order by 2 desc"
_EXAMPLE_OF_JOB = "select rank, idle_ns from ranks order by 2 desc"
_EXAMPLE_OF_PAIR = "select name, delta_ns from waterfall order by abs(delta_ns) desc"


class SqlScreen(TableScreen):
    """The query on top; below it the answer, or before anything is asked the tables there are."""

    AUTO_FOCUS = "QueryField"
    BINDINGS = bindings("sql")
    TITLE_OF = "Queries"
    EXAMPLE: ClassVar[str] = _EXAMPLE
    NOWHERE: ClassVar[str] = NO_TIME  #: what is said of a row that no screen shows

    place_in = staticmethod(place_in_trace)  #: the place of a row, by its kind and id

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._history = QueryHistory()
        self._subject: object = None  # whose tables these are
        self._relations: Relations = {}
        self._query = ""  # the one that is answered
        self._answer: QueryResult | None = None
        self._asked = ""  # the query that runs
        self._typed = ""  # what stood in the field when it was asked
        self._stop = threading.Event()

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        if self._asked:
            return (("esc", "stop"),)
        if isinstance(self.focused, QueryField):
            return ("enter", "ask"), ("tab", "complete"), ("↑ ↓", "asked before"), ("esc", "the table")
        columns = (("← →", "columns"),) if self._columns_without_room else ()
        rows = ("enter", "open"), ("< > =", "sort"), ("/", "filter"), ("e", "export")
        return ("tab", "the query"), *columns, *rows

    def compose(self) -> ComposeResult:
        first, *rest = super().compose()
        yield first
        example = translate("for example: {query}", query=self.EXAMPLE)
        yield QueryField(self._columns, self._history, example)
        yield Lines(id="names")
        yield from rest

    @property
    def subject(self) -> object:
        """What is asked: another one has other tables."""
        return self.session.analysis

    def tables_maker(self) -> Callable[[], Relations]:
        """Return what makes the tables of the subject, for a thread: it may take seconds.

        It raises Refusal where two have nothing to compare.
        """
        analysis = self.session.analysis
        assert analysis is not None
        return lambda: trace_relations(analysis)

    def build(self) -> None:
        if not is_installed():
            self.show_nothing(translate(NOT_INSTALLED))
        elif self._subject is not self.subject:
            self._list_tables()
        elif self._answer is not None:
            self._show_rows(self._answer)
        elif self._relations:
            self._show_tables()

    def _list_tables(self) -> None:
        """Have the tables of another subject looked for in a thread."""
        subject = self._subject = self.subject
        self._relations, self._answer = {}, None
        self.clear(translate("Looking for tables."))
        self.in_background("tables", self.tables_maker(), partial(self._take_tables, subject))

    def _take_tables(self, subject: object, relations: Relations) -> None:
        if subject is self._subject:
            self._relations = relations
            self._show_tables()

    def _columns(self) -> dict[str, list[str]]:
        """Return the columns of each table."""
        return {name: relation.columns for name, relation in self._relations.items()}

    def _show_tables(self) -> None:
        """List the tables there are."""
        listed = QueryResult(
            ["table", "columns"],
            [(name, ", ".join(columns)) for name, columns in sorted(self._columns().items())],
        )
        self._show(listed)
        template = "{count} tables; enter on one asks for its rows"
        self.show_answer(translate(template, count=len(listed.rows)))

    def _show(self, answer: QueryResult) -> None:
        self.table.empty = translate("No row answers this query.")
        self.table.show(answer_columns(answer), len(answer.rows), sort=-1)

    # -------------------------------------------------------------- asking

    @on(Input.Submitted, "#query")
    def _ask(self, event: Input.Submitted) -> None:
        event.stop()
        query = event.value.strip()
        if not query:
            self._answer = None
            self._show_tables()
        elif self._relations and is_installed():
            self.ask(query)

    def ask(self, query: str) -> None:
        """Have a query answered in the background; one that runs is stopped."""
        self._stop.set()
        stop = self._stop = threading.Event()
        self._asked, self._typed = query, self.query_one(QueryField).value
        self._history.add(query)
        self.show_answer(translate("asking; esc stops it"))
        relations = self._relations

        def run() -> QueryResult | str:
            try:
                return run_query(relations, query, None, stop.is_set, MOST_ROWS)
            except QueryError as error:
                return restate(str(error))

        self.in_background("query", run, partial(self._show_answered, query))

    def _show_answered(self, query: str, answer: QueryResult | str) -> None:
        """Show what a query answers, or why it has no answer."""
        if query != self._asked:
            return
        self._asked = ""
        if isinstance(answer, str):
            self.show_answer(printable(answer, 300))
            return
        self._answer, self._query = answer, query
        self._show_rows(answer)
        if answer.rows and self.query_one(QueryField).value == self._typed:
            self.table.focus()

    def _show_rows(self, answer: QueryResult) -> None:
        """Show the rows that answer a query, and how many they are."""
        self._show(answer)
        rows = f"{len(answer.rows):,}"
        if answer.is_cut:
            words = translate("the first {count} rows; there are more", count=rows)
        else:
            words = translate("1 row") if len(answer.rows) == 1 else translate("{count} rows", count=rows)
        self.show_answer(words)

    def beside_answer(self) -> Pieces:
        """Say which columns are on screen, where that is not all, and where the cursor is."""
        place = super().beside_answer()
        if not place or not self._columns_without_room:
            return place
        shown, count = self.table.shown_columns, len(self.table.rows.columns)
        words = translate(
            "columns {first} to {last} of {count}", first=shown[0] + 1, last=shown[-1] + 1, count=count
        )
        return [(f"{words}  ", self.style_of(Role.DIM)), *place]

    @property
    def _columns_without_room(self) -> bool:
        return 0 < len(self.table.shown_columns) < len(self.table.rows.columns)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_place)
        self.call_after_refresh(self.show_keys)

    def action_scroll_columns(self, by: int) -> None:
        """Show the columns that have no room beside those on screen."""
        self.table.action_scroll_columns(by)

    def failed(self, group: str, sentence: str) -> None:
        self._asked = ""
        self.show_answer(sentence)

    @on(Input.Changed, "#query")
    def _query_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_names()

    def _show_names(self) -> None:
        """Name below the query what the word before the cursor may become; else say where the keys go."""
        field = self.query_one(QueryField)
        words = "  ".join(field.completion.names) if field.value else ""
        if not field.has_focus:
            words = translate("The keys go to the table: tab leads back to the query.")
        self.query_one("#names", Lines).show([[(words, self.style_of(Role.DIM))]])

    # -------------------------------------------------------- where one is

    @property
    def shown_view(self) -> str:
        """The query, which a place hands on."""
        return self._query if len(self._query) <= _LONGEST_SHARED else ""

    def show_view(self, name: str) -> None:
        """Write the query of a place: enter asks it, nobody else does."""
        field = self.query_one(QueryField)
        field.value, field.cursor_position = name, len(name)
        field.focus()

    @on(QueryField.Left)
    async def _leave_query(self) -> None:
        if not self.step_back():
            self.table.focus()

    def action_edit_query(self) -> None:
        self.query_one(QueryField).focus()

    def on_descendant_focus(self) -> None:
        self.show_keys()
        self._show_names()

    def step_back(self) -> bool:
        if self._asked:
            self._stop.set()
            return True
        return False

    async def action_leave(self) -> None:
        if not self.step_back():
            await super().action_leave()

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        """Open a row by its id, else by its time; of the list of tables ask for the rows of one."""
        if self._answer is None:
            field = self.query_one(QueryField)
            field.value = f"select * from {sorted(self._relations)[message.row]} limit 100"
            self.ask(field.value)
            return
        identity = id_of(self._answer, message.row)
        kind = identity.partition("=")[0] if is_row_id(identity) else ADVICE.kind
        place = self.place_in(kind, identity) if identity else None
        if place is not None:
            self.app.post_message(PlaceAsked(place))
        elif not self.open_time(self._answer, message.row):
            self.viewer.show_status(self.NOWHERE)

    def open_time(self, answer: QueryResult, row: int) -> bool:
        """Show the time of a row in the timeline; return False where it has none."""
        interval = interval_of(answer, row)
        trace = self.session.analysis.trace if self.session.analysis is not None else None
        if trace is None or interval is None or not trace.start_ns <= interval[0] <= trace.end_ns:
            return False
        self.viewer.show_interval(*interval)
        return True

    def export_name(self) -> str:
        return "query"

    def frame(self, view: Int64s) -> pd.DataFrame:
        import pandas as pd

        columns = [column for column in self.table.rows.columns if column.key]
        rows: Sequence[list[object]] = [[column.exported(int(row)) for column in columns] for row in view]
        frame: pd.DataFrame = pd.DataFrame(rows, columns=[column.key for column in columns])
        return frame


class _JointSqlScreen(SqlScreen):
    """Queries over what is of no trace alone: a row without an id is at no one place."""

    NOWHERE = NO_ID

    def open_time(self, answer: QueryResult, row: int) -> bool:
        return False


class JobSqlScreen(_JointSqlScreen, JobTableKeys):
    """Queries over the tables of a job, once all its ranks are read."""

    EXAMPLE = _EXAMPLE_OF_JOB
    place_in = staticmethod(place_in_job)

    def __init__(self, session: Session, job_session: JobSession, open_rank: RankOpener) -> None:
        super().__init__(session)
        self.job_session = job_session

    @property
    def subject(self) -> object:
        return self.job_session.job

    def tables_maker(self) -> Callable[[], Relations]:
        job = self.job_session.job
        assert job is not None
        return lambda: job_relations(job)


class PairSqlScreen(_JointSqlScreen):
    """Queries over the tables of a comparison; escape leads back to it."""

    EXAMPLE = _EXAMPLE_OF_PAIR
    place_in = staticmethod(place_in_comparison)

    def __init__(self, session: Session, comparing: Comparing) -> None:
        super().__init__(session)
        self.comparing = comparing  #: which two are compared

    @property
    def unanswered(self) -> str:
        pair = self.comparing.pair
        return "" if pair is None else pair.unanswered(self.viewer.sessions)

    @property
    def subject(self) -> object:
        return self.comparing.pair

    def tables_maker(self) -> Callable[[], Relations]:
        pair, runs, sessions = self.comparing.pair, self.comparing.runs, [*self.viewer.sessions]
        assert pair is not None
        return lambda: comparison_relations(pair.comparison or pair.compare(sessions, runs))

    async def action_leave(self) -> None:
        if self._asked or self.session.state.filter:
            await super().action_leave()
        else:
            self.viewer.action_go(COMPARE)
