"""Finding a track by some letters of its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.training import screen_text, training, viewer
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.row import track_key
from tracetui.ui.screens.chooser import matches
from tracetui.ui.screens.track_finder import TrackFinder, track_choices
from tracetui.ui.state import TrackKey


@pytest.fixture
def app(tmp_path: Path) -> TraceApp:
    return viewer(tmp_path)


def test_every_track_with_something_on_it_is_a_choice() -> None:
    trace = training()
    choices = track_choices(trace)
    assert [choice.value for choice in choices] == [
        track_key(track) for track in trace.tracks if len(track.rows)
    ]
    assert all(choice.name.isprintable() for choice in choices)


async def test_letters_narrow_the_tracks_and_enter_goes_there(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("t", *"hard str")
        await pilot.pause()
        assert isinstance(app.screen, TrackFinder)
        assert any("Find track  1 of" in line for line in screen_text(app))
        assert app.screen.styles.background.a == 0, "the timeline stays visible above"
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(app.screen, TrackFinder)
        assert app.session.trace is not None
        stream = next(track for track in app.session.trace.tracks if track.process == "Ascend Hardware")
        assert stream.tid in app.session.state.place.cursor


async def test_arrows_choose_and_escape_chooses_nothing(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        chosen: list[TrackKey | None] = []
        await pilot.pause()
        for keys in (
            ("down", "down", "up", "enter"),
            ("end", "escape"),
            ("x", "y", "z", "q", "enter", "escape"),
        ):
            app.push_screen(TrackFinder(app.session), chosen.append)
            await pilot.pause()
            await pilot.press(*keys)
            await pilot.pause()
        assert chosen == [track_choices(training())[1].value, None, None]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["Stream 10", "Stream 1", "Group 1 stream", "My Tensor"]),
        ("stream", ["Stream 10", "Stream 1", "Group 1 stream"]),
        ("1 str", ["Stream 10", "Stream 1", "Group 1 stream"]),
        ("tensor", ["My Tensor"]),
        ("ream", ["Stream 10", "Stream 1", "Group 1 stream"]),
        ("gst", ["Group 1 stream"]),
        ("[", []),
    ],
)
def test_the_best_match_comes_first(query: str, names: list[str]) -> None:
    everything = ["Stream 10", "Stream 1", "Group 1 stream", "My Tensor"]
    assert [everything[place] for place in matches(query, everything)] == names


def test_the_start_of_a_word_beats_its_middle_and_that_beats_letters() -> None:
    names = ["g_a_p", "wideGAPS", "worst gap"]
    assert [names[place] for place in matches("gap", names)] == ["worst gap", "wideGAPS", "g_a_p"]
