"""A quantity over time: what is known of it at any moment, in any column, in any stretch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.synthetic import process, trace_of
from tracetui.analysis.series import Series, counter_series
from tracetui.trace.quantity import Quantity, is_core_frequency, quantity_of


def series(*samples: tuple[int, float]) -> Series:
    time, value = zip(*samples) if samples else ((), ())
    return Series.from_samples(np.array(time, np.int64), np.array(value, np.float64))


def test_a_value_holds_until_the_next() -> None:
    one = series((10, 5.0), (20, 7.0), (20, 8.0))
    assert [one.at(time) for time in (9, 10, 19, 20, 10**6)] == [None, 5.0, 5.0, 8.0, 8.0]
    assert series().at(0) is None


def test_the_mean_of_a_stretch_is_weighted_by_time() -> None:
    one = series((10, 100.0), (20, 400.0), (30, 0.0))
    quantity = one.within(15, 40)  # 5 ns of 100, 10 of 400, 10 of 0
    assert quantity is not None and quantity.mean == (5 * 100 + 10 * 400) / 25
    assert (quantity.lowest, quantity.lowest_ns, quantity.highest, quantity.highest_ns, quantity.samples) == (
        0.0,
        30,
        400.0,
        20,
        2,
    )
    quantity = one.within(0, 20)  # nothing is known before 10
    assert quantity is not None and (quantity.mean, quantity.samples) == (100.0, 1)
    quantity = one.within(22, 25)  # no sample inside
    assert quantity is not None and (quantity.mean, quantity.highest_ns, quantity.samples) == (400.0, 22, 0)
    quantity = one.within(20, 30)  # what ended as it began is not of it
    assert quantity is not None and (quantity.lowest, quantity.highest) == (400.0, 400.0)
    assert one.within(0, 10) is None and series().within(0, 9) is None


def test_what_is_no_number_is_left_out() -> None:
    one = series((1, 5.0), (2, float("nan")), (3, float("inf")), (4, -1e308), (5, 7.0), (6, 1e100))
    assert (one.time.tolist(), one.value.tolist()) == ([1, 5], [5.0, 7.0])


def test_means_of_kernels() -> None:
    one = series((10, 100.0), (20, 400.0))
    starts, ends = np.array([12, 15, 25, 9]), np.array([14, 25, 35, 11])
    means = one.mean_between(starts, ends)
    assert means[:3].tolist() == [100.0, 250.0, 400.0] and np.isnan(means[3])
    assert np.isnan(series().mean_between(starts, ends)).all()


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(-3, 9)), max_size=25),
    st.lists(st.integers(-5, 70), min_size=2, max_size=9).map(sorted),
)
def test_columns_hold_every_sample_and_what_held_before(
    samples: list[tuple[int, int]], edges: list[int]
) -> None:
    samples.sort(key=lambda sample: sample[0])
    least, highest = series(*samples).columns(np.array(edges, np.int64))
    for column, (start, end) in enumerate(zip(edges, edges[1:])):
        inside = [value for time, value in samples if start <= time < end]
        if not any(time == start for time, _ in samples) or start == end:
            inside += [value for time, value in samples if time < start][-1:]
        if inside:
            assert (least[column], highest[column]) == (min(inside), max(inside))
        else:
            assert np.isnan(least[column]) and np.isnan(highest[column])


@pytest.mark.parametrize(
    ("name", "args", "quantity"),
    [
        ("AI Core Freq", {"MHz": 1800}, Quantity("AI Core Freq", "MHz")),
        ("HBM 0/Read", {"Read(MB/s)": 2}, Quantity("HBM 0/Read", "MB/s")),
        ("LLC 0 Read/Hit Rate", {"Hit Rate(%)": 0.84}, Quantity("LLC 0 Read/Hit Rate", "%", 100.0)),
        ("CPU 0", {"Usage(%)": 84}, Quantity("CPU 0 Usage", "%")),
        ("APP/HBM", {"KB": 3}, Quantity("APP/HBM", "B", 1024.0)),
        ("QoS OTHERS", {"value": 3}, Quantity("QoS OTHERS")),
        ("Mata Bw Level", {"Mata Bw Level": 3}, Quantity("Mata Bw Level")),
        ("Port 0/Rx", {"bad_pkt": 3}, Quantity("Port 0/Rx bad_pkt")),
        ("evil", {"a(\x1bQ)": 3}, Quantity("evil a(\x1bQ)")),  # no unit: those are printed as they are
    ],
)
def test_what_counters_count(name: str, args: dict[str, float], quantity: Quantity) -> None:
    event = {"ph": "C", "name": name, "pid": 7, "tid": 0, "ts": 1.0, "args": args}
    trace = trace_of([*process(7, "counters", "NPU", 14), event])
    (track,) = trace.tracks
    assert quantity_of(track) == quantity
    assert counter_series(trace, track).value.tolist() == [next(iter(args.values())) * quantity.factor]
    assert is_core_frequency(track) == (quantity.unit == "MHz")


def test_one_track_is_the_same_whether_all_are_in_order_or_not() -> None:
    def sample(name: str, ts: int, value: int) -> dict[str, object]:
        return {"ph": "C", "name": name, "pid": 7, "tid": 0, "ts": ts, "args": {"value": value}}

    events = [sample(name, ts, value) for value, (name, ts) in enumerate(zip("babbab", (5, 9, 1, 3, 2, 5)))]
    trace = trace_of([{"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0, "dur": 9}, *events])
    alone = [counter_series(trace, track) for track in trace.tracks if track.samples]
    assert not trace.counters.is_sorted
    assert [len(trace.counters.time), trace.counters.is_sorted] == [6, True]
    sorted_first = [counter_series(trace, track) for track in trace.tracks if track.samples]
    assert [(one.time.tolist(), one.value.tolist()) for one in alone] == [
        (one.time.tolist(), one.value.tolist()) for one in sorted_first
    ]
    assert [one.value.tolist() for one in alone] == [[4.0, 1.0], [2.0, 3.0, 0.0, 5.0]]
