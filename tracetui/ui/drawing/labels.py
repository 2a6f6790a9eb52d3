"""Which of several labels of one line are shown, so that each can be read by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable


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
