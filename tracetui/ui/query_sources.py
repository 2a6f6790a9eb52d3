"""What the screens of queries ask: one trace, a job, or two that are compared. Knows no screen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from tracetui.export.queries.relations import (
    Relations,
    comparison_relations,
    job_relations,
    trace_relations,
)
from tracetui.export.queries.row_screens import place_in_comparison, place_in_job, place_in_trace
from tracetui.export.tables.advice import ADVICE
from tracetui.places import SharedPlace, is_row_id
from tracetui.ui.comparing.comparing import Comparing
from tracetui.ui.ranks.job_session import JobSession
from tracetui.ui.session import Session


class QuerySource(ABC):
    """Tables that are asked, and the screens that show their rows."""

    @property
    @abstractmethod
    def unanswered(self) -> str:
        """Why there is nothing to ask yet; "" where there is."""

    @property
    @abstractmethod
    def subject(self) -> object:
        """What is asked: another one has other tables."""

    @abstractmethod
    def tables(self) -> Callable[[], Relations]:
        """Return what makes the tables of the subject: for threads, it may take seconds.

        It raises NotComparable where two have nothing to compare.
        """

    @abstractmethod
    def place(self, kind: str, identity: str) -> SharedPlace | None:
        """Return the place of a row, by the kind of it and its id; None where no screen shows it."""

    def place_of(self, identity: str) -> SharedPlace | None:
        """Return the place of the row that has an id; advice has its own name for one."""
        return self.place(identity.partition("=")[0] if is_row_id(identity) else ADVICE.kind, identity)


class TraceQueries(QuerySource):
    """Queries of a trace."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def unanswered(self) -> str:
        return "" if self._session.analysis is not None else self._session.unanswered

    @property
    def subject(self) -> object:
        return self._session.analysis

    def tables(self) -> Callable[[], Relations]:
        analysis = self._session.analysis
        assert analysis is not None
        return lambda: trace_relations(analysis)

    def place(self, kind: str, identity: str) -> SharedPlace | None:
        return place_in_trace(kind, identity)


class JobQueries(QuerySource):
    """Queries of a job, once all its ranks are read."""

    def __init__(self, job_session: JobSession) -> None:
        self._job_session = job_session

    @property
    def unanswered(self) -> str:
        return self._job_session.unanswered_of_all

    @property
    def subject(self) -> object:
        return self._job_session.job

    def tables(self) -> Callable[[], Relations]:
        job = self._job_session.job
        assert job is not None
        return lambda: job_relations(job)

    def place(self, kind: str, identity: str) -> SharedPlace | None:
        return place_in_job(kind, identity)


class PairQueries(QuerySource):
    """Queries of two traces, or two jobs, that are compared."""

    def __init__(self, comparing: Comparing) -> None:
        self._comparing = comparing

    @property
    def unanswered(self) -> str:
        pair = self._comparing.pair
        return "" if pair is None else pair.unanswered(self._comparing.viewer.sessions)

    @property
    def subject(self) -> object:
        return self._comparing.pair

    def tables(self) -> Callable[[], Relations]:
        pair, runs = self._comparing.pair, self._comparing.runs
        sessions = [*self._comparing.viewer.sessions]
        assert pair is not None
        return lambda: comparison_relations(pair.comparison or pair.compare(sessions, runs))

    def place(self, kind: str, identity: str) -> SharedPlace | None:
        return place_in_comparison(kind, identity)
