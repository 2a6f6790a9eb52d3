"""What the parts of the viewer tell each other.

Threads never touch a session or a widget: they post the first of these to the app, and say whose they are.
The app changes the session, then posts the others to its screens. They do not bubble, or would come back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from tracetui.places import SharedPlace
from tracetui.trace.model import Trace
from tracetui.ui.drawing.curve_rows import Extras
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.session import Session

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.analysis.counter_tracks import CounterTrack
    from tracetui.job.engines.digest_pool import DigestProgress
    from tracetui.job.job import Job

# From threads to the app


@dataclass
class LoadProgress(Message, bubble=False):
    """So much of the file is read."""

    session: Session
    done_bytes: int
    total_bytes: int
    events: int
    silent_s: int = 0  #: seconds for which nothing could be read, where that are some


@dataclass
class RecordingProgress(Message, bubble=False):
    """So much of the scheduler's recording is read; 0 of 0: it is done."""

    session: Session
    done_bytes: int
    total_bytes: int


@dataclass
class TraceGrew(Message, bubble=False):
    """A picture of what is read so far; more comes. Rows of the trace before it are void."""

    session: Session
    trace: Trace
    picture: Picture | None = None  #: of that trace, ready to be drawn


@dataclass
class TraceLoaded(Message, bubble=False):
    """The trace is complete, or as complete as it will be: its report says which."""

    session: Session
    trace: Trace
    picture: Picture | None = None  #: of that trace, ready to be drawn


@dataclass
class LoadFailed(Message, bubble=False):
    """There is no trace."""

    session: Session
    error: Exception


@dataclass
class AnalysisReady(Message, bubble=False):
    """The analysis of the trace that is read."""

    session: Session
    analysis: Analysis


@dataclass
class AnalysisFailed(Message, bubble=False):
    """The analysis of this trace raised: the timeline still works."""

    session: Session
    sentence: str


@dataclass
class CurvesReady(Message, bubble=False):
    """The curves of an analysed trace that are no counters of it, and whether its memory can be read."""

    session: Session
    analysis: Analysis
    extras: Extras


@dataclass
class CurvesRead(Message, bubble=False):
    """The counters of a trace are in order; and the memory of its devices, where it was to be read."""

    session: Session
    trace: Trace
    memory: tuple[CounterTrack, ...] | None
    problems: tuple[str, ...]  #: sentences about what is not read of it


# From the app to the screens of a session


class ProgressChanged(Message, bubble=False):
    """More of the file is read; nothing of it is shown yet."""


class TraceChanged(Message, bubble=False):
    """The session has another trace or analysis, or learned that it gets none."""


class RankingChanged(Message, bubble=False):
    """The gaps are ranked by something else: `session.ranked_by`."""


class CurvesChanged(Message, bubble=False):
    """There are other curves beside the counters of the trace."""


class ViewChanged(Message, bubble=False):
    """`session.state` has another viewport, window, fold or pin."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ViewChanged)


class SelectionChanged(Message, bubble=False):
    """`session.state` has another selected slice or gap."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SelectionChanged)


@dataclass
class PlaceAsked(Message, bubble=False):
    """A place is to be shown: from a panel to the app."""

    place: SharedPlace


class NotesChanged(Message, bubble=False):
    """There are other notes on the trace."""


class WarningsAsked(Message, bubble=False):
    """The timeline shows the warnings of its trace."""


@dataclass
class Status(Message, bubble=False):
    """A sentence for the last line, for a while: at most until another screen is opened."""

    sentence: str


class PairChanged(Message, bubble=False):
    """Other traces are compared, or more is known of them: from the app to its screen."""


# Of a job


@dataclass
class JobProgress(Message, bubble=False):
    """So many ranks are digested: from the thread that does it."""

    progress: DigestProgress


@dataclass
class JobGrew(Message, bubble=False):
    """The job of the ranks that are digested so far: from the thread."""

    job: Job


@dataclass
class JobRead(Message, bubble=False):
    """All ranks are digested, or as many as will be: from the thread."""

    job: Job


@dataclass
class JobFailed(Message, bubble=False):
    """No rank can be read, or no two are of one job: from the thread."""

    sentence: str
    separate_runs: bool = False  #: no two of the ranks are of one job


class JobChanged(Message, bubble=False):
    """More ranks are digested, or are being: from the app to its screens."""
