"""Slices of a lane, or a set of time, per column of a screen: exact at every zoom, O(columns × log n).

Knows columns as integer ns edges; nothing of glyphs and colours.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.arrays import Int64s


@dataclass(frozen=True, eq=False)
class Columns:
    """What to draw, int64[columns] each; column c is the time [edges[c], edges[c + 1])."""

    edges: Int64s  #: int64[columns + 1]
    busy: Int64s  #: ns covered in each column
    gap: Int64s  #: ns of the longest uncovered stretch in each column, cut to the column
    row: Int64s  #: the slice (or interval index) covering most of the column, -1 where none touches it
