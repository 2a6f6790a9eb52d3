"""Keys that come together do what they do one by one: each goes to what the one before has opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from tests.ui.training import viewer
from tests.ui.viewing import settled
from tracetui.ui.app import TraceApp
from tracetui.ui.screens.search import SearchPrompt

SEQUENCES = (
    ["slash", *"matmul", "enter", "n"],
    ["colon", *"gogaps", "enter", "j", "j"],
    ["G", "slash", *"mat", "enter", "end", "enter", "w"],
    ["i", "tab", "escape", "escape", "H"],
    ["x", "question_mark", "j", "q", "x"],
    ["t", *"stream", "enter", "l", "l"],
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
        table and table.row,
    )


@pytest.mark.parametrize("keys", SEQUENCES, ids=" ".join)
async def test_a_packet_of_keys_is_as_its_keys(keys: list[str], tmp_path: Path) -> None:
    found = []
    for together in (True, False):
        app = viewer(tmp_path)
        async with app.run_test(size=(120, 36)) as pilot:
            found.append(await state_after(app, pilot, keys, together))
    assert found[0] == found[1]


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
