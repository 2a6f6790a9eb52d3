"""What changed from one run to another: the waterfall of a step, and the tables behind it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tracetui.analysis.health.facts import worst_trust
from tracetui.analysis.health.finding import Severity
from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Int64s
from tracetui.comparison.classes import rank_of
from tracetui.comparison.common_detail import merge_unsplit
from tracetui.comparison.compared_row import ComparedRow, DeviceSteps, RowScale, ranked, row, rows
from tracetui.comparison.compared_run import Run
from tracetui.comparison.job_part import JobPart
from tracetui.comparison.line_rows import LineRow, line_rows, same_lines
from tracetui.comparison.memory_rows import MemoryRow, memory_rows
from tracetui.comparison.operator_sequences import OperatorStretch, match_operators
from tracetui.comparison.rank_test import LEAST_STEPS
from tracetui.comparison.tally import NOTHING, NestedSums, Sum, comparable_sums, tested_steps
from tracetui.comparison.waterfall import DEVICE_TERMS, PREPARING, TERMS, term_places
from tracetui.language import state
from tracetui.trace.clean import printable
from tracetui.trace.model import TraceKind
from tracetui.units import format_duration

_LONGEST_VERSIONS = 200  #: characters


@dataclass(frozen=True)
class NestedRow(ComparedRow):
    """A module, or an operator of the host: its whole time, and that without what is inside of it."""

    self_row: ComparedRow

    @property
    def means(self) -> tuple[Fraction | None, Fraction | None]:
        """Return the ns of a call in BASE and in OTHER; None where there is none."""
        base, other = (
            Fraction(side.ns, side.count) if side.count else None for side in (self.base, self.other)
        )
        return base, other


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two runs compared, per step. Tables begin with what changed most, but that of classes."""

    base: Run
    other: Run
    step: ComparedRow  #: the mean step
    #: in the order of `TERMS`; the deltas sum to that of the step. Preparing is one row where it is small
    waterfall: tuple[ComparedRow, ...]
    classes: tuple[ComparedRow, ...]
    operators: tuple[ComparedRow, ...]
    computing: tuple[ComparedRow, ...]  #: time of kernels by operator of level 1
    gone: tuple[OperatorStretch, ...]  #: operators in a row that only BASE has
    new: tuple[OperatorStretch, ...]  #: that only OTHER has
    modules: tuple[NestedRow, ...]
    phases: tuple[ComparedRow, ...]  #: ranges that people mark, by name
    kernels: tuple[ComparedRow, ...]
    lines: tuple[LineRow, ...]
    causes: tuple[ComparedRow, ...]  #: of idle time, preparing included
    cause_lines: dict[Cause, tuple[LineRow, Fraction]]  #: the line that changed most for a cause, by how much
    communication: tuple[ComparedRow, ...]
    api: tuple[NestedRow, ...]
    advice: tuple[ComparedRow, ...]
    memory: tuple[MemoryRow, ...]
    notes: tuple[str, ...]  #: sentences without full stop
    job: JobPart | None = None  #: of jobs what single runs lack

    @property
    def sides(self) -> tuple[tuple[str, Run], ...]:
        """Return both runs with what they are called."""
        return ("BASE", self.base), ("OTHER", self.other)

    @property
    def comparable(self) -> bool:
        """Return whether both sides have work of a device."""
        return len(self.base.wall_ns) > 0 and len(self.other.wall_ns) > 0

    @property
    def trust(self) -> dict[str, str]:
        """Return the verdict on changes of each number: the worse of the two sides."""
        return worst_trust((self.base.health, self.other.health))

    @property
    def doubted(self) -> bool:
        """Return whether a number of either side is not good."""
        return bool(self.base.health.doubts or self.other.health.doubts)

    def severity_of(self, numbers: Iterable[str]) -> Severity:
        """Return the worst severity of some of `NUMBERS` on either side."""
        wanted = tuple(numbers)
        return max(self.base.health.severity_of(wanted), self.other.health.severity_of(wanted))

    @property
    def findings(self) -> tuple[str, ...]:
        """Return the ids of the findings on both sides, each once."""
        return tuple(dict.fromkeys((*self.base.health.findings, *self.other.health.findings)))

    @property
    def knows_spread(self) -> bool:
        """Return whether both sides have three steps at least, so that a change can be told from chance."""
        return not self.step.scale.few_steps


def compare_runs(base: Run, other: Run) -> Comparison:
    """Compare two runs that have steps; sums that one run does not split are merged in both."""
    base, other, merged = merge_unsplit(base, other)
    wall_scale = _wall_scale(base, other)
    host_scale = _scale(base, other, (base.steps, other.steps), (base.judged_steps, other.judged_steps))
    step, terms = compare_steps(base, other)
    operators = match_operators(base.operators, other.operators, (base.walls, other.walls))
    base_lines = same_lines(base, other)
    lines, cause_lines = line_rows(base.lines, other.lines, base_lines, wall_scale)
    return Comparison(
        base=base,
        other=other,
        step=step,
        waterfall=terms,
        classes=tuple(
            sorted(
                rows(base.classes, other.classes, host_scale),
                key=lambda row_of_class: rank_of(row_of_class.name),
            )
        ),
        operators=ranked(
            row_of_class
            for pair in (
                (operators.base, operators.other),
                (operators.only_base, {}),
                ({}, operators.only_other),
                comparable_sums(base.operators.loose, other.operators.loose),
            )
            for row_of_class in rows(*pair, host_scale)
        ),
        computing=rows(*comparable_sums(base.computing, other.computing), host_scale),
        gone=operators.gone,
        new=operators.new,
        modules=_nested_rows(base.modules, other.modules, host_scale)
        if base.modules.total and other.modules.total
        else (),
        phases=_phase_rows(base, other, host_scale),
        kernels=_kernel_rows(base, other, host_scale),
        lines=lines,
        causes=rows(base.causes, other.causes, wall_scale),
        cause_lines=cause_lines,
        communication=_collective_rows(base, other, host_scale),
        api=_nested_rows(base.api, other.api, host_scale),
        advice=rows(base.advice, other.advice, RowScale(1, 1, base.step_ns)),
        # Of a run without devices it is the host's.
        memory=memory_rows(base.memory, other.memory, base_lines)
        if bool(base.devices) == bool(other.devices)
        else (),
        notes=(*_notes(base, other), *merged),
    )


def compare_steps(base: Run, other: Run) -> tuple[ComparedRow, tuple[ComparedRow, ...]]:
    """Return the mean step, and what it went into: of `TERMS`, whose deltas sum to that of the step.

    Preparing is cut by cause where it is more than 1 % of a step on either side.
    """
    parts = [name for name in TERMS if name in DEVICE_TERMS or not name.startswith(PREPARING)]
    cut = any(
        100 * int(run.terms_ns[:, term_places(PREPARING)].sum()) > int(run.wall_ns.sum())
        for run in (base, other)
    )
    preparing = [TERMS[place] for place in term_places(PREPARING)] if cut else [PREPARING]
    step = sums_of_walls(base, other, "step", None, steadier_on_device(base, other))
    return step, tuple(
        sums_of_walls(base, other, name, (name,), on_device=name in DEVICE_TERMS)
        for name in (*preparing, *parts)
    )


def sums_of_walls(
    base: Run, other: Run, name: str, terms: Collection[str] | None, on_device: bool
) -> ComparedRow:
    """Return the row of several terms together, or of the whole step.

    Args:
        base, other: the runs.
        name: of the row.
        terms: of `TERMS`, or `preparing`; None: all.
        on_device: it is judged by the steps of the devices, not by walls.
    """
    wall_scale = _wall_scale(base, other)
    places = [place for term in terms or () for place in term_places(term)]

    def sum_of(run: Run) -> Sum:
        if terms is None:
            return sum_of_steps(run.wall_ns, run, run.device_ns if on_device else run.wall_ns)
        ns: Int64s = run.terms_ns[:, places].sum(axis=1)
        tested: Int64s = run.device_terms_ns[:, places].sum(axis=1) if on_device else ns
        return sum_of_steps(ns, run, tested)

    return row(name, sum_of(base), sum_of(other), wall_scale)


def steadier_on_device(base: Run, other: Run) -> bool:
    """Return whether steps of devices differ less than walls, as where devices lag behind."""

    def unsteadiness(ns: Int64s) -> Fraction:
        middle = int(np.median(ns))
        return Fraction(int(np.abs(ns - middle).sum()), max(middle, 1))

    sides = [run for run in (base, other) if len(run.wall_ns)]
    return sum(unsteadiness(run.device_ns) for run in sides) < sum(unsteadiness(run.wall_ns) for run in sides)


def _wall_scale(base: Run, other: Run) -> RowScale:
    walls = len(base.wall_ns), len(other.wall_ns)
    base_count, other_count = (
        walls_of_run if run.common is None else run.common.places.shape[1]
        for run, walls_of_run in zip((base, other), walls)
    )
    devices = _device_steps(base), _device_steps(other)
    return _scale(base, other, walls, (base_count, other_count), devices)


def _device_steps(run: Run) -> DeviceSteps | None:
    """Return which walls that are tested are of one step of the host; None where one device has all."""
    devices = len(np.unique(run.walls.device))
    if devices < 2 or run.common is not None:
        return None
    starts = run.walls.start[tested_steps(len(run.walls))]
    return DeviceSteps(devices, tuple(np.unique(starts, return_inverse=True)[1].reshape(-1).tolist()))


def _scale(
    base: Run,
    other: Run,
    counts: tuple[int, int],
    judged: tuple[int, int],
    devices: tuple[DeviceSteps | None, DeviceSteps | None] = (None, None),
) -> RowScale:
    """Return the scale of steps of both sides: how many there are, and how many of them judge a change."""
    sides = base, other
    base_steps, other_steps = (max(count, 1) * run.ranks for count, run in zip(counts, sides))
    base_ranks, other_ranks = (
        (run.ranks if run.common is None else len(run.common.places))
        * (1 if of_devices is None else of_devices.devices)
        for run, of_devices in zip(sides, devices)
    )
    base_tested, other_tested = (None if run.common is None else count for run, count in zip(sides, judged))
    return RowScale(
        base_steps,
        other_steps,
        base.step_ns,
        few_steps=min(base.judged_steps, other.judged_steps) < LEAST_STEPS,
        on_gpu=TraceKind.GPU in (base.kind, other.kind),
        ranks=(base_ranks, other_ranks),
        tested=(base_tested, other_tested),
        devices=devices,
    )


def sum_of_steps(ns: Int64s, run: Run, tested: Int64s) -> Sum:
    """Return the sum of a column of a run, one entry a step; it counts where there is any time.

    Args:
        ns: int64[steps].
        run: whose steps they are.
        tested: int64[steps], ns by which steps are judged.
    """
    if not len(ns):
        return NOTHING
    low, high = int(tested.min()) // run.ranks, -(-int(tested.max()) // run.ranks)
    common = run.common
    values = tested[tested_steps(len(tested))] if common is None else tested[common.places].sum(axis=0)
    return Sum(int(ns.sum()), int((ns > 0).sum()) * run.ranks, low, high, steps=tuple(values.tolist()))


def _notes(base: Run, other: Run) -> Iterator[str]:
    notes_by_side = {
        name: [*run.notes, *([_few_steps(run.judged_steps)] if 0 < run.judged_steps < LEAST_STEPS else [])]
        for name, run in (("BASE", base), ("OTHER", other))
    }
    for note in dict.fromkeys((*notes_by_side["BASE"], *notes_by_side["OTHER"])):
        sides = [name for name, notes in notes_by_side.items() if note in notes]
        run = sides[0] if len(sides) == 1 else state("BASE and OTHER")
        yield state("{run}: {note}", run=run, note=note)
    yield from _recording_notes(base, other)
    if base.kind is not other.kind and len(base.wall_ns) and len(other.wall_ns):
        yield state("The runs are of different makes of devices: their kernels are not compared by name")


def _recording_notes(base: Run, other: Run) -> Iterator[str]:
    """Yield how differently two runs were recorded, and what that alone explains."""
    base_health, other_health = base.health, other.health
    if base_health.level != other_health.level and base_health.level and other_health.level:
        yield state(
            "The runs were recorded at different levels: {base} and {other}",
            base=printable(base_health.level),
            other=printable(other_health.level),
        )
    elif base.has_runtime != other.has_runtime and base.kind is other.kind:
        name = "BASE" if base.has_runtime else "OTHER"
        yield state(
            "Only {run} records calls of the runtime: its host may be slower by what recording them takes",
            run=name,
        )
    if base.tells_scheduler != other.tells_scheduler:
        name = "BASE" if base.tells_scheduler else "OTHER"
        yield state(
            "Only {run} records the scheduler: idle time that it explains has other causes in the other run",
            run=name,
        )
    if base_health.stacks != other_health.stacks and len(base.wall_ns) and len(other.wall_ns):
        name, recorded, plain = ("BASE", base, other) if base_health.stacks else ("OTHER", other, base)
        longer = int(_host_bound(recorded) - _host_bound(plain))
        template = (
            "Only {run} records stacks of Python: its devices do not wait longer for the host: what "
            "recording them costs does not show"
        )
        if longer > 0:
            template = (
                "Only {run} records stacks of Python: its devices wait {time} longer for the host in a step, "
                "which is what recording costs if nothing else differs"
            )
        yield state(template, run=name, time=format_duration(longer))
    if base_health.versions != other_health.versions and base_health.versions and other_health.versions:
        differing = sorted(set(base_health.versions) ^ set(other_health.versions))
        versions = printable(", ".join(differing), _LONGEST_VERSIONS)
        yield state("The runs are of different versions: {versions}", versions=versions)


def _host_bound(run: Run) -> Fraction:
    """Ns of a mean step in which devices wait for the host."""
    host = sum(cause.ns for name, cause in run.causes.items() if str(name).startswith(("host.", "queue.")))
    return Fraction(host, max(len(run.wall_ns), 1) * run.ranks)


def _few_steps(steps: int) -> str:
    """Say that so few steps do not tell a change from chance."""
    template = "{count} steps tell nothing of chance: ranges are compared"
    if steps == 1:
        template = "one step tells nothing of chance: ranges are compared"
    return state(template, count=steps)


def _kernel_rows(base: Run, other: Run, scale: RowScale) -> tuple[ComparedRow, ...]:
    if base.kind is not other.kind:
        return ()
    if base.kernels.by_shape is not None and other.kernels.by_shape is not None:
        return rows(*comparable_sums(base.kernels.by_shape, other.kernels.by_shape), scale)
    return rows(*comparable_sums(base.kernels.by_name, other.kernels.by_name), scale)


def _phase_rows(base: Run, other: Run, scale: RowScale) -> tuple[ComparedRow, ...]:
    """Return the marked ranges of both; none where one has none, or a digest of before they were kept."""
    if not base.phases or not other.phases:
        return ()
    return rows(*comparable_sums(base.phases, other.phases), scale)


def _nested_rows(base: NestedSums, other: NestedSums, scale: RowScale) -> tuple[NestedRow, ...]:
    """Return the rows of whole times, those that changed most first, each with what is its own of it."""
    base_self, other_self = comparable_sums(base.self_sums, other.self_sums)

    def self_row(name: str) -> ComparedRow:
        return row(name, base_self.get(name, NOTHING), other_self.get(name, NOTHING), scale)

    totals = rows(*comparable_sums(base.total, other.total), scale)
    return tuple(NestedRow(**vars(total), self_row=self_row(total.name)) for total in totals)


def _collective_rows(base: Run, other: Run, scale: RowScale) -> tuple[ComparedRow, ...]:
    """Return the collectives by what both sides tell of them."""
    parts = [run.communication.known_parts() for run in (base, other) if run.communication.whole]
    known = tuple(all(is_known) for is_known in zip(*parts)) if parts else ()
    splits = {run.communication.is_split for run in (base, other) if run.communication.whole}
    sides: tuple[dict[str, Sum], dict[str, Sum]] = ({}, {})
    for (suffix, base_sums), (_, other_sums) in zip(
        base.communication.by_name(known), other.communication.by_name(known)
    ):
        if suffix and len(splits) > 1:  # one side cannot tell waiting from moving: neither is new or gone
            continue
        for side, sums in zip(sides, comparable_sums(base_sums, other_sums)):
            side.update({name + suffix: total for name, total in sums.items()})
    return rows(*sides, scale)
