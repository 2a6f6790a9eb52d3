"""The advice screen: the advice of the analysis in its order, its numbers, and the way to its evidence."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from tests.analysis.machine import npu, task
from tests.synthetic import trace_of
from tests.ui.training import TORCH, screen_text, training, viewer
from tests.ui.viewing import said
from tracetui.analysis.advice import Advice, find_advice
from tracetui.export.sentences.advice import NOTHING, advice_answer, advice_subject, figure_in_language
from tracetui.export.sentences.advice_english import ENGLISH_ADVICE, AdviceWords, english_words
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.screens.advice import AdviceScreen
from tracetui.ui.stories.advice_story import AdviceStory
from tracetui.ui.terminal import in_ascii
from tracetui.ui.widgets.lines import Pager
from tracetui.ui.widgets.source import SourcePane

LOOP = [f"{TORCH}/nn/f.py(5): relu", "/work/train.py(12): loss", "/work/train.py(30): main"]

LOOPING = [(0, None, "first"), *((30_000, LOOP, "mul") for _ in range(6)), (9_000, None, "last")]


def looping(path: Path) -> TraceApp:
    """The viewer on a loop of small operators."""
    (path / "trace_view.json").write_text("[]")
    (path / "train.py").write_text("".join(f"line_{n}\n" for n in range(1, 40)))
    return viewer(path, training(LOOPING))


async def test_it_keeps_the_order_tells_the_numbers_and_walks_the_evidence(tmp_path: Path) -> None:
    app = looping(tmp_path)
    async with app.run_test(size=(130, 36)) as pilot:
        await pilot.pause()
        await pilot.press("V")
        await pilot.pause()
        analysis = app.session.analysis
        assert analysis is not None
        loop = next(finding for finding in find_advice(analysis) if finding.id == "small_operators_in_loop")
        place = find_advice(analysis).index(loop)
        screen = app.screen
        assert isinstance(screen, AdviceScreen)
        text = screen_text(app)
        answer = advice_answer(find_advice(analysis), analysis.devices[0].window_ns)
        assert text[0].startswith(f"Advice  {in_ascii(answer)}"[:80])
        exported = screen.frame(screen.table.rows.view[::-1])
        assert exported["cost_ns"].tolist() == [
            finding.cost_ns for finding in reversed(find_advice(analysis))
        ]
        for row, finding in enumerate(find_advice(analysis)):
            assert english_words(finding).title in text[2 + row] and advice_subject(finding) in text[2 + row]
        await pilot.press(*["down"] * place)
        await pilot.pause()
        assert screen.advice is loop
        shown = "\n".join(screen_text(app))
        assert f"Rule {loop.id}:" in shown
        assert "/work/train.py(12)" in shown
        assert "> 12  line_12" in shown
        gaps, rows = loop.gaps.tolist(), loop.rows.tolist()
        assert gaps and rows
        seen = []
        for key in ["x"] * (len(gaps) + len(rows)) + ["x", "X"]:
            await pilot.press(key)
            seen.append(app.session.state.gap if app.session.state.gap >= 0 else -app.session.state.row)
        evidence = [*gaps, *(-row for row in rows)]
        assert seen == [*evidence, evidence[0], evidence[-1]]
        assert said(app, "note").startswith(f"slice {len(rows)} of {len(rows)}: ")
        screen.table.move_to(place - 1 if place else 1)
        await pilot.pause()
        assert said(app, "note") == ""
        screen.table.move_to(place)
        screen.action_evidence(-1)  # before the screen hears that the cursor has moved
        await pilot.pause()
        assert said(app, "note").startswith(f"slice {len(rows)} of {len(rows)}: ")
        await pilot.press("enter")
        await pilot.pause()
        assert (app.shown, app.session.state.row) == ("timeline", rows[-1])


async def test_the_story_is_as_wide_as_the_room_beside_the_source(tmp_path: Path) -> None:
    app = looping(tmp_path)
    async with app.run_test(size=(130, 36)) as pilot:
        await pilot.pause()
        await pilot.press("V")
        await pilot.pause()
        pager = app.screen.query_one(Pager)
        assert app.screen.query_one(SourcePane).display
        widths = [sum(cell_len(text) for text, _ in line) for line in pager.lines]
        assert max(widths) <= pager.size.width < 96


async def test_a_small_terminal_has_the_story_without_the_source(tmp_path: Path) -> None:
    app = looping(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("V")
        await pilot.pause()
        assert isinstance(app.screen, AdviceScreen)
        text = screen_text(app)
        assert all(len(line) <= 80 for line in text)
        assert sum(line.startswith("-- ") for line in text) == 1
        assert any(line.startswith("Rule ") for line in text)
        await pilot.press("down")
        await pilot.pause()
        await pilot.press("o")
        assert said(app, "note") == "This terminal cannot be handed to an editor."
        await pilot.press("escape")
        assert app.shown == "timeline"


@pytest.mark.parametrize("cause", ["nothing", "failing"])
async def test_without_advice_it_says_why(
    cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = viewer(tmp_path, trace_of([*npu(), task(0, 1000)]))

    def fail(_: object) -> None:
        raise ArithmeticError("no [red]luck\x1b[2J")

    if cause == "failing":
        monkeypatch.setattr("tracetui.ui.screens.advice.find_advice", fail)
    async with app.run_test(size=(120, 24)) as pilot:
        await pilot.pause()
        await pilot.press("V")
        await pilot.pause()
        answer = said(app, "answer")
        if cause == "nothing":
            assert NOTHING in answer
        else:
            assert "ArithmeticError: no [red]luck" in answer and answer.isprintable()
        assert "walk it" not in said(app, "keys")
        assert "source" not in "".join(screen_text(app)), "no line is to be shown"
        await pilot.press("x", "enter", "o")
        assert app.shown == "advice"


def test_the_numbers_are_told_in_their_units_and_names_are_neither_obeyed_nor_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = AdviceWords(
        "Something takes long", "Do something about it, " * 9, "It takes at least 5 % (tracetui)."
    )
    monkeypatch.setitem(ENGLISH_ADVICE, "some_rule", words)
    advice = Advice(
        id="some_rule",
        cost_ns=5_000,
        evidence={"count": 12, "count_per_step": 1.5, "share_free": 0.4252, "total_ns": 1_240_000, "a": "\a"},
        subjects=("[red]evil\x1b[2J",),
    )  # fmt: skip
    story = AdviceStory(Palette("none"), ASCII)
    lines = ["".join(text for text, _ in line) for line in story.lines(advice, 60, 99)]
    assert max(map(len, lines[1:])) <= 60
    assert all(line.isprintable() for line in lines)
    assert "no place to look at" in lines[0]
    flat = " ".join(" ".join(lines).split())
    for number in ("count 12 ", "count per step 1.5 ", "share free 42.5 % ", "total 1.24 ms "):
        assert number in f"{flat} "
    assert "[red]evil" in flat and "line " not in flat
    assert [] in story.lines(advice, 60, 99)
    assert [] not in story.lines(advice, 60, 9)
    assert len(story.lines(replace(advice, evidence={}), 60, 99)) == len(lines) - 2
    blamed = replace(advice, file="/a/b.py", line=3, function="f", gaps=np.arange(1))
    assert advice_subject(blamed) == "b.py(3) f"
    drawn = story.lines(blamed, 60, 99)
    assert any("/a/b.py(3)" in "".join(text for text, _ in line) for line in drawn)
    assert "1 gap to look at" in drawn[0][0][0]


@pytest.mark.parametrize("width", [60, 80, 96])
def test_a_long_text_of_the_evidence_hides_no_number(width: int) -> None:
    text = "torch.npu.NPUGraph, or torch.compile with the backend that captures graphs"
    advice = Advice(
        id="launch_bound",
        cost_ns=1_240_000,
        evidence={
            "launches": 12,
            "launches_per_step": 6.0,
            "mean_kernel_ns": 3_000,
            "idle_ns": 1_240_000,
            "share_of_window": 0.5,
            "graph": text,
        },
    )
    lines = AdviceStory(Palette("none"), ASCII).lines(advice, width, 99)
    shown = ["".join(text for text, _ in line) for line in lines]
    assert any(re.search(r"launches {2,20}12\b", line) for line in shown), "next to its name"
    assert any(re.search(r"idle {2,20}1\.24 ms\b", line) for line in shown)
    assert text in " ".join(shown)
    assert max(map(len, shown[1:])) <= width


@pytest.mark.parametrize("width", range(20, 120, 7))
def test_evidence_stands_in_as_few_lines_as_its_columns_fit(width: int) -> None:
    evidence = {name: number * 10**number for number, name in enumerate("abcdefgh")}
    advice: Any = SimpleNamespace(evidence=evidence)
    lines = AdviceStory(Palette("none"), ASCII)._evidence_lines(advice, width)
    texts = ["".join(text for text, _ in line) for line in lines]

    def cells(rows: int) -> int:
        columns = [[*evidence.items()][at : at + rows] for at in range(0, len(evidence), rows)]
        values = [max(len(figure_in_language(*figure)[1]) for figure in column) for column in columns]
        return sum(1 + 2 + value for value in values) + 3 * (len(columns) - 1)

    assert len(texts) == next(rows for rows in range(1, 9) if cells(rows) <= width or rows == 8)
    assert max(map(len, texts)) == cells(len(texts))
