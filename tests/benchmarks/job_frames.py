"""Frames of the screen of a job of many ranks: work and bytes of a key on its maps, lanes and tables."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.frames import QUIET_S, SIZE, CountingApp, Frame, frames_row
from tests.benchmarks.table import Row
from tracetui.cli.entry import collect_rarely
from tracetui.job.load import find_ranks
from tracetui.ui.job_app import JobApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.ranks import RanksScreen

_LANES = "7"
_THREAD_S = 0.3  # maps are made in a thread


class CountingJobApp(CountingApp, JobApp):
    """The viewer of a job that counts what would be written to the terminal."""


async def ranks_rows(directory: Path, count: int) -> list[Row]:
    """A line per kind of movement on the screen of the ranks whose digests are in a directory."""
    collect_rarely()  # as the command line does
    options = ViewerOptions(palette="ansi")
    app = CountingJobApp(find_ranks([directory]), options)
    async with app.run_test(size=SIZE) as pilot:
        while not isinstance(app.screen, RanksScreen) or app.screen.map.sheet is None:
            await pilot.pause(0.1)
        found = []
        for what, before, keys in (
            ("cell above or below", (), "jk"),
            ("next worst cell", (), "x"),
            ("row of the table", (), "JK"),
            ("another map", (), "23456"),
            ("lanes: rank above or below", (_LANES,), "jjjjk"),
            ("lanes: step before or after", (), "hl"),
        ):
            for key in before:
                await app.press(key)
            frames: list[Frame] = []
            quiet = _THREAD_S if what == "another map" else QUIET_S
            for at in range(count):
                frames.append(await app.press(keys[at % len(keys)], quiet))
            found.append(frames_row(what, [frame for frame in frames if frame.bytes]))
        frames = [await app.press("tab") for _ in range(count)]
        return [*found, frames_row("another table", frames)]
