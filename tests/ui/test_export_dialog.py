"""The export dialog says what it writes, writes it, never overwrites unasked, and says what went wrong."""

from __future__ import annotations

import csv
import errno
import io
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.job.files import rank_directory
from tests.ui.rest import threads_held
from tests.ui.training import screen_text, viewer
from tests.ui.viewing import until
from tracetui.ui.app import TraceApp
from tracetui.ui.messages import AnalysisReady
from tracetui.ui.screens import export_dialog
from tracetui.ui.screens.export_dialog import ExportDialog, ExportStopped, Watched, default_name, sentence_of


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TraceApp:
    monkeypatch.chdir(tmp_path)
    return viewer(tmp_path)


async def settled(app: TraceApp, pilot: Pilot[int]) -> str:
    await pilot.pause()
    return "\n".join(screen_text(app))


async def opened(app: TraceApp, pilot: Pilot[int], name: str) -> str:
    await pilot.pause()
    await pilot.press("e")
    await pilot.pause()
    assert isinstance(app.screen, ExportDialog)
    app.screen.query_one("#file", Input).value = name
    return await settled(app, pilot)


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


async def test_it_writes_what_it_says(app: TraceApp, tmp_path: Path) -> None:
    async with app.run_test(size=(120, 24)) as pilot:
        text = await opened(app, pilot, "out.csv")
        assert app.session.trace is not None
        count = len(app.session.trace.slices)
        assert f"{count} slices on" in text and ": on screen)" in text
        await pilot.press("enter")
        text = await settled(app, pilot)
        path = tmp_path / "out.csv"
        assert not isinstance(app.screen, ExportDialog), "it has nothing more to ask"
        assert f"{count} rows, {path.stat().st_size / 1000:.2f} kB, written to {path}" in text
        rows = rows_of(path)
        assert len(rows) == count


async def test_it_waits_for_the_analysis(app: TraceApp) -> None:
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.pause()
        analysis, app.session.analysis = app.session.analysis, None
        assert analysis is not None
        await pilot.press("e", "enter")
        assert "Still analysing" in await settled(app, pilot)
        app.post_message(AnalysisReady(app.session, analysis))
        assert "slices on" in await settled(app, pilot)


async def test_the_marked_window_and_the_tracks_limit_it(app: TraceApp, tmp_path: Path) -> None:
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.pause()
        assert app.session.trace is not None
        tasks = next(track for track in app.session.trace.tracks if track.process == "Ascend Hardware")
        first = tasks.rows[0]
        start, end = int(app.session.trace.slices.start[first]), int(app.session.trace.slices.end[first])
        app.session.state.go(
            app.session.state.place.__class__(app.session.state.viewport, window=(start, end))
        )
        await opened(app, pilot, "out.csv")
        app.screen.query_one("#tracks", Input).value = "hardware/"
        text = await settled(app, pilot)
        assert "1 slice on 1 track," in text
        await pilot.press("enter")
        await settled(app, pilot)
        assert [row["name"] for row in rows_of(tmp_path / "out.csv")] == ["first"]


async def test_a_file_that_is_there_is_overwritten_only_when_asked_twice(
    app: TraceApp, tmp_path: Path
) -> None:
    (tmp_path / "out.csv").write_text("precious")
    (tmp_path / "other.csv").write_text("precious too")
    async with app.run_test(size=(120, 24)) as pilot:
        await opened(app, pilot, "out.csv")
        await pilot.press("enter")
        assert "enter overwrites" in await settled(app, pilot)
        assert (tmp_path / "out.csv").read_text() == "precious"
        app.screen.query_one("#file", Input).value = "other.csv"  # another name is asked for anew
        await settled(app, pilot)
        await pilot.press("enter")
        await settled(app, pilot)
        assert (tmp_path / "other.csv").read_text() == "precious too"
        await pilot.press("enter")
        await settled(app, pilot)
        assert (tmp_path / "other.csv").read_text().startswith("start_ns,")


async def test_the_trace_itself_is_never_overwritten(app: TraceApp) -> None:
    app.session.path.write_text("the trace")
    async with app.run_test(size=(120, 24)) as pilot:
        await opened(app, pilot, str(app.session.path))
        for _ in range(2):
            await pilot.press("enter")
            assert "This is the trace itself: nothing is written." in await settled(app, pilot)
    assert app.session.path.read_text() == "the trace"


async def test_what_goes_wrong_is_one_sentence(app: TraceApp, tmp_path: Path) -> None:
    async with app.run_test(size=(120, 24)) as pilot:
        await opened(app, pilot, "")
        for name, sentence in [
            ("no/such/directory/out.csv", "The directory does not exist: nothing is written."),
            (".", "This is a directory: nothing is written."),
            ("x" * 300, "The name is too long: nothing is written."),
            ("nul\0.csv", "This is not a name for a file."),
            ("~no.such.user/out.csv", "This is not a name for a file."),
        ]:
            app.screen.query_one("#file", Input).value = name
            await pilot.press("enter")
            assert sentence in await settled(app, pilot)
        assert not list(tmp_path.iterdir())


async def test_escape_stops_the_writing_and_leaves_nothing(
    app: TraceApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=(120, 24)) as pilot:
        await opened(app, pilot, "out.csv")

        begun = threading.Event()

        def write(stream: Any, *_: Any) -> int:
            begun.set()
            while True:
                stream.write(b"x")
                time.sleep(0.001)

        monkeypatch.setattr(export_dialog, "write_events", write)
        with threads_held():
            await pilot.press("enter")
            await until(pilot, begun.is_set)
            await pilot.press("escape")
        await until(pilot, lambda: "Stopped: nothing is written." in "\n".join(screen_text(app)))
        assert not list(tmp_path.iterdir())


def test_the_name_tells_the_trace_and_the_window() -> None:
    ns = 1_000_000_000
    assert default_name(Path("/x/trace_view.json"), 12 * ns // 10, 135 * ns // 100) == ("x_1.200s-1.350s.csv")
    assert default_name(Path("r0.pt.trace.json.gz"), 0, 1500).startswith("r0_0.00000000")
    assert not default_name(Path("-rf\x1b.json"), 0, ns).startswith("-")
    assert default_name(Path("-rf\x1b.json"), 0, ns).isprintable()
    assert default_name(Path("/x/$(id) ;'\".json"), 0, ns) == "id__0.00s-1.00s.csv"


def test_the_name_tells_the_rank(tmp_path: Path) -> None:
    """All ranks of a job call their trace trace_view.json: their exports would take each other's place."""
    trace = rank_directory(tmp_path / "run", 3) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    assert default_name(trace, 0, 10**9) == "run_node1_1003_20250101120000000_rank3_0.00s-1.00s.csv"


def test_errors_of_the_file_system_are_sentences() -> None:
    assert (
        sentence_of(OSError(errno.ENOSPC, "")) == "There is no space left on the device: nothing is written."
    )
    assert sentence_of(OSError(errno.EROFS, "")) == "The file system is read-only: nothing is written."
    assert sentence_of(OSError(errno.EIO, "")).endswith(": nothing is written.")


def test_a_watched_stream_counts_and_stops() -> None:
    stop = False
    watched = Watched(lambda: stop, lambda size: None)
    watched.stream = io.BytesIO()
    assert watched.write(b"abc") == 3
    assert watched.size == 3
    stop = True
    with pytest.raises(ExportStopped):
        watched.write(b"d")
