"""Places in the viewer: what is copied opens the same picture, also of a copy of the trace elsewhere."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import pytest
from textual.pilot import Pilot

from tests.analysis.machine import call, dequeue, enqueue, npu, operator, task
from tests.ui.training import screen_text
from tests.ui.viewing import case, until
from tracetui.cli import main
from tracetui.notebook.notebook import notes_path
from tracetui.places import SharedPlace, parse_place, trace_fingerprint
from tracetui.ui.app import TraceApp
from tracetui.ui.options import ViewerOptions
from tracetui.ui.place_opening import place_in
from tracetui.ui.screens.sql import SqlScreen
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.session_place import OTHER_TRACE
from tracetui.ui.widgets.ruler import Ruler

ABOVE_SOURCE = 20  #: lines of a table above where the source is looked for, which names directories


def options(path: Path, place: SharedPlace | None = None) -> ViewerOptions:
    return ViewerOptions(palette="none", ascii=True, cache=False, place=place, paths=(str(path),))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A trace of tasks with idle time between them, and names that are no names."""
    events, now = [*npu()], 1_000_000
    for number, idle in enumerate((0, 50_000, 10_000, 30_000, 9_000), 1):
        now += idle
        stack = [f"/work/train.py({9 + number}): [red]load", "/work/train.py(30): main"]
        events += [
            operator(now - 900, 400, f"aten::mul{number}", stack=stack),
            enqueue(now - 800, 100, number),
            dequeue(now - 600, 300, number),
            call(now - 500, 100, connection=number),
            task(now, 1000, connection=number, name=f"mul{number}"),
        ]
        now += 1000
    found = tmp_path / "here" / "trace_view.json"
    found.parent.mkdir()
    found.write_text(json.dumps(events))
    return found


@asynccontextmanager
async def opened(
    path: Path, place: SharedPlace | None = None, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[TraceApp, Pilot[int]]]:
    session = Session(path, options(path, place))
    session.open()
    app = TraceApp([session], options(path, place))
    try:
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: not app.session.analysing and app.session.analysis is not None)
            yield app, pilot
    finally:
        session.end()


def copied(app: TraceApp) -> SharedPlace:
    """The place of the command that was copied."""
    words = shlex.split(app.clipboard)
    assert words[:1] + words[-2:-1] == ["tracetui", "--at"]
    return parse_place(words[-1])


async def test_the_same_picture_opens_elsewhere(path: Path, tmp_path: Path) -> None:
    async with opened(path) as (app, pilot):
        await pilot.press("x", "x", "w", "w", "d", "j", "P", "u")
        first, picture = copied(app), screen_text(app)[1:-2]
        assert app.session.state.pinned
        await pilot.press("G", "slash", *"mul", "enter", "down")
        await pilot.pause()
        await pilot.press("u")
        second, table = copied(app), screen_text(app)[:ABOVE_SOURCE]
        assert second.filter == "mul"
        assert second.rows
    copy = tmp_path / "there" / "other.json"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    async with opened(copy, first) as (app, pilot):
        assert screen_text(app)[1:-2] == picture
    async with opened(copy, second) as (app, pilot):
        assert app.shown == "gaps"
        assert screen_text(app)[:ABOVE_SOURCE] == table
        app.places.open(first)  # from one place to the next
        await pilot.pause()
        assert screen_text(app)[1:-2] == picture


#: ways to a screen and to what is shown of it
WAYS = (
    ("H", "down"),
    ("H", "down", "c"),
    ("H", "c", "c"),
    ("O", "tab", "z", "down"),
    ("I",),
    ("M", "3"),
    ("Z", "tab"),
    ("V", "down"),
    ("B",),
)


@pytest.mark.parametrize("name", [b"\xd1\xb5\xc1\xb7", b"it's\\ \xff", b"line\nline"])
async def test_a_place_in_a_directory_that_is_no_text_opens_in_a_shell(
    name: bytes, path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / os.fsdecode(name) / "trace_view.json"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    async with opened(copy) as (app, pilot):
        await pilot.press("u")
        command = app.clipboard
    assert command.isprintable()
    script = f"tracetui() {{ printf '%s' \"$1\"; }}; {command}"
    assert subprocess.run(["bash", "-c", script], stdout=PIPE, check=True).stdout == os.fsencode(copy)


async def test_each_screen_opens_as_it_was(path: Path) -> None:
    found = []
    async with opened(path) as (app, pilot):
        for keys in WAYS:
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            picture = screen_text(app)[:-1]
            await pilot.press("u")
            found.append((keys, copied(app), picture))
    async with opened(path) as (app, pilot):
        for keys, place, picture in found:
            app.places.open(place)
            await pilot.pause()
            with case(*keys):
                assert screen_text(app)[:-1] == picture


async def test_a_slice_and_a_window_are_found_again(path: Path) -> None:
    async with opened(path) as (app, pilot):
        trace = app.session.trace
        assert trace is not None
        row = next(row for row in range(len(trace.slices)) if trace.name(row) == "aten::mul3")
        app.select(row)
        await pilot.press("r", "u")
        place, window = copied(app), app.session.state.window
    async with opened(path, place) as (app, _):
        assert (app.session.state.row, app.session.state.window) == (row, window)


async def test_what_does_not_fit_is_said(path: Path) -> None:
    async with opened(path, parse_place("gaps@0s..1s#gap=NPU:7,trace=0123456789ab")) as (app, pilot):
        await until(pilot, lambda: OTHER_TRACE in screen_text(app)[-1])
        assert OTHER_TRACE in app.session.warnings
        assert app.shown == "gaps"
        for text, sentence in (
            ("ranks@3:0s..1s", "There is no screen ranks here."),
            ("timeline@5s..6s", "The time of this place is not in this trace."),
            ("timeline@0s..1s#gap=NPU:7", "What was selected there is not in this trace."),
        ):
            app.places.open(parse_place(text))
            await pilot.pause()
            assert sentence in screen_text(app)[-1], text


async def test_the_palette_takes_a_place_and_a_command_that_opens_one(path: Path) -> None:
    async with opened(path) as (app, pilot):
        for text in ("steps@0s..0.05s", "tracetui some/where.json --at 'gaps@0s..0.05s#filter=mul'"):
            await pilot.press("colon")
            await pilot.pause()
            for letter in text:
                app.screen.query_one("Input").insert_text_at_cursor(letter)  # type: ignore[attr-defined]
            await pilot.pause()
            assert any("go: to this place" in line for line in screen_text(app))
            await pilot.press("enter")
            await pilot.pause()
        assert app.shown == "gaps"
        assert app.session.state.filter == "mul"
        assert isinstance(app.screen, TableScreen)
        await pilot.press("colon", *"time@", "backspace")  # no place: names again
        await pilot.pause()
        assert any("go: to a time" in line or "timeline" in line for line in screen_text(app))


@pytest.mark.parametrize("text", ["gaps", "what@1s..2s", "gaps@2s..1s", "a b@c", "--at"])
def test_what_is_no_place_is_a_name_to_look_for(text: str) -> None:
    assert place_in(text) is None


async def test_a_note_is_written_marked_and_gone_to(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    async with opened(path) as (app, pilot):
        assert not any("N" in line[-1:] for line in screen_text(app))
        await pilot.press("quotation_mark")
        await pilot.pause()
        assert "There are no notes" in screen_text(app)[-1]
        await pilot.press("x", "apostrophe", *"[red]late", "enter")
        await pilot.pause()
        assert app.session.notes[0].text == "[red]late"
        await pilot.press("x", "0")  # the cursor leaves the mark, and all is on screen
        await pilot.pause()
        ruler, state = app.screen.query_one(Ruler), app.session.state
        assert "N" in ruler.draw_line(0).text
        state.go(replace(state.place, time_ns=state.viewport.start_ns), "select")
        assert ruler.draw_line(0).text[ruler.label_width] == ruler.glyphs.cursor
        await pilot.press("G")
        await pilot.pause()
        assert [line[-1:] for line in screen_text(app)[2:6]].count("N") == 1
        await pilot.press("down", "down")
        await pilot.pause()
        await pilot.press("apostrophe", *"more", "enter")
        await pilot.pause()
        assert [line[-1:] for line in screen_text(app)[2:6]].count("N") == 2
    async with opened(path) as (app, pilot):
        await until(pilot, lambda: bool(app.session.notes))
        await pilot.press("I", "quotation_mark", *"late")
        await pilot.pause()
        assert any("[red]late" in line for line in screen_text(app))
        await pilot.press("enter")
        await pilot.pause()
        assert app.shown == "timeline"
        assert app.session.state.gap >= 0


async def test_a_broken_file_of_notes_is_one_sentence(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    broken = notes_path(trace_fingerprint([path]))
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"\x00\xff\n")
    async with opened(path, size=(200, 36)) as (app, pilot):
        await pilot.press("x", "apostrophe", *"late", "enter")
        await pilot.pause()
        assert "lines that are no notes: 1" in screen_text(app)[-1]
        assert len(app.session.notes) == 1
    assert [file.read_bytes() for file in broken.parent.glob("*.broken-*")] == [b"\x00\xff\n"]


@pytest.mark.parametrize(
    ("query", "screen"),
    [("select id from hotspots order by idle_ns", "hotspots"), ("select id from gaps", "gaps")],
)
async def test_a_row_of_a_query_opens_as_a_place(path: Path, query: str, screen: str) -> None:
    pytest.importorskip("duckdb")
    async with opened(path) as (app, pilot):
        await pilot.press("Q")
        await pilot.pause()
        assert isinstance(app.screen, SqlScreen)
        app.screen.ask(query)
        await until(pilot, lambda: isinstance(app.screen, SqlScreen) and "id" in screen_text(app)[4])
        await pilot.press("enter")
        await until(pilot, lambda: app.shown == screen)
        await pilot.press("u")
        assert copied(app).rows[-1].startswith(f"{'line' if screen == 'hotspots' else 'gap'}=")


async def test_what_is_made_in_one_home_opens_in_another(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place, a note and a page: all that travels is the trace, a text and two files."""
    exported, page = tmp_path / "notes.jsonl", tmp_path / "page.html"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "ada"))
    async with opened(path) as (app, pilot):
        await pilot.press("x", "x", "apostrophe", *"late", "enter", "u")
        await pilot.pause()
        place, picture = copied(app), screen_text(app)[1:-2]
    assert main(["notes", str(path), "--export", str(exported)]) == 0
    assert main(["report", str(path), "-o", str(page), "--no-cache"]) == 0
    copy = tmp_path / "there" / "trace_view.json"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "bob"))
    async with opened(copy, place) as (app, pilot):
        assert not app.session.notes
    assert main(["notes", str(copy), "--import", str(exported)]) == 0
    async with opened(copy, place) as (app, pilot):
        await until(pilot, lambda: bool(app.session.notes))
        await pilot.pause()
        assert screen_text(app)[1:-2] == picture
        assert app.session.notes[0].place.rows == place.rows
    page_of_copy = tmp_path / "copy.html"
    assert main(["report", str(copy), "-o", str(page_of_copy), "--no-cache"]) == 0
    assert "late (" in page.read_text()
    assert page_of_copy.read_text().replace(str(copy), str(path)) == page.read_text()
