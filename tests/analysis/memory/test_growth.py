"""What grows and what does not: the rules, each with the case that it is for."""

from __future__ import annotations

import pytest

from tests.analysis.memory.runs import STEP, Held, recorded
from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.growth import StepGrowth, Verdict, growing_groups, growth_of_steps


def test_a_block_left_behind_by_each_step_grows() -> None:
    """Among others of the same line that are released: the third of four."""
    held = [
        Held(step * STEP + 10 * call, None if call == 3 else step * STEP + 60)
        for step in range(4)
        for call in (1, 2, 3, 4)
    ]
    (group,) = growing_groups(recorded(4, held))
    assert (group.verdict, group.steps) == (Verdict.GROWS, (1, 2, 3, 4))
    assert (group.bytes_per_step, group.blocks_per_step, group.block_bytes) == (512, 1, 512)
    assert (group.nth, group.leaving, group.calls) == (3, 1, 4)
    assert (group.operator, group.frame) == ("aten::mm", ("train.py", 88, "f"))


def test_nothing_follows_from_one_step() -> None:
    assert growing_groups(recorded(1, [Held(10), Held(20)])) == ()
    assert growing_groups(recorded(0, [Held(10), Held(20)])) == ()


def test_two_steps_of_two_may_grow() -> None:
    (group,) = growing_groups(recorded(2, [Held(10), Held(110)]))
    assert group.verdict is Verdict.MAY_GROW


def test_two_steps_of_three_are_not_enough() -> None:
    assert growing_groups(recorded(3, [Held(110), Held(210)])) == ()


def test_what_stops_after_the_first_step_is_state() -> None:
    assert growing_groups(recorded(4, [Held(10 + place) for place in range(9)])) == ()


def test_what_ended_before_the_last_step_does_not_grow() -> None:
    assert growing_groups(recorded(5, [Held(step * STEP + 10) for step in range(4)])) == ()


def test_the_tensors_of_the_step_that_goes_on_do_not_grow() -> None:
    held = [Held(step * STEP + 10, step * STEP + 90 if step < 4 else None) for step in range(5)]
    assert growing_groups(recorded(5, held)) == ()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_pool_of_the_last_steps_does_not_grow(depth: int) -> None:
    """It is left behind by each of the last steps, and yet never larger than it was."""
    held = [
        Held(step * STEP + 10, (step + depth) * STEP + 5 if step + depth < 9 else None) for step in range(9)
    ]
    assert growing_groups(recorded(9, held)) == ()


def test_a_leak_that_begins_late_grows() -> None:
    held = [Held(step * STEP + 10, None if step > 2 else step * STEP + 20) for step in range(6)]
    (group,) = growing_groups(recorded(6, held))
    assert group.steps == (4, 5, 6)


def test_groups_are_told_apart_by_line_operator_and_size() -> None:
    """No one of them in each step."""
    held = [Held(10, line=1), Held(110, line=2), Held(210, line=1)]
    assert growing_groups(recorded(3, held)) == ()
    held = [Held(10, operator="a"), Held(110, operator="b"), Held(210, operator="a")]
    assert growing_groups(recorded(3, held)) == ()


def test_sizes_that_differ_from_step_to_step_grow_too() -> None:
    (group,) = growing_groups(
        recorded(3, [Held(step * STEP + 10, bytes=512 * (step + 1)) for step in range(3)])
    )
    assert (group.block_bytes, group.bytes, group.bytes_per_step) == (None, 3072, 1024)


def test_several_calls_have_no_number() -> None:
    held = [Held(step * STEP + call) for step in range(3) for call in (1, 2)]
    (group,) = growing_groups(recorded(3, held))
    assert (group.nth, group.leaving, group.calls, group.blocks_per_step) == (None, 2, 2, 2)
    held = [
        Held(step * STEP + call, None if call == step + 1 else step * STEP + 60)
        for step in range(3)
        for call in (1, 2, 3)
    ]
    (group,) = growing_groups(recorded(3, held))
    assert (group.nth, group.leaving, group.calls) == (None, 1, 3)


def test_growth_is_between_the_starts_of_steps() -> None:
    recording = recorded(3, [], [(-5, 1000), (50, 9000), (99, 1100), (100, 1200), (160, 8000), (199, 900)])
    assert growth_of_steps(recording) == (StepGrowth("NPU 0", 1, 200), StepGrowth("NPU 0", 2, -300))


def test_growth_of_the_first_step_is_that_of_its_first_sample() -> None:
    """No profiler samples before the first step: the first sample of both steps is at the same point."""
    recording = recorded(3, [], [(10, 1000), (50, 9000), (110, 1500), (150, 9000), (199, 2000)])
    assert growth_of_steps(recording) == (StepGrowth("NPU 0", 1, 500), StepGrowth("NPU 0", 2, -7000))


def test_growth_of_a_step_before_all_samples_is_unknown() -> None:
    """The recording of memory begins in the second step: one sample tells nothing of the first."""
    recording = recorded(3, [], [(150, 1000), (210, 1200)])
    assert growth_of_steps(recording) == (StepGrowth("NPU 0", 1, None), StepGrowth("NPU 0", 2, 200))


def test_growth_without_samples_is_unknown() -> None:
    assert growth_of_steps(recorded(2, [], [(10, 1000)])) == (StepGrowth("NPU 0", 1, None),)
    assert growth_of_steps(recorded(2, [Held(10)])) == ()


def test_the_peak_is_made_of_what_is_alive_at_it() -> None:
    held = [Held(10, 40, 300), Held(20, None, 200, line=7), Held(30, 31, 100), Held(50, 60, 4000)]
    memory = Memory(
        recorded(1, held, [(10, 1300), (20, 1500), (30, 1600), (31, 1500), (40, 1200), (50, 900)])
    )
    peak = memory.all.peak
    assert peak is not None
    assert (peak.at, peak.bytes, peak.before_bytes) == (30, 1600, 1000)
    lines = [
        (line.frame and line.frame.line, line.bytes_at_peak, line.allocated_bytes)
        for line in memory.all.lines
    ]
    assert lines == [(88, 400, 4400), (7, 200, 200)]
    assert memory.all.alive_at_end == (200, 1)
    assert sum(line.bytes_at_peak for line in memory.all.lines) + peak.before_bytes == peak.bytes


def test_of_a_window_the_peak_in_it_and_what_it_allocates() -> None:
    held = [Held(10, 40, 300), Held(20, None, 200), Held(50, 60, 4000)]
    memory = Memory(recorded(1, held, [(10, 1300), (20, 1500), (40, 1200), (50, 900), (60, 800)]))
    part = memory.between(35, 55)
    assert part.peak is not None and (part.peak.at, part.peak.bytes) == (35, 1500), "held at 35"
    assert part.blocks.bytes.tolist() == [300, 200, 4000]
    assert part.alive_at_end == (0, 0)  # what it allocated was released
    assert [(size.bytes, size.allocations, size.at_peak) for size in part.sizes] == [
        (4000, 1, 0),
        (300, 0, 1),
        (200, 0, 1),
    ]


def test_a_step_that_memory_does_not_know_holds_nothing() -> None:
    memory = Memory(recorded(2, [Held(10, None, 512, "aten::mul", 88)], curve=[(5, 512)]))
    part = memory.part(9, None, None)
    assert (part.peak, part.lines, len(part.blocks)) == (None, (), 0)
