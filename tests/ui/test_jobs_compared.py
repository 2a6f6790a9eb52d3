"""Two jobs open on their comparison; the traces of their ranks are a key away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.job.planted import job
from tests.ui.training import screen_text
from tests.ui.viewing import said, until
from tracetui.export.sentences.verdict import verdict
from tracetui.job.compare_jobs import compare_jobs
from tracetui.job.digest_bytes import encode
from tracetui.job.digest_files import SUFFIX
from tracetui.job.load import find_ranks
from tracetui.ui.comparing.comparing import COMPARE
from tracetui.ui.comparing.row_story import story
from tracetui.ui.jobs_app import JobsApp
from tracetui.ui.options import ViewerOptions

OPTIONS = ViewerOptions(palette="none", ascii=True, cache=False)


def digests(directory: Path, name: str, plain: bool, ranks: slice = slice(None)) -> Path:
    """A directory with the digests of a planted job."""
    directory.mkdir()
    for rank in job(name, plain=plain).ranks[ranks]:
        (directory / f"rank{rank.number}{SUFFIX}").write_bytes(encode(rank.digest))
    return directory


def viewer(base: Path, other: Path) -> JobsApp:
    return JobsApp((base, other), (find_ranks([base]), find_ranks([other])), OPTIONS)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_two_jobs_open_on_their_comparison(tmp_path: Path, size: tuple[int, int]) -> None:
    base, other = digests(tmp_path / "before", "late", True), digests(tmp_path / "after", "late", False)
    app = viewer(base, other)
    expected = compare_jobs(job("late", plain=True), job("late"), ("base", "other"))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.jobs.comparison is not None)
        await pilot.pause()
        assert app.shown == COMPARE
        assert " ".join(said(app, "verdict").split("\n")).startswith(verdict(expected))
        assert "rank 3" in said(app, "verdict")
        assert any("changed" in line for line in screen_text(app)), "the column is there at any size"
        seen = []
        for _ in range(3):
            await pilot.press("tab")
            seen.append(app.screen.shown.by)  # type: ignore[attr-defined]
        assert {"rank", "root"} & {*seen} or size[1] >= 34
        keys = said(app, "keys")
        assert "L ranks" in keys and "OTHER" not in keys, "no row of means is at one place"
        await pilot.press("enter")
        assert "mean rank" in said(app, "keys") and "L lists" in said(app, "keys")
        await pilot.press("escape")
        assert app.shown == COMPARE, "there is no trace to go to"
        assert "Only the digest" in said(app, "keys")


def test_waits_of_all_ranks_are_held_against_a_step_of_all_ranks() -> None:
    job_part = compare_jobs(job("late", plain=True), job("late"), ("base", "other")).job
    assert job_part is not None
    small = [row for row in job_part.roots if 0 < abs(row.delta_ns) * 100 <= row.scale.step_ns]
    assert small and all(story(row)[-1].endswith("of a step of all ranks of BASE.") for row in small)


@pytest.mark.parametrize("key", ["R", "S", "P", "E", "N"])
async def test_screens_of_one_job_are_not_there_for_two_and_that_is_said(tmp_path: Path, key: str) -> None:
    base, other = digests(tmp_path / "before", "late", True), digests(tmp_path / "after", "late", False)
    app = viewer(base, other)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert app.shown == COMPARE
        assert "tracetui on one of them shows it" in said(app, "keys")


async def test_two_jobs_without_a_rank_in_common_say_so(tmp_path: Path) -> None:
    base = digests(tmp_path / "before", "late", True, slice(0, 2))
    other = digests(tmp_path / "after", "late", False, slice(2, 4))
    app = viewer(base, other)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no rank in common" in "\n".join(screen_text(app)))


def test_a_rank_does_not_happen_so_many_times() -> None:
    part = compare_jobs(job("late", plain=True), job("late"), ("base", "other")).job
    assert part is not None
    base, other, _ = story(part.ranks[0])
    assert base.endswith(")") and other.endswith(")")
