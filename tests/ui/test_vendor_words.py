"""A GPU is shown in the words of GPUs: no screen names what only an NPU has."""

from __future__ import annotations

from tests.analysis.planted import events_of
from tests.cli.test_vendor_words import words_of_npus
from tests.synthetic import trace_of
from tests.ui.test_stacked import stacked
from tests.ui.training import screen_text
from tests.ui.viewing import case, until, viewing
from tracetui.analysis.analyse import analyse
from tracetui.ui.screen_specs import SCREENS, ScreenScope

SIZE = (120, 60)
#: screens that one trace does not have
ONLY_OF_SEVERAL = tuple(name for name, spec in SCREENS.items() if spec.scope is not ScreenScope.TRACE)


async def test_no_screen_does() -> None:
    async with viewing(trace_of(events_of("gpu", 4)), "timeline", SIZE) as (app, pilot):
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


async def test_no_screen_of_two_does() -> None:
    analysis = analyse(trace_of(events_of("gpu", 4)))
    async with stacked((analysis, analysis), SIZE) as (app, pilot):
        for screen in ("stacked", "compare"):
            app.action_go(screen)
            await until(pilot, lambda: "kernels" in "\n".join(screen_text(app)))
            assert words_of_npus("\n".join(screen_text(app))) == []
