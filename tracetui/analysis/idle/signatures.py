"""Gaps that are alike: of one cause, one line and one operator. Thousands of gaps are tens of signatures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.gaps import Gaps
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import LineFields, lines_of, python_line
from tracetui.analysis.search import group_by, pick
from tracetui.analysis.sums import most_of_each
from tracetui.arrays import Int64s
from tracetui.trace.model import Trace
from tracetui.trace.order import numbered


@dataclass(frozen=True, eq=False)
class Signature(LineFields):
    """The gaps whose idle time is mostly of one cause, and of that mostly of one line and operator."""

    cause: Cause
    operator: str | None  #: as written in the trace: never print it unescaped; None where none ran
    idle_ns: int  #: all idle time of those gaps
    longest_ns: int  #: the most in one
    gap_indices: Int64s  #: most idle first

    @property
    def gaps(self) -> int:
        """How many gaps there are."""
        return len(self.gap_indices)


def signatures(trace: Trace, gaps: Gaps, causes: Causes, rules: FrameRules) -> tuple[Signature, ...]:
    """Return the signatures of gaps with idle time, most idle first; one each: the sum is idle_ns."""
    charges = causes.charges
    lines, line = lines_of(trace, charges.stack, charges.frame, rules)
    name = pick(trace.slices.name, charges.operator)
    backward = charges.backward & (line >= 0)
    main_pieces = np.flatnonzero(causes.of_gaps(len(gaps))[charges.gap] == causes.cause)
    shape = (len(Cause), len(lines) + 1, 2, len(trace.strings) + 1)
    columns = (
        charges.cause[main_pieces],
        line[main_pieces] + 1,
        backward[main_pieces].view(np.int8),
        name[main_pieces] + 1,
    )
    codes = np.ravel_multi_index(columns, shape)  # one number a piece: what is alike of it
    distinct, place = numbered(codes)
    signature_of_gap = most_of_each(charges.gap[main_pieces], place, charges.ns[main_pieces], len(gaps))
    rows = []
    for index, gap_indices in group_by(signature_of_gap):
        if index < 0:
            continue
        cause, line_number, turned, name_number = (
            int(value) for value in np.unravel_index(distinct[index], shape)
        )
        line_number, name_number = line_number - 1, name_number - 1
        gap_indices = gap_indices[np.lexsort((gap_indices, -gaps.idle[gap_indices]))]
        rows.append(
            Signature(
                cause=Cause(cause),
                **python_line(None if line_number < 0 else lines[line_number])._asdict(),
                backward=bool(turned),
                operator=trace.string(name_number),
                idle_ns=int(gaps.idle[gap_indices].sum()),
                longest_ns=int(gaps.idle[gap_indices[0]]),
                gap_indices=gap_indices,
            )
        )
    return tuple(sorted(rows, key=lambda signature: (-signature.idle_ns, int(signature.gap_indices[0]))))
