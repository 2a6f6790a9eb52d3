"""The screen of queries: asking, completing, what an answer looks like, and where its rows lead."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.ui.rest import threads_held
from tests.ui.training import screen_text, viewer
from tests.ui.viewing import said, until
from tracetui.export.queries.query import QueryResult
from tracetui.ui.app import TraceApp
from tracetui.ui.screens import sql
from tracetui.ui.screens.sql import SqlScreen
from tracetui.ui.tables.answer_columns import answer_columns, interval_of
from tracetui.ui.tables.columns import sorted_rows
from tracetui.ui.widgets.query_field import QueryField

pytest.importorskip("duckdb")


@asynccontextmanager
async def asking(path: Path) -> AsyncIterator[tuple[TraceApp, Pilot[int], SqlScreen]]:
    """Open the viewer on a training step, with the screen of queries in front."""
    app = viewer(path)
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("Q")
        assert isinstance(app.screen, SqlScreen)
        yield app, pilot, app.screen


async def test_a_query_is_asked_and_its_rows_are_opened(tmp_path: Path) -> None:
    async with asking(tmp_path) as (app, pilot, screen):
        assert "13 tables" in said(app, "answer")
        field = screen.query_one(QueryField)
        await pilot.press(*"select start", "tab", *", id")
        assert field.value == "select start_ns, id"
        assert "idle_ns" in said(app, "names")
        field.value = "select start_ns, idle_ns, before from gaps order by idle_ns desc"
        await pilot.press("enter")
        await until(pilot, lambda: "row" in said(app, "answer"))
        assert "4 rows" in said(app, "answer")
        longest = app.session.analysis.gaps.ranked()[0]  # type: ignore[union-attr]
        start = int(app.session.analysis.gaps.start[longest])  # type: ignore[union-attr]
        assert screen.table.rows.columns[0].exported(0) == start
        assert "\x1b" not in "".join(screen_text(app))
        assert screen.frame(screen.table.rows.view)["idle_ns"].tolist()[0] == 50_000
        await pilot.press("enter")
        assert app.shown == "timeline"
        view = app.session.state.viewport
        assert view.start_ns <= start <= view.end_ns
        await pilot.press("Q", "tab", "up")
        assert field.value.startswith("select start_ns")


async def test_what_is_wrong_is_one_sentence(tmp_path: Path) -> None:
    async with asking(tmp_path) as (app, pilot, screen):
        for query, sentence in (
            ("select nothing from gaps", "Binder Error"),
            ("drop table gaps", "tables are only read"),
            ("select * from read_csv('/etc/passwd')", "Permission Error"),
        ):
            screen.ask(query)
            await pilot.pause()
            assert sentence in said(app, "answer")
        screen.ask("select name from operators limit 1")
        await until(pilot, lambda: "1 row" in said(app, "answer"))
        await pilot.press("enter")
        assert said(app, "keys") == sql.NO_TIME and app.shown == "sql"


async def test_a_query_that_never_ends_is_stopped(tmp_path: Path) -> None:
    async with asking(tmp_path) as (app, pilot, screen):
        for focused in ("#query", "TableWidget"):
            with threads_held():
                screen.ask("select count(*) from range(10000000000) x, range(10000000000) y")
                screen.query_one(focused).focus()
                await pilot.pause()
                assert "esc stops it" in said(app, "answer")
                await pilot.press("escape")
            await until(pilot, lambda: "the query was stopped" in said(app, "answer"))
        assert app.shown == "sql"


async def test_a_table_of_the_list_is_asked_for_and_a_long_answer_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "MOST_ROWS", 3)
    async with asking(tmp_path) as (app, pilot, _):
        await pilot.press("escape", "j", "enter", "enter")
        await until(pilot, lambda: "rows" in said(app, "answer"))
        assert said(app, "answer").startswith("Queries  the first 3 rows; there are more")
        await pilot.press("tab", "ctrl+u", "enter")
        assert "13 tables" in said(app, "answer")


async def test_without_duckdb_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "is_installed", lambda: False)
    async with asking(tmp_path) as (app, pilot, _):
        await pilot.press(*"select 1", "enter")
        assert "pip install tracetui[sql]" in said(app, "answer")


def test_values_are_sorted_exactly_and_unknown_ones_come_last() -> None:
    large = 1_700_000_000_000_000_001
    answer = QueryResult(
        ["at", "share", "name"], [(large + 1, 0.5, "b"), (large, None, None), (large + 2, 0.25, "\x1b[2J")]
    )
    at, share, name = answer_columns(answer)
    assert sorted_rows(at, descending=False).tolist() == [1, 0, 2]
    assert sorted_rows(share, descending=False).tolist() == [2, 0, 1]
    assert [name.exported(row) for row in range(3)] == ["b", None, "\x1b[2J"]
    assert "\x1b" not in str(name.draw(2, 20)) and name.draw(1, 20) == "-"
    assert share.draw(1, 10) == "-"


@pytest.mark.parametrize(
    ("row", "interval"),
    [
        ({"start_ns": 5, "end_ns": 9}, (5, 9)),
        ({"start_ns": 5, "end_ns": 2}, (5, 5)),
        ({"start_ns": 5, "idle_ns": 3, "dur_ns": 4}, (5, 9)),
        ({"start_ns": 5, "dur_ns": None}, (5, 5)),
        ({"start_ns": None}, None),
        ({"start_ns": "5"}, None),
        ({"name": "a"}, None),
    ],
)
def test_the_time_of_a_row(row: dict[str, object], interval: tuple[int, int] | None) -> None:
    assert interval_of(QueryResult([*row], [tuple(row.values())]), 0) == interval
