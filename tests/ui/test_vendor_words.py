"""A GPU is shown in the words of GPUs: no screen names what only an NPU has."""

from __future__ import annotations

from tests.analysis.planted import events_of
from tests.cli.test_vendor_words import words_of_npus
from tests.synthetic import trace_of
from tests.ui.training import screen_text
from tests.ui.viewing import case, viewing
from tracetui.ui.screen_specs import SCREENS

ONLY_OF_SEVERAL = ("ranks", "compare", "stacked")  #: screens that one trace does not have


async def test_no_screen_does() -> None:
    async with viewing(trace_of(events_of("gpu", 4)), "timeline", (120, 60)) as (app, pilot):
        for screen in SCREENS:
            if screen in ONLY_OF_SEVERAL:
                continue
            app.action_go(screen)
            await pilot.pause()
            for key in ("j", "tab", "tab", "tab", "tab", "x", "question_mark"):
                await pilot.press(key)
                with case(screen, key):
                    assert words_of_npus("\n".join(screen_text(app))) == []
            await pilot.press("escape")
