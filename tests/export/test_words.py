"""Numbers in words: what is little, nearly all, single or unknown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.export.compare_words import run_words
from tracetui.export.memory.document import _known
from tracetui.export.tables.column import Form, Texts
from tracetui.export.tables.gaps import _behind
from tracetui.export.tables.kernels import SHAPES
from tracetui.export.tables.operators import OPERATORS
from tracetui.export.words import _percent
from tracetui.trace.model import Kind


@pytest.mark.parametrize(
    ("part", "share"),
    [(0, "0 %"), (1, "<1 %"), (4, "<1 %"), (5, "1 %"), (700, "70 %"), (995, ">99 %"), (1000, "100 %")],
)
def test_a_share_without_decimals_is_never_rounded_to_nothing_or_all(part: int, share: str) -> None:
    assert _percent(part, 1000) == share


@pytest.mark.parametrize(
    ("numbers", "words"), [((), "2 steps of"), ((5,), "2 steps (5) of"), ((5, 6), "2 steps (5 to 6) of")]
)
def test_a_run_tells_the_numbers_of_its_steps(numbers: tuple[int, ...], words: str) -> None:
    walls = np.array([1_000_000, 1_000_000])
    run: Any = SimpleNamespace(
        kind=Kind.GPU, wall_ns=walls, step_ns=1e6, ranks=1, numbers=numbers, members=(), totals=None
    )
    assert run_words(run).startswith(f"{Kind.GPU.value}, {words}")


def test_nothing_is_0_and_the_unknown_is_null() -> None:
    assert [_known(count) for count in (-1, 0, 1)] == [None, 0, 1]


def test_kernels_in_text_have_their_type_and_not_the_spread_of_their_times() -> None:
    shown = {column.key for column in SHAPES.columns if column.forms & Form.TEXT}
    assert "type" in shown and shown.isdisjoint({"core", "min_ns", "max_ns"})


@pytest.mark.parametrize(("by_idle", "lines"), [(True, [1, 0, -1]), (False, [-1, 2, 3])])
def test_the_line_behind_a_gap_is_of_what_ranks_it(by_idle: bool, lines: list[int]) -> None:
    """Two lines of idle time, then two of communication."""
    idle, moved = (Texts(np.array(codes), str) for codes in ([1, 0, -1], [-1, 0, 1]))
    rows: Any = SimpleNamespace(
        by_idle=by_idle,
        at=lambda texts: texts,
        idle=SimpleNamespace(main_line=idle, lines=["a", "b"]),
        communication=SimpleNamespace(line=lambda: moved, lines=["c", "d"]),
    )
    assert _behind(rows).codes.tolist() == lines


@pytest.mark.parametrize(("names", "shown"), [([1, 1], False), ([1, 2], True)])
def test_how_many_names_a_row_stands_for_is_told_where_any_has_several(names: list[int], shown: bool) -> None:
    table: Any = SimpleNamespace(names=np.array(names))
    (column,) = [column for column in OPERATORS.columns if column.key == "names"]
    assert column.when(table, Form.MARKDOWN) == shown
