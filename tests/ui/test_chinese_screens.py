"""In Chinese no screen keeps English beside the names of the trace: titles, answers, stories, last lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from rich.style import Style

from tests.export.test_chinese import ENGLISH_WORDS, HALF_WIDTH
from tests.ui.test_stacked import sides, stacked
from tests.ui.training import screen_text
from tests.ui.viewing import case, until, viewing
from tracetui.analysis.memory.growth import Verdict
from tracetui.export.language import CHINESE, ENGLISH, choose_language
from tracetui.export.sentences.memory import call_words, growth_word
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.pen import compose_sentence
from tracetui.ui.tables.hotspot_columns import operator_names

SIZE = (140, 40)
SCREENS = (
    "timeline",
    "gaps",
    "hotspots",
    "flame",
    "heatmap",
    "operators",
    "steps",
    "memory",
    "scheduler",
    "health",
    "advice",
)
#: Words of the viewer that are in no name of these traces.
OF_THE_VIEWER = re.compile(
    r"\b(idle|tracks?|types|names|allocated|reserved|peak|less|once|times|change|selected|longer|shorter|"
    r"computing|copies|operators|frames|code|stack|share|own)\b"
)
#: What is no text of the viewer: terms and causes as JSON has them, hints how to record, paths.
NAMES = re.compile(r"\b(idle|preparing)\.[\w.]+|with_\w+=True|tracetui [A-Z]\b.*|\S*/\S*|\ba d w s\b")


@pytest.fixture(autouse=True)
def _in_chinese() -> Iterator[None]:
    choose_language(CHINESE)
    yield
    choose_language(ENGLISH)


def english(app: TraceApp) -> list[str]:
    """Return the lines in front that hold English of the viewer, or its punctuation."""
    trace = app.session.trace
    named = set() if trace is None else {word for name in trace.strings for word in re.findall(r"\w+", name)}
    found = []
    for line in screen_text(app):
        text = NAMES.sub("", line)
        words = [match[0] for words in (ENGLISH_WORDS, OF_THE_VIEWER) for match in words.finditer(text)]
        found += [line] if set(words) - named or HALF_WIDTH.search(line) else []
    return found


async def test_no_screen_of_a_trace_does() -> None:
    analysis, _ = sides()
    async with viewing(analysis.trace, "timeline", SIZE) as (app, pilot):
        for screen in SCREENS:
            app.action_go(screen)
            await pilot.pause()
            for key in ("j", "tab", "tab"):
                await pilot.press(key)
                await pilot.pause()
                with case(screen, key):
                    assert english(app) == []


def test_what_stands_in_cells_is_chinese() -> None:
    assert operator_names(["", "aten::mm"]) == "（算子之间）, aten::mm"
    assert [growth_word(verdict) for verdict in Verdict] == ["增长", "可能增长"]


def test_numbers_stand_apart_in_sentences_of_several_styles() -> None:
    plain, bold = Style(), Style(bold=True)
    start = [("事件", bold), (" 3", plain)]
    template = "{size} allocated {start}, {call} of that line"
    pieces = compose_sentence(template, plain, size=("1 MB", bold), start=start, call=call_words(4, 9))
    assert "".join(text for text, _ in pieces) == "1 MB，事件 3，由该行的 9 次调用中的第 4 次申请"
    assert ("1 MB", bold) in pieces


async def test_no_screen_of_two_traces_does() -> None:
    async with stacked(sides(), SIZE) as (app, pilot):
        for key in ("x", "right", "down"):
            await pilot.press(key)
            await pilot.pause()
            with case(key):
                assert english(app) == []
        app.action_go("compare")
        await until(pilot, lambda: "BASE ms" in "\n".join(screen_text(app)))
        for _ in range(3):
            await pilot.press("tab", "j")
            with case("compare"):
                assert english(app) == []
