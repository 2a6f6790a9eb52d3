"""What the parts of the viewer tell each other: messages to the app, passed on to every screen.

Workers never touch a widget: they post these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.trace.model import Trace


@dataclass
class LoadProgress(Message):
    """So much of the file is read."""

    done_bytes: int
    total_bytes: int
    events: int


@dataclass
class TraceGrew(Message):
    """A picture of what is read so far; more comes. Rows of the trace before it are void."""

    trace: Trace


@dataclass
class TraceLoaded(Message):
    """The trace is complete, or as complete as it will be: its report says which."""

    trace: Trace


@dataclass
class LoadFailed(Message):
    """There is no trace: one sentence for the user, and the exit code of the program."""

    sentence: str
    exit_code: int


@dataclass
class AnalysisReady(Message):
    """`app.analysis` is there."""

    analysis: Analysis


@dataclass
class AnalysisFailed(Message):
    """The analysis of this trace raised: the timeline still works."""

    sentence: str


class ViewChanged(Message):
    """`app.state` has another viewport, window, fold or pin."""


class SelectionChanged(Message):
    """`app.state` has another selected slice or gap."""
