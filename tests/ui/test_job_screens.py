"""The screens of a job beside its ranks: fixes that are tried, the pipeline, the experts, the phases."""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input

from tests.job.files import TINY, rank_directory
from tests.job.planted import job as planted
from tests.pages import check
from tests.ui.training import screen_text
from tests.ui.viewing import case, lines_of, said, table_looks, until
from tracetui.export.job.whatif import critical_words
from tracetui.export.language import CHINESE, ENGLISH, choose_language
from tracetui.job.job import Job
from tracetui.job.load import find_ranks
from tracetui.job.pipeline import find_pipeline
from tracetui.job.pipeline_chart import usual_step
from tracetui.job.rank_table import rank_rows
from tracetui.job.stages import job_stages
from tracetui.job.whatif.answer import NoReplay, Replays
from tracetui.job.whatif.fixes import Fix, Target, parse_fix
from tracetui.job.whatif.order import median_step
from tracetui.job.whatif.row_fixes import RowFixes
from tracetui.language import state
from tracetui.places import parse_place
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.job_app import JobApp
from tracetui.ui.messages import JobRead
from tracetui.ui.options import ViewerOptions
from tracetui.ui.ranks.lanes import RankLanes
from tracetui.ui.ranks.rank_tables import RankTables
from tracetui.ui.ranks.rank_view import RankPlace
from tracetui.ui.screens.experts import ExpertsScreen
from tracetui.ui.screens.job_screen import JobScreen, JobTableScreen
from tracetui.ui.screens.pipeline import PipelineScreen
from tracetui.ui.screens.whatif import WhatifScreen
from tracetui.ui.tables.layout import ColumnPlace
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_percent

OPTIONS = ViewerOptions(palette="none", ascii=True, jobs=1)
SIZES = ((80, 24), (120, 36), (200, 60))
SLOW_STAGE = 2  #: of the uneven pipeline


def two_ranks(directory: Path) -> Path:
    """A directory with two ranks of a job."""
    for rank in range(2):
        rank_directory(directory, rank, trace=json.dumps(json.loads(TINY)).encode())
    return directory


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return two_ranks(tmp_path)


@asynccontextmanager
async def viewing_job(
    directory: Path, job: Job, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[JobApp, Pilot[int]]]:
    """The viewer of a job, as if the ranks of a directory were those of the job."""
    app = JobApp(find_ranks([directory]), OPTIONS)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.job_session.job is not None and app.job_session.progress is None)
        app.on_job_read(JobRead(job))
        await pilot.pause()
        yield app, pilot


def opening(app: JobApp) -> list[tuple[int, int, int]]:
    """Write down the ranks and times that the screen in front opens from now on, in place of opening them."""
    opened: list[tuple[int, int, int]] = []
    assert isinstance(app.screen, JobScreen)
    app.screen.open_rank = lambda *place: opened.append(place)
    return opened


def text(app: JobApp) -> str:
    return "\n".join(screen_text(app))


async def test_what_is_of_a_trace_asks_for_a_rank_where_none_is_open(directory: Path) -> None:
    async with viewing_job(directory, planted("pipeline-uneven")) as (app, pilot):
        for screen, keys in (("R", "i"), ("P", "ix"), ("N", "ix")):
            for key in keys:
                await pilot.press(screen, key)
                await pilot.pause()
                with case(screen, key):
                    assert "Choose a rank first: R lists them, enter opens one." in text(app)
                    assert len(app.screen_stack) == 1


async def test_the_ranks_say_what_a_step_gains_by_each_row(directory: Path) -> None:
    job = planted("pipeline-uneven")
    replays, fixes = Replays(job), RowFixes(job, job_stages(job, rank_rows(job)))
    async with viewing_job(directory, job) as (app, pilot):
        await until(pilot, lambda: f"saves ~{100 * replays.error:.1f} %" in text(app))
        fix = next(fix for root in job.root_breakdown.roots if (fix := fixes.of_root(root)) is not None)
        assert fix == Fix(Target.STAGE, stage=SLOW_STAGE), "no other rank does its work"
        saved = replays.trial((fix,)).saves_ns
        assert saved > replays.step_ns // 10 and format_duration(saved) in text(app)
        for table in range(1, 5):
            await pilot.press("tab")
            await until(pilot, lambda: "saves ~" in text(app) or "No planes" in text(app))
            if table == 4:
                stage = replays.trial((Fix(Target.STAGE, stage=SLOW_STAGE),)).saves_ns
                assert format_duration(stage) in text(app)


async def test_the_fix_of_a_row_is_tried_and_its_lanes_are_shown(directory: Path) -> None:
    job = planted("pipeline-uneven")
    replays = Replays(job)
    async with viewing_job(directory, job) as (app, pilot):
        await pilot.press("percent_sign")
        await until(pilot, lambda: app.shown == "whatif" and "a step:" in said(app, "answer"))
        tried = app.job_session.fixes
        assert [fix.text for fix in tried] == [f"stage={SLOW_STAGE}"]
        outcome = replays.outcome(tried)
        assert outcome.trial == replays.trial(tried)
        words = (
            f"{format_duration(outcome.trial.step_ns)} instead of {format_duration(replays.step_ns)} a step"
        )
        assert words in said(app, "answer")
        assert critical_words(job, outcome.critical.rank(median_step(replays.steps))) in said(app, "then")
        lanes = [line for line in screen_text(app) if "rank 0 " in line]
        lane_now, lane_then = (line.rstrip() for line in lanes)
        assert len(lane_then) < len(lane_now), "the step ends earlier: both have one scale"
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            with case(size):
                shown = screen_text(app)
                assert max(map(cell_len, shown)) <= size[0]
                assert words in shown[0] and shown[-1].startswith("space")
                assert all(sum(f"rank {rank} " in line for line in shown) >= 2 for rank in range(3))
                if size[1] == 60:
                    heights = {lanes.size.height for lanes in app.screen.query(RankLanes)}
                    assert heights == {1 + len(job.ranks)}, "an axis and all ranks"
        screen = app.screen
        assert isinstance(screen, WhatifScreen)
        start, end = outcome.lanes.step_span(screen._step)
        assert f" fixed: {format_duration(end - start)}" in said(app, "then")
        screen.failed("outcome", "It cannot be replayed.")
        await pilot.pause()
        assert "It cannot be replayed." in text(app)
        assert screen.export_name() == "what_if", "a name of a file without blanks"
        table = screen.query_one(TableWidget)
        row = table.cursor_row
        await pilot.press("space")
        assert app.job_session.fixes == [] and table.cursor_row == row == 0, "no longer"
        await pilot.press("j", "space", "k", "space")
        await until(pilot, lambda: "a step:" in said(app, "answer"))
        assert len(app.job_session.fixes) == 2 and app.job_session.fixes[1].text == f"stage={SLOW_STAGE}"
        assert f"{app.job_session.fixes[0].text}, stage={SLOW_STAGE} fixed" in said(app, "then")
        await pilot.press("escape")
        assert app.shown == "ranks"


async def test_the_cursor_is_on_the_fix_that_a_row_of_the_ranks_asked_for(directory: Path) -> None:
    async with viewing_job(directory, planted("pipeline-uneven")) as (app, pilot):
        for rows in (2, 1):  # the second time the screen has been shown already
            await pilot.press("R", *["J"] * rows, "percent_sign")
            await until(pilot, lambda: app.shown == "whatif" and "a step:" in said(app, "answer"))
            screen = app.screen
            assert isinstance(screen, WhatifScreen)
            with case(rows):
                assert f"fix: {app.job_session.fixes[-1].text}" in screen.copy_text()
        assert len(app.job_session.fixes) == 2


async def test_no_lane_is_marked_where_a_missing_rank_is_critical(directory: Path) -> None:
    async with viewing_job(directory, planted("absent")) as (app, pilot):
        await pilot.press("S")
        await until(pilot, lambda: "missing ranks are critical" in said(app, "now"))
        lanes = [line for line in screen_text(app) if line[1:].startswith(("rank 0", "rank 1", "rank 3"))]
        assert len(lanes) == 2 * 3
        assert {line[0] for line in lanes} == {" "}


async def test_lanes_follow_the_cursor_where_nothing_is_tried_and_the_step_that_is_asked_for(
    directory: Path,
) -> None:
    job = planted("pipeline-uneven")
    best = f"stage={SLOW_STAGE} fixed"
    async with viewing_job(directory, job) as (app, pilot):
        await pilot.press("S")
        await until(pilot, lambda: app.shown == "whatif" and best in said(app, "then"))
        replays = Replays(job)
        saved = replays.trial((Fix(Target.STAGE, stage=SLOW_STAGE),)).saves_ns
        assert f"One fix saves {format_percent(saved, replays.step_ns)}" in said(app, "answer")
        await pilot.press("j")
        await until(pilot, lambda: best not in said(app, "then"))
        before = said(app, "now")
        await pilot.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        await until(pilot, lambda: said(app, "now") != before)
        start, end = replays.outcome(()).lanes.step_span(0)
        assert f"step {replays.order.steps[0]} now: {format_duration(end - start)}" in said(app, "now")


async def test_a_pipeline_is_drawn_and_says_what_equal_stages_save(directory: Path) -> None:
    job = planted("pipeline-uneven")
    found = find_pipeline(job)
    assert found is not None
    async with viewing_job(directory, job, (80, 24)) as (app, pilot):
        await pilot.press("P")
        await until(
            pilot, lambda: app.shown == "pipeline" and "Work spread evenly saves" in said(app, "answer")
        )
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            with case(size):
                shown = screen_text(app)
                assert f"saves {format_duration(found.balance_saves_ns)} of a step; replay off by" in shown[0]
                last = next(line for line in shown if line.startswith(" stage 3 "))
                assert [letter for letter in last[9:] if letter in "FB"] == [*"FB" * 8]
                assert "4 stages follow 1F1B with 8 micro-batches." in text(app)
                assert format_duration(found.stages[SLOW_STAGE].bubble_ns) in text(app)
        opened = opening(app)
        await pilot.press("left_square_bracket", "j")
        await pilot.pause()
        assert isinstance(app.screen, PipelineScreen)
        drawn = lines_of(app.screen.chart)[1:5]
        assert [line[1:8] for line in drawn] == [f"stage {stage}" for stage in range(4)], "all have room"
        assert [line[0] != " " for line in drawn] == [False, True, False, False]
        await pilot.press("enter")
        step = found.order.steps[max(usual_step(found) - 1, 0)]
        rank = next(rank for rank in job.ranks if rank.number == min(found.stages[1].ranks))
        steps = rank.digest.steps.at(rank.digest.steps.number == step)
        start = int(steps.start[0] - steps.preparing[0])
        assert opened == [(job.ranks.index(rank), start, int(steps.end[0]))]


async def test_passes_that_run_at_once_are_drawn_by_both_letters(directory: Path) -> None:
    async with viewing_job(directory, planted("pipeline-dualpipe"), (80, 24)) as (app, pilot):
        await pilot.press("P")
        await until(
            pilot, lambda: app.shown == "pipeline" and "Work spread evenly saves" in said(app, "answer")
        )
        shown = screen_text(app)
        assert max(map(cell_len, shown)) <= 80
        assert "(p/2 - 1)(F&B + B - 3W)." in text(app)
        assert "both at once" in said(app, "legend") and "weights" in said(app, "legend")
        stages = [line for line in shown if line[1:].startswith("stage ")]
        assert len([line for line in stages if "FBFBFBFB" in line and "W" in line]) == 4


async def test_experts_are_drawn_by_their_tokens_and_say_what_balance_saves(directory: Path) -> None:
    job = planted("experts-W2")
    replays = Replays(job)
    saved = replays.trial([parse_fix("balance=experts")]).saves_ns
    async with viewing_job(directory, job, (80, 24)) as (app, pilot):
        await pilot.press("E")
        await until(pilot, lambda: f"Balance saves {format_duration(saved)}" in said(app, "answer"))
        await until(pilot, lambda: "rank 0" in said(app, "tokens"))
        hot, *cooler = said(app, "tokens").splitlines()
        assert hot.startswith(" rank 0 ") and " 3.25x " in hot
        assert all(" 0.25x " in line and line.count("#") * 4 < hot.count("#") for line in cooler)
        opened = opening(app)
        await pilot.press("enter")
        ((place, start, end),) = opened
        collectives = job.ranks[place].collectives
        assert job.ranks[place].number == 0
        assert start in collectives.start and end in collectives.end and start < end
        await pilot.press("P")
        await until(pilot, lambda: "No pipeline is seen" in text(app))


async def test_which_columns_of_tables_of_a_job_stay_where_space_is_short(
    directory: Path, request: pytest.FixtureRequest
) -> None:
    tables = RankTables(planted("pipeline-uneven"), Palette("none"))._tables
    viewed: dict[str, Sequence[ColumnPlace]] = {name: table.places for name, table in tables.items()}
    for name, keys in (("pipeline-uneven", "SP"), ("experts-W2", "E"), ("roles", "N")):
        async with viewing_job(directory, planted(name)) as (app, pilot):
            for key in keys:
                await pilot.press(key)
                await until(pilot, lambda: "replay off by" in said(app, "answer"))
                screen = app.screen
                viewed[app.shown] = (
                    screen.column_places()
                    if isinstance(screen, JobTableScreen)
                    else screen.query_one(TableWidget).rows.columns
                )
    check(table_looks(viewed), "job-table-columns", request)


def test_the_exchange_with_most_tokens_of_the_hot_rank_is_opened() -> None:
    tokens = (None, 5, 9, 7)
    exchanges = [SimpleNamespace(rank=1, tokens=of, dispatch=at, combine=at) for at, of in enumerate(tokens)]
    other = SimpleNamespace(rank=0, tokens=99, dispatch=0, combine=0)
    layer = SimpleNamespace(hot_ranks=lambda groups: [1], exchanges=[other, *exchanges])
    answer: Any = SimpleNamespace(rows=SimpleNamespace(rows=[layer], groups=()))
    collectives = SimpleNamespace(start=[0, 10, 20, 30], end=[1, 11, 21, 31])
    job: Any = SimpleNamespace(ranks=[None, SimpleNamespace(collectives=collectives)])
    screen: Any = None
    assert ExpertsScreen.place_of(screen, job, answer, 0) == RankPlace(1, 20, 21)


async def test_what_a_job_has_nothing_of_is_said_whole_in_few_lines(directory: Path) -> None:
    async with viewing_job(directory, planted("pipeline-uneven"), (60, 15)) as (app, pilot):
        await pilot.press("E")
        await until(pilot, lambda: "the experts work at is not known." in " ".join(text(app).split()))


async def test_phases_say_what_equal_ranks_save_and_wait_for(directory: Path) -> None:
    job = planted("roles")
    replays = Replays(job)
    trial = replays.trial([parse_fix("phase=generate")])
    async with viewing_job(directory, job, (80, 24)) as (app, pilot):
        await pilot.press("N")
        share = format_percent(trial.saves_ns, replays.step_ns)
        await until(pilot, lambda: f"generate: equal ranks save {share} of a step" in said(app, "answer"))
        assert "log_prob waits" in said(app, "said")
        await pilot.press("j", "j")
        await until(pilot, lambda: said(app, "story").startswith("generate"))
        assert "Longest on rank 2 " in said(app, "story")
        opened = opening(app)
        await pilot.press("enter")
        ((place, start, end),) = opened
        assert job.ranks[place].number == 2 and f"rank 2 {format_duration(end - start)}" in said(app, "story")


async def test_why_a_job_cannot_be_replayed_is_said_in_chinese(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(screen: WhatifScreen, job: Job) -> None:
        raise NoReplay(state("no device works in it"))

    monkeypatch.setattr(WhatifScreen, "find", find)
    choose_language(CHINESE)
    try:
        async with viewing_job(directory, planted("roles"), (80, 24)) as (app, pilot):
            await pilot.press("S")
            await pilot.pause()
            assert "作业无法重放：其中没有设备在工作。" in said(app, "answer")
    finally:
        choose_language(ENGLISH)


async def test_their_tables_are_saved_under_the_name_of_the_job(directory: Path) -> None:
    async with viewing_job(directory, planted("roles"), (80, 24)) as (app, pilot):
        for key, table in (("N", "phases"), ("S", "what_if")):
            await pilot.press(key)
            await until(pilot, lambda: "replay off by" in said(app, "answer"))
            await pilot.press("e")
            with case(key):
                assert app.screen.query_one("#file", Input).value == f"{directory.name}_{table}.csv"
            await pilot.press("escape")


async def test_all_of_them_speak_chinese(directory: Path) -> None:
    choose_language(CHINESE)
    try:
        async with viewing_job(directory, planted("roles"), (80, 24)) as (app, pilot):
            await pilot.press("S")
            await until(pilot, lambda: "重放误差" in said(app, "answer"))
            await pilot.press("N")
            await until(pilot, lambda: "各卡等长" in said(app, "answer"))
            await pilot.press("E")
            await until(pilot, lambda: app.shown == "experts" and "all-to-all" in text(app))
    finally:
        choose_language(ENGLISH)


@pytest.mark.parametrize("keys", [("R", "tab", "down"), ("S", "down")])
async def test_the_place_of_a_screen_of_a_job_opens_it_again(directory: Path, keys: tuple[str, ...]) -> None:
    async with viewing_job(directory, planted("loader")) as (app, pilot):
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        shown = app.shown
        await pilot.press("u")
        await pilot.pause()
        words = shlex.split(app.clipboard)
        place = parse_place(words[-1])
        assert (place.screen, place.rank) == (shown, None)
        assert place.rows, "the row under the cursor"
        await pilot.press("up", "S" if shown == "ranks" else "R")
        await pilot.pause()
        assert app.shown != shown
        app.places.open(place)
        await pilot.pause()
        assert app.shown == shown
        await pilot.press("u")
        await pilot.pause()
        assert parse_place(shlex.split(app.clipboard)[-1]) == place
