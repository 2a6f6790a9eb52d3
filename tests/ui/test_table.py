"""The table: order and filter against a brute-force oracle, what it draws, how it answers keys."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from tests.export.test_columns import SHOWN_MEMORY, TABLES
from tests.export.training import training_events
from tests.pages import check
from tests.synthetic import trace_of
from tests.ui.test_compare import sides
from tests.ui.viewing import table_looks
from tracetui.analysis.advice import find_advice
from tracetui.analysis.analyse import analyse
from tracetui.arrays import Int64s
from tracetui.comparison.comparison import compare_runs
from tracetui.export.queries.query import QueryResult
from tracetui.export.tables.column import Column, Table, count, worded
from tracetui.ui.comparing.tables import SHOWN, Laid
from tracetui.ui.drawing.glyphs import BLOCKS
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.stories.advice_story import advice_columns
from tracetui.ui.tables import memory_views
from tracetui.ui.tables.answer_columns import answer_columns
from tracetui.ui.tables.columns import (
    GAP,
    ViewColumn,
    ViewRows,
    clipped,
    fit_columns,
    named_column,
    number_column,
    sorted_rows,
)
from tracetui.ui.tables.hotspot_columns import signature_columns, sync_columns
from tracetui.ui.tables.layout import ColumnLook, laid_out
from tracetui.ui.tables.operator_columns import operator_columns
from tracetui.ui.widgets.table import MANY, TableWidget
from tracetui.units import format_bytes

NAMES = ["aten::mm", "aten::MatMul", "hcom_allReduce_", "[bold]not markup[/]", "矩阵乘", "ẞ-sharp", ""]


def columns_of(times: Sequence[int], codes: Sequence[int]) -> list[ViewColumn]:
    return [
        number_column("time_ns", "time", np.array(times, dtype=np.int64), lambda ns: f"{ns} ns"),
        named_column("name", "name", np.array(codes, dtype=np.int32), NAMES, width=30, least=6, rank=1),
    ]


rows_strategy = st.lists(
    st.tuples(st.integers(-(2**62), 2**62), st.integers(-1, len(NAMES) - 1)), min_size=0, max_size=40
)


@given(rows_strategy, st.booleans())
def test_rows_sort_by_number_like_python_does(rows: list[tuple[int, int]], descending: bool) -> None:
    times = [time for time, _ in rows]
    view = ViewRows(columns_of(times, [code for _, code in rows]), len(rows), 0, descending).view
    assert view.tolist() == sorted(
        range(len(rows)), key=lambda row: -times[row] if descending else times[row]
    )


@pytest.mark.parametrize("dtype", [np.bool_, np.uint64, np.int8, np.float64])
def test_rows_sort_by_values_of_every_type_in_both_orders(dtype: type[np.generic]) -> None:
    column = number_column("tried", "tried", np.array([1, 0, 1, 0], dtype=dtype), str)
    assert sorted_rows(column, descending=False).tolist() == [1, 3, 0, 2]
    assert sorted_rows(column, descending=True).tolist() == [0, 2, 1, 3]


@given(rows_strategy, st.booleans())
def test_rows_sort_by_name_whatever_the_case_with_the_unknown_last(
    rows: list[tuple[int, int]], descending: bool
) -> None:
    codes = [code for _, code in rows]
    view = ViewRows(columns_of([0] * len(rows), codes), len(rows), 1, descending).view.tolist()
    known = [row for row in range(len(rows)) if codes[row] >= 0]
    by_name = sorted(known, key=lambda row: NAMES[codes[row]].casefold(), reverse=descending)
    if descending:  # Python keeps equal ones in order under reverse, too
        assert by_name == sorted(known, key=lambda row: NAMES[codes[row]].casefold(), reverse=True)
    assert view == by_name + [row for row in range(len(rows)) if codes[row] < 0]


@given(rows_strategy, st.sampled_from(["", "a", "MAT", "[bold]", "乘", "ss", "zzz"]), st.booleans())
def test_a_filter_keeps_the_rows_with_the_text_in_their_name_in_order(
    rows: list[tuple[int, int]], text: str, descending: bool
) -> None:
    codes = [code for _, code in rows]
    table = ViewRows(columns_of([time for time, _ in rows], codes), len(rows), 0, descending)
    everything = table.view.tolist()
    table.filter_by(text)
    shown = ["" if code < 0 else NAMES[code] for code in codes]
    assert table.view.tolist() == [row for row in everything if text.casefold() in shown[row].casefold()]
    table.filter_by("")
    assert table.view.tolist() == everything


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=9),
    st.integers(1, 120),
)
def test_the_columns_that_fit_are_the_most_important_and_never_too_wide(
    shapes: list[tuple[int, int, int]], width: int
) -> None:
    values = np.zeros(1, dtype=np.int64)
    columns = [
        ViewColumn("k", "t", values, lambda row, cells: "", wide, min(least, wide), rank)
        for wide, least, rank in shapes
    ]
    layout = fit_columns(columns, width)
    assert layout
    if len(layout) > 1:
        assert sum(cells for _, cells in layout) + GAP * (len(layout) - 1) <= width
    for place, cells in layout:
        assert (columns[place].least or columns[place].width) <= cells <= columns[place].width
    kept = {place for place, _ in layout}
    vanished = [columns[place].rank for place in range(len(columns)) if place not in kept]
    assert max(columns[place].rank for place in kept) <= min(vanished, default=99)


@pytest.mark.parametrize(
    ("text", "width", "seen"), [("matmul", 6, "matmul"), ("matmul", 4, "mat…"), ("矩阵乘", 4, "矩…")]
)
def test_a_cut_name_says_so(text: str, width: int, seen: str) -> None:
    assert clipped(text, width) == seen


class TableApp(App[None]):
    """A table on its own, with what it said."""

    palette, glyphs = Palette("none"), BLOCKS

    def __init__(self, times: Int64s, codes: Int64s) -> None:
        super().__init__()
        self.columns = columns_of(times.tolist(), codes.tolist())
        self.length = len(times)
        self.moved: list[int] = []
        self.activated: list[int] = []

    def compose(self) -> ComposeResult:
        yield TableWidget()

    def on_mount(self) -> None:
        self.table.show(self.columns, self.length, sort=0)
        self.table.focus()

    @property
    def table(self) -> TableWidget:
        return self.query_one(TableWidget)

    def lines(self) -> list[str]:
        return [self.table.render_line(y).text for y in range(self.table.size.height)]

    def on_table_widget_moved(self, message: TableWidget.Moved) -> None:
        self.moved.append(message.row)

    def on_table_widget_activated(self, message: TableWidget.Activated) -> None:
        self.activated.append(message.row)


def app_of(n: int) -> TableApp:
    return TableApp(np.arange(n, dtype=np.int64) * 7 % 101, np.arange(n, dtype=np.int64) % len(NAMES))


async def test_it_draws_a_header_and_the_rows_in_order_never_as_markup() -> None:
    app = app_of(5)
    async with app.run_test(size=(40, 8)) as pilot:
        await pilot.pause()
        lines = app.lines()
        assert lines[0].startswith(" time▼  name")
        assert [line.split()[0] for line in lines[1:6]] == ["28", "21", "14", "7", "0"]
        assert "[bold]not markup[/]" in lines[2]
        assert all(len(line) <= 40 for line in lines)
        assert all(app.table.render_line(y).cell_length == 40 for y in range(8))


async def test_cursor_keys_move_over_all_rows_and_scroll_as_little_as_needed() -> None:
    app = app_of(100)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        table = app.table
        table.action_cursor(-1)
        assert (table.cursor, table.top) == (0, 0)
        table.action_page(1)
        assert (table.cursor, table.top) == (10, 1)
        table.action_last()
        assert (table.cursor, table.top) == (99, 90)
        table.action_cursor(-5)
        assert (table.cursor, table.top) == (94, 90)
        table.action_first()
        assert (table.cursor, table.top) == (0, 0)
        table.action_activate()
        await pilot.pause()
        assert app.activated == [int(table.rows.view[0])]
        assert app.moved[-1] == int(table.rows.view[0])


async def test_rows_roll_to_the_first_and_the_last_and_no_further() -> None:
    app = app_of(100)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        table = app.table
        for rows, top in ((-1, 0), (89, 89), (5, 90), (1, 90), (-200, 0)):
            table.roll(rows)
            assert table.top == top
        table.move_to(max(place for place, row in enumerate(table.rows.view) if row % len(NAMES) == 1))
        table.filter_by("matm")
        assert (len(table.rows.view), table.cursor, table.top) == (15, 14, 5), "the last ten fill the screen"
        table.filter_by("no such name")
        assert table.top == 0
    app = app_of(3)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        app.table.roll(2)
        assert app.table.top == 0, "all of them are on the screen"


async def test_moving_the_cursor_draws_only_the_two_rows_that_changed() -> None:
    app = app_of(100)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        drawn: list[int] = []
        original = app.table.render_line
        app.table.render_line = lambda y: drawn.append(y) or original(y)  # type: ignore[func-returns-value,method-assign]
        app.table.action_cursor(3)
        await pilot.pause()
        assert sorted(set(drawn)) == [1, 4]


async def test_a_filter_keeps_the_cursor_on_its_row_and_says_when_nothing_is_left() -> None:
    app = app_of(100)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        table = app.table
        table.empty = "nothing matches"
        matmul = next(place for place, row in enumerate(table.rows.view) if row % len(NAMES) == 1)
        table.move_to(matmul)
        row = table.cursor_row
        table.filter_by("matm")
        assert table.cursor_row == row
        table.filter_by("no such name")
        assert table.cursor_row == -1
        assert any("nothing matches" in line for line in app.lines())
        table.action_activate()
        table.action_cursor(1)
        table.filter_by("")
        assert len(table.rows.view) == 100


async def test_a_click_selects_a_row_or_sorts_by_a_header() -> None:
    app = app_of(50)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        table = app.table
        await pilot.click(TableWidget, offset=(3, 4))
        assert table.cursor == 3
        await pilot.click(TableWidget, offset=(10, 0))
        assert table.rows.columns[table.rows.sort].key == "name"
        assert not table.rows.descending
        await pilot.click(TableWidget, offset=(10, 0))
        assert table.rows.descending
        await pilot.click(TableWidget, offset=(0, 0))
        assert table.rows.sort == 0
        await pilot.click(TableWidget, offset=(3, 2), times=2)
        await pilot.pause()
        assert app.activated == [table.cursor_row]


async def test_sorting_beside_goes_round_the_columns_on_screen() -> None:
    app = app_of(50)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        table = app.table
        table.action_sort_beside(1)
        assert (table.rows.sort, table.rows.descending) == (1, False)
        table.action_sort_beside(1)
        assert (table.rows.sort, table.rows.descending) == (0, True)
        table.action_reverse()
        assert (table.rows.sort, table.rows.descending) == (0, False)


async def test_no_rows_and_no_room_are_no_error() -> None:
    for size in ((40, 11), (1, 1), (3, 2)):
        app = TableApp(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            app.table.action_cursor(1)
            app.table.action_last()
            app.table.action_activate()
            assert app.table.cursor_row == -1
            assert len(app.lines()) == app.table.size.height


async def test_many_rows_are_arranged_in_a_thread_and_the_last_wish_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows are looked at until a thread has arranged others; what was asked for in between is not lost."""
    at_work, made = threading.Event(), ViewRows.arranged

    def arranged(rows: ViewRows, sort: int, descending: bool, text: str) -> ViewRows:
        assert at_work.wait(60)
        return made(rows, sort, descending, text)

    random = np.random.default_rng(3)
    times, codes = random.integers(0, 10**6, MANY), random.integers(0, len(NAMES), MANY)
    app = TableApp(times.astype(np.int64), codes.astype(np.int64))
    async with app.run_test(size=(60, 12)) as pilot:
        table = app.query_one(TableWidget)
        await pilot.pause()
        before = table.rows
        monkeypatch.setattr(ViewRows, "arranged", arranged)
        table.sort_by(0)
        table.filter_by("matm")
        assert table.arranging
        assert table.rows is before, "typing and moving go on"
        table.move_to(3)
        at_work.set()
        await pilot.pause()
        expected = [row for row in np.argsort(times, kind="stable").tolist() if codes[row] == 1]
        assert table.rows.view.tolist() == expected


@pytest.mark.parametrize(
    "sizes",
    [[151_000_000, 67_100_000, 900], [999, 1_000, 99_900, 100_000], [], [0], [-12_300_000, 5, 400_000_000]],
)
def test_a_column_of_numbers_has_room_for_each_of_them(sizes: list[int]) -> None:
    column = number_column("size", "", np.array(sizes, np.int64), format_bytes)
    assert all(len(format_bytes(size)) <= column.width for size in sizes)


def test_a_column_of_shares_some_of_which_are_not_known_is_as_wide_as_the_others() -> None:
    shares = np.array([np.nan, 0.5, 12.5, np.inf])
    column = number_column("share", "", shares, lambda share: f"{share:.1f}")
    assert column.width == len("12.5")


def test_of_a_long_name_so_much_is_drawn_as_can_be_seen() -> None:
    """Also in the answer of a query, whose columns are as wide as that."""
    (column,) = answer_columns(QueryResult(["name"], [("x" * 500,)]))
    assert column.width == 400 and column.draw(0, 400) == "x" * 399 + "…"


def test_a_name_that_is_not_known_is_a_dash_and_no_other_takes_its_place() -> None:
    names = [None, "b", "a", None, "b"]
    (shown,) = laid_out(Table((worded("key", "title", list),)), names, [ColumnLook("key")])
    assert [shown.draw(row, 9) for row in range(5)] == ["-", "b", "a", "-", "b"]
    assert [shown.exported(row) for row in range(5)] == names
    assert shown.names is not None
    assert [code if code == -1 else shown.names[code] for code in shown.values.tolist()] == [
        -1 if name is None else name for name in names
    ]


def test_which_columns_of_tables_stay_where_space_is_short(request: pytest.FixtureRequest) -> None:
    analysis = analyse(trace_of(training_events()))
    palette = Palette("none")
    viewed = {name: shown.columns(analysis) for name, shown in TABLES.items()}
    viewed["host operators"] = operator_columns(
        analysis.operators(True).by_name(), analysis.trace, palette, BLOCKS, host=True
    )
    mixed = sides()[0].analysis
    viewed["types of operators"] = operator_columns(
        mixed.operators().by_type(), mixed.trace, palette, BLOCKS, host=False, types=True
    )
    viewed["signatures"] = signature_columns(analysis, palette, BLOCKS)
    viewed["synchronising calls"] = sync_columns(analysis, palette, BLOCKS)
    for view in (memory_views.GROWING, memory_views.SIZES):
        viewed[f"memory: {view.name}"] = view.columns(SHOWN_MEMORY, palette, BLOCKS)
    comparison = compare_runs(*(side.run for side in sides()))
    laid = Laid(comparison, palette, BLOCKS)
    for cells in (100, 99):
        for by in ("term", "operator", "line"):
            viewed[f"compared by {by} in {cells} cells"] = laid.columns(SHOWN[by], cells)
    viewed["advice"] = advice_columns(analysis, find_advice(analysis), palette, BLOCKS)
    check(table_looks(viewed), "table-columns", request)


@pytest.mark.parametrize("words", ["1", "a thousand"])
def test_a_column_of_numbers_has_room_for_their_words(words: str) -> None:
    column: Column[list[int]] = replace(count("n", "n", np.array), words=lambda rows: [words] * len(rows))
    (shown,) = laid_out(Table((column,)), [1000, 2000], [ColumnLook("n")])
    assert shown.width == max(len(words), len("1,000"))
    assert shown.draw(0, shown.width) == words
