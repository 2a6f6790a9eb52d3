"""The sides and the rows of a comparison in words."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tracetui.compare.job_part import RankRow, RootRow, root_words
from tracetui.compare.line_rows import LineRow
from tracetui.compare.memory_rows import MemoryRow
from tracetui.compare.rows import Row
from tracetui.compare.run import Run
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.units import format_bytes, format_count, format_duration, format_ms

LONGEST_NAME = 300
_MOST_NUMBERS = 8  #: of ranks that are listed


def run_words(run: Run) -> str:
    """ "gpu, 6 steps (5 to 10) of 177.6 ms, 174.1 to 181.3; in all computing 591.5 ms, free 402.6 ms" """
    if not len(run.wall_ns):
        return f"{run.kind.value}, no work of a device"
    mean, low, high = lengths(run)
    count = len(run.wall_ns)
    steps = "1 step" if count == 1 else f"{format_count(count)} steps"
    if len(run.numbers) == 1:
        steps += f" ({run.numbers[0]})"
    elif run.numbers:
        steps += f" ({run.numbers[0]} to {run.numbers[-1]})"
    ranks = f"{_ranks(run.members)}, " if run.members else ""
    told = f"{run.kind.value}, {ranks}{steps} of {mean} ms" + (f", {low} to {high}" if low != high else "")
    if run.totals is None:
        return told
    totals = run.totals
    parts = [f"computing {format_duration(totals.computing_ns)}"]
    if totals.communication_not_overlapped_ns:
        parts.append(f"exposed communication {format_duration(totals.communication_not_overlapped_ns)}")
    parts.append(f"free {format_duration(totals.free_ns)}")
    return f"{told}; in all {format_duration(totals.window_ns)}: {', '.join(parts)}"


def lengths(run: Run) -> list[str]:
    """Return the mean, the shortest and the longest step, in ms."""
    if not len(run.wall_ns):
        return ["-", "-", "-"]
    return [
        format_ms(round(run.step_ns)),
        *(format_ms(int(ns) // run.ranks) for ns in (run.wall_ns.min(), run.wall_ns.max())),
    ]


def row_name(row: Row) -> str:
    """The name; of a line that moved both numbers: "train.py(88) -> (93) forward"."""
    if isinstance(row, RankRow):
        most = max(row.waterfall, key=lambda term: abs(term.delta_ns))
        return f"{row.name}, {most.name} {signed_ms(most.delta_ns)}" if most.delta_ns else row.name
    if isinstance(row, RootRow):
        return printable(root_words(row), LONGEST_NAME)
    if isinstance(row, MemoryRow) and row.holder is not None and row.holder.frame is not None:
        file, line, _ = row.holder.frame
        return printable(f"{row.holder.operator} at {path_end(file)}({line})", LONGEST_NAME)
    if isinstance(row, LineRow) and row.moved and row.frame is not None:
        name = f"{row.frame.file}({row.base_line}) -> ({row.frame.line}) {row.frame.function}"
        return printable(f"{name} (backward)" if row.backward else name, LONGEST_NAME)
    return printable(row.name, LONGEST_NAME)


def ratio_words(row: Row) -> str:
    """OTHER / BASE: "1.250"; "new" or "gone" where one has none."""
    if row.status != "matched":
        return row.status
    return "-" if row.ratio is None else f"{row.ratio:,.3f}"


def count(mean: Fraction) -> int | float:
    """A mean number of times, whole where it is."""
    return mean.numerator if mean.denominator == 1 else float(mean)


def count_words(mean: Fraction | float) -> str:
    """A mean number of times: "12", "1.5"."""
    return format_count(int(mean)) if mean == int(mean) else f"{float(mean):,.1f}"


def signed_ms(ns: Fraction) -> str:
    """A change in ms: "+1.234"; what rounds to nothing has no sign."""
    text = format_ms(round(abs(ns)))
    if not any(digit in "123456789" for digit in text):
        return text
    return f"{'+' if ns > 0 else '-'}{text}"


def signed_size(size: Fraction) -> str:
    """A change in bytes: "+1.24 GB"."""
    return f"{'+' if size > 0 else ''}{format_bytes(round(size))}"


def _ranks(numbers: Sequence[int]) -> str:
    """ "8 ranks (0 to 7)", "3 ranks (0, 2, 5)" """
    if len(numbers) < 2:
        return f"rank {numbers[0]}"
    shown = f"{numbers[0]} to {numbers[-1]}"
    if numbers[-1] - numbers[0] != len(numbers) - 1:
        shown = ", ".join(map(str, numbers[:_MOST_NUMBERS])) + (
            ", ..." if len(numbers) > _MOST_NUMBERS else ""
        )
    return f"{format_count(len(numbers))} ranks ({shown})"
