"""One side of a comparison: all that is compared of a run, in kilobytes to a few megabytes.

It needs no trace any more, so that the two sides are never in memory at once, and one can be kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.health.facts import HealthFacts, health_facts
from tracetui.analysis.health.finding import Severity
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.marked_ranges import range_name
from tracetui.analysis.operators import OperatorSlices
from tracetui.analysis.scheduler.scheduler import SCHEDULED
from tracetui.analysis.sums import sums
from tracetui.arrays import Int64s, searchsorted
from tracetui.background import Background
from tracetui.comparison.classes import classes
from tracetui.comparison.collective_sums import CollectiveSums, collective_sums
from tracetui.comparison.kernel_sums import KernelSums, kernel_sums
from tracetui.comparison.launched_work import (
    StepOperators,
    launched_work,
    operator_names,
    operators_in_steps,
    repeated_in,
)
from tracetui.comparison.matched_lines import LineSums, line_sums
from tracetui.comparison.memory_use import MemoryUse, memory_use
from tracetui.comparison.module_times import module_times
from tracetui.comparison.operator_sequences import OperatorSequences, computing_by_operator, sequences
from tracetui.comparison.shapes import ArgsOf
from tracetui.comparison.tally import NOTHING, NestedSums, Sum, Sums, tally, tested_steps
from tracetui.comparison.wall_pieces import WallIdle, exposed_pieces, idle_pieces
from tracetui.comparison.walls import StepChoice, StepWalls, find_walls
from tracetui.comparison.waterfall import DEVICE_CAUSES, waterfall
from tracetui.language import state, without_stop
from tracetui.trace.model import TraceKind

_NO_SHAPES = state("it tells no shapes of operators (record_shapes=True): they are matched by name alone")


@dataclass(frozen=True)
class Totals:
    """The producer's numbers of all devices, over their whole windows; ns."""

    window_ns: int
    computing_ns: int
    communication_not_overlapped_ns: int
    free_ns: int


class CommonSteps(NamedTuple):
    """The steps that all ranks of a job kept, of those that are tested."""

    places: Int64s  #: int64[ranks, n]: of each rank's in `Run.wall_ns`
    numbers: tuple[int, ...]  #: of the host's


@dataclass(frozen=True, eq=False)
class Run:
    """What a run did in each of its steps."""

    path: str
    kind: TraceKind
    devices: tuple[str, ...]  #: that compute or communicate
    numbers: tuple[int, ...]  #: of the steps compared, on any device; empty where a trace or a window is one
    notes: tuple[str, ...]  #: what must be known to read the numbers: sentences without full stop
    totals: Totals | None  #: None where only a part of its steps is compared
    #: int64[n]: the wall of each step on each device: from the start of the step to that of the next
    wall_ns: Int64s
    #: int64[n, terms]: what it went into, in the order of `TERMS`; each row sums to the wall
    terms_ns: Int64s
    device_ns: Int64s  #: int64[n]: from the first task of each step to that of the next
    device_terms_ns: Int64s  #: int64[n, terms]: what that went into
    causes: Sums  #: idle time by cause, preparing included; of each step on each device
    lines: LineSums  #: likewise
    walls: StepWalls  #: the steps compared
    #: of the host: what the tables below are of, with the device time of all devices; of ranks that kept
    #: different steps the sum of theirs
    steps: int
    classes: Sums
    operators: OperatorSequences
    computing: Sums  #: time of kernels by operator of level 1
    kernels: KernelSums
    modules: NestedSums  #: device time by their path
    phases: Sums  #: time of devices in the ranges that people mark
    communication: CollectiveSums
    api: NestedSums  #: the operators of the host by name
    memory: MemoryUse | None  #: None where nothing was recorded of it
    advice: Sums  #: by kind: the time that the costliest of a kind explains in a mean step, and how many
    #: how it was recorded, and what of it can be believed
    health: HealthFacts = field(default_factory=HealthFacts)
    has_runtime: bool = True  #: calls of the runtime are recorded: at profiler level 0 none is
    has_scheduler: bool = False  #: what the scheduler did is recorded; of old digests only `causes` tell that
    ranks: int = 1  #: of a job: each step is the sum of so many ranks, and so are all sums
    members: tuple[int, ...] = ()  #: of a job: the ranks it is the mean of
    common: CommonSteps | None = None  #: of a job whose ranks kept different steps: by them chance is judged

    @property
    def tells_scheduler(self) -> bool:
        """Whether what the scheduler did is among its causes: of old digests only these tell that."""
        return self.has_scheduler or any(cause.label in self.causes for cause in SCHEDULED)

    @property
    def tells_cube(self) -> bool:
        """Whether the producer tells which kernels ran on the cube units, as it tells their shapes."""
        return self.kernels.by_shape is not None

    @property
    def judged_steps(self) -> int:
        """How many steps of the host tell a change from chance."""
        return self.steps if self.common is None else len(self.common.numbers)

    @property
    def step_ns(self) -> Fraction:
        """The mean length of a step."""
        return Fraction(int(self.wall_ns.sum()), max(len(self.wall_ns), 1) * self.ranks)


def run_of(analysis: Analysis, choice: StepChoice | None = None, args_of: ArgsOf | None = None) -> Run:
    """Return what a trace did in the chosen steps, by default all.

    With `args_of` operators are told apart by the shapes of their inputs, too.
    """
    choice_made = choice or StepChoice()
    # Nearly all is numpy's, which lets another core work: one is busy with why devices were idle.
    causes = Background(lambda: analysis.causes)
    walls = find_walls(analysis, choice_made)
    causes.result()
    work = Background(lambda: _step_work(analysis, walls, args_of))
    idle = idle_pieces(analysis, walls)
    advice = Background(lambda: _advice_costs(analysis))
    exposed = exposed_pieces(analysis, walls)
    device_steps = walls.of_devices
    device_idle = idle_pieces(analysis, device_steps)
    terms = waterfall(analysis, walls, idle, exposed)
    device_terms = waterfall(analysis, device_steps, device_idle, exposed_pieces(analysis, device_steps))
    memory = memory_use(analysis.memory, choice_made)
    operators, work_done = work.result()
    health = health_facts(analysis)
    shape_notes = [_NO_SHAPES] if args_of is not None and work_done.operators.plain is None else []
    working = [activity for activity in analysis.devices if activity.window_ns > 0]
    return Run(
        path=analysis.trace.path,
        kind=analysis.trace.kind,
        devices=tuple(activity.device for activity in working),
        numbers=tuple(sorted({number for number in walls.number.tolist() if number >= 0})),
        notes=(*walls.notes, *_notes(analysis, walls, choice_made), *shape_notes, *_doubts(health)),
        totals=_totals(working) if len(walls) == _wall_count(analysis, choice_made) else None,
        wall_ns=walls.end - walls.start,
        terms_ns=terms,
        device_ns=device_steps.end - device_steps.start,
        device_terms_ns=device_terms,
        causes=_idle_by_cause(walls, idle, device_idle),
        lines=line_sums(analysis, walls, idle, operators),
        walls=walls,
        steps=walls.host_steps,
        memory=memory,
        advice=advice.result(),
        health=health,
        has_runtime=analysis.has_runtime,
        has_scheduler=analysis.scheduler is not None,
        **work_done._asdict(),
    )


def _doubts(health: HealthFacts) -> Iterator[str]:
    """Yield what of a recording is not to be believed."""
    for doubt in health.doubts:
        yield state(
            "{finding} ({numbers}: {verdict})",
            finding=doubt.sentence,
            numbers=tuple(map(state, doubt.affects)),
            verdict=state(Severity(doubt.severity).verdict),
        )


class _StepWork(NamedTuple):
    """What the steps did, whyever they waited, by the names of `Run`."""

    operators: OperatorSequences
    computing: Sums
    classes: Sums
    kernels: KernelSums
    modules: NestedSums
    phases: Sums
    communication: CollectiveSums
    api: NestedSums


def _step_work(
    analysis: Analysis, walls: StepWalls, args_of: ArgsOf | None
) -> tuple[StepOperators, _StepWork]:
    """Return the operators in the steps, and what these did."""
    steps = walls.host_steps
    launched, operators = launched_work(analysis, walls), operators_in_steps(analysis, walls)
    return operators, _StepWork(
        operators=sequences(analysis, launched, operators, steps, args_of),
        computing=computing_by_operator(analysis, launched, steps),
        classes=classes(analysis, launched, steps),
        kernels=kernel_sums(analysis, launched, steps),
        modules=module_times(analysis, launched, steps),
        phases=range_sums(analysis, walls),
        communication=collective_sums(analysis, walls),
        api=_api_sums(analysis, operators, steps),
    )


def _totals(working: Sequence[DeviceActivity]) -> Totals:
    return Totals(*(sum(getattr(activity, column.name) for activity in working) for column in fields(Totals)))


def _wall_count(analysis: Analysis, choice: StepChoice) -> int | None:
    """Return how many walls there are where nothing is left out; None where only a part is asked for."""
    if choice.step is not None or choice.window is not None:
        return None
    steps = [
        len(analysis.steps_by_device.get(activity.device, ()))
        for activity in analysis.devices
        if activity.window_ns
    ]
    return sum(max(count, 1) for count in steps)


def _notes(analysis: Analysis, walls: StepWalls, choice: StepChoice) -> list[str]:
    notes = [*map(without_stop, (*analysis.trace.report.warnings, *analysis.trace.notes))]
    devices = len(set(walls.device.tolist()))
    if not len(walls):
        notes.append(state("no known device computes or communicates in it, or not in what was asked for"))
    elif walls.number[0] < 0 and not analysis.steps and choice.window is None:
        notes.append(state("it has no ProfilerStep: the whole time of its device counts as one step"))
    if devices > 1:
        notes.append(
            state(
                "it has {count} devices: times of steps are their mean, device times in tables their sum",
                count=devices,
            )
        )
    return notes


def _idle_by_cause(walls: StepWalls, idle: WallIdle, of_devices: WallIdle) -> Sums:
    """Return idle time by cause, in the steps of the devices for their causes and in walls for others."""
    by_cause, on_devices = _tally_causes(walls, idle), _tally_causes(walls, of_devices)
    for name in DEVICE_CAUSES & by_cause.keys():
        device_sum = on_devices.get(name, NOTHING)
        steps = device_sum.steps or (0,) * len(tested_steps(len(walls)))
        by_cause[name] = replace(
            by_cause[name], lowest=device_sum.lowest, highest=device_sum.highest, steps=steps
        )
    return by_cause


def _tally_causes(walls: StepWalls, idle: WallIdle) -> dict[str, Sum]:
    """Return idle time by cause, counted in intervals, however many pieces of one have the cause."""
    width = int(idle.interval.max(initial=0)) + 1
    packed, ns = sums((idle.cause.astype(np.int64) * len(walls) + idle.wall) * width + idle.interval, idle.ns)
    task_by_interval = np.full(width, -1, np.int64)
    task_by_interval[idle.interval] = idle.ending_task
    cause, wall = np.divmod(packed // width, max(len(walls), 1))
    labels = [cause_kind.label for cause_kind in Cause]
    return tally(labels, cause, wall, ns, len(walls), task_by_interval[packed % width])


def _api_sums(analysis: Analysis, operators: StepOperators, steps: int) -> NestedSums:
    spans: OperatorSlices = analysis.operators(host=True)
    span_place = searchsorted(spans.rows, operators.row)
    names = operator_names(analysis.trace)
    name = analysis.trace.slices.name[operators.row].astype(np.int64)
    own_ns = spans.self_ns[span_place].copy()
    repeated = repeated_in(analysis, operators.row)
    is_counted = repeated < 0
    # A parent stands before its children in rows of a track, so what is inside is added to the outermost.
    np.add.at(own_ns, searchsorted(operators.row, repeated[~is_counted]), own_ns[~is_counted])
    columns = (name[is_counted], operators.step[is_counted])
    rows = operators.row[is_counted]
    return NestedSums(
        total=tally(names, *columns, spans.durations[span_place][is_counted], steps, rows),
        self_sums=tally(names, *columns, own_ns[is_counted], steps, rows),
    )


def _advice_costs(analysis: Analysis) -> dict[str, Sum]:
    """Return the advice on all of a trace by kind; notes on the recording cost nothing."""
    costs: dict[str, list[int]] = {}
    for advice in find_advice(analysis):
        costs.setdefault(advice.kind, []).append(advice.per_step_ns or advice.cost_ns or 0)
    return {kind: Sum(max(ns), len(ns), max(ns), max(ns)) for kind, ns in costs.items()}


def range_sums(analysis: Analysis, walls: StepWalls) -> Sums:
    """Return how long marked ranges take the devices, by name; those that begin in no step are left out.

    A range is of the step in which its host began it.
    """
    trace = analysis.trace
    if not analysis.devices:
        return {}
    row, start, end = (np.concatenate(columns) for columns in zip(*analysis.marked_ranges))
    numbers, name = np.unique(trace.slices.name[row], return_inverse=True)
    names = [range_name(trace.strings[number]) for number in numbers.tolist()]
    step, name = walls.step_at(trace.slices.start[row]), name.reshape(-1).astype(np.int64)
    sums = tally(names, name, step, end - start, walls.host_steps, row)
    # A range may be of several devices, whose times add up, but the host began it once.
    _, once = np.unique(row, return_index=True)
    counts = tally(names, name[once], step[once], (end - start)[once], walls.host_steps)
    return {text: replace(total, count=counts[text].count) for text, total in sums.items()}
