"""What the screens of queries ask: one trace, a job, or two that are compared. Knows no screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tracetui.export.queries.relations import Relations, comparison_relations, job_relations, trace_relations
from tracetui.export.queries.row_screens import place_in_comparison, place_in_job, place_in_trace
from tracetui.export.tables.advice import ADVICE
from tracetui.places import SharedPlace, is_row_id
from tracetui.ui.comparing.comparing import Comparing
from tracetui.ui.ranks.job_session import JobSession
from tracetui.ui.session import Session

MakeTables = Callable[[], Relations]


class QuerySource(NamedTuple):
    """Tables that are asked, and the screens that show their rows."""

    unanswered: Callable[[], str]  #: why there is nothing to ask yet; "" where there is
    subject: Callable[[], object]  #: what is asked: another one has other tables
    #: returns what makes the tables of the subject: for threads, it may take seconds, and it raises
    #: Refusal where two have nothing to compare
    tables: Callable[[], MakeTables]
    place: Callable[[str, str], SharedPlace | None]  #: of a row, by its kind and id; None: no screen shows it

    def place_of(self, identity: str) -> SharedPlace | None:
        """Return the place of the row that has an id; advice has its own name for one."""
        return self.place(identity.partition("=")[0] if is_row_id(identity) else ADVICE.kind, identity)


def trace_queries(session: Session) -> QuerySource:
    """Return the queries of a trace."""

    def tables() -> MakeTables:
        analysis = session.analysis
        assert analysis is not None
        return lambda: trace_relations(analysis)

    def unanswered() -> str:
        return "" if session.analysis is not None else session.unanswered

    return QuerySource(unanswered, lambda: session.analysis, tables, place_in_trace)


def job_queries(job_session: JobSession) -> QuerySource:
    """Return the queries of a job, once all its ranks are read."""

    def tables() -> MakeTables:
        job = job_session.job
        assert job is not None
        return lambda: job_relations(job)

    return QuerySource(lambda: job_session.unanswered_of_all, lambda: job_session.job, tables, place_in_job)


def pair_queries(comparing: Comparing) -> QuerySource:
    """Return the queries of two traces, or two jobs, that are compared."""

    def tables() -> MakeTables:
        pair, runs = comparing.pair, comparing.runs
        sessions = [*comparing.viewer.sessions]
        assert pair is not None
        return lambda: comparison_relations(pair.comparison or pair.compare(sessions, runs))

    def unanswered() -> str:
        pair = comparing.pair
        return "" if pair is None else pair.unanswered(comparing.viewer.sessions)

    return QuerySource(unanswered, lambda: comparing.pair, tables, place_in_comparison)
