"""What the scheduler did, on the timeline: a letter for each state of a thread, and for who has a core."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from rich.segment import Segment

from tracetui.analysis.intervals import Intervals
from tracetui.analysis.scheduler.scheduler import CoreOwner, Scheduler
from tracetui.analysis.scheduler.states import State
from tracetui.arrays import Int64s
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role

#: A letter and its colour for each set of a line.
_Letters = tuple[tuple[str, Role], ...]


class StateLines:
    """Draws the states of threads, the cores that they had, and who had a core, per column of a screen."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        self._palette, self._glyphs = palette, glyphs
        of_state = {
            State.RUNNING: (glyphs.rule, Role.HOST),
            State.INTERRUPTED: ("I", Role.HOST_WAIT),
            State.READY: ("X", Role.HOST_WAIT),
            State.BLOCKED: (".", Role.DIM),
            State.DISK: ("V", Role.HOST_WAIT),
            State.UNKNOWN: ("?", Role.DIM),
        }
        of_owner = {
            CoreOwner.THREAD: (glyphs.rule, Role.HOST),
            CoreOwner.PROCESS: ("p", Role.HOST),
            CoreOwner.STRANGER: ("x", Role.HOST_WAIT),
            CoreOwner.INTERRUPT: ("I", Role.HOST_WAIT),
            CoreOwner.NOBODY: (" ", Role.DIM),
            CoreOwner.UNKNOWN: ("?", Role.DIM),
        }
        self._state_letters: _Letters = tuple(of_state[state] for state in State)
        self._owner_letters: _Letters = tuple(of_owner[owner] for owner in CoreOwner)
        self._sets: dict[tuple[int, str, int], tuple[Intervals, ...]] = {}

    def states(self, scheduler: Scheduler, pid: int, edges: Int64s) -> list[Segment]:
        """Draw in each column the state that takes most of it; blank where nothing is recorded."""
        key = id(scheduler), "thread", pid
        if key not in self._sets:
            states = scheduler.states_of(pid)
            self._sets[key] = tuple(states.of(state) for state in State)
        return self._draw(self._sets[key], edges, self._state_letters)

    def owners(self, scheduler: Scheduler, cpu: int, edges: Int64s) -> list[Segment]:
        """Draw in each column who has a core for most of it; blank where it is idle, or nothing recorded."""
        key = id(scheduler), "core", cpu
        if key not in self._sets:
            self._sets[key] = scheduler.owners(cpu)
        return self._draw(self._sets[key], edges, self._owner_letters)

    def _draw(self, sets: tuple[Intervals, ...], edges: Int64s, letters: _Letters) -> list[Segment]:
        """Draw in each column the letter of the set that takes most of it."""
        ns = np.array([np.diff(times.before(edges)) for times in sets], np.int64)
        main = np.where(ns.any(axis=0), ns.argmax(axis=0), -1).tolist()
        segments = []
        for place, run in groupby(main):
            count = len(list(run))
            letter, role = letters[place] if place >= 0 else (" ", Role.DIM)
            segments.append(Segment(letter * count, self._palette.style_of(role)))
        return segments

    def cores(self, scheduler: Scheduler, pid: int, edges: Int64s) -> list[Segment]:
        """Draw the number of the core that a thread has at the beginning of a column, where it changes."""
        states = scheduler.states_of(pid)
        place = states.piece_at(edges[:-1])
        has = (place >= 0) & np.isin(states.state[place], (State.RUNNING, State.INTERRUPTED))
        cpu = np.where(has, states.cpu[place], -1).tolist()
        text = ""
        for core, run in groupby(cpu):
            count = len(list(run))
            text += (str(core) if core >= 0 else "").ljust(count, self._glyphs.rule if core >= 0 else " ")[
                :count
            ]
        return [Segment(text, self._palette.style_of(Role.HOST))]
