"""A job in the viewer: who makes the others wait, what each rank does, and the way into its trace."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.segment import Segment
from textual.pilot import Pilot
from textual.widgets import Input

from simulator.job.directory import write_job
from tests.cache.files import at_rest
from tests.job.files import TINY, rank_directory
from tests.job.planted import job as planted_job
from tests.job.planted import truth
from tests.ui.training import screen_text
from tests.ui.viewing import case, said, until
from tracetui.analysis.idle.cause import Cause
from tracetui.export.job.text import job_report
from tracetui.job.digest import Digest
from tracetui.job.engines.digest_pool import DigestProgress
from tracetui.job.grids import GridMeasure
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import job_of
from tracetui.job.load import find_ranks, load_ranks
from tracetui.job.whatif.fixes import parse_fix
from tracetui.places import parse_place
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.joined import traces_that_open
from tracetui.trace.clean import printable
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.job_app import JobApp
from tracetui.ui.messages import JobGrew, JobProgress, JobRead
from tracetui.ui.options import ViewerOptions
from tracetui.ui.ranks.job_session import JobSession
from tracetui.ui.ranks.lanes import Lanes, RankLanes
from tracetui.ui.ranks.rank_tables import RankTables
from tracetui.ui.ranks.rank_view import RankView
from tracetui.ui.screens.open_traces import OpenTraces
from tracetui.ui.screens.ranks import RanksScreen
from tracetui.ui.session import Session
from tracetui.ui.tables.columns import sorted_rows
from tracetui.units import format_duration, format_percent

OPTIONS = ViewerOptions(palette="none", ascii=True, jobs=1)  # digests are kept: the first test makes them
LATE = 2  #: the rank that loads data for longer, in the job of four


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loader")
    for rank in write_job(truth("loader").outcome, path, 1):
        for file in rank.rglob("*.json"):
            at_rest(file)
    return path


@asynccontextmanager
async def opened(
    directory: Path, size: tuple[int, int] = (120, 36), options: ViewerOptions = OPTIONS
) -> AsyncIterator[tuple[JobApp, Pilot[int]]]:
    """The viewer of a job, digested and mapped."""
    app = JobApp(find_ranks([directory]), options)
    try:
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.job_session.job is not None and app.job_session.progress is None)
            await until(pilot, lambda: screen(app).map.sheet is not None)
            yield app, pilot
    finally:
        for session in app.sessions:
            session.end()


def screen(app: JobApp) -> RanksScreen:
    assert isinstance(app.screen, RanksScreen)
    return app.screen


async def in_trace(app: JobApp, pilot: Pilot[int]) -> None:
    """Until the trace of a rank is shown."""
    await until(pilot, lambda: app.shown == "timeline" and app.session.analysis is not None)


async def test_the_late_rank_and_its_line_are_on_the_first_screen(directory: Path) -> None:
    async with opened(directory, (80, 24)) as (app, pilot):
        assert app.job_session.job is not None and not app.job_session.job.all_steps
        await until(pilot, lambda: "host.dataloader" in "\n".join(screen_text(app)))
        for size in ((80, 24), (120, 36), (200, 60)):
            await pilot.resize_terminal(*size)
            text = screen_text(app)
            with case(size):
                assert "host.dataloader" in "\n".join(text)
                assert "Who makes others wait?" in text[0] and "4 of 4 ranks" in text[0]
                assert "Rank 2 cost 3 others" in "".join(text[1:3])
                assert said(app, "legend").startswith(" waits for it, also with other work ")
                assert screen(app).map.row == LATE, "the cursor begins on the worst cell"
                assert "train_hybrid.py(65) train" in "\n".join(text) or size[0] == 80


async def test_the_legend_of_each_map_has_its_numbers_at_eighty_columns(directory: Path) -> None:
    async with opened(directory, (80, 24), replace(OPTIONS, palette="256")) as (app, pilot):
        for key in "1234561":
            await pilot.press(key)
            await until(pilot, lambda: screen(app).map_shown == int(key) - 1)  # noqa: B023
            with case(key):
                await until(pilot, lambda: len(re.findall(r" [\d.]+", said(app, "legend"))) >= 8)


async def test_means_are_of_all_steps_if_asked(directory: Path) -> None:
    async with opened(directory, options=replace(OPTIONS, all_steps=True)) as (app, _):
        assert app.job_session.job is not None and app.job_session.job.all_steps


async def test_maps_and_lanes_are_of_the_same_cell(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(directory) as (app, pilot):
        column = screen(app).map.column
        for number, question in ((2, "Who waits for others?"), (6, "Which rank computes most?")):
            await pilot.press(str(number))
            await until(pilot, lambda: question in screen_text(app)[0])  # noqa: B023
        await pilot.press("1")
        await until(pilot, lambda: screen(app)._measure is GridMeasure.COST)
        assert (screen(app).map.row, screen(app).map.column) == (LATE, column)
        await pilot.press("7")
        await until(pilot, lambda: screen(app).query_one(RankLanes).display)
        await pilot.pause()
        lanes = {line[1:7]: line[8:] for line in screen_text(app) if line[1:5] == "rank" and "." not in line}
        assert lanes["rank 2"].count("#") > 20, "it was idle"
        assert all(lanes[f"rank {other}"].count("/") > 20 for other in (0, 1, 3)), "the others waited"
        assert "waiting" in "\n".join(screen_text(app))
        drawn: list[int] = []
        draw = RankLanes._draw_lane

        def note(widget: RankLanes, lanes: Lanes, place: int, columns: int) -> list[Segment]:
            drawn.append(place)
            return draw(widget, lanes, place, columns)

        monkeypatch.setattr(RankLanes, "_draw_lane", note)
        row = screen(app).map.row
        await pilot.press("k")
        await pilot.pause()
        assert screen(app).map.row == row - 1 and not drawn, "moving scrolls what is known"
        await pilot.press("h")
        await pilot.pause()
        assert sorted(drawn) == [0, 1, 2, 3], "another step"


async def test_a_cell_opens_the_trace_and_braces_go_to_the_same_moment(directory: Path) -> None:
    async with opened(directory) as (app, pilot):
        job, name_of_job = app.job_session.job, f"{directory.name} - tracetui"
        assert job is not None and app.title == name_of_job
        await pilot.press("enter")
        await in_trace(app, pilot)
        assert app.session.name.startswith("rank 2")
        assert app.title.startswith("rank 2") and app.title.endswith(f" of {name_of_job}")
        viewport = app.session.state.viewport
        steps = job.ranks[LATE].digest.steps
        step = steps.at((steps.start - steps.preparing == viewport.start_ns) & (steps.end == viewport.end_ns))
        assert int(step.preparing[0]) > 5_000_000, "its data loader, which it was late by, is on screen"
        await pilot.press("right_curly_bracket")
        await in_trace(app, pilot)
        assert app.session.name.startswith("rank 3")
        ahead = int(job.clocks.offset[3] - job.clocks.offset[LATE])
        assert app.session.state.viewport.start_ns == viewport.start_ns + ahead
        await pilot.press("left_curly_bracket")
        await until(pilot, lambda: app.session.name.startswith("rank 2"))
        assert app.session.state.viewport == viewport
        await pilot.press("R")
        await until(pilot, lambda: app.shown == "ranks" and app.title == name_of_job)
        await pilot.press("T")
        assert app.shown == "timeline" and app.session.name.startswith("rank 2")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.shown == "ranks")
        assert app.title == name_of_job, "escape leads back, too"
        await pilot.press("N", "T")
        await in_trace(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.shown == "phases")
        await pilot.press("escape")
        await until(pilot, lambda: app.shown == "ranks")


async def test_the_key_of_a_screen_opens_it_for_the_rank_under_the_cursor(directory: Path) -> None:
    async with opened(directory) as (app, pilot):
        job = app.job_session.job
        assert job is not None
        await pilot.press("H")
        await until(pilot, lambda: app.shown == "hotspots" and app.session.analysis is not None)
        assert app.session.name.startswith("rank 2"), "the worst cell"
        steps = job.ranks[LATE].digest.steps
        assert app.session.state.viewport.start_ns in steps.start - steps.preparing
        await pilot.press("right_curly_bracket", "R")
        await until(pilot, lambda: app.shown == "ranks")
        await pilot.press("T")
        await until(pilot, lambda: app.shown == "timeline")
        assert app.session.name.startswith("rank 3"), "nobody has moved the cursor: back to where one was"
        await pilot.press("R", "k", "C")
        await until(pilot, lambda: app.shown == "compare" and app.comparing.pair is not None)
        assert app.comparing.pair is not None and 1 in app.comparing.pair, "the rank above the worst"


def test_where_ranks_are_missing_nobody_says_that_all_agree() -> None:
    job, palette = planted_job("loader"), Palette("none")
    assert RankTables(job, palette).agreement == "All ranks are here and agree."
    three = job_of(job.ranks[1:])
    assert RankTables(three, palette).agreement == "The ranks read agree; 1 of 4 are not here."
    unread = RankTables(three, palette, frozenset({0}))
    assert unread.agreement == "The ranks read agree; 1 of 4 are not read."


async def test_the_list_of_traces_leads_from_the_ranks_into_a_trace(directory: Path) -> None:
    async with opened(directory) as (app, pilot):
        await pilot.press("L", "down", "enter")
        await in_trace(app, pilot)
        await pilot.press("C")
        await until(pilot, lambda: app.shown == "compare" and app.comparing.pair is not None)
        before = app.comparing.pair
        await pilot.press("right_curly_bracket")
        await until(pilot, lambda: app.comparing.pair != before)
        assert app.shown == "compare", "the next rank is compared there, as any open trace"


@pytest.mark.parametrize(
    ("name", "links", "stages", "ranks"),
    [("link", "2 slow", "", "differ"), ("stage", "", "uneven", "differ"), ("balanced", "", "", "")],
)
def test_the_name_of_a_table_says_what_it_has_found(name: str, links: str, stages: str, ranks: str) -> None:
    tables = RankTables(planted_job(name), Palette("none"))
    found = [tables.finding(table) for table in ("links", "stages", "ranks", "lines")]
    assert found == [links, stages, ranks, ""]


def test_notes_take_as_many_lines_as_they_need() -> None:
    tables = RankTables(planted_job("late"), Palette("none"))
    notes = tables.notes = ["the clock of rank 1 is behind that of rank 0 by a lot", "short \x1b[2J"]
    (number, note), count = tables.columns("notes", 30)
    lines = [(str(number.draw(row, 1)), str(note.draw(row, 27))) for row in range(count)]
    assert [first for first, _ in lines] == ["1", "", "", "2"] and max(len(text) for _, text in lines) <= 27
    assert " ".join(text for _, text in lines) == " ".join(map(printable, notes))
    assert sorted_rows(note, descending=False).tolist() == [0, 1, 2, 3], "lines of a note stay together"


def test_share_is_that_of_the_time_of_all_ranks_in_the_viewer_and_in_text() -> None:
    job = planted_job("loader")
    tables = RankTables(job, Palette("none"))
    columns, count = tables.columns("why", 120)
    (share,) = (column for column in columns if column.key == "share")
    time = sum((row.mean("stage") or 0) * max(row.steps, 1) for row in tables.rows)
    shares = [format_percent(root.lost_ns, time) for root in job.root_breakdown.roots]
    assert [str(share.draw(row, 8)).strip() for row in range(count)] == shares
    assert f"  {shares[0]}  " in job_report(job).text(160).split("Late ranks")[0]


async def test_the_tables_follow_each_other_and_a_row_opens_its_rank(directory: Path) -> None:
    async with opened(directory) as (app, pilot):
        seen = []
        for _ in range(7):
            await pilot.pause()
            seen.append(next(line for line in screen_text(app) if line.startswith("-- ")).split("  ")[0])
            await pilot.press("tab")
        assert len(set(seen)) == 6 and seen[0] == seen[6]
        await pilot.press("o")
        await in_trace(app, pilot)
        assert app.session.name.startswith("rank 2"), "the worst rank of the first line"
        await pilot.press("R")
        await until(pilot, lambda: app.shown == "ranks")
        await pilot.press("tab", "J", "J", "J", "o")
        await in_trace(app, pilot)
        assert app.session.name.startswith("rank 3"), "the fourth row"


async def test_the_table_below_is_exported_when_a_trace_was_opened_too(
    directory: Path, tmp_path: Path
) -> None:
    path = tmp_path / "lines.csv"
    async with opened(directory) as (app, pilot):
        await pilot.press("enter")
        await in_trace(app, pilot)
        await pilot.press("escape", "tab", "e")
        field = app.screen.query_one(Input)
        assert field.value == f"{directory.name}_lines.csv"
        field.value = str(path)
        await pilot.press("enter")
        await until(pilot, lambda: app.shown == "ranks" and path.exists())
        assert app.job_session.job is not None
        idle_ns = [line.idle_ns for line in job_lines(app.job_session.job)]
        await pilot.press("shift+tab", "shift+tab", "e")
        await pilot.pause()
        assert "Notes are not exported as a table." in screen_text(app)[-1]
        await pilot.press("shift+tab", "e")
        await pilot.pause()
        assert "There are no rows to export." in screen_text(app)[-1]
    with path.open(encoding="utf-8", newline="") as stream:
        assert [int(row["idle_ns"]) for row in csv.DictReader(stream)] == idle_ns


def test_causes_of_idle_lines_have_the_names_of_the_screens_of_a_trace() -> None:
    job = planted_job("loader")
    columns, count = RankTables(job, Palette("none")).columns("lines", 120)
    (cause,) = (column for column in columns if column.key == "cause")
    names = {known.label: cause_name(known) for known in Cause}
    expected = [names[next(iter(line.causes))] for line in job_lines(job)]
    assert [cause.draw(row, 40) for row in range(count)] == expected and expected[0] == "D data loader"


async def test_the_title_of_the_idle_lines_has_room_beside_the_names_of_the_tables(directory: Path) -> None:
    async with opened(directory, (80, 24)) as (app, pilot):
        await pilot.press("tab")
        for width, title in (
            (80, ""),
            (96, ", preparing included"),
            (120, ", preparing included, all ranks"),
        ):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            with case(width):
                assert said(app, "what").startswith(f"-- Idle lines{title}")
                assert "why  lines  ranks" in said(app, "what")


async def test_notes_are_wrapped_again_in_a_narrower_terminal(directory: Path) -> None:
    async with opened(directory, (120, 36)) as (app, pilot):
        await until(pilot, lambda: screen(app)._tables is not None)
        tables = screen(app)._tables
        assert tables is not None
        tables.notes = ["word " * 30 + "end"]
        await pilot.press("shift+tab")
        for width in (120, 50):
            await pilot.resize_terminal(width, 36)
            await pilot.pause()
            with case(width):
                assert any(line.rstrip().endswith(" end") for line in screen_text(app))


def test_a_map_by_time_says_that_idle_time_includes_preparing() -> None:
    several = planted_job("loader")
    one = job_of([replace(rank, digest=with_first_step(rank.digest)) for rank in several.ranks])
    assert len(one.steps) == 1
    for job, words in ((several, "idle"), (one, "idle, preparing included")):
        ((_, legend),) = RankView(job, GridMeasure.IDLE, "", frozenset()).heats
        assert legend == words


def with_first_step(digest: Digest) -> Digest:
    return replace(digest, steps=digest.steps.at(np.arange(len(digest.steps)) == 0))


async def test_a_late_rank_that_is_missing_has_a_row_of_its_own(directory: Path, tmp_path: Path) -> None:
    for number, rank in enumerate(sorted(directory.iterdir())):
        if number != LATE:
            copytree(rank, tmp_path / rank.name)
    async with opened(tmp_path) as (app, pilot):
        await until(pilot, lambda: "(missing) cost 3 ranks here" in "".join(screen_text(app)[1:3]))
        assert "3 of 4 ranks" in screen_text(app)[0] and "Who makes others wait?" in screen_text(app)[0]
        job = app.job_session.job
        assert job is not None and job.waits.wait_ns.sum() > 0
        (row,) = [line for line in screen_text(app) if line.startswith("rank 2 (missing)")]
        assert format_duration(int(job.waits.wait_ns.sum())) in row, "all that the others lost"
        await until(pilot, lambda: screen(app).map.row == 3)
        await pilot.press("enter")
        await until(pilot, lambda: "The trace of that rank is missing." in screen_text(app)[-1])
        await pilot.press("7", "j", "x")
        await pilot.pause()
        assert ">rank 3" in "\n".join(screen_text(app)), "a lane has who is here"
        assert screen(app).map.row == 2, "the cursor is on it"
        await pilot.press("2")
        await until(pilot, lambda: screen(app)._measure is GridMeasure.WAITED and screen(app).map.row == 2)


async def test_a_late_rank_that_is_not_read_yet_is_not_called_missing(directory: Path) -> None:
    async with opened(directory) as (app, pilot):
        job = app.job_session.job
        assert job is not None and app.job_session.unread == frozenset()
        app.on_job_progress(JobProgress(DigestProgress(3, 4, 3, 4)))
        app.on_job_grew(JobGrew(job_of([rank for rank in job.ranks if rank.number != LATE])))
        await until(pilot, lambda: any(line.startswith("rank 2 (not read)") for line in screen_text(app)))
        text = "\n".join(screen_text(app))
        assert "Rank 2 (not read) cost 3 ranks here" in text and "its trace is not read" in text
        assert "missing" not in text
        await until(pilot, lambda: screen(app).map.row == 3)
        await pilot.press("enter")
        await until(pilot, lambda: "The trace of that rank is not read yet." in screen_text(app)[-1])
        app.job_session.stop_reading()
        app.on_job_read(JobRead(job_of([rank for rank in job.ranks if rank.number != LATE])))
        await until(pilot, lambda: not app.job_session.reading and "reading" not in screen_text(app)[0])
        assert "Rank 2 (not read)" in "\n".join(screen_text(app)), "nor where the reading was stopped"


async def test_ranks_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    for rank in range(2):
        rank_directory(tmp_path, rank, trace=b'[{"ph": "M"')
    app = JobApp(find_ranks([tmp_path]), OPTIONS)
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: bool(app.job_session.problem))
        await until(pilot, lambda: app.job_session.problem[:40] in screen_text(app)[0])


async def test_traces_of_different_jobs_are_listed(tmp_path: Path) -> None:
    """A directory with traces of several days is no job: its traces are there to choose from."""
    app = JobApp(find_ranks([separate_runs_in(tmp_path)]), OPTIONS)
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, OpenTraces))
        assert app.job_session.problem.startswith("no two of the 2 traces are of one job; name one (")
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.shown == "timeline" and app.session is app.sessions[1])


def separate_runs_in(directory: Path) -> Path:
    """Write three traces, two of ranks that are of no job, and a file that is none."""
    later = json.loads(TINY)
    for event in later:
        if "ts" in event:
            event["ts"] = f"{float(event['ts']) + 1e11:.3f}"
    for rank, events in enumerate((json.loads(TINY), later)):
        rank_directory(directory, rank, trace=json.dumps(events).encode())
    (directory / "third.json").write_bytes(TINY)
    (directory / "settings.json").write_text('{"level": 1}')
    return directory


async def test_traces_that_name_no_rank_are_listed_with_those_of_no_job(tmp_path: Path) -> None:
    directory = separate_runs_in(tmp_path)
    app = JobApp(find_ranks([directory]), replace(OPTIONS, paths=(str(directory),)))
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: bool(app.job_session.problem))
        await until(pilot, lambda: not app.is_running)
    assert app.run_directory == directory
    assert sorted(path.name for path in traces_that_open(directory)) == [
        "third.json",
        "trace_view.json",
        "trace_view.json",
    ]
    with pytest.raises(UnreadableTrace, match=r"holds 3 traces, name one of them: .*third\.json"):
        load_ranks([directory], jobs=1)


async def test_two_traces_of_different_runs_are_listed_and_not_compared(tmp_path: Path) -> None:
    paths = traces_that_open(separate_runs_in(tmp_path))[:2]
    options = replace(OPTIONS, separate_runs=True)
    app = TraceApp([Session(path, options) for path in paths], options)
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, OpenTraces))
        assert app.shown == "timeline"


async def test_a_place_opens_the_same_rank_of_a_job(directory: Path) -> None:
    async with opened(directory) as (app, pilot):
        await pilot.press("2", "tab", "u")
        of_job, map_shown = parse_place(shlex.split(app.clipboard)[-1]), screen_text(app)[:-1]
        await pilot.press("enter")
        await in_trace(app, pilot)
        await pilot.press("x", "u")
        of_rank, name = parse_place(shlex.split(app.clipboard)[-1]), app.session.name
        viewport = app.session.state.viewport
    assert of_rank.rank is not None
    assert (of_job.rank, of_job.view) == (None, "2 lines")
    async with opened(directory) as (app, pilot):
        app.places.open(of_job)
        await pilot.pause()
        assert screen_text(app)[:-1] == map_shown
        app.places.open(of_rank)
        await in_trace(app, pilot)
        assert (app.session.name, app.session.state.viewport) == (name, viewport)
        app.places.open(replace(of_rank, rank=77))
        await pilot.pause()
        assert "There is no rank 77 in this job." in screen_text(app)[-1]


async def test_a_line_of_a_rank_is_worth_in_the_job_what_its_replay_says(directory: Path) -> None:
    async with opened(directory) as (app, pilot):
        job = app.job_session.job
        assert job is not None
        replays = app.job_session.replays_of(job)
        await pilot.press("H")
        await until(pilot, lambda: app.shown == "hotspots" and app.session.analysis is not None)
        for key, factor in (("percent_sign", "2x"), ("percent_sign", "all")):
            await pilot.press(key)
            saved = replays.trial((parse_fix(f"train_hybrid.py:65@{LATE}={factor}"),)).saves_ns
            words = (
                f"the job gains {format_duration(saved)} ({format_percent(saved, replays.step_ns)}) a step"
            )
            await until(pilot, lambda: words in said(app, "note"))  # noqa: B023
            line_idle_ns = sum(line.idle_ns for line in job_lines(job) if line.line and line.line.line == 65)
            assert 0 < saved <= line_idle_ns // len(job.steps), "never more than the rank is idle for it"


def test_a_time_of_ranks_that_are_not_aligned_is_that_of_the_same_step_else_from_the_beginning() -> None:
    mine, other = (rank.digest for rank in planted_job("loader").ranks[:2])
    ranks = [SimpleNamespace(digest=mine)]
    ranks.append(SimpleNamespace(digest=SimpleNamespace(start=other.start + 5, steps=other.steps)))
    clocks = SimpleNamespace(family=np.array([0, 1]), offset=np.array([3, 7]))
    session: Any = SimpleNamespace(job=SimpleNamespace(clocks=clocks, ranks=ranks))
    starts = mine.steps.start.tolist()
    for place, (start, end) in enumerate(zip(starts, mine.steps.end.tolist())):
        there = int(other.steps.start[other.steps.number == mine.steps.number[place]][0])
        for time in (start, end - 1):
            assert JobSession.moved_to(session, 0, 1, time) - there == time - start
        if end not in starts:
            assert JobSession.moved_to(session, 0, 1, end) - other.start - 5 == end - mine.start
    clocks.family[1] = 0
    assert JobSession.moved_to(session, 0, 1, 100) == 104


def test_a_rank_has_the_place_of_its_path_in_its_job() -> None:
    found = SimpleNamespace(sources=[SimpleNamespace(path=Path(name)) for name in "abc"])
    job = SimpleNamespace(ranks=[SimpleNamespace(path=name) for name in "ca"])
    session: Any = SimpleNamespace(found=found, job=job)
    assert [JobSession.rank_place(session, source) for source in range(3)] == [1, -1, 0]
    tables = RankTables(planted_job("loader"), Palette("none"))
    assert [tables.rank_at("ranks", row) for row in range(4)] == [0, 1, 2, 3]
    assert tables.rank_at("notes", 0) == -1
