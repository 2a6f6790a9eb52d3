"""What the scheduler did with a thread, below it on the timeline: a letter for each state, and its cores."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from rich.segment import Segment

from tracetui.analysis.intervals import Intervals
from tracetui.analysis.scheduler.scheduler import Scheduler
from tracetui.analysis.scheduler.states import State
from tracetui.arrays import Int64s
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role

_ROLES = {
    State.RUNNING: Role.HOST,
    State.INTERRUPTED: Role.HOST_WAIT,
    State.READY: Role.HOST_WAIT,
    State.BLOCKED: Role.DIM,
    State.DISK: Role.HOST_WAIT,
    State.UNKNOWN: Role.DIM,
}


class StateLines:
    """Draws the states of threads, and the cores that they had, per column of a screen."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        self._palette, self._glyphs = palette, glyphs
        self._letters = {
            State.RUNNING: glyphs.rule,
            State.INTERRUPTED: "I",
            State.READY: "X",
            State.BLOCKED: ".",
            State.DISK: "V",
            State.UNKNOWN: "?",
        }
        self._sets: dict[tuple[int, int], tuple[Intervals, ...]] = {}

    def states(self, scheduler: Scheduler, pid: int, edges: Int64s) -> list[Segment]:
        """Draw in each column the state that takes most of it; blank where nothing is recorded."""
        ns = np.array([np.diff(times.before(edges)) for times in self._of(scheduler, pid)], np.int64)
        main = np.where(ns.any(axis=0), ns.argmax(axis=0), -1).tolist()
        segments = []
        for state, run in groupby(main):
            count = len(list(run))
            if state < 0:
                segments.append(Segment(" " * count))
            else:
                style = self._palette.style_of(_ROLES[State(state)])
                segments.append(Segment(self._letters[State(state)] * count, style))
        return segments

    def cores(self, scheduler: Scheduler, pid: int, edges: Int64s) -> list[Segment]:
        """Draw the number of the core that a thread has at the beginning of a column, where it changes."""
        states = scheduler.states_of(pid)
        place = states.state_at(edges[:-1])
        has = (place >= 0) & np.isin(states.state[place], (State.RUNNING, State.INTERRUPTED))
        cpu = np.where(has, states.cpu[place], -1).tolist()
        text = ""
        for core, run in groupby(cpu):
            count = len(list(run))
            text += (str(core) if core >= 0 else "").ljust(count, self._glyphs.rule if core >= 0 else " ")[
                :count
            ]
        return [Segment(text, self._palette.style_of(Role.HOST))]

    def _of(self, scheduler: Scheduler, pid: int) -> tuple[Intervals, ...]:
        key = id(scheduler), pid
        if key not in self._sets:
            states = scheduler.states_of(pid)
            self._sets[key] = tuple(states.of(state) for state in State)
        return self._sets[key]
