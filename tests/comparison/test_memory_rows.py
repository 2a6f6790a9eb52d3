"""Memory of two runs by who holds it: nothing of either is in no row."""

from __future__ import annotations

from tracetui.comparison.memory_rows import ALIVE, memory_rows
from tracetui.comparison.memory_use import Holder, MemoryUse
from tracetui.trace.stack import Frame


def line(number: int) -> Frame:
    return Frame("train.py", number, "step")


def test_a_line_that_moved_onto_the_number_of_one_that_is_gone() -> None:
    """Line 88 of BASE is line 93 of OTHER; line 93 of BASE is gone, with what it held."""
    base = MemoryUse({}, {}, {Holder("mm", line(88)): (1, 1), Holder("mm", line(93)): (2, 1)})
    other = MemoryUse({}, {}, {Holder("mm", line(93)): (1, 1)})
    rows = memory_rows(base, other, {line(93): line(88)})
    assert {(row.base_line, int(row.base_ns), int(row.other_ns)) for row in rows} == {(88, 1, 1), (93, 2, 0)}


def test_what_one_side_does_not_tell_of_is_not_gone() -> None:
    base, other = MemoryUse({"PTA": 9}, {"PTA": 10}, {}), MemoryUse({"PTA": 8}, {}, {})
    assert [row.name for row in memory_rows(base, other, {}) if row.what != ALIVE] == ["peak allocated, PTA"]


def test_a_change_of_what_is_reserved_is_held_against_that_where_nothing_else_is_told() -> None:
    base = MemoryUse({}, {"PTA": 1_000, "APP": 10}, {})
    for more, changed in ((10, False), (11, True)):
        rows = memory_rows(base, MemoryUse({}, {"PTA": 1_000 + more, "APP": 10}, {}), {})
        assert [row.changed for row in rows] == [changed, False]
