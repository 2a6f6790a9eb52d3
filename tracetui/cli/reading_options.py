"""How a request has traces read. Imports no analysis: the viewer starts with it."""

from __future__ import annotations

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.cli.parser import Request


def scheduler_source(request: Request) -> SchedulerSource | None:
    """Return the recording of the scheduler that is given, or looked for; None where it is of no use."""
    if not hasattr(request, "sched"):
        return None
    return SchedulerSource(request.sched, request.sched_offset)


def rules_of(request: Request) -> FrameRules:
    """Return the rules of whose code is whose."""
    return FrameRules(request.user_frames, request.skip_frames)
