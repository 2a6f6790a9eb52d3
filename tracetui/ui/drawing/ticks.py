"""Round times for a ruler, where they are and what they say, and which labels have room. No terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from tracetui.ui.state import Viewport

#: cells between two ticks, for a label and air
TICK_CELLS = 14


class Tick(NamedTuple):
    """One labelled moment."""

    column: int
    time_ns: int
    label: str


def tick_step(span_ns: int, columns: int, cells: int = TICK_CELLS) -> int:
    """Return the smallest 1, 2 or 5 times a power of ten, in ns, that leaves `cells` between ticks."""
    least = max(-(-span_ns * cells // max(columns, 1)), 1)
    step = 1
    while True:
        for factor in (1, 2, 5):
            if factor * step >= least:
                return factor * step
        step *= 10


def ticks(viewport: Viewport, origin_ns: int, columns: int) -> list[Tick]:
    """Return the ticks of a viewport, at round times from the origin."""
    step = tick_step(viewport.span_ns, columns)
    first = -((origin_ns - viewport.start_ns) // step) * step + origin_ns
    found = []
    for time_ns in range(first, viewport.end_ns, step):
        column = viewport.column_of(time_ns, columns)
        if 0 <= column < columns:
            found.append(Tick(column, time_ns, format_tick(time_ns - origin_ns, step)))
    return found


def ticks_line(span: tuple[int, int], origin_ns: int, columns: int, mark: str) -> str:
    """Return a line with the ticks of a span of ns, each a label after a mark; the last may be cut."""
    start, end = span
    cells = [" "] * columns
    for tick in ticks(Viewport(start, max(end, start + 1)), origin_ns, columns):
        label = f"{mark}{tick.label}"[: columns - tick.column]
        cells[tick.column : tick.column + len(label)] = label
    return "".join(cells)


def format_tick(ns: int, step_ns: int) -> str:
    """Return a moment with the decimals its step needs: "12.5 ms", "1.25 s", "40 µs"."""
    if ns == 0:
        return "0"
    if step_ns >= 100_000_000 or ns >= 10_000_000_000:
        scale, unit = 1_000_000_000, "s"
    elif step_ns >= 100_000 or ns >= 1_000_000:
        scale, unit = 1_000_000, "ms"
    else:
        scale, unit = 1000, "µs"
    whole, remainder = divmod(ns, scale)
    decimals = 0
    while step_ns % (scale // 10**decimals):
        decimals += 1
    fraction = f".{remainder:0{len(str(scale)) - 1}d}"[: decimals + 1] if decimals else ""
    return f"{whole}{fraction} {unit}"


def apart(wanted: Iterable[tuple[int, str]], columns: int, marks: Collection[int] = ()) -> dict[int, str]:
    """Return labels that have room, by column: the first of `wanted` first, others where none is near.

    wanted : (column of its first cell, label). Between two labels is at least one cell, and each is whole.
    marks : columns that something else is drawn over: no label is shown of which that would hide a letter
        behind the first.
    """
    shown: dict[int, str] = {}
    taken: set[int] = set()
    hidden = set(marks)
    for column, label in wanted:
        cells = range(column, column + len(label))
        is_whole = column >= 0 and cells.stop <= columns and hidden.isdisjoint(cells[1:])
        if is_whole and taken.isdisjoint(cells):
            shown[column] = label
            taken.update(range(cells.start - 1, cells.stop + 1))
    return shown
