"""The memory of two runs side by side: peaks of components, and who allocated what was alive then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tracetui.analysis.memory.model import WHOLE
from tracetui.comparison.compared_row import ComparedRow, RowScale, ranked
from tracetui.comparison.compared_row import row as row_of
from tracetui.comparison.memory_use import Holder, MemoryUse
from tracetui.comparison.tally import NOTHING, OTHERS, Sum, together
from tracetui.trace.stack import Frame

ALLOCATED, RESERVED, ALIVE = "allocated", "reserved", "alive"
#: What is compared of runs whose allocators are of different makes.
TENSORS = "all tensors"
_ONE_PERCENT = 100


@dataclass(frozen=True)
class MemoryRow(ComparedRow):
    """Memory of a run: of its sums `ns` are bytes, `count` are blocks, and there is one "step"."""

    what: str  #: ALLOCATED, RESERVED, both at most; or ALIVE, at the peak of what is allocated
    component: str  #: "" of what is alive
    holder: Holder | None  #: in OTHER, in BASE where it is only there; None of components
    base_line: int | None  #: its line's number in BASE


def memory_rows(
    base: MemoryUse | None, other: MemoryUse | None, was: Mapping[Frame, Frame]
) -> tuple[MemoryRow, ...]:
    """The rows of what both runs tell: components first, then what was alive; each by how much it changed.

    A row changed where it did by more than 1 % of the peak of BASE: no steps tell of chance. `was` is that of
    `tracetui.comparison.line_rows.same_lines`.
    """
    if base is None or other is None:
        return ()
    scale = RowScale(1, 1, Fraction(base.peak))
    found: list[MemoryRow] = []
    for what, mine, theirs in (
        (ALLOCATED, base.allocated, other.allocated),
        (RESERVED, base.reserved, other.reserved),
    ):
        one, two = _components(mine, theirs)
        peaks = [
            _row(f"peak {what}, {name}", what, name, None, None, _sum(one, name), _sum(two, name), scale)
            for name in {**one, **two}
        ]
        found += ranked(peaks)
    return (*found, *ranked(_alive(base, other, was, scale)))


def _components(base: Mapping[str, int], other: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """The peaks of both sides by component; of all tensors alone, where no component is called alike."""
    if not base or not other or base.keys() & other.keys():
        return dict(base), dict(other)
    whole = [next(name for name in (*WHOLE, *side) if name in side) for side in (base, other)]
    return {TENSORS: base[whole[0]]}, {TENSORS: other[whole[1]]}


def _sum(peaks: Mapping[str, int], name: str) -> Sum:
    size = peaks.get(name, 0)
    return Sum(size, 1, size, size) if size else NOTHING


def _alive(
    base: MemoryUse, other: MemoryUse, was: Mapping[Frame, Frame], scale: RowScale
) -> Iterator[MemoryRow]:
    cut = any(holder.operator == OTHERS for side in (base, other) for holder in side.alive)
    becomes = {before: after for after, before in was.items()}
    of_base = {
        Holder(holder.operator, holder.frame and becomes.get(holder.frame, holder.frame)): (holder, size)
        for holder, size in base.alive.items()
    }
    rest: tuple[list[Sum], list[Sum]] = ([], [])
    for holder in {**other.alive, **of_base}:
        before, mine = of_base.get(holder, (None, (0, 0)))
        theirs = other.alive.get(holder, (0, 0))
        one, two = (Sum(size, blocks, size, size) for size, blocks in (mine, theirs))
        if cut and (not mine[0] or not theirs[0] or holder.operator == OTHERS):
            rest[0].append(one)
            rest[1].append(two)
            continue
        frame = holder.frame
        at = "" if frame is None else f", {frame.file}({frame.line}) {frame.function}"
        line = None if before is None or before.frame is None else before.frame.line
        yield _row(f"{holder.operator}{at}", ALIVE, "", holder, line, one, two, scale)
    if any(rest):
        yield _row(OTHERS, ALIVE, "", None, None, together(rest[0]), together(rest[1]), scale)


def _row(
    name: str,
    what: str,
    component: str,
    holder: Holder | None,
    base_line: int | None,
    base: Sum,
    other: Sum,
    scale: RowScale,
) -> MemoryRow:
    told = row_of(name, base, other, scale)
    changed = abs(told.delta_ns) * _ONE_PERCENT > scale.step_ns
    return MemoryRow(name, base, other, scale, changed, what, component, holder, base_line)
