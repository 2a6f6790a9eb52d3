"""Which of several labels of one line are shown, so that each can be read by itself."""

from __future__ import annotations

from collections.abc import Iterable


def apart(wanted: Iterable[tuple[int, str]], columns: int) -> dict[int, str]:
    """Return labels that have room, by column: the first of `wanted` first, others where none is near.

    wanted : (column of its first cell, label). Between two labels is at least one cell, and each is whole.
    """
    shown: dict[int, str] = {}
    taken: set[int] = set()
    for column, label in wanted:
        cells = range(column, column + len(label))
        if column >= 0 and cells.stop <= columns and taken.isdisjoint(cells):
            shown[column] = label
            taken.update(range(cells.start - 1, cells.stop + 1))
    return shown
