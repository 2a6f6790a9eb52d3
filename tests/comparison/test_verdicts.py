"""What people read first: a slower device is said as such, in how many steps, whatever the host does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.analysis.gpu import gpu, host, kernel, launch, step
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.comparison.changes import change_of_step, largest_communication, largest_computing
from tracetui.comparison.compared_row import ComparedRow, RowScale, rows
from tracetui.comparison.compared_row import row as row_of
from tracetui.comparison.compared_run import Run, run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.comparison.tally import Sum
from tracetui.comparison.walls import StepChoice
from tracetui.export.sentences.comparison import steps_sentence
from tracetui.export.sentences.verdict import verdict

#: us of computing in each step, as an A100 and a V100 have them.
A100 = (75_500, 77_000, 78_300, 79_800, 80_400, 81_100)
V100 = (84_000, 85_200, 86_100, 86_900, 87_500, 88_000)
US = 1000


def run(
    computing: Sequence[int],
    walls: Sequence[int],
    warm_up: int = 0,
    marks_steps: bool = True,
    operator: str = "aten::mm",
    choice: StepChoice | None = None,
) -> Run:
    """Steps of two kernels that take the time given together, and a short one at the end.

    Args:
        computing: us of each step.
        walls: us from the start of a step on the host to that of the next.
        warm_up: us that a first step takes longer, on the host.
        marks_steps: the program tells the profiler where a step begins.
        operator: the name of what computes, and of its kernels.
        choice: which steps are compared.
    """
    events, start, free = gpu(), 1_000_000, 0
    for number, (busy, wall) in enumerate(zip(computing, walls)):
        wall += 0 if number else warm_up
        launched = start + (0 if number else warm_up)
        events += [step(number, start * US, wall * US - US)] if marks_steps else []
        events += [host((launched + 5) * US, 900 * US, operator)]
        for part in (0, 1):
            correlation, at = 10 * number + part, launched + 100 + part
            begin = max(free, at + 20) + (0 if part else 10)
            free = begin + busy // 2
            events.append(launch(at * US, US // 2, correlation))
            events.append(kernel(begin * US, busy // 2 * US, correlation, operator))
        at = start + wall - 300
        free = max(free, at) + 20
        events += [host((at - 5) * US, 100 * US), launch(at * US, US // 2, 10 * number + 2)]
        events.append(kernel((free - 10) * US, 10 * US, 10 * number + 2))
        start += wall
    return run_of(analyse(trace_of(events)), choice)


def compared(*sides: Run) -> Comparison:
    return compare_runs(*sides)


def changed(comparison: Comparison) -> dict[str, tuple[int, int] | None]:
    """Of the parts that changed in how many steps of how many they are slower."""
    found = {}
    for row in comparison.waterfall:
        if row.changed:
            test = row.test
            found[row.name] = None if test is None else (test.slower, test.steps)
    return found


@pytest.mark.parametrize(("by", "words"), [(-5_000, "5.00 ms faster"), (5_000, "5.00 ms slower")])
@pytest.mark.parametrize("more", [0, 1])
def test_steps_that_went_the_other_way_than_their_mean_are_told(by: int, words: str, more: int) -> None:
    """All steps but one are faster, or slower; that one makes the mean equal, or the other way round."""
    walls = [100_000] * 8
    others = [wall + by for wall in walls]
    others[3] -= (8 + more) * by
    comparison = compared(
        *(run([50_000] * 8, side, choice=StepChoice(all_steps=True)) for side in (walls, others))
    )
    assert comparison.step.delta_ns == -more * by * US // 8
    assert not comparison.step.changed
    assert f"but most steps are {words}: a few make the mean." in verdict(comparison)


def test_a_slower_device_that_lags_behind_its_host() -> None:
    """The host launches a step in 5 ms, and the last wall holds the work of all: walls tell nothing."""
    comparison = compared(run(A100, [5_000] * 6), run(V100, [5_000] * 6))
    assert comparison.base.wall_ns.max() > 20 * comparison.base.wall_ns.min()
    assert comparison.base.walls.left_out == comparison.other.walls.left_out == ()
    assert comparison.step.changed
    assert changed(comparison) == {"aicore": (6, 6)}
    assert verdict(comparison) == (
        "OTHER is 7.60 ms (9.7 %) a step slower, in 6 of 6 steps: 7.60 ms more computing, Matmul in aten::mm."
    )


def test_a_verdict_on_gpus_has_the_words_of_their_tables() -> None:
    comparison = compared(*(run(side, [5_000] * 6, operator="aten::gelu") for side in (A100, V100)))
    assert "7.60 ms more computing, Other kernels in aten::gelu." in verdict(comparison)


def test_a_slower_device_behind_a_host_that_hides_it() -> None:
    """Steps take 150 ms on both: more work only fills idle time, which is not said before it."""
    walls = [150_000, 150_300, 149_800, 150_100, 149_900, 150_200]
    comparison = compared(run(A100, walls), run(V100, walls[::-1]))
    assert not comparison.step.changed
    assert verdict(comparison).startswith(
        "A step takes 150 ms in BASE and 150 ms in OTHER, but 7.60 ms more computing in 6 of 6 steps,"
        " Matmul in aten::mm; 7.60 ms less idle in 6 of 6 steps"
    )
    assert changed(comparison)["aicore"] == (6, 6)


@pytest.mark.parametrize(("more", "hidden"), [(990, True), (1_010, False)])
def test_a_step_that_changes_by_a_hundredth_hides_what_changed(more: int, hidden: bool) -> None:
    """Kernels take 4 ms longer, and the device waits for 3 ms less; a mean step of BASE takes 99.95 ms."""
    base = [100_000] * 6
    comparison = compared(run([20_000] * 6, base), run([24_000] * 6, [wall + more for wall in base]))
    assert comparison.step.delta_ns == more * US
    assert change_of_step(comparison).hidden == hidden


def test_one_warm_up_step_hides_no_regression() -> None:
    walls = [100_000] * 6
    comparison = compared(run(A100, walls, warm_up=900_000), run(V100, [110_000] * 6, warm_up=950_000))
    assert comparison.base.walls.left_out == comparison.other.walls.left_out == (0,)
    assert verdict(comparison).startswith("OTHER is 10.0 ms (10.0 %) a step slower")
    assert "in 5 of 5 steps" in verdict(comparison)


def test_outliers_that_differ_are_told_where_the_other_steps_do_not() -> None:
    """Of six steps the fourth alone runs the optimizer, and is left out."""
    busy = [20_000] * 6
    sides = [run(busy, [100_000] * 3 + [wall, 100_000, 100_000]) for wall in (120_000, 200_000)]
    assert [side.walls.left_out for side in sides] == [(3,)] * 2
    sentence = "Outlier steps, which are left out, take 120 ms in BASE and 200 ms in OTHER."
    assert verdict(compared(*sides)).endswith(sentence)
    assert "Outlier" not in verdict(compared(sides[0], sides[0]))
    assert "Outlier" not in verdict(compared(run(busy, [100_000] * 6, warm_up=900_000), sides[1]))


def test_a_run_without_steps_is_said_to_count_as_one() -> None:
    """Otherwise "12.7 s a step faster" is read where a whole run is compared with a step."""
    whole, steps = run(A100, A100, marks_steps=False), run(A100, A100)
    said = verdict(compared(whole, steps))
    assert said.startswith("All 472 ms of BASE count as one step. OTHER is ")
    assert verdict(compared(steps, whole)).startswith("All 472 ms of OTHER count as one step. OTHER is ")
    assert "count as one" not in verdict(compared(whole, whole)) + verdict(compared(steps, steps))


@pytest.mark.parametrize(("steps", "words"), [(499, "499 of 499 steps"), (501, "500 of 500 tested steps")])
def test_of_very_many_steps_those_that_are_tested_are_called_so(steps: int, words: str) -> None:
    """Of more than 500 steps 500 are tested."""
    base, slow = run([20_000] * steps, [100_000] * steps), run([30_000] * steps, [110_000] * steps)
    for comparison, change in ((compared(base, slow), "slower"), (compared(slow, base), "faster")):
        assert f"a step {change}, in {words}" in verdict(comparison)
        assert steps_sentence(comparison.step).startswith(f"{words} are {change} than")


@pytest.mark.parametrize("steps", [1, 2])
def test_few_steps_say_that_they_cannot_tell(steps: int) -> None:
    comparison = compared(run(A100[:steps], [90_000] * steps), run(V100[:steps], [98_000] * steps))
    assert changed(comparison) == {"aicore": None}
    assert verdict(comparison).endswith("; so few steps cannot tell whether that is chance.")
    assert any("of chance: ranges are compared" in note for note in comparison.notes)


def test_few_steps_that_overlap_are_not_called_equal() -> None:
    """A mean step takes 10 ms longer, of 100, and one of two is as it was."""
    walls = [100_000, 100_000], [100_000, 120_000]
    comparison = compared(*(run([20_000] * 2, side) for side in walls))
    assert comparison.step.changed is False
    assert verdict(comparison) == (
        "A step takes 99.9 ms in BASE and 110 ms in OTHER; so few steps cannot tell whether that is chance."
    )
    near = compared(run([20_000] * 2, walls[0]), run([20_000] * 2, [100_000, 101_000]))
    assert verdict(near).startswith("Nothing changed by more than 1 % of a step: a step takes 99.9 ms")


def test_chance_is_not_put_down_to_what_changed() -> None:
    """Walls are noise, slower by 1.5 ms in the mean; 0.4 ms more computing is in all steps."""
    walls = [20_000, 24_000, 17_000, 23_000, 18_000, 21_000], [19_500, 26_500, 17_400, 26_900, 18_900, 27_000]
    keep = StepChoice(all_steps=True)
    comparison = compared(*(run([busy] * 6, side, choice=keep) for busy, side in zip((6_000, 6_400), walls)))
    assert comparison.step.changed is False
    assert comparison.step.delta_ns > 1_000_000
    assert re.match(
        r"A step takes \S+ ms in BASE and \S+ ms in OTHER, but 400 µs more computing in 6 of 6 steps",
        verdict(comparison),
    )


def test_steps_that_overlap_are_no_change() -> None:
    comparison = compared(run(A100, A100), run((A100[5], *A100[:5]), (A100[5], *A100[:5])))
    assert changed(comparison) == {}
    assert verdict(comparison).startswith("Nothing changed")


@pytest.mark.parametrize(
    ("classes", "operators", "named"),
    [
        # Matmul is 10 ms more, in two operators.
        ({"Matmul": 10, "Vector": 9}, {"aten::mm": 5, "aten::bmm": 5, "aten::gelu": 9}, (None, "aten::gelu")),
        (
            {"Matmul": 10, "Vector": 30},
            {"aten::mm": 5, "aten::bmm": 5, "aten::gelu": 30},
            ("Vector", "aten::gelu"),
        ),
        # What no operator launches is in none of them.
        ({"Matmul": 10}, {"aten::zeros": 5}, ("Matmul", None)),
        ({"Matmul": 10}, {"aten::mm": 6}, ("Matmul", "aten::mm")),
    ],
)
def test_a_class_is_named_with_an_operator_whose_change_it_is(
    classes: dict[str, int], operators: dict[str, int], named: tuple[str | None, str | None]
) -> None:
    """As many ms more of each class of kernels and of each operator as given."""
    scale = RowScale(3, 3, Fraction(1000))
    class_rows, operator_rows = (
        rows({}, {name: Sum(3 * ms, 3, ms, ms, steps=(ms,) * 3) for name, ms in side.items()}, scale)
        for side in (classes, operators)
    )
    comparison = replace(compared(*[run(A100, A100)] * 2), classes=class_rows, computing=operator_rows)
    total = row_of("computing", Sum(0, 0, 0, 0), Sum(3 * sum(classes.values()), 3, 0, 0), scale)
    assert tuple(row and row.name for row in largest_computing(comparison, total)) == named


def test_a_part_of_communication_is_named_with_the_collective_that_has_most_of_that_part() -> None:
    """An all-gather waits for 5 ms longer; an all-reduce moves for 9 ms longer, of which 4 ms are exposed."""
    scale = RowScale(1, 1, Fraction(1000))

    def later(**times: int) -> tuple[ComparedRow, ...]:
        return tuple(rows({}, {name: Sum(ms, 1, ms, ms, steps=(ms,)) for name, ms in times.items()}, scale))

    communication = later(
        **{"allreduce": 9, "allreduce (transfer)": 9, "allgather": 5, "allgather (wait)": 5}
    )
    terms = later(**{"communication.wait": 5, "communication.transfer": 4})
    comparison = replace(compared(*[run(A100, A100)] * 2), waterfall=terms, communication=communication)
    part, collective = largest_communication(comparison, later(communication=9)[0])
    assert part is not None and collective is not None
    assert (part.name, collective.name) == ("communication.wait", "allgather (wait)")
