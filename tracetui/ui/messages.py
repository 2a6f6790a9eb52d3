"""What the parts of the viewer tell each other: messages to the app, passed on to every screen.

Workers never touch a widget: they post these. They do not bubble: they would come back to the app.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.trace.model import Trace
    from tracetui.ui.drawing.picture import Picture


@dataclass
class LoadProgress(Message, bubble=False):
    """So much of the file is read."""

    done_bytes: int
    total_bytes: int
    events: int
    silent_s: int = 0  #: seconds for which nothing could be read, where that are some


@dataclass
class TraceGrew(Message, bubble=False):
    """A picture of what is read so far; more comes. Rows of the trace before it are void."""

    trace: Trace
    picture: Picture | None = None  #: of that trace, ready to be drawn


@dataclass
class TraceLoaded(Message, bubble=False):
    """The trace is complete, or as complete as it will be: its report says which."""

    trace: Trace
    picture: Picture | None = None  #: of that trace, ready to be drawn


@dataclass
class LoadFailed(Message, bubble=False):
    """There is no trace."""

    error: Exception


@dataclass
class AnalysisReady(Message, bubble=False):
    """`app.analysis` is there."""

    analysis: Analysis


class RankingChanged(Message, bubble=False):
    """The gaps are ranked by something else: `app.ranked_by`."""


@dataclass
class AnalysisFailed(Message, bubble=False):
    """The analysis of this trace raised: the timeline still works."""

    sentence: str


class ViewChanged(Message, bubble=False):
    """`app.state` has another viewport, window, fold or pin."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ViewChanged)


class SelectionChanged(Message, bubble=False):
    """`app.state` has another selected slice or gap."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SelectionChanged)


@dataclass
class Status(Message, bubble=False):
    """A sentence for the last line, for a while: at most until another screen is opened."""

    sentence: str
