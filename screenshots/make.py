"""Take the documents' pictures from the real app on the samples: `python -m screenshots.make`."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from simulator.generate import main as generate
from simulator.job.directory import write_job
from simulator.job.scenarios import JOBS
from simulator.job.truth import simulate_truth
from simulator.memory import SCRIPT, write_run
from tracetui.job.load import find_ranks
from tracetui.reader.source import TraceFile
from tracetui.ui.app import TraceApp
from tracetui.ui.job_app import JobApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.session import Session

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parent / "samples" / "moba" / "trace_view.json"
SIZE = (120, 36)
OPTIONS = ViewerOptions(palette="true")

#: picture -> the keys that lead to it
PICTURES = {
    "timeline": ("b", "x"),
    "gaps": ("b", "x", "G"),
    "hotspots": ("H",),
    "flame": ("F",),
    "heatmap": ("M",),
}
MEMORY_PICTURES: dict[str, tuple[str, ...]] = {"memory": ("Y",)}
PAIR_PICTURES: dict[str, tuple[str, ...]] = {
    "compare": (),  # two traces open on it
    "both": ("vertical_line",),
}
JOB_PICTURES: dict[str, tuple[str, ...]] = {"ranks": (), "lanes": ("7",)}


@contextmanager
def sample() -> Iterator[TraceApp]:
    """The viewer of the sample."""
    with TraceFile(SAMPLE) as trace_file:
        app = TraceApp([Session(SAMPLE, OPTIONS, trace_file)], OPTIONS)
        app.title = "tracetui samples/moba/trace_view.json"
        yield app


@contextmanager
def leaking() -> Iterator[TraceApp]:
    """The viewer of a run of which each step keeps one tensor."""
    with tempfile.TemporaryDirectory() as directory:
        write_run(Path(directory), 5)
        shutil.copy(SCRIPT, directory)
        path = Path(directory) / "trace_view.json"
        with TraceFile(path) as trace_file:
            app = TraceApp([Session(path, OPTIONS, trace_file)], OPTIONS)
            app.title = "tracetui run/"
            yield app


@contextmanager
def pair() -> Iterator[TraceApp]:
    """The viewer of two runs, with the task queue and without it."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as files:
        sessions: list[Session] = []
        for name, options in (("before", []), ("after", ["--no-task-queue"])):
            path = Path(directory, f"{name}.json")
            generate(["--scenario", "attached", "--steps", "3", *options, "--out", str(path)])
            file = (
                None if sessions else files.enter_context(TraceFile(path))
            )  # the viewer opens the other one
            sessions.append(Session(path, OPTIONS, file))
        app = TraceApp(sessions, OPTIONS)
        app.title = "tracetui before.json after.json"
        yield app


@contextmanager
def job() -> Iterator[JobApp]:
    """The viewer of a job of eight ranks, of which one loads its data for too long."""
    with tempfile.TemporaryDirectory() as directory:
        write_job(simulate_truth(replace(JOBS["both"], steps=12)).outcome, Path(directory), 1)
        app = JobApp(find_ranks([Path(directory)]), OPTIONS)
        app.title = "tracetui run/"
        yield app


async def take(app: TraceApp, name: str, keys: tuple[str, ...]) -> None:
    """Press the keys once all is read, and write screenshots/<name>.svg."""
    async with app.run_test(size=SIZE) as pilot:
        while not is_read(app):
            await pilot.pause(0.05)
        await pilot.pause(0.5)
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.3)
        # Sources, args and the other one of two runs are read in threads.
        await pilot.pause(1 if len(app.sessions) == 1 else 4)
        app.save_screenshot(f"{name}.svg", path=str(HERE))


def is_read(app: TraceApp) -> bool:
    """Whether the viewer has all that it shows first."""
    if isinstance(app, JobApp):
        return app.job_session.job is not None and app.job_session.progress is None
    return all(session.analysis is not None for session in app.sessions)


def main() -> None:
    for name, keys in PICTURES.items():
        with sample() as app:
            asyncio.run(take(app, name, keys))
    for name, keys in MEMORY_PICTURES.items():
        with leaking() as app:
            asyncio.run(take(app, name, keys))
    for name, keys in PAIR_PICTURES.items():
        with pair() as app:
            asyncio.run(take(app, name, keys))
    for name, keys in JOB_PICTURES.items():
        with job() as app:
            asyncio.run(take(app, name, keys))


if __name__ == "__main__":
    main()
