"""What tests of the viewer wait for: a frame is drawn once all else is done, and is the viewer's own."""

from __future__ import annotations

import pytest

from tests.ui.training import training
from tests.ui.viewing import viewing
from tracetui.ui.widgets.tracks import Tracks


async def test_a_frame_is_drawn_for_each_rest_and_a_fault_in_it_is_one_of_the_viewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[int] = []
    draw = Tracks.draw_lines

    def note(tracks: Tracks, lines: list[int]) -> object:
        drawn.append(len(lines))
        if len(drawn) > 2:
            raise ZeroDivisionError
        return draw(tracks, lines)

    with pytest.raises(ZeroDivisionError):
        async with viewing(training(), "timeline") as (_, pilot):
            monkeypatch.setattr(Tracks, "draw_lines", note)
            for frames in (1, 2, 3):
                await pilot.press("w")
                assert len(drawn) == frames, "one for each key, which the third does not survive"
