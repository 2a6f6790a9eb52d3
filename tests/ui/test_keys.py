"""Keys that come together do what they do one by one: each goes to what the one before has opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import ModalScreen

from tests.ui.training import screen_text, viewer
from tests.ui.viewing import case, settled, until
from tracetui.ui.app import TraceApp
from tracetui.ui.keys import KeyByKeyApp
from tracetui.ui.screens.search import SearchPrompt

SEQUENCES = (
    ["slash", *"mul", "enter", "n"],
    ["colon", *"gogaps", "enter", "j", "j"],
    ["G", "slash", *"mat", "enter", "end", "enter", "w"],
    ["i", "tab", "escape", "escape", "H"],
    ["x", "question_mark", "j", "q", "x"],
    ["t", *"str", "enter", "l", "l"],
)


async def state_after(
    app: TraceApp, pilot: Pilot[int], keys: list[str], together: bool
) -> tuple[object, ...]:
    await settled(app, pilot)
    for key in keys:
        app.simulate_key(key)
        if not together:
            await settled(app, pilot)
    await settled(app, pilot)
    await settled(app, pilot)
    assert not isinstance(app.screen, ModalScreen)
    table = getattr(app.screen, "table", None)
    return (
        app.shown,
        app.session.state.place,
        app.session.state.search.text,
        app.session.state.filter,
        table and table.cursor_row,
    )


async def test_a_packet_of_keys_is_as_its_keys(tmp_path: Path) -> None:
    """Also where the viewer was left by the packet before, which both have come through alike."""
    found: list[list[tuple[object, ...]]] = []
    for together in (True, False):
        app = viewer(tmp_path)
        async with app.run_test(size=(120, 36)) as pilot:
            found.append([])
            for keys in SEQUENCES:
                with case(*keys):
                    found[-1].append(await state_after(app, pilot, keys, together))
                await pilot.press("T", "0")
    for keys, *states in zip(SEQUENCES, *found):
        assert states[0] == states[1], keys


async def test_what_waits_is_dropped_when_all_is_to_stop(tmp_path: Path) -> None:
    app = viewer(tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(app, pilot)
        for key in ("slash", *"abc"):
            app.simulate_key(key)
        await settled(app, pilot)
        assert isinstance(app.screen, SearchPrompt)
        for key in ("j", "ctrl+c", "x"):
            app.simulate_key(key)
        await settled(app, pilot)
        assert not isinstance(app.screen, SearchPrompt)


class KeyLog(KeyByKeyApp[None]):
    """Keeps the keys that it is handed."""

    def __init__(self) -> None:
        super().__init__(ansi_color=False)
        self.keys: list[str] = []

    def on_key(self, event: Key) -> None:
        self.keys.append(event.key)


async def test_of_a_flood_of_keys_the_last_ones_count() -> None:
    """A file that is pasted by mistake would else keep the viewer busy for long after."""
    app = KeyLog()
    async with app.run_test() as pilot:
        for key in [*["z"] * 3000, "q"]:
            app.simulate_key(key)
        await until(pilot, lambda: app.keys[-1:] == ["q"])
    assert len(app.keys) < 300


async def test_a_key_that_does_nothing_says_so_on_every_screen(tmp_path: Path) -> None:
    app = viewer(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        for screen in ("T", "G", "H", "F", "M", "O", "I", "V"):
            await pilot.press(screen, "g")
            await settled(app, pilot)
            assert screen_text(app)[-1].strip() == "g does nothing here: ? shows the keys that do", screen
            await pilot.press("g")
            await settled(app, pilot)
            assert screen_text(app)[-1].strip() == "g does nothing here: ? shows the keys that do", "again"


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("asterisk", "No slice is selected."),
        ("backspace", "There is no movement to undo."),
        ("U", "There is no movement to redo."),
    ],
)
async def test_a_key_without_anything_to_do_says_so(key: str, sentence: str, tmp_path: Path) -> None:
    app = viewer(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await settled(app, pilot)
        assert screen_text(app)[-1].strip() == sentence


async def test_what_is_typed_into_a_prompt_and_escape_are_left_alone(tmp_path: Path) -> None:
    app = viewer(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", "g", "escape", "escape")
        await settled(app, pilot)
        assert not any("does nothing here" in line for line in screen_text(app))
