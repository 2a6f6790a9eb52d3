"""One thing is slower, and nothing else: it is found, alone, and by how much it is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from simulator.scenarios import SCENARIOS
from simulator.source import TrainingScript
from tests.comparison.planted import run
from tracetui.analysis.idle.cause import Cause
from tracetui.comparison.collective_sums import TRANSFER, WAIT
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.compared_run import Run, run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.comparison.matched_lines import ChargedLine, LineSums
from tracetui.comparison.tally import NOTHING, Sum
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.comparison import EVERY, WATERFALL
from tracetui.units import format_duration

STEPS = 3


@cache
def side(scenario: str) -> Run:
    return run_of(run(scenario, STEPS))


def compared(scenario: str, **planted: Any) -> Comparison:
    return compare_runs(side(scenario), run_of(run(scenario, STEPS, **planted)))


def changed(rows: tuple[ComparedRow, ...]) -> dict[str, float]:
    """ms by the name of what changed."""
    return {row.name: round(float(row.delta_ns) / 1e6, 3) for row in rows if row.changed}


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_a_trace_with_itself(scenario: str) -> None:
    comparison = compare_runs(side(scenario), side(scenario))
    assert verdict(comparison).startswith("Nothing changed: a step takes ")
    for rows in (table.rows(comparison) for table in (WATERFALL, *EVERY)):
        assert not any(
            row.delta_ns or row.changed or row.status != "matched" for row in rows if row.base.count
        )
    assert not comparison.new and not comparison.gone


def test_a_slower_kernel() -> None:
    comparison = compared("mixed", operator="gelu", factor=20.0)
    usual = next(row for row in comparison.operators if row.name == "aten::gelu").base_ns
    planted = pytest.approx(19 * float(usual) / 1e6, rel=0.01)
    assert changed(comparison.operators) == {"aten::gelu": planted}
    assert changed(comparison.kernels) == {"aclnnGelu_GeluAiCore_Gelu": planted}
    assert changed(comparison.classes) == {"Vector": planted, "Vector (No Trans)": planted}
    assert changed(comparison.waterfall) == {"aicore": planted}
    assert float(comparison.step.delta_ns) / 1e6 == planted
    assert changed(comparison.lines) == changed(comparison.communication) == changed(comparison.causes) == {}
    assert verdict(comparison).endswith("3.47 ms more computing, Vector in aten::gelu.")


def test_a_slower_collective_of_a_device_that_lags_behind_the_host() -> None:
    """The last wall holds the work of all before: steps of the device tell that the change is no chance."""
    comparison = compared("balanced", collective=1.5)
    assert changed(comparison.operators) == {"c10d::allreduce_": pytest.approx(4.75, rel=0.01)}
    assert changed(comparison.kernels) == changed(comparison.lines) == {}
    assert changed(comparison.waterfall) == {"communication.transfer": 1.904}
    exposed = next(row for row in comparison.waterfall if row.name == "communication.transfer")
    assert float(exposed.delta_ns) == pytest.approx(float(comparison.step.delta_ns), rel=0.01)
    assert "1.90 ms more exposed communication, transfer of allreduce, FP32" in verdict(comparison)


def test_a_side_that_cannot_tell_waiting_from_moving_makes_neither_new() -> None:
    """As at profiler level 0, which has no planes."""
    whole = side("balanced")
    names = {row.name for row in compare_runs(whole, whole).communication}
    assert {name for name in names if name.endswith((WAIT, TRANSFER))}
    unsplit = replace(whole, communication=replace(whole.communication, wait={}, transfer={}))
    for pair in ((unsplit, whole), (whole, unsplit)):
        found = compare_runs(*pair).communication
        assert {row.name for row in found} == {name for name in names if not name.endswith((WAIT, TRANSFER))}
        assert {row.status for row in found} == {"matched"}


def test_what_is_told_by_calls_of_the_runtime_stands_together_where_one_side_has_none() -> None:
    """Of one run, both times: as at profiler level 0, latency counts as dispatching."""
    whole = side("mixed")
    split = {Cause.LATENCY.label: Cause.LAUNCH_DISPATCH.label}
    assert split.keys() < whole.causes.keys()
    causes = {name: total for name, total in whole.causes.items() if name not in split}
    level_0 = replace(whole, has_runtime=False, causes=causes)
    for pair in ((level_0, whole), (whole, level_0)):
        comparison = compare_runs(*pair)
        assert not {row.name.partition(".")[2] for row in comparison.waterfall if row.base.ns} & split.keys()
        assert Cause.LATENCY.label not in {row.name for row in comparison.causes}
        assert not any(row.delta_ns for row in comparison.waterfall)
    assert not any("latency" in note for note in compare_runs(level_0, level_0).notes)


def test_lines_are_neither_new_nor_gone_where_one_side_has_no_stacks() -> None:
    whole = side("mixed")
    idle = {ChargedLine(None, False): next(iter(whole.lines.idle.values()))}
    plain = replace(whole, lines=LineSums(idle, {(Cause.PYTHON, ChargedLine(None, False)): 1}, {}))
    for pair in ((plain, whole), (whole, plain)):
        comparison = compare_runs(*pair)
        assert comparison.lines == () and comparison.cause_lines == {}
    assert [row.name for row in compare_runs(plain, plain).lines] == ["(no stack)"]


def test_a_slower_kernel_beside_a_slower_collective() -> None:
    """What computes more is not what communicates more."""
    comparison = compared("mixed", operator="gelu", factor=20.0, collective=2.0)
    assert "3.47 ms more computing, Vector in aten::gelu" in verdict(comparison)


def planted_line(scenario: str, code: str) -> tuple[int, Comparison]:
    """The number of the line that holds some code, and a run of which the host is half as fast there."""
    script = TrainingScript(SCENARIOS[scenario].script, SCENARIOS[scenario].traced_as)
    return script.line(code), compared(scenario, line=script.line(code), pace=2.0)


@pytest.mark.parametrize(
    ("scenario", "code"),
    [
        ("mixed", "for images, labels in loader:"),
        ("mixed", "hits += guessed.eq(wanted).sum().item()"),
        ("mixed", "states = self.patches(images).flatten(2).transpose(1, 2)"),
        pytest.param("moba", "for tokens, targets in loader:", marks=pytest.mark.thorough),
    ],
)
def test_a_slower_line(scenario: str, code: str) -> None:
    line, comparison = planted_line(scenario, code)
    first = comparison.lines[0]
    assert first.frame is not None
    assert first.frame.line == line
    assert float(first.delta_ns) == pytest.approx(float(comparison.step.delta_ns), rel=0.01)
    assert not changed(comparison.operators) and not changed(comparison.kernels)


def test_a_slower_line_among_others() -> None:
    """What a line still does after its last operator is charged, as all Python is, to the next operator's."""
    line, comparison = planted_line("moba", "means.append(key[:, begin:end].mean(dim=1))")
    name = f"/workspace/moba/train_moba.py({line}) block_gate"
    assert list(changed(comparison.lines)) == [name]
    slower, following = (float(row.delta_ns) for row in comparison.lines[:2])
    assert comparison.lines[1].frame is not None
    assert comparison.lines[1].frame.line == line + 1
    assert slower == pytest.approx(float(comparison.step.delta_ns), rel=0.025)
    assert slower + following == pytest.approx(float(comparison.step.delta_ns), rel=0.001)
    assert changed(comparison.operators) == changed(comparison.kernels) == changed(comparison.classes) == {}
    assert changed(comparison.waterfall).keys() == {"idle.host.operator", "idle.host.python"}
    assert verdict(comparison).endswith(f"operator (host.operator) at train_moba.py({line}).")
    largest, delta = comparison.cause_lines[Cause.OPERATOR]
    half, twice = (format_duration(round(delta * share)) for share in (Fraction(1, 2), 2))
    place = f"train_moba.py({line})"
    for share, words in (
        (Fraction(9, 10), f" at {place}"),
        (Fraction(11, 10), f" at {place}"),
        (Fraction(1, 2), f", {half} of that at {place}"),
        (Fraction(2), f", {place} alone {twice}"),
    ):
        lines = {Cause.OPERATOR: (largest, delta * share)}
        sentence = verdict(replace(comparison, cause_lines=lines))
        assert sentence.endswith(f"operator (host.operator){words}.")
    largest_cause = comparison.causes[0]
    less_ns = [round(comparison.step.delta_ns * share) for share in (Fraction(2, 5), Fraction(3, 5))]
    less = format_duration(less_ns[1])
    for ns, words in zip(less_ns, ("", f", but {less} less of latency (device.latency)")):
        base = Sum(ns * largest_cause.scale.base_steps, 1, ns, ns)
        opposing = replace(largest_cause, name="device.latency", base=base, other=NOTHING)
        sentence = verdict(replace(comparison, causes=(*comparison.causes, opposing)))
        assert sentence.endswith(f"operator (host.operator) at {place}{words}.")


def test_one_step_tells_nothing_of_chance() -> None:
    base, slower = run_of(run("mixed", 1)), run_of(run("mixed", 1, operator="gelu", factor=20.0))
    comparison = compare_runs(base, slower)
    assert changed(comparison.waterfall).keys() == {"aicore"}
    assert verdict(comparison).endswith("; so few steps cannot tell whether that is chance.")
    assert sum("one step" in note for note in comparison.notes) == 1
