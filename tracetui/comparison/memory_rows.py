"""The memory of two runs side by side: peaks of components, and who allocated what was alive then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tracetui.analysis.memory.model import WHOLE
from tracetui.comparison.compared_row import ComparedRow, RowScale, ranked
from tracetui.comparison.compared_row import row as row_of
from tracetui.comparison.memory_use import Holder, MemoryUse
from tracetui.comparison.tally import NOTHING, OTHERS, Sum, sum_together
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
    base: MemoryUse | None, other: MemoryUse | None, base_lines: Mapping[Frame, Frame]
) -> tuple[MemoryRow, ...]:
    """Return the rows of what both runs tell, components first, then what was alive; the most changed first.

    A row changed where it did by more than 1 % of the peak of BASE: no steps tell of chance. `base_lines`
    is what `line_rows.same_lines` returns.
    """
    if base is None or other is None:
        return ()
    scale = RowScale(1, 1, Fraction(base.peak))
    peak_rows: list[MemoryRow] = []
    for what, base_sizes, other_sizes in (
        (ALLOCATED, base.allocated, other.allocated),
        (RESERVED, base.reserved, other.reserved),
    ):
        base_peaks, other_peaks = _components(base_sizes, other_sizes)
        peaks = [
            _row(
                f"peak {what}, {name}",
                _peak_sum(base_peaks, name),
                _peak_sum(other_peaks, name),
                scale,
                what,
                name,
            )
            for name in {**base_peaks, **other_peaks}
        ]
        peak_rows += ranked(peaks)
    return (*peak_rows, *ranked(_alive_rows(base, other, base_lines, scale)))


def _components(base: Mapping[str, int], other: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the peaks of both sides by component; of all tensors alone, where no names are shared.

    None where a side tells of none.
    """
    if not base or not other:
        return {}, {}
    if base.keys() & other.keys():
        return dict(base), dict(other)
    all_tensors = [next(name for name in (*WHOLE, *side) if name in side) for side in (base, other)]
    return {TENSORS: base[all_tensors[0]]}, {TENSORS: other[all_tensors[1]]}


def _peak_sum(peaks: Mapping[str, int], name: str) -> Sum:
    size = peaks.get(name, 0)
    return Sum(size, 1, size, size) if size else NOTHING


def _alive_rows(
    base: MemoryUse, other: MemoryUse, base_lines: Mapping[Frame, Frame], scale: RowScale
) -> Iterator[MemoryRow]:
    cut = any(holder.operator == OTHERS for side in (base, other) for holder in side.alive)
    other_frames = {base_frame: frame for frame, base_frame in base_lines.items()}
    # By what each is called in OTHER, and whether its line is gone: another may have its number now.
    by_holder = {}
    for before, size in base.alive.items():
        frame = before.frame and other_frames.get(before.frame, before.frame)
        gone = before.frame is not None and before.frame not in other_frames and frame in base_lines
        by_holder[Holder(before.operator, frame), gone] = before, size
    rest: tuple[list[Sum], list[Sum]] = ([], [])
    for holder, gone in {**dict.fromkeys((holder, False) for holder in other.alive), **by_holder}:
        base_holder, base_size = by_holder.get((holder, gone), (None, (0, 0)))
        other_size = (0, 0) if gone else other.alive.get(holder, (0, 0))
        base_sum, other_sum = (Sum(size, blocks, size, size) for size, blocks in (base_size, other_size))
        if cut and (not base_size[0] or not other_size[0] or holder.operator == OTHERS):
            rest[0].append(base_sum)
            rest[1].append(other_sum)
            continue
        frame = holder.frame
        where = "" if frame is None else f", {frame.file}({frame.line}) {frame.function}"
        line = None if base_holder is None or base_holder.frame is None else base_holder.frame.line
        yield _row(f"{holder.operator}{where}", base_sum, other_sum, scale, ALIVE, "", holder, line)
    if any(rest):
        yield _row(OTHERS, sum_together(rest[0]), sum_together(rest[1]), scale, ALIVE)


def _row(
    name: str,
    base: Sum,
    other: Sum,
    scale: RowScale,
    what: str,
    component: str = "",
    holder: Holder | None = None,
    base_line: int | None = None,
) -> MemoryRow:
    compared = row_of(name, base, other, scale)
    changed = abs(compared.delta_ns) * _ONE_PERCENT > scale.step_ns
    return MemoryRow(name, base, other, scale, changed, what, component, holder, base_line)
