"""Steps tile the time of a device; what is left out is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests.analysis.gpu import gpu, host, kernel, launch, step
from tests.synthetic import process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.comparison.walls import StepChoice, StepWalls, counterpart_steps, find_walls


def steps_of(lengths: Sequence[int], first: int = 5, tail: int = 0, longer: int = 0) -> Analysis:
    """Steps of these lengths, each with a kernel from 10 to 60 ns after its start, the last one's later."""
    events, start = gpu(), 1000
    for place, length in enumerate(lengths):
        number = first + place
        late, more = (tail, longer) if place == len(lengths) - 1 else (0, 0)
        events += [
            step(number, start, length - 1),
            host(start + 1, 8),
            launch(start + 2, 2, number),
            kernel(start + 10 + late, 50 + more, number),
        ]
        start += length
    return analyse(trace_of(events))


def lengths(walls: StepWalls) -> list[int]:
    return [int(length) for length in walls.end - walls.start]


def test_steps_tile_the_time_and_the_last_ends_with_the_device() -> None:
    walls = find_walls(steps_of([100, 120, 110], tail=300), StepChoice())
    assert walls.number.tolist() == [5, 6, 7]
    assert walls.start.tolist() == [1000, 1100, 1220]
    assert walls.end.tolist() == [1100, 1220, 1220 + 300 + 10 + 50]
    assert walls.prepared.tolist() == [1010, 1110, 1220 + 300 + 10]
    assert walls.notes == (
        "its last step is 360 ns long, the others 110 ns: it lasts until the device is done",
    )


def test_a_first_step_that_is_much_longer_is_left_out_and_said() -> None:
    assert lengths(find_walls(steps_of([90, 100]), StepChoice())) == [90, 60]
    walls = find_walls(steps_of([151, 100, 60]), StepChoice())
    assert lengths(walls) == [100, 60]
    assert walls.left_out == (5,)
    assert walls.notes == ("step 5 (151 ns) is left out: the others take 80 ns (--all-steps keeps all)",)
    assert lengths(find_walls(steps_of([151, 100, 60]), StepChoice(all_steps=True))) == [151, 100, 60]


def test_a_first_step_is_an_outlier_sooner_than_another() -> None:
    """The others: 100 in the median, 2 from it; 106 is 3 of these deviations away, and more than 5 %."""
    kept = [98, 100, 102, 103, 97, 100]
    assert find_walls(steps_of([106, *kept], longer=40), StepChoice()).left_out == (5,)
    assert find_walls(steps_of([105, *kept], longer=40), StepChoice()).left_out == ()
    assert find_walls(steps_of([98, 106, *kept[1:]], longer=40), StepChoice()).left_out == ()
    assert find_walls(steps_of([98, 120, *kept[1:]], longer=40), StepChoice()).left_out == (6,)


def test_outliers_are_left_out_where_steps_enough_are_left() -> None:
    assert find_walls(steps_of([100, 200, 101, 99], longer=40), StepChoice()).left_out == (6,)
    assert find_walls(steps_of([100, 200, 101], longer=40), StepChoice()).left_out == ()
    assert find_walls(steps_of([100, 101, 103, 102], longer=40), StepChoice()).left_out == ()


def test_steps_that_recur_are_no_outliers() -> None:
    """Steps of 100, and one of about 200 in each fourth: alike if no more than 5 apart."""

    def left_out(*lengths: int) -> tuple[int, ...]:
        return find_walls(steps_of([100, 101, 99, *lengths, 100], longer=40), StepChoice()).left_out

    usual = [100, 100, 101]
    assert left_out(200, *usual, 205, *usual, 203) == ()
    assert left_out(200, *usual, 206, *usual, 203) == (8, 12, 16)
    assert left_out(200, *usual, 100, 205, *usual, 203) == (8, 13, 17)
    assert left_out(200, *usual, 205, *usual) == (8, 12)
    assert left_out(*usual, *usual, 200, 205, 203, *usual) == (14, 15, 16)


def test_a_wall_that_waits_for_a_lagging_device_is_no_outlier() -> None:
    """The host runs ahead by 10 ns a step, and waits in the last one for 400 ns of work."""
    events, start = gpu(), 1000
    for number in range(5, 10):
        events += [step(number, start, 9), host(start + 1, 8), launch(start + 2, 2, number)]
        events.append(kernel(1005 + 80 * (number - 5), 80, number))
        start += 10
    walls = find_walls(analyse(trace_of(events)), StepChoice())
    assert lengths(walls) == [10, 10, 10, 10, 365]
    assert (walls.device_end - walls.device_start).tolist() == [80] * 5
    assert walls.left_out == ()


def test_one_step_is_asked_for_or_a_window() -> None:
    analysis = steps_of([100, 120, 110])
    assert lengths(find_walls(analysis, StepChoice(step=6))) == [120]
    walls = find_walls(analysis, StepChoice(window=(1050, 1130)))
    assert (walls.start.tolist(), walls.end.tolist(), walls.number.tolist()) == ([1050], [1130], [-1])
    assert len(find_walls(analysis, StepChoice(window=(9000, 9100)))) == 0


def test_a_schedule_that_repeats_does_not_count_the_time_between() -> None:
    events = gpu()
    for number, start in ((5, 1000), (6, 1100), (50, 90_000), (51, 90_100)):
        events += [step(number, start, 99), host(start + 1, 8), launch(start + 2, 2, number)]
        events.append(kernel(start + 10, 50, number))
    walls = find_walls(analyse(trace_of(events)), StepChoice())
    assert lengths(walls) == [100, 99, 100]
    assert walls.left_out == (51,), "60 ns: until its device is done"


def test_a_trace_without_steps_counts_as_one() -> None:
    events = [*gpu(), host(1, 8), launch(2, 2, 1), kernel(10, 50, 1), kernel(100, 20, 2)]
    walls = find_walls(analyse(trace_of(events)), StepChoice())
    assert (walls.start.tolist(), walls.end.tolist(), walls.number.tolist()) == ([10], [120], [-1])
    assert walls.step_at(np.array([0, 1, 119, 120, 121], np.int64)).tolist() == [-1, 0, 0, 0, -1]


def test_an_outlier_takes_no_step_of_its_number_along() -> None:
    """Numbers repeat where recordings are joined: step 6 is there twice, once much longer."""
    events, start = gpu(), 1000
    for number, length in ((5, 100), (6, 300), (7, 100), (6, 101), (7, 99), (8, 100), (9, 100)):
        events += [step(number, start, length - 1), host(start + 1, 8), launch(start + 2, 2, start)]
        events.append(kernel(start + 10, length - 20, start))
        start += length
    walls = find_walls(analyse(trace_of(events)), StepChoice())
    assert walls.left_out == (6, 9), "the last one ends with its device, 10 ns sooner"
    assert walls.number.tolist().count(6) == 1


def test_a_step_left_out_of_several_devices_is_told_once_with_its_longest() -> None:
    """The last step ends with each device: after 310 ns on GPU 0, after 350 on GPU 1."""
    events, start = [*gpu(), *process(1, "python", "GPU 1", 5_000_001)], 1000
    for number, busy in enumerate((70, 70, 70, 70, 300)):
        events += [step(number, start, 99), host(start + 1, 8)]
        for device, longer in ((0, 0), (1, 40 if busy == 300 else 0)):
            correlation = 2 * number + device
            task = kernel(start + 10, busy + longer, correlation)
            events += [launch(start + 2 + device, 1, correlation), {**task, "pid": device}]
        start += 100
    walls = find_walls(analyse(trace_of(events)), StepChoice())
    assert walls.left_out == (4,)
    assert walls.notes == ("step 4 (350 ns) is left out: the others take 100 ns (--all-steps keeps all)",)


def test_counterparts_have_one_number_and_the_others_follow_in_turn() -> None:
    keep = StepChoice(all_steps=True)
    here, later, elsewhere, joined = (
        find_walls(steps_of([100] * count, first=first, longer=200), keep)
        for count, first in ((7, 1), (6, 2), (3, 20), (7, 1))
    )
    joined = replace(joined, number=np.array([1, 2, 3, 1, 2, 3, 4]))
    assert counterpart_steps(here, later).tolist() == [5, 0, 1, 2, 3, 4, 5]
    assert counterpart_steps(later, here).tolist() == [1, 2, 3, 4, 5, 6]
    assert counterpart_steps(here, elsewhere).tolist() == [0, 1, 2, 0, 1, 2, 0], "no number is on both sides"
    assert counterpart_steps(here, joined).tolist() == list(range(7)), "numbers repeat"
    gap = find_walls(steps_of([100, 100, 300, 100, 100], first=1, longer=40), StepChoice())
    assert gap.number.tolist() == [1, 2, 4, 5]
    assert counterpart_steps(here, gap).tolist() == [0, 1, 2, 2, 3, 1, 2]
