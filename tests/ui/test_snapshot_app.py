"""The viewer of a snapshot of the allocator: the screen of memory, without any times."""

from __future__ import annotations

from pathlib import Path

from tests.analysis.memory.runs import HOSTILE, write_snapshot
from tests.ui.viewing import lines_of, said, until
from tracetui.api import load_snapshot
from tracetui.reader.errors import UnreadableTrace
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.memory import MemoryScreen
from tracetui.ui.screens.palette import applicable
from tracetui.ui.snapshot_app import SnapshotApp
from tracetui.ui.widgets.lines import Pager


async def test_a_snapshot_opens_at_what_grows_and_tells_events_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pkl"
    write_snapshot(path)
    app = SnapshotApp(path, lambda: load_snapshot(path), ViewerOptions(palette="none", step=2))
    async with app.run_test(size=(120, 36)) as pilot:
        screen = app.screen
        assert isinstance(screen, MemoryScreen)
        await until(pilot, lambda: screen.table.rows.length == 1)
        answer = " ".join(said(app, "answer").split())
        assert answer.startswith("Memory, what grows NPU 0: peak 5.24 MB in step 2: ")
        assert "Events are told by their numbers, not by times." in answer
        assert "after event 8 in step 2: 2.10 MB allocated" in lines_of(screen.curve)[0]
        await pilot.press("tab", "tab", "tab")
        await until(pilot, lambda: screen.view.name == "blocks")
        assert lines_of(screen.table)[0].split() == ["size▼", "step", "operator", "Python", "line"]
        assert "c curve  / filter" in said(app, "keys"), "once it is read, all keys have something to work on"
        for key in ("enter", "T", "x", "G", "C", "L", "escape"):
            await pilot.press(key)
            await pilot.pause()
            assert app.screen is screen
            if key != "escape":
                assert any(word in said(app, "keys") for word in ("snapshot", "numbers", "One trace"))
        await pilot.press("question_mark")
        await pilot.pause()
        screens = [line for line in lines_of(app.screen.query_one(Pager)) if " go " in line]
        assert "go memory" in " ".join(screens) and "go timeline" not in " ".join(screens)
        keys = " ".join(" ".join(lines_of(app.screen.query_one(Pager))).split())
        of_traces = ("gap", "statistics", "window", "warnings", "other trace", "open row")
        assert not [words for words in of_traces if words in keys.partition("What the numbers mean")[0]]
        assert "export table" in keys
        await pilot.press("escape")
        offered = {action.id for action in applicable(app, screen)}
        assert "export_table" in offered and not offered & app.refused


async def test_a_hostile_pickle_ends_the_viewer_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pkl"
    path.write_bytes(HOSTILE)
    app = SnapshotApp(path, lambda: load_snapshot(path))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.failure is not None)
    assert isinstance(app.failure, UnreadableTrace)
    assert "asks for code to be run" in str(app.failure)
