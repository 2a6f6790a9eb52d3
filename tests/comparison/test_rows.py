"""Sums by name and step, and when a change of a mean counts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tests.analysis.gpu import gpu, host, kernel, launch, step
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.comparison.compared_row import DeviceSteps, RowScale, row
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import compare_runs
from tracetui.comparison.rank_test import StepTest
from tracetui.comparison.tally import Sum, tally
from tracetui.comparison.walls import StepChoice
from tracetui.comparison.waterfall import TERMS, term_places
from tracetui.export.sentences.verdict import _steps_words


def test_a_step_without_a_name_has_none_of_its_time() -> None:
    columns = ([0, 0, 1, 2, -1], [0, 2, 2, 0, 1], [5, 7, 9, 11, 99])
    name, at, ns = (np.array(column, np.int64) for column in columns)
    found = tally(["mm", "add", "mm"], name, at, ns, 3)
    expected = {"mm": Sum(23, 3, 0, 16, steps=(16, 0, 7)), "add": Sum(9, 1, 0, 9, steps=(0, 0, 9))}
    assert found == expected


def sum_of(steps: Sequence[int]) -> Sum:
    return Sum(sum(steps), len(steps), min(steps), max(steps), steps=tuple(steps))


def changed(base: Sequence[int], other: Sequence[int]) -> bool | None:
    """Whether steps of these lengths changed, of a step of 1000 ns."""
    scale = RowScale(len(base), len(other), Fraction(1000), min(len(base), len(other)) < 3)
    return row("", sum_of(base), sum_of(other), scale).changed


def test_a_change_is_one_of_ranks_and_more_than_a_percent_of_the_step() -> None:
    assert changed((100, 100, 101), (112, 113, 115))
    assert not changed((100, 100, 101), (110, 110, 111)), "10 ns are 1 %"
    assert not changed((100, 100, 120), (119, 130, 140)), "3 against 3 count where they are apart alone"
    assert changed((100, 101, 102, 103), (119, 120, 121)), "so do 4 against 3"
    assert changed((100, 101, 102, 103), (119, 120, 121, 122))
    assert not changed((100, 101, 102, 120), (119, 121, 122, 123)), "p is 0.057"
    warm_up = (900, 100, 101, 102, 103, 104)
    assert changed(warm_up, (900, 120, 121, 122, 123, 124)), "one odd step of each hides nothing"
    assert not changed((100, 900, 101, 102, 103, 104), (100, 101, 102, 103, 104, 905))
    assert not changed((100,) * 6, (100, 100, 100, 100, 100, 900)), "one step of six shifts nothing"


def test_a_mean_that_one_step_makes_is_no_change_where_the_others_went_the_other_way() -> None:
    assert not changed((1000,) * 8, (950,) * 7 + (2000,))
    assert changed((1000,) * 8, (950,) * 7 + (960,))


def test_few_steps_changed_where_their_ranges_do_not_overlap() -> None:
    assert changed((100,), (111,))
    assert not changed((100,), (110,))
    assert changed((100, 110), (121, 130, 140))
    assert not changed((100, 120), (119, 160))
    what_no_step_tells = row("", Sum(100, 1, 0, 0), Sum(400, 2, 0, 0), RowScale(1, 1, Fraction(1000)))
    assert what_no_step_tells.changed is None


def test_what_one_run_lacks_is_nothing_in_each_of_its_steps() -> None:
    assert row("", Sum(0, 0, 0, 0), sum_of((50, 51, 52)), RowScale(3, 3, Fraction(1000))).changed
    assert not row("", Sum(0, 0, 0, 0), sum_of((50, 51, 0, 0)), RowScale(4, 4, Fraction(1000))).changed


def test_new_and_gone_and_means_per_step() -> None:
    scale = RowScale(2, 3, Fraction(1000))
    found = row("mm", Sum(30, 4, 15, 15), Sum(0, 0, 0, 0), scale)
    assert found.status == "gone"
    assert [int(mean) for mean in (found.base_ns, found.base_count, found.delta_ns)] == [15, 2, -15]
    assert (found.ratio, row("mm", found.other, found.base, scale).ratio) == (0.0, None)
    assert row("mm", found.other, found.base, scale).status == "new"


def test_idle_time_is_preparing_until_the_first_task_of_the_step() -> None:
    """Steps at 1000 and 1100; tasks of the second from 1130 to 1150 and from 1170 to 1190."""
    events = [*gpu(), step(5, 1000, 99), host(1001, 8), launch(1002, 2, 1), kernel(1010, 50, 1)]
    events += [step(6, 1100, 99), host(1101, 30), launch(1102, 2, 2), launch(1110, 2, 3)]
    events += [kernel(1130, 20, 2), kernel(1170, 20, 3)]
    run = run_of(analyse(trace_of(events)))
    assert run.wall_ns.tolist() == [100, 90]
    assert run.terms_ns[:, term_places("preparing")].sum(axis=1).tolist() == [10, 30]
    assert run.terms_ns[:, TERMS.index("aicore")].tolist() == [50, 40]
    assert run.terms_ns[:, TERMS.index("copy") + 1 :].sum(axis=1).tolist() == [40, 20]


def test_what_the_autograd_engine_evaluates_counts_once() -> None:
    """`evaluate_function: MulBackward0` holds `MulBackward0`: tables have one of it, and all of its time."""
    outer = "autograd::engine::evaluate_function: MulBackward0"
    events = [*gpu(), step(5, 1000, 200)]
    for start in (1010, 1060):
        events += [
            host(start, 40, outer),
            host(start + 5, 30, "MulBackward0"),
            host(start + 10, 10, "aten::mul"),
        ]
    events += [host(1120, 20, "MulBackward0"), launch(1072, 2, 1), kernel(1080, 20, 1)]
    api = run_of(analyse(trace_of(events))).api
    assert (api.total["MulBackward0"].count, api.total["MulBackward0"].ns) == (3, 100)
    assert (api.self_sums["MulBackward0"].count, api.self_sums["MulBackward0"].ns) == (3, 80)


def test_the_whole_time_of_a_device_is_one_step_where_no_window_is_asked_for() -> None:
    analysis = analyse(trace_of([*gpu(), launch(1002, 2, 1), kernel(1010, 50, 1)]))
    whole, window = run_of(analysis), run_of(analysis, StepChoice(window=(1010, 1030)))
    assert any("the whole time of its device counts as one step" in note for note in whole.notes)
    assert window.wall_ns.tolist() == [20]
    assert not any("counts as one step" in note for note in window.notes)


def test_devices_of_one_step_are_one_sample() -> None:
    """Both devices are as busy in each step: they tell no more of chance than one of them."""

    def step_test(devices: Sequence[int]) -> StepTest | None:
        runs = []
        for slower in (0, 30):
            events, start = [*gpu(), *process(1, "python", "GPU 1", 5_000_001)], 1000
            for number in range(4):
                events.append(step(number, start, 99 + slower))
                for device in devices:
                    correlation = 2 * number + device
                    events.append(launch(start + 2 + device, 1, correlation))
                    events.append({**kernel(start + 10, 80 + number + slower, correlation), "pid": device})
                start += 100 + slower
            runs.append(run_of(analyse(trace_of(events)), StepChoice(all_steps=True)))
        return compare_runs(*runs).step.test

    assert step_test((0, 1)) == step_test((0,))


def test_steps_that_few_devices_have_count_as_the_others() -> None:
    steps = DeviceSteps(2, (0, 1, 2, 1, 2))
    assert steps.summed((10, 20, 30, 40, 55)) == (20, 60, 85)


def test_steps_of_devices_are_said_to_be_tested_where_not_all_are() -> None:
    """Of two devices three steps are tested, of as many or of one more."""
    devices = DeviceSteps(2, (0, 1, 2, 0, 1, 2))
    for count, words in ((3, "in 3 of 3 steps"), (4, "in 3 of 3 tested steps")):
        scale = RowScale(2 * count, 2 * count, Fraction(100), ranks=(2, 2), devices=(devices, devices))
        base, other = (Sum(2 * count * ns, 2 * count, ns, ns, steps=(ns,) * 6) for ns in (50, 80))
        assert [*_steps_words(row("", base, other, scale))] == [words]


def test_a_run_without_work_of_a_device_is_of_no_other_make() -> None:
    """A run of the host alone, beside one of a GPU; and an NPU is of another make than that."""
    on_gpu = [*gpu(), launch(10, 1, 1), kernel(20, 5, 1)]
    npu = [*process(1, "Ascend Hardware", "NPU"), piece(1, 2, "MatMul", 20, 5, **{"Task Type": "AI_CORE"})]
    for events, is_told in (([*gpu(), host(10, 5, "aten::mm")], False), (npu, True)):
        runs = (run_of(analyse(trace_of(side)), StepChoice()) for side in (on_gpu, events))
        notes = compare_runs(*runs).notes
        assert any("different makes" in note for note in notes) == is_told


def test_a_range_counts_once_for_all_devices() -> None:
    """Both devices spend time in each range, which the host began once a step."""
    events, start = [*gpu(), *process(1, "python", "GPU 1", 5_000_001)], 1000
    for number in range(3):
        events += [step(number, start, 99), host(start + 1, 60, "generate", "user_annotation")]
        for device in (0, 1):
            correlation = 2 * number + device
            events.append(launch(start + 2 + device, 1, correlation))
            events.append({**kernel(start + 10, 40, correlation), "pid": device})
        start += 100
    run = run_of(analyse(trace_of(events)), StepChoice(all_steps=True))
    assert (run.steps, run.phases["generate"].count) == (3, 3)
    assert run.phases["generate"].ns == 2 * 3 * 60


def test_a_collective_is_called_by_its_args_and_not_by_its_kernel() -> None:
    """One kernel of RCCL does all: c10d tells what it did, among how many ranks and with what."""
    told = {"Collective name": "_allgather_base", "In msg nelems": 1000, "dtype": "BFloat16", "Group size": 8}
    events = [*gpu(), step(1, 1000, 200)]
    for number, args in enumerate((told, {})):
        events.append(launch(1002 + number, 1, number))
        events.append(kernel(1010 + 20 * number, 10, number, "ncclDevKernel_Generic_4(x)", 20))
        events[-1]["args"].update(args)
    named, unnamed = run_of(analyse(trace_of(events)), StepChoice(all_steps=True)).communication.whole
    assert named == ("allgather", "8 ranks", "BF16", "1.02 to 2.05 kB")
    assert unnamed == ("generic", "", "", "")
