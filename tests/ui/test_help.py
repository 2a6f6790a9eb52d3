"""The help names every key of a screen, fits the width, and scrolls."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.ui.training import screen_text, viewer
from tracetui.analysis.idle.cause import Cause
from tracetui.ui.actions import actions_of, key_label
from tracetui.ui.drawing.causes import cause_name
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.screen_specs import SCREENS
from tracetui.ui.screens.help import GLOSSARY, HelpScreen, help_lines
from tracetui.ui.screens.palette import CommandPalette


def text_of(screen: str, width: int) -> list[str]:
    return ["".join(text for text, _ in line) for line in help_lines(screen, width, Palette("none"), ASCII)]


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_every_key_and_every_term_is_there_and_fits(screen: str, width: int) -> None:
    lines = text_of(screen, width)
    assert max(map(cell_len, lines)) <= width
    words = " ".join(lines).split()
    for action in [*actions_of(screen), *actions_of(None)]:
        for key in action.keys:
            assert key.isdigit() or key_label(key) in words, key
    for term, meaning in GLOSSARY:
        assert set(term.split()) <= set(words)
        assert meaning.split()[-1] in words
    for cause in Cause:
        assert cause_name(cause) in " ".join(words)
        assert cause.facts.meaning.split()[-1] in words


def test_a_key_that_a_screen_takes_is_not_said_to_do_two_things() -> None:
    text = "\n".join(text_of("hotspots", 40))
    assert "gap of the line" in text
    assert "go next worst gap" not in text


async def test_it_scrolls_in_a_small_terminal_and_closes(tmp_path: Path) -> None:
    app = viewer(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        assert screen_text(app)[0].startswith("Help  keys of the timeline screen")
        seen = set(screen_text(app))
        for _ in range(8):
            await pilot.press("pagedown")
            await pilot.pause()
            seen.update(screen_text(app))
        assert all(any(line.startswith(term) for line in seen) for term, _ in GLOSSARY)
        assert not any("go ranks" in line for line in seen), "one trace has no screen of ranks"
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, HelpScreen)
        await pilot.press("question_mark", "colon")
        await pilot.pause()
        assert isinstance(app.screen, CommandPalette)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen_stack[1:] == []


def test_causes_stand_with_the_names_that_tables_and_json_give_them() -> None:
    """The strip says "O operator" where a table says host.operator."""
    lines = text_of("timeline", 200)
    for cause in Cause:
        assert any(line.startswith(cause_name(cause)) and f" {cause.label}: " in line for line in lines)


def test_keys_stand_in_as_many_columns_as_there_is_room_for() -> None:
    """Two of 38 cells and a margin of two between them, or three of 56."""
    lines = [len(text_of("timeline", width)) for width in (77, 78, 167, 168)]
    assert lines[0] > lines[1] + 5 and lines[2] > lines[3] + 5
