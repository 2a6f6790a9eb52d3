"""The lines of Python of two runs side by side: idle time, by the place of a line in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tracetui.analysis.idle.cause import Cause
from tracetui.comparison.compared_row import GONE, MATCHED, NEW, ComparedRow, RowScale, ranked
from tracetui.comparison.compared_run import Run
from tracetui.comparison.matched_lines import NOT_TOLD, LineKey, LineSums, moved_lines
from tracetui.comparison.tally import NOTHING, Sum, together
from tracetui.trace.stack import Frame


@dataclass(frozen=True)
class LineRow(ComparedRow):
    """A line of Python, by its place in OTHER; in BASE where it is only there."""

    frame: Frame | None  #: None: there is no stack, or it stands for others
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


#: Of a cause the line that changed most, by how much.
MostOfCauses = dict[Cause, tuple[LineRow, Fraction]]


def same_lines(base: Run, other: Run) -> dict[Frame, Frame]:
    """Return the line of BASE that each line of OTHER is, where it is one."""
    mine, theirs = (_frames(run) for run in (base, other))
    return moved_lines(mine, theirs, (base.lines.calls, other.lines.calls))


def line_rows(
    base: LineSums, other: LineSums, was: Mapping[Frame, Frame], scale: RowScale
) -> tuple[tuple[LineRow, ...], MostOfCauses]:
    """Return the lines by idle time, those first that changed most, and of each cause the one that did.

    Args:
        base, other: the lines.
        was: as of `same_lines`.
        scale: of the steps.
    """
    becomes = {before: after for after, before in was.items()}
    cut = NOT_TOLD in base.idle, NOT_TOLD in other.idle
    rest: tuple[list[Sum], list[Sum]] = ([], [])
    # Each line by what it is called (in OTHER, else in BASE) and whether OTHER lacks it, with what it was.
    keys: dict[tuple[LineKey, bool], LineKey | None] = {}
    for key, found in other.idle.items():
        before = _called(key, was)
        if key == NOT_TOLD or (cut[0] and before not in base.idle):
            rest[1].append(found)
        else:
            keys[key, False] = before
    for key, found in base.idle.items():
        after = _called(key, becomes)
        if key == NOT_TOLD or (cut[1] and after not in other.idle):
            rest[0].append(found)
        elif after is not None:
            keys.setdefault((after, False), key)
        else:
            keys[key, True] = key
    rows: dict[tuple[LineKey, bool], LineRow] = {}
    for (key, gone), before in keys.items():
        sums = NOTHING if before is None else base.idle.get(before, NOTHING)
        now = NOTHING if gone else other.idle.get(key, NOTHING)
        rows[key, gone] = _row(key, before, gone, sums, now, scale)
    changes: MostOfCauses = {}
    for cause in Cause:
        for (key, gone), before in keys.items():
            mine_ns = 0 if before is None else base.by_cause.get((cause, before), 0)
            theirs_ns = 0 if gone else other.by_cause.get((cause, key), 0)
            delta = Fraction(theirs_ns, scale.other_steps) - Fraction(mine_ns, scale.base_steps)
            if delta and (cause not in changes or abs(delta) > abs(changes[cause][1])):
                changes[cause] = rows[key, gone], delta
    if any(rest):
        rows[NOT_TOLD, False] = _row(NOT_TOLD, None, False, together(rest[0]), together(rest[1]), scale)
    return ranked(rows.values()), changes


def _called(key: LineKey, names: Mapping[Frame, Frame]) -> LineKey | None:
    """What a line of one side is called on the other, None where it is not there."""
    if key.frame is None:
        return key
    return LineKey(names[key.frame], key.backward) if key.frame in names else None


def _frames(run: Run) -> set[Frame]:
    """The lines of a run that anything is told of."""
    idle = (key.frame for key in run.lines.idle if key != NOT_TOLD)
    held = (holder.frame for holder in (run.memory.alive if run.memory is not None else ()))
    return {*run.lines.calls, *(frame for frame in (*idle, *held) if frame is not None)}


def _row(key: LineKey, before: LineKey | None, gone: bool, base: Sum, other: Sum, scale: RowScale) -> LineRow:
    frame, was = key.frame, None if before is None else before.frame
    name = "(no stack)" if frame is None else f"{frame.file}({frame.line}) {frame.function}"
    if key == NOT_TOLD and frame is not None:
        name, frame = frame.function, None
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
