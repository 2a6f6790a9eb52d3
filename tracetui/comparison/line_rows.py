"""The lines of Python of two runs side by side: idle time, by the place of a line in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tracetui.analysis.idle.cause import Cause
from tracetui.comparison.compared_row import GONE, MATCHED, NEW, ComparedRow, RowScale, ranked
from tracetui.comparison.compared_run import Run
from tracetui.comparison.matched_lines import OTHER_LINES, ChargedLine, LineSums, match_lines
from tracetui.comparison.tally import NOTHING, Sum, sum_together
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
LargestByCause = dict[Cause, tuple[LineRow, Fraction]]


def same_lines(base: Run, other: Run) -> dict[Frame, Frame]:
    """Return the line of BASE that each line of OTHER is, where it is one."""
    base_frames, other_frames = (_known_frames(run) for run in (base, other))
    return match_lines(base_frames, other_frames, (base.lines.calls, other.lines.calls))


def line_rows(
    base: LineSums, other: LineSums, base_lines: Mapping[Frame, Frame], scale: RowScale
) -> tuple[tuple[LineRow, ...], LargestByCause]:
    """Return the lines by idle time, those first that changed most, and of each cause the one that did.

    None where only one side tells of lines: none of them is new or gone.

    Args:
        base, other: the lines.
        base_lines: what `same_lines` returns.
        scale: of the steps.
    """
    if _tells_no_line(base) != _tells_no_line(other):
        return (), {}
    other_lines = {base_key: other_key for other_key, base_key in base_lines.items()}
    has_rest = OTHER_LINES in base.idle, OTHER_LINES in other.idle
    rest_sums: tuple[list[Sum], list[Sum]] = ([], [])
    # Each line by what it is called (in OTHER, else in BASE) and whether OTHER lacks it, with what it was.
    keys: dict[tuple[ChargedLine, bool], ChargedLine | None] = {}
    for key, total in other.idle.items():
        base_key = _name_on_other_side(key, base_lines)
        if key == OTHER_LINES or (has_rest[0] and base_key not in base.idle):
            rest_sums[1].append(total)
        else:
            keys[key, False] = base_key
    for key, total in base.idle.items():
        other_key = _name_on_other_side(key, other_lines)
        if key == OTHER_LINES or (has_rest[1] and other_key not in other.idle):
            rest_sums[0].append(total)
        elif other_key is not None:
            keys.setdefault((other_key, False), key)
        else:
            keys[key, True] = key
    rows: dict[tuple[ChargedLine, bool], LineRow] = {}
    for (key, gone), base_key in keys.items():
        base_sum = NOTHING if base_key is None else base.idle.get(base_key, NOTHING)
        other_sum = NOTHING if gone else other.idle.get(key, NOTHING)
        rows[key, gone] = _row(key, base_key, gone, base_sum, other_sum, scale)
    changes: LargestByCause = {}
    for cause in Cause:
        for (key, gone), base_key in keys.items():
            base_ns = 0 if base_key is None else base.by_cause.get((cause, base_key), 0)
            other_ns = 0 if gone else other.by_cause.get((cause, key), 0)
            delta = Fraction(other_ns, scale.other_steps) - Fraction(base_ns, scale.base_steps)
            if delta and (cause not in changes or abs(delta) > abs(changes[cause][1])):
                changes[cause] = rows[key, gone], delta
    if any(rest_sums):
        rows[OTHER_LINES, False] = _row(
            OTHER_LINES, None, False, sum_together(rest_sums[0]), sum_together(rest_sums[1]), scale
        )
    return ranked(rows.values()), changes


def _tells_no_line(lines: LineSums) -> bool:
    """Return whether there is idle time, but no stack of Python."""
    return bool(lines.idle) and not lines.calls and all(key.frame is None for key in lines.idle)


def _name_on_other_side(key: ChargedLine, names: Mapping[Frame, Frame]) -> ChargedLine | None:
    """Return what a line of one side is called on the other, None where it is not there."""
    if key.frame is None:
        return key
    return ChargedLine(names[key.frame], key.backward) if key.frame in names else None


def _known_frames(run: Run) -> set[Frame]:
    """Return the lines of a run that have any number."""
    idle = (key.frame for key in run.lines.idle if key != OTHER_LINES)
    holders = (holder.frame for holder in (run.memory.alive if run.memory is not None else ()))
    return {*run.lines.calls, *(frame for frame in (*idle, *holders) if frame is not None)}


def _row(
    key: ChargedLine, base_key: ChargedLine | None, gone: bool, base: Sum, other: Sum, scale: RowScale
) -> LineRow:
    frame, base_frame = key.frame, None if base_key is None else base_key.frame
    name = "(no stack)" if frame is None else f"{frame.file}({frame.line}) {frame.function}"
    if key == OTHER_LINES and frame is not None:
        name, frame = frame.function, None
    return LineRow(
        name=f"{name} (backward)" if key.backward else name,
        base=base,
        other=other,
        scale=scale,
        changed=scale.changed(base, other),
        frame=frame,
        backward=key.backward,
        base_line=None if base_frame is None else base_frame.line,
        gone=gone,
    )
