"""What changed from one run to another: the waterfall of a step, and the tables behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tracetui.analysis.idle.cause import Cause
from tracetui.arrays import Int64s
from tracetui.compare.classes import rank_of
from tracetui.compare.lines import LineKey, moved_lines
from tracetui.compare.operators import Stretch, match_operators
from tracetui.compare.rows import GONE, MATCHED, NEW, Row, Scale, ranked, row, rows
from tracetui.compare.run import Run
from tracetui.compare.tally import NOTHING, Sum
from tracetui.compare.waterfall import TERMS
from tracetui.trace.stack import Frame


@dataclass(frozen=True)
class ModuleRow(Row):
    """A module: with what is inside of it, and what it launched itself."""

    own: Row


@dataclass(frozen=True)
class ApiRow(Row):
    """An operator of the host: its whole time, and that without the operators inside."""

    own: Row


@dataclass(frozen=True)
class LineRow(Row):
    """A line of Python, by its place in OTHER; in BASE where it is only there."""

    frame: Frame | None  #: None: there is no stack
    backward: bool
    base_line: int | None  #: its number in BASE; None where it is only in OTHER, or there is no stack
    gone: bool  #: OTHER has no such line

    @property
    def status(self) -> str:
        """As of any row, but a line that is never idle on one side is matched if it is there."""
        if self.frame is None:
            return super().status
        return GONE if self.gone else NEW if self.base_line is None else MATCHED

    @property
    def moved(self) -> bool:
        """Whether it has another number in OTHER."""
        return self.status == MATCHED and self.frame is not None and self.base_line != self.frame.line


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two runs compared, per step. Tables begin with what changed most, but that of classes."""

    base: Run
    other: Run
    step: Row  #: the mean step
    waterfall: tuple[Row, ...]  #: in the order of `TERMS`; the deltas sum to that of the step
    classes: tuple[Row, ...]
    operators: tuple[Row, ...]
    gone: tuple[Stretch, ...]  #: operators in a row that only BASE has
    new: tuple[Stretch, ...]  #: that only OTHER has
    modules: tuple[ModuleRow, ...]
    kernels: tuple[Row, ...]
    lines: tuple[LineRow, ...]
    causes: tuple[Row, ...]  #: of idle time, preparing included
    cause_lines: dict[Cause, tuple[LineRow, Fraction]]  #: the line that changed most for a cause, by how much
    communication: tuple[Row, ...]
    api: tuple[ApiRow, ...]
    notes: tuple[str, ...]  #: sentences without full stop

    @property
    def tables(self) -> dict[str, tuple[Row, ...]]:
        """The tables by the names that `--by` and JSON have, in their order."""
        return {
            "classes": self.classes,
            "operators": self.operators,
            "modules": self.modules,
            "kernels": self.kernels,
            "lines": self.lines,
            "causes": self.causes,
            "communication": self.communication,
            "api": self.api,
        }

    @property
    def comparable(self) -> bool:
        """Whether both sides have work of a device."""
        return len(self.base.wall_ns) > 0 and len(self.other.wall_ns) > 0

    @property
    def knows_spread(self) -> bool:
        """Whether both sides have two steps at least, so that a change can be told from chance."""
        return min(len(self.base.wall_ns), len(self.other.wall_ns)) > 1


def compare_runs(base: Run, other: Run) -> Comparison:
    """Compare two runs that have steps, with one another."""
    walls = Scale(max(len(base.wall_ns), 1), max(len(other.wall_ns), 1), base.step_ns)
    hosts = Scale(max(base.steps, 1), max(other.steps, 1), base.step_ns)
    terms = tuple(
        row(name, _sum(base.terms_ns[:, place]), _sum(other.terms_ns[:, place]), walls)
        for place, name in enumerate(TERMS)
    )
    matched = match_operators(base.operators, other.operators)
    lines, cause_lines = _lines(base, other, walls)
    return Comparison(
        base=base,
        other=other,
        step=row("step", _sum(base.wall_ns), _sum(other.wall_ns), walls),
        waterfall=terms,
        classes=tuple(
            sorted(
                rows(base.classes.sums(), other.classes.sums(), hosts), key=lambda each: rank_of(each.name)
            )
        ),
        operators=ranked(
            each
            for pair in (
                (matched.base.sums(), matched.other.sums()),
                (matched.only_base.sums(), {}),
                ({}, matched.only_other.sums()),
                (base.operators.loose.sums(), other.operators.loose.sums()),
            )
            for each in rows(*pair, hosts)
        ),
        gone=matched.gone,
        new=matched.new,
        modules=tuple(_modules(base, other, hosts)),
        kernels=_kernels(base, other, hosts),
        lines=lines,
        causes=rows(base.causes.sums(), other.causes.sums(), walls),
        cause_lines=cause_lines,
        communication=_communication(base, other, hosts),
        api=tuple(_api(base, other, hosts)),
        notes=tuple(_notes(base, other)),
    )


def _sum(ns: Int64s) -> Sum:
    """The sum of a column, one entry a step; it counts where there is any time."""
    if not len(ns):
        return NOTHING
    return Sum(int(ns.sum()), int((ns > 0).sum()), int(ns.min()), int(ns.max()))


def _notes(base: Run, other: Run) -> Iterator[str]:
    for name, run in (("BASE", base), ("OTHER", other)):
        yield from (f"{name}: {note}" for note in run.notes)
        if len(run.wall_ns) == 1:
            yield f"{name} has one step: nothing tells how much its steps differ by chance"
    if base.kind is not other.kind:
        yield "the runs are of different makes of devices: their kernels are not compared by name"


def _kernels(base: Run, other: Run, scale: Scale) -> tuple[Row, ...]:
    if base.kind is not other.kind:
        return ()
    if base.kernels.by_shape is not None and other.kernels.by_shape is not None:
        return rows(base.kernels.by_shape.sums(), other.kernels.by_shape.sums(), scale)
    return rows(base.kernels.by_name.sums(), other.kernels.by_name.sums(), scale)


def _modules(base: Run, other: Run, scale: Scale) -> Iterator[ModuleRow]:
    if not base.modules.total.names or not other.modules.total.names:
        return
    own = [run.modules.own.sums() for run in (base, other)]
    for each in rows(base.modules.total.sums(), other.modules.total.sums(), scale):
        itself = row(each.name, own[0].get(each.name, NOTHING), own[1].get(each.name, NOTHING), scale)
        yield ModuleRow(**vars(each), own=itself)


def _api(base: Run, other: Run, scale: Scale) -> Iterator[ApiRow]:
    own = [run.api.own.sums() for run in (base, other)]
    for each in rows(base.api.total.sums(), other.api.total.sums(), scale):
        itself = row(each.name, own[0].get(each.name, NOTHING), own[1].get(each.name, NOTHING), scale)
        yield ApiRow(**vars(each), own=itself)


def _communication(base: Run, other: Run, scale: Scale) -> tuple[Row, ...]:
    """Collectives by what both sides tell of them."""
    parts = [run.communication.tells() for run in (base, other) if run.communication.keys]
    told = tuple(all(known) for known in zip(*parts)) if parts else ()
    return rows(base.communication.tally(told).sums(), other.communication.tally(told).sums(), scale)


def _lines(
    base: Run, other: Run, scale: Scale
) -> tuple[tuple[LineRow, ...], dict[Cause, tuple[LineRow, Fraction]]]:
    mine, theirs = (
        {*run.lines.calls, *(key.frame for key in run.lines.idle if key.frame is not None)}
        for run in (base, other)
    )
    was = moved_lines(mine, theirs, (base.lines.calls, other.lines.calls))
    becomes = {before: after for after, before in was.items()}
    # Each line by what it is called (in OTHER, else in BASE) and whether OTHER lacks it, with what it was.
    keys: dict[tuple[LineKey, bool], LineKey | None] = {}
    for key in other.lines.idle:
        before = (
            key if key.frame is None else LineKey(was[key.frame], key.backward) if key.frame in was else None
        )
        keys[key, False] = before
    for key in base.lines.idle:
        if key.frame is None or key.frame in becomes:
            after = key if key.frame is None else LineKey(becomes[key.frame], key.backward)
            keys.setdefault((after, False), key)
        else:
            keys[key, True] = key
    found: dict[tuple[LineKey, bool], LineRow] = {}
    for (key, gone), same in keys.items():
        sums = NOTHING if same is None else base.lines.idle.get(same, NOTHING)
        now = NOTHING if gone else other.lines.idle.get(key, NOTHING)
        found[key, gone] = _line_row(key, same, gone, sums, now, scale)
    changes: dict[Cause, tuple[LineRow, Fraction]] = {}
    for cause in Cause:
        for (key, gone), same in keys.items():
            mine_ns = 0 if same is None else base.lines.by_cause.get((cause, same), 0)
            theirs_ns = 0 if gone else other.lines.by_cause.get((cause, key), 0)
            delta = Fraction(theirs_ns, scale.other_steps) - Fraction(mine_ns, scale.base_steps)
            if delta and (cause not in changes or abs(delta) > abs(changes[cause][1])):
                changes[cause] = found[key, gone], delta
    return ranked(found.values()), changes


def _line_row(
    key: LineKey, before: LineKey | None, gone: bool, base: Sum, other: Sum, scale: Scale
) -> LineRow:
    frame, was = key.frame, None if before is None else before.frame
    name = "(no stack)" if frame is None else f"{frame.file}({frame.line}) {frame.function}"
    return LineRow(
        name=f"{name} (backward)" if key.backward else name,
        base=base,
        other=other,
        scale=scale,
        changed=scale.changed(base, other),
        frame=frame,
        backward=key.backward,
        base_line=None if was is None else was.line,
        gone=gone,
    )
