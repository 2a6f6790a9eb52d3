"""How an offset is fitted to calls and to stretches on a core: exactly, for times that are known."""

from __future__ import annotations

import numpy as np
import pytest

from tracetui.analysis.intervals import Intervals
from tracetui.analysis.scheduler.fitting import (
    LARGEST_ERROR,
    Fit,
    ThreadActivity,
    _is_certain,
    agreement,
    fit_offset,
)
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


@pytest.mark.parametrize(("inside", "fitted"), [(190_000, True), (199_000, True), (199_001, False)])
def test_an_offset_may_be_open_by_200_us(inside: int, fitted: bool) -> None:
    """Where calls begin long after their thread has got a core, and end long before it loses that."""
    source = np.random.default_rng(3)
    lengths = np.stack((source.integers(100_000, 900_000, COUNT), source.integers(400_000, 900_000, COUNT)))
    edges = np.cumsum(lengths.T.ravel())
    starts, ends = edges[0::2], edges[1::2]
    times = np.sort(np.concatenate((starts + inside, ends - inside))) + OFFSET
    fit = fit_offset([ThreadActivity(times, Intervals(starts, ends))], (int(starts[0]), int(ends[-1])))
    assert (fit and (fit.offset_ns, fit.error_ns)) == ((OFFSET, inside + 1_000) if fitted else None)


def test_threads_tell_an_offset_together() -> None:
    """Each in a part of the time, and one that calls once."""
    whole = activity()
    parts = [ThreadActivity(times, whole.running) for times in np.split(whole.times, [150])]
    once = ThreadActivity(whole.times[:1], whole.running)
    for threads in ([*parts, once], [once, *reversed(parts)]):
        fit = fit_offset([*threads, ThreadActivity(whole.times[:0], whole.running)], window())
        assert fit is not None
        assert (fit.offset_ns, fit.error_ns) == (OFFSET, INSIDE + 1_000)
        assert fit.agreeing == fit.inside == 2 * COUNT + 1


@pytest.mark.parametrize(("count", "fitted"), [(19, False), (20, True)])
def test_twenty_calls_tell_an_offset(count: int, fitted: bool) -> None:
    thread = activity()
    few = ThreadActivity(thread.times[:count], Intervals(*(edges[:10] for edges in stretches())))
    assert (fit_offset([few], window(0, 10)) is not None) == fitted


@pytest.mark.parametrize(
    ("best", "others", "total", "is_certain"),
    [
        ((LARGEST_ERROR, 1000, 1000), [], 1000, True),
        ((LARGEST_ERROR + 1, 1000, 1000), [], 1000, False),
        ((0, 950, 1000), [], 1000, True),
        ((0, 949, 1000), [], 1000, False),
        ((0, 20, 20), [], 20, True),
        ((0, 19, 19), [], 20, False),
        ((0, 400, 400), [], 1000, True),
        ((0, 399, 399), [], 1000, False),
        # of the whole trace: 2 % of all times behind
        ((0, 980, 1000), [960, 900], 1000, True),
        ((0, 980, 1000), [900, 961], 1000, False),
        ((0, 950, 950), [930], 1000, True),
        # of a part of it: a tenth of the times in that behind
        ((0, 949, 949), [929], 1000, False),
        ((0, 500, 500), [449, 400], 1000, True),
        ((0, 500, 500), [400, 451], 1000, False),
    ],
)
def test_an_offset_is_certain_if_most_times_agree_and_no_other_comes_as_close(
    best: tuple[int, int, int], others: list[int], total: int, is_certain: bool
) -> None:
    error, agreeing, inside = best
    found = [Fit(0, error, agreeing, inside), *(Fit(1, 0, other, inside) for other in others)]
    assert _is_certain(found, total) == is_certain
    assert not _is_certain([], total)


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
    assert agreement(
        [ThreadActivity(np.array([9_999, 10_000, 19_999, 20_000]), spans)], 0, (10_000, 20_000)
    ) == (2, 2)
    narrow = Intervals(np.array([10_000, 50_000]), np.array([10_100, 50_100]))
    assert agreement([ThreadActivity(np.array([10_050, 30_000, 50_050]), narrow)], 0, (0, 60_000)) == (2, 3)
    unknown = Intervals(np.array([20_000]), np.array([40_000]))
    calls = ThreadActivity(np.array([10_050, 30_000, 50_050]), narrow, unknown)
    assert agreement([calls], 0, (0, 60_000)) == (2, 2)
