"""The screen of queries: asking, completing, what an answer looks like, and where its rows lead."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.job.planted import job as planted
from tests.ui.rest import threads_held
from tests.ui.test_job_screens import SIZES, two_ranks, viewing_job
from tests.ui.test_jobs_compared import digests
from tests.ui.test_jobs_compared import viewer as viewer_of_jobs
from tests.ui.training import screen_text, viewer
from tests.ui.viewing import case, said, until
from tracetui.export.queries.query import QueryResult
from tracetui.places import parse_place
from tracetui.ui.app import TraceApp
from tracetui.ui.screens import sql
from tracetui.ui.screens.sql import JobSqlScreen, PairSqlScreen, SqlScreen
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
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert f"for example: {screen.EXAMPLE}" in "\n".join(screen_text(app)), "nobody takes it for a query"
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


async def test_columns_without_room_are_scrolled_to(tmp_path: Path) -> None:
    async with asking(tmp_path) as (app, pilot, screen):
        screen.ask("select " + ", ".join(f"{number} a_column_{number}" for number in range(1, 9)))
        await until(pilot, lambda: "1 row" in said(app, "answer"))
        for size, fitting in (((100, 24), 7), ((80, 24), 5), ((120, 36), 8)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            with case(size):
                assert sum("a_column_" in word for word in screen_text(app)[3].split()) == fitting
                assert (f"columns 1 to {fitting} of 8" in said(app, "answer")) == (fitting < 8)
                assert ("← →" in said(app, "keys")) == (fitting < 8)
        await pilot.resize_terminal(80, 24)
        for keys, first in ((["right"], 2), (["right"] * 4, 4), (["left"], 3), (["left"] * 4, 1)):
            await pilot.press(*keys)
            with case(keys):
                assert f"columns {first} to {first + 4} of 8" in said(app, "answer")
                assert screen_text(app)[3].split()[0] == f"a_column_{first}"
        await pilot.press("right", "right", "right")
        await pilot.resize_terminal(100, 24)
        await pilot.pause()
        assert "columns 2 to 8 of 8" in said(app, "answer"), "no cell is left free that a column can have"


async def test_an_answer_with_rows_has_the_keys_unless_one_types_on(tmp_path: Path) -> None:
    async with asking(tmp_path) as (app, pilot, screen):
        field = screen.query_one(QueryField)
        await pilot.press(*"select 1 limit 0", "enter")
        await until(pilot, lambda: "0 rows" in said(app, "answer"))
        assert field.has_focus
        with threads_held():
            await pilot.press(*"1", "enter", *"0")
        await until(pilot, lambda: "1 row" in said(app, "answer"))
        assert field.has_focus and field.value == "select 1 limit 010"
        await pilot.press("enter")
        await until(pilot, lambda: not field.has_focus)
        assert said(app, "names") == "The keys go to the table: tab leads back to the query."
        await pilot.press("tab", *"0")
        assert field.value == "0" and said(app, "names") == ""


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
    async with asking(tmp_path) as (app, pilot, screen):
        await pilot.press("escape", "j", "enter")
        await until(pilot, lambda: "rows" in said(app, "answer"))
        assert said(app, "answer").startswith("Queries  the first 3 rows; there are more")
        await pilot.press("tab", "ctrl+u", "enter")
        assert "13 tables" in said(app, "answer")
        screen.ask("select * from range(1)")
        await until(pilot, lambda: said(app, "answer").startswith("Queries  1 row"))
        screen.ask("select * from range(2)")
        await until(pilot, lambda: said(app, "answer").startswith("Queries  2 rows"))


async def test_without_duckdb_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "is_installed", lambda: False)
    async with asking(tmp_path) as (app, pilot, _):
        await pilot.press(*"select 1", "enter")
        assert "pip install tracetui[sql]" in said(app, "answer")


async def test_a_job_is_asked_and_its_rows_are_opened(tmp_path: Path) -> None:
    async with viewing_job(two_ranks(tmp_path), planted("late"), (80, 24)) as (app, pilot):
        await pilot.press("Q")
        await until(pilot, lambda: "4 tables" in said(app, "answer"))
        assert app.shown == "job_sql"
        screen = app.screen
        assert isinstance(screen, JobSqlScreen)
        await pilot.press(*"select sum(los", "tab")
        assert screen.query_one(QueryField).value.startswith("select sum(lost_ns")
        for query, view, start in (
            ("select rank, id from ranks order by rank desc", "ranks", "rank=3"),
            ("select id from roots limit 1", "why", "wait="),
        ):
            await pilot.press("Q")
            screen.ask(query)
            await until(pilot, lambda: "row" in said(app, "answer"))
            for size in SIZES:
                await pilot.resize_terminal(*size)
                with case(size):
                    assert "row" in screen_text(app)[0] and screen_text(app)[-1].startswith("tab")
            await pilot.press("enter")
            await until(pilot, lambda: app.shown == "ranks")
            place = app.places.shown(app.front)
            assert place.rows[-1].startswith(start) and place.view.endswith(view)
        await pilot.press("Q", "tab", "up")
        assert screen.query_one(QueryField).value == query
        assert screen.exported_subject == tmp_path.name
        screen.ask("select count(*) from ranks")
        await until(pilot, lambda: "1 row" in said(app, "answer"))
        await pilot.press("enter")
        assert said(app, "keys") == sql.NO_ID
        with threads_held():
            screen.ask("select count(*) from range(10000000000) x, range(10000000000) y")
            await pilot.pause()
            await pilot.press("escape")
        await until(pilot, lambda: "the query was stopped" in said(app, "answer"))
        await pilot.press("escape")
        assert app.shown == "ranks"


async def test_a_comparison_is_asked_and_its_rows_are_opened(tmp_path: Path) -> None:
    base, other = digests(tmp_path / "before", "late", True), digests(tmp_path / "after", "late", False)
    app = viewer_of_jobs(base, other)
    async with app.run_test(size=(120, 36)) as pilot:
        await until(pilot, lambda: app.jobs.comparison is not None)
        await pilot.press("Q")
        await until(pilot, lambda: "tables" in said(app, "answer"))
        screen = app.screen
        assert isinstance(screen, PairSqlScreen)
        screen.ask("select name, id from ranks order by delta_ns desc")
        await until(pilot, lambda: "4 rows" in said(app, "answer"))
        await pilot.press("enter")
        await until(pilot, lambda: app.shown == "compare" and app.screen.shown.by == "rank")  # type: ignore[attr-defined]
        assert app.places.shown(app.front).rows[-1].startswith("rank=")
        await pilot.press("Q", "escape")
        assert app.shown == "compare"


async def test_two_jobs_without_a_rank_in_common_cannot_be_asked(tmp_path: Path) -> None:
    base = digests(tmp_path / "before", "late", True, slice(0, 2))
    other = digests(tmp_path / "after", "late", False, slice(2, 4))
    app = viewer_of_jobs(base, other)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("Q")
        await until(pilot, lambda: "no rank in common" in said(app, "answer"))


async def test_a_place_writes_its_query_and_does_not_ask_it(tmp_path: Path) -> None:
    query = "select cause, idle_ns from gaps where idle_ns > 3 -- 'x', {y}=#z"
    async with asking(tmp_path) as (app, pilot, screen):
        screen.ask(query)
        await until(pilot, lambda: "rows" in said(app, "answer"))
        place = app.places.shown(app.front)
    (tmp_path / "there").mkdir()
    app = viewer(tmp_path / "there")
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.pause()
        app.places.open(parse_place(str(place)))
        await pilot.pause()
        await until(pilot, lambda: "13 tables" in said(app, "answer"))
        assert app.screen.query_one(QueryField).value == query
        await pilot.press("enter")
        await until(pilot, lambda: "rows" in said(app, "answer"))
        assert isinstance(app.screen, SqlScreen)
        app.screen.ask(f"select 1 -- {'x' * 1000}")
        await until(pilot, lambda: "1 row" in said(app, "answer"))
        assert app.places.shown(app.front).view == "", "it would be longer than places may be"


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
