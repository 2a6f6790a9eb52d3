"""Who had each core: held against a definition that looks at one nanosecond at a time."""

import random
from types import SimpleNamespace
from typing import Any, Optional

import numpy as np
import pytest

from tracetui.analysis.scheduler.cores import Cores
from tracetui.analysis.scheduler.states import State, thread_states
from tracetui.siblings.scheduler.events import (
    EMPTY,
    MOST_PIDS,
    NO_PID,
    EventKind,
    LostStretch,
    SchedulerColumns,
)

OFFSET, END = 1_000, 40


class Run:
    """Switches of three cores at random times, of which one may have lost events."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)
        times = sorted(source.sample(range(1, END), source.randrange(9)))
        self.switches: list[tuple[int, int, int, int]] = []  #: time, core, who left, who got it
        has: dict[int, int] = {}
        for time in times:
            core, got = source.randrange(3), source.choice([0, 7, 8, 9])
            self.switches.append((time, core, has.get(core, source.choice([0, 7])), got))
            has[core] = got
        self.loss: Optional[LostStretch] = None
        begin, end = sorted(source.sample(range(1, END), 2))
        if source.random() < 0.5:
            self.loss = LostStretch(source.randrange(3), begin, end, 1)

    def events(self) -> Any:
        rows = [(time, core, EventKind.SWITCH, left, got, 0, -1) for time, core, left, got in self.switches]
        table = np.array(rows, np.int64).reshape(-1, 7).T
        types = [column.dtype for column in EMPTY]
        columns = SchedulerColumns(*(part.astype(dtype) for part, dtype in zip(table, types)))
        return SimpleNamespace(columns=columns, losses=() if self.loss is None else (self.loss,))

    def holder(self, core: int, time: int) -> int:
        """Who had a core at a time."""
        of_core = [switch for switch in self.switches if switch[1] == core]
        lost = self.loss if self.loss is not None and self.loss.cpu == core else None
        if lost is not None and lost.after_ns <= time < lost.before_ns:
            return NO_PID
        before = [switch for switch in of_core if switch[0] <= time]
        if lost is not None and lost.before_ns <= time:
            before = [switch for switch in before if switch[0] >= lost.before_ns]
        if before:
            return before[-1][3]
        following = [switch for switch in of_core if switch[0] > time]
        return following[0][2] if following else NO_PID


@pytest.mark.parametrize("seed", range(30))
def test_who_had_a_core_at_any_time_and_how_long_it_was_busy(seed: int) -> None:
    run = Run(seed)
    cores = Cores(run.events(), OFFSET)
    assert cores.numbers == tuple(sorted({switch[1] for switch in run.switches}))
    for core in range(3):
        holders = [run.holder(core, time) for time in range(END)]
        stretch = (np.array([value], np.int64) for value in (core, OFFSET, OFFSET + END))
        found = cores.occupants(*stretch)
        lengths = (found.end - found.start).tolist()
        expanded = [pid for pid, length in zip(found.pid.tolist(), lengths) for _ in range(length)]
        assert expanded == holders
        for window in ((0, END), (7, 30), (END - 1, END + 5)):
            busy = sum(run.holder(core, time) > 0 for time in range(*window))
            assert cores.busy_ns(core, (OFFSET + window[0], OFFSET + window[1])) == busy


def test_nobody_is_known_on_a_core_that_is_not_recorded() -> None:
    found = Cores(Run(1).events(), OFFSET).occupants(*(np.array([value]) for value in (-1, 5, 9)))
    assert [column.tolist() for column in found] == [[0], [5], [9], [NO_PID]]


def test_a_number_that_no_thread_can_have_has_no_states() -> None:
    found = thread_states(Run(1).events(), [0, MOST_PIDS, MOST_PIDS - 1], (0, END))
    assert list(found) == [MOST_PIDS - 1]
    assert found[MOST_PIDS - 1].state.tolist() == [State.UNKNOWN]
