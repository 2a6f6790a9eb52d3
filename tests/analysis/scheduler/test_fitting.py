"""How an offset is fitted to calls and to stretches on a core: exactly, for times that are known."""

from __future__ import annotations

import numpy as np
import pytest

from tracetui.analysis.intervals import Intervals
from tracetui.analysis.scheduler.fitting import ThreadActivity, agreement, fit_offset
from tracetui.arrays import Int64s

OFFSET = 7_000_123_456_789
INSIDE = 10_000  #: ns that a call begins after its thread has got a core, and ends before it loses that
COUNT = 200


def stretches(seed: int = 1) -> tuple[Int64s, Int64s]:
    """When a thread had a core, on the clock of the recording: beginnings and ends."""
    edges = np.cumsum(np.random.default_rng(seed).integers(100_000, 900_000, 2 * COUNT))
    return edges[0::2], edges[1::2]


def activity(first: int = 0, last: int = COUNT, seed: int = 1) -> ThreadActivity:
    """A thread that begins a call in each stretch and ends it there; some of the stretches are recorded."""
    starts, ends = stretches(seed)
    times = np.sort(np.concatenate((starts + INSIDE, ends - INSIDE))) + OFFSET
    return ThreadActivity(times, Intervals(starts[first:last], ends[first:last]))


def window(first: int = 0, last: int = COUNT) -> tuple[int, int]:
    starts, ends = stretches()
    return int(starts[first]), int(ends[last - 1])


@pytest.mark.parametrize(("first", "last"), [(0, COUNT), (0, 120), (60, COUNT), (40, 160)])
def test_an_offset_is_as_sure_as_the_calls_leave_open(first: int, last: int) -> None:
    """Either way by the time between a call and the loss of the core, and a microsecond of the texts."""
    fit = fit_offset([activity(first, last)], window(first, last))
    assert fit is not None
    assert (fit.offset_ns, fit.error_ns) == (OFFSET, INSIDE + 1_000)
    assert fit.agreeing == fit.inside == 2 * (last - first)


@pytest.mark.parametrize(("last", "fitted"), [(81, True), (78, False)])
def test_two_fifths_of_the_calls_must_be_recorded(last: int, fitted: bool) -> None:
    assert (fit_offset([activity(0, last)], window(0, last)) is not None) == fitted


def test_a_thread_that_never_leaves_its_core_tells_nothing() -> None:
    begin, end = window()
    always = Intervals(np.array([begin]), np.array([end]))
    assert fit_offset([ThreadActivity(activity().times, always)], window()) is None
    assert fit_offset([], window()) is None


def test_what_repeats_itself_has_several_offsets() -> None:
    starts = np.arange(0, 100_000_000, 1_000_000)
    times = np.sort(np.concatenate((starts + INSIDE, starts + 500_000 - INSIDE))) + OFFSET
    repeating = ThreadActivity(times, Intervals(starts, starts + 500_000))
    assert fit_offset([repeating], (0, 100_000_000)) is None
    half = ThreadActivity(times, Intervals(starts[:50], starts[:50] + 500_000))
    assert fit_offset([half], (0, 50_000_000)) is None


def test_calls_of_which_one_in_ten_has_no_core_tell_nothing() -> None:
    thread = activity()
    starts, ends = stretches()
    kept = np.arange(COUNT) % 10 > 0
    assert fit_offset([ThreadActivity(thread.times, Intervals(starts[kept], ends[kept]))], window()) is None
    kept = np.arange(COUNT) % 50 > 0
    assert fit_offset([ThreadActivity(thread.times, Intervals(starts[kept], ends[kept]))], window())


def test_agreement_counts_the_calls_in_the_recording_to_a_microsecond() -> None:
    spans = Intervals(np.array([10_000]), np.array([20_000]))
    times = np.array([8_999, 9_000, 10_000, 20_999, 21_001, 30_000])
    assert agreement([ThreadActivity(times, spans)], 0, (0, 30_000)) == (3, 5)
    assert agreement([ThreadActivity(times + 500, spans)], 500, (0, 30_001)) == (3, 6)
