"""Sums and phases of steps, of hosts and of graphs, held against their definitions on small devices."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.test_steps import many, steps_of
from tracetui.analysis import steps as module
from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.host_steps import StepTasks
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.iterations import Iteration
from tracetui.analysis.steps import StepWindows, Windows, _columns, _iteration_steps, _phases
from tracetui.trace.model import Activity

STRINGS = ["mm", "hcom_receive__1", "hcom_allReduce__2"]
TIMES = range(60)
_Span = tuple[int, int]


class Device:
    """Some tasks of a device, and windows of steps, of which some overlap and some have no time."""

    def __init__(self, seed: int) -> None:
        self.source = source = random.Random(seed)
        kinds = (
            Activity.COMPUTE,
            Activity.COMPUTE,
            Activity.COMMUNICATION,
            Activity.COMMUNICATION,
            Activity.COPY,
        )
        self.tasks: list[tuple[int, int, Activity, int]] = []
        for _ in range(source.randrange(12)):
            start, kind = source.randrange(50), source.choice(kinds)
            name = source.choice((1, 2)) if kind is Activity.COMMUNICATION else 0
            self.tasks.append((start, start + source.randrange(6), kind, name))
        self.tasks.sort(key=lambda task: task[0])
        work = [task[:2] for task in self.tasks if task[2] is not Activity.COPY]
        begin, end = min((a for a, _ in work), default=0), max((b for _, b in work), default=0)
        compute = self.time(Activity.COMPUTE)
        rows = np.arange(len(self.tasks))
        self.activity = DeviceActivity(
            device="NPU 0",
            start_ns=begin,
            end_ns=end,
            tasks=rows,
            work=rows,
            aicore=compute,
            compute=compute,
            communication=self.time(Activity.COMMUNICATION),
            copies=self.time(Activity.COPY),
            producer=None,
            differs=False,
        )
        starts, ends, activities, names = (
            np.array(c, np.int64) for c in zip(*self.tasks or [(0, 0, Activity.COMPUTE, 0)])
        )
        trace: Any = SimpleNamespace(
            strings=STRINGS,
            slices=SimpleNamespace(start=starts, end=ends, activity=activities, name=names),
        )
        self.trace = trace
        lengths = (source.choice((0, 5, 9, 15)) for _ in range(source.randrange(1, 5)))
        self.windows = sorted((start, start + dur) for dur in lengths for start in [source.randrange(45)])
        busy = self.activity.compute | self.activity.communication | self.activity.copies
        self.busy = spans(busy)

    def time(self, kind: Activity) -> Intervals:
        spans = np.array([task[:2] for task in self.tasks if task[2] is kind], np.int64).reshape(-1, 2)
        return union(spans[:, 0], spans[:, 1])

    def window_of(self, time: int) -> int:
        return next((i for i, (start, end) in enumerate(self.windows) if start <= time < end), -1)

    def idle(self, start: int, end: int) -> int:
        return sum(not any(a <= time < b for a, b in self.busy) for time in range(start, end))


def spans(intervals: Intervals) -> list[_Span]:
    return [*zip(intervals.starts.tolist(), intervals.ends.tolist())]


@pytest.mark.parametrize("seed", range(60))
def test_a_step_has_what_starts_in_its_window(seed: int) -> None:
    device = Device(seed)
    starts, ends = (np.array(column, np.int64) for column in zip(*device.windows))
    host_start = [start - device.source.randrange(-3, 4) for start, _ in device.windows]
    after = np.array([start + device.source.randrange(1, 30) for start in host_start], np.int64)
    found, does_anything = _columns(
        device.trace, device.activity, Windows(starts, ends), np.array(host_start, np.int64), after
    )
    activity = device.activity
    sets = {
        "compute": spans(activity.compute),
        "communication": spans(activity.communication),
        "exposed": spans(activity.communication_not_overlapped),
        "free": spans(activity.free),
        "bubble": [task[:2] for task in device.tasks if task[3] == 1],
    }
    for step, start in enumerate(host_start):
        in_step = {
            name: [s for s in all_of_kind if device.window_of(s[0]) == step]
            for name, all_of_kind in sets.items()
        }
        ns = {name: sum(b - a for a, b in all_of_kind) for name, all_of_kind in in_step.items()}
        works = [a for a, _ in in_step["compute"] + in_step["communication"]]
        until = max(min(works) - start, 0) if works else 0
        prepared = start + min(until, int(after[step]) - start)
        overlapped = sum(
            any(a <= time < b for a, b in sets["communication"])
            for span in in_step["compute"]
            for time in range(*span)
        )
        assert {key: int(column[step]) for key, column in found.items()} == {
            "computing_ns": ns["compute"],
            "communication_not_overlapped_ns": ns["exposed"],
            "overlapped_ns": overlapped,
            "communication_ns": overlapped + ns["exposed"],
            "free_ns": ns["free"],
            "stage_ns": ns["compute"] + ns["exposed"] + ns["free"] - ns["bubble"],
            "bubble_ns": ns["bubble"],
            "communication_not_overlapped_exclude_receive_ns": ns["exposed"] - ns["bubble"],
            "preparing_ns": sum(
                not any(a <= time < b for a, b in sets["compute"] + sets["communication"])
                for time in range(start, prepared)
            ),
            "prepared_ns": prepared,
            "until_work_ns": until,
            "idle_ns": sum(device.idle(*span) for span in in_step["free"]),
        }
        counted = in_step["compute"] + in_step["exposed"] + in_step["free"] + in_step["bubble"]
        assert bool(does_anything[step]) == bool(counted)


@given(
    st.integers(0, 1 << 32),
    st.lists(st.tuples(st.integers(-40, 90), st.integers(-30, 60)), min_size=1, max_size=5),
    st.integers(-50, 50),
)
def test_the_sums_of_steps_hold_whatever_the_clocks_say(
    seed: int, windows: list[tuple[int, int]], offset: int
) -> None:
    """Windows in any order, within each other, and ones that end before they start."""
    starts = np.array([start + offset for start, _ in windows], np.int64)
    ends = starts + np.array([dur for _, dur in windows], np.int64)
    for device in map(Device, range(seed, seed + 10)):
        activity = device.activity
        found, _ = _columns(device.trace, activity, Windows(starts, ends), starts[::-1], starts[::-1] + 7)
        (computing, exposed, overlapped, communication, free, stage, bubble, idle) = (
            found[f"{key}_ns"]
            for key in (
                *("computing", "communication_not_overlapped", "overlapped", "communication", "free"),
                *("stage", "bubble", "idle"),
            )
        )
        assert (computing + exposed + free == stage + bubble).all()
        assert (exposed + overlapped == communication).all()
        assert (overlapped <= computing).all() and (overlapped <= communication).all()
        assert (idle <= free).all()
        assert all((column >= 0).all() for column in (overlapped, exposed, idle, found["preparing_ns"]))
        whole = activity.computing_ns, activity.communication_ns, activity.free_ns, activity.idle_ns
        sums = [int(column.sum()) for column in (computing, communication, free, idle)]
        assert all(part <= total for part, total in zip(sums, whole))


@pytest.mark.parametrize("seed", range(40))
def test_the_phases_of_a_step_follow_each_other(seed: int) -> None:
    device = Device(seed)
    source, count = device.source, len(device.windows)
    of = sorted(source.sample(range(count), source.randrange(count + 1)))
    first = [source.randrange(50) for _ in of]
    last = [start + source.randrange(9) for start in first]
    back = [source.choice((-1, start + source.randrange(9))) for start in first]
    host_start = [source.randrange(50) for _ in device.windows]
    end = [source.randrange(60) for _ in device.windows]
    nothing: Any = None
    columns = (np.array(column, np.int64) for column in (first, last, back))
    tasks = StepTasks(np.array(of, np.int64), nothing, nothing, nothing, *columns)
    found = [*_phases(device.activity, tasks, np.array(host_start), np.array(end))]
    assert len(found) == len(of)
    for place, (step, phases) in enumerate(zip(of, found)):
        before = last[place - 1] if place else host_start[step]
        gap = (min(before, first[place]), first[place])
        known = back[place] >= 0
        forward = (first[place], back[place]) if known else (first[place],) * 2
        tail = (back[place], max(end[step], back[place])) if known else (first[place],) * 2
        assert phases == {
            "iteration_gap": gap,
            "forward_backward": forward if known else None,
            "tail": tail if known else None,
            "phase_idle_ns": tuple(device.idle(*phase) for phase in (gap, forward, tail)),
        }


@pytest.mark.parametrize("seed", range(40))
def test_an_iteration_begins_where_the_work_of_the_one_before_ends(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(seed)
    source, iterations = device.source, []
    for number, start in enumerate(sorted(source.sample(range(50), source.randrange(5)))):
        end = start + source.choice((0, 3, 9, 20))
        passes = (
            (start + 1, end + source.randrange(-1, 1)) if source.randrange(2) and end > start + 1 else None
        )
        iterations.append(Iteration(7 + number, 3 + number, start, end, passes))
    monkeypatch.setattr(module, "iterations", lambda *_: iterations)
    found = [*_iteration_steps(device.trace, device.activity)]
    close = iterations[0].start if iterations else 0
    reached = 0
    assert [step.number for step in found] == [iteration.number for iteration in iterations]
    for place, (iteration, step) in enumerate(zip(iterations, found)):
        begin, before = close, reached
        reached = max(reached, iteration.end)
        close = reached
        done = [b for a, b in device.busy if a < reached]
        if done and done[-1] > iteration.start:
            close = min(done[-1], reached)
        assert (step.row, step.device) == (iteration.row, "NPU 0")
        assert (step.host_start_ns, step.start_ns, step.work_start_ns) == (begin,) * 3
        assert (step.host_end_ns, step.end_ns) == (close,) * 2
        first, last = iteration.passes or (iteration.start, iteration.end)
        gap = (min(before if place else iteration.start, first), first)
        tail = (last, iteration.end) if iteration.passes else None
        assert (step.iteration_gap, step.forward_backward, step.tail) == (gap, iteration.passes, tail)
        phases = (gap, iteration.passes, tail)
        assert step.phase_idle_ns == tuple(0 if phase is None else device.idle(*phase) for phase in phases)
        if begin < close:
            device.windows = [(begin, close)]
            free = [b - a for a, b in spans(device.activity.free) if device.window_of(a) == 0]
            overlapped = any(begin <= other.start_ns < close for other in found if other is not step)
            assert overlapped or step.free_ns == sum(free)
    every = StepWindows(found)
    windows = [(step.work_start_ns, step.end_ns) for step in found]
    expected = [next((i for i, (a, b) in enumerate(windows) if a <= time < b), -1) for time in TIMES]
    assert every.step_of("NPU 0", np.array(TIMES)).tolist() == expected
    assert every.step_of("NPU 1", np.array(TIMES)).tolist() == [-1] * len(TIMES)


def test_a_device_has_all_steps_where_that_is_no_more_than_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for limit in (5, 6):
        monkeypatch.setattr(module, "MOST_STEPS", limit)
        found.append(len(steps_of(many(2, 3))))
    assert found == [2, 6]
