"""Begin and end events against a stack for each thread."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.reader.pairs import closing_times

Event = tuple[str, int, int]  # phase, thread, time; in the order of the file

events_of_threads = st.lists(
    st.tuples(st.sampled_from("BE"), st.integers(0, 2), st.integers(0, 9)), max_size=40
)


def columns(events: list[Event], phase: str) -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    rows = [
        (time, thread, event)
        for event, (phase_of_event, thread, time) in enumerate(events)
        if phase_of_event == phase
    ]
    return dict(zip(("time", "thread", "place"), np.array(rows, np.int64).reshape(-1, 3).T))


def by_stacks(events: list[Event], latest: int) -> tuple[list[int], int, int]:
    closed: dict[int, int] = {}
    stacks: defaultdict[int, list[int]] = defaultdict(list)
    unopened = 0
    for event, (phase, thread, time) in sorted(
        enumerate(events), key=lambda numbered: (numbered[1][2], numbered[0])
    ):
        if phase == "B":
            stacks[thread].append(event)
        elif stacks[thread]:
            closed[stacks[thread].pop()] = time
        else:
            unopened += 1
    begins = [event for event, (phase, _, _) in enumerate(events) if phase == "B"]
    return [closed.get(event, latest) for event in begins], len(begins) - len(closed), unopened


@given(events_of_threads)
def test_each_end_closes_the_last_open_begin(events: list[Event]) -> None:
    times, unclosed, unopened = closing_times(columns(events, "B"), columns(events, "E"), 99)
    assert (times.tolist(), unclosed, unopened) == by_stacks(events, 99)
