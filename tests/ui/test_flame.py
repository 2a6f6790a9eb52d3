"""The flame view: cells as wide as their time, all of it; keys walk, zoom and come back."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.widgets import Input

from tests.analysis import real
from tests.analysis.gpu import gpu, host, kernel, launch
from tests.synthetic import trace_of
from tests.ui.test_branches import node, nodes, root
from tests.ui.viewing import analysis_of, lines_of, said, until, viewing
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.api import load
from tracetui.trace.stack import Frame
from tracetui.ui.branches import Branches, FrameKind, frame_kind
from tracetui.ui.drawing.flame import flame_rows
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.screens.export_dialog import TableExport
from tracetui.ui.screens.flame import FlameScreen
from tracetui.ui.screens.hotspots import HotspotsScreen
from tracetui.ui.stories.flame_story import flame_story
from tracetui.ui.widgets.flame import FlameView


@given(st.lists(nodes, max_size=5), st.integers(1, 60), st.booleans())
def test_cells_are_as_wide_as_their_time_and_below_their_callers(
    tops: list[StackNode], width: int, folds: bool
) -> None:
    top, branches = root(*tops), Branches(root(*tops))
    branches.folds = folds
    rows = flame_rows(top, width, branches.chain)
    assert bool(rows) == (top.idle_ns > 0)
    for above, row in zip([None, *rows], rows):
        edge = 0
        for cell in row:
            assert edge <= cell.left < cell.right <= width
            assert cell.left == cell.start_ns * width // top.idle_ns
            assert cell.right == (cell.start_ns + cell.idle_ns) * width // top.idle_ns
            edge = cell.right
            frames = cell.nodes or cell.small
            assert frames and cell.idle_ns == (
                cell.nodes[0].idle_ns if cell.nodes else sum(node.idle_ns for node in cell.small)
            )
            for outer, inner in zip(cell.nodes, cell.nodes[1:]):
                assert outer.children == (inner,)
            if above is not None:
                caller = above[cell.parent]
                assert caller.left <= cell.left and cell.right <= caller.right
                assert caller.node is not None and frames[0] in caller.node.children


def test_what_is_too_small_shares_a_cell_and_a_zoom_shows_it() -> None:
    small = [node(f"f{at}", 10) for at in range(10)]
    top = root(node("main", 0, node("large", 900), *small))
    _, (main,), (large, rest) = flame_rows(top, 50)
    assert (main.left, main.right, large.right) == (0, 50, 45)
    assert (rest.left, rest.right, len(rest.small), rest.idle_ns) == (45, 50, 10, 100)


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (Frame("train.py", 3, "main"), FrameKind.YOURS),
        (Frame("", 0, "nn.Module: Conv2d_7"), FrameKind.MODULE),
        (Frame("torch/nn/functional.py", 3, "linear"), FrameKind.FRAMEWORK),
        (Frame("/x/site-packages/transformers/a.py", 3, "f"), FrameKind.OTHER),
        (Frame("", 0, "<built-in function linear>"), FrameKind.OTHER),
    ],
)
def test_frames_are_told_apart(frame: Frame, kind: FrameKind) -> None:
    assert frame_kind(frame, FrameRules()) is kind


def called_in_turn(view: FlameView) -> bool:
    """Whether each frame under the cursor and above it is called by the one before it."""
    assert view.flame is not None
    nodes = [*view._callers[-1], *view._above(), *view.flame.nodes]
    return len(nodes) > view.row and all(inner in outer.children for outer, inner in zip(nodes, nodes[1:]))


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 36), marks=pytest.mark.thorough), (200, 60)])
async def test_keys_walk_zoom_and_come_back(real_traces: Path, size: tuple[int, int]) -> None:
    trace = real.npu(real_traces, "level2/rank0").trace
    async with viewing(trace, "flame", size) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, FlameScreen)
        view, idle = screen.view, analysis_of(app).idle_ns
        await until(pilot, lambda: bool(view.cells))
        await pilot.pause()
        assert view.cells[0][0].idle_ns == idle
        assert "main.py(375): train  your code · where it was as the recording began" in said(app, "story")
        if screen.source.display:
            assert "where it was as the recording began" in lines_of(screen.source)[1]
        assert all(cell_len(line) <= size[0] for line in lines_of(view))
        await pilot.press("j")
        await pilot.pause()
        assert "nn.Module: DistributedDataParallel_0" in said(app, "story")
        assert "as the recording began" not in said(app, "story")
        assert "idle 14.0 ms (55.9 % of all)" in said(app, "story")
        await pilot.press("j", "j", "j", "l")
        assert called_in_turn(view) and view.row > 3
        await pilot.press("enter")
        await pilot.pause()
        assert "below Sequential_0" in said(app, "answer")
        (top,) = view.cells[0]
        assert (top.left, top.right) == (0, size[0])
        assert "in main_worker > train > DistributedDataParallel_0 > AlexNet_0" in said(app, "story")
        await pilot.press("j", "z")
        await pilot.pause()
        assert called_in_turn(view)
        assert "nn.Module: Conv2d_2" in screen.copy_text() or "container.py" in screen.copy_text()
        assert screen.copy_text().splitlines()[-1] == "<string>(1): <module>"
        await pilot.press("z", "escape")
        await pilot.pause()
        assert not view.zoomed and "nn.Module: Sequential_0" in said(app, "story")
        await pilot.press("home", "k", "end", "backspace", "escape")
        await pilot.pause()
        assert app.shown == "timeline"


async def test_modules_are_ranked_and_f_shows_what_is_below_one(real_traces: Path) -> None:
    async with viewing(real.npu(real_traces, "level2/rank0").trace, "hotspots", (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, HotspotsScreen)
        await until(pilot, lambda: screen.chosen is not None)
        await pilot.press("m", "j")
        await pilot.pause()
        assert "26 modules hold 16.0 ms of 25.0 ms of idle time (64.1 %)" in said(app, "answer")
        assert "DataParallel_0 > AlexNet_0 · idle 13.9 ms" in said(app, "story")
        assert "holds Sequential_1 7.40 ms, Sequential_0 5.89 ms" in said(app, "story")
        for title in ("stacks below nn.Module: AlexNet_0", "callers of nn.Module: AlexNet_0"):
            await pilot.press("f")
            await pilot.pause()
            lines = lines_of(screen.panes.stacks)
            assert title in lines[0] and "13.9 ms 100.0 %" in lines[2]
        await pilot.press("f")
        await pilot.pause()
        assert "stacks:" in lines_of(screen.panes.stacks)[0]


async def test_without_a_device_it_says_so() -> None:
    async with viewing(trace_of([]), "flame", (80, 24)) as (app, pilot):
        assert "whether one is idle is not known." in said(app, "answer")
        await pilot.press("j", "enter", "backspace", "z", "o", "y")
        await pilot.pause()
        assert isinstance(app.screen, FlameScreen)


@pytest.mark.parametrize("small", [1, 4, 5])
def test_at_most_four_of_the_small_frames_are_named(small: int) -> None:
    nodes = [SimpleNamespace(frame=f"frame {number}", own_ns=1) for number in range(small)]
    flame = SimpleNamespace(node=None, nodes=nodes, small=nodes, idle_ns=small)
    analysis: Any = SimpleNamespace(idle_ns=10)
    view: Any = SimpleNamespace(flame=flame, caller=None, label=lambda _: "small", landmarks=lambda: ["main"])
    title, numbers, path = flame_story(analysis, view, Palette("none"))
    named = [f"frame {number}" for number in range(min(small, 4))] + ["..."] * (small > 4)
    assert "".join(text for text, _ in title) == "small: " + ", ".join(named)
    assert "".join(text for text, _ in numbers) == f"idle {small} ns ({small}0.0 % of all)"
    assert "".join(text for text, _ in path) == "in main"


async def test_operators_are_no_frames_of_python() -> None:
    events = [*gpu(), host(230, 20, "aten::mm")]
    for number, start in enumerate((100, 300, 500)):
        events += [launch(start - 60, 5, number), kernel(start, 100, number)]
    async with viewing(trace_of(events), "flame") as (app, pilot):
        screen = app.screen
        assert isinstance(screen, FlameScreen)
        await until(pilot, lambda: bool(screen.view.cells))
        await pilot.press("j")
        assert said(app, "story").startswith("(between operators)\n")
        await pilot.press("l")
        assert said(app, "story").startswith("aten::mm\n")


async def test_the_frames_of_the_stacks_are_exported(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "frames.csv"
    async with viewing(load(samples / "moba", cache=False).trace, "flame") as (app, pilot):
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, TableExport))
        app.screen.query_one(Input).value = str(path)
        await pilot.press("enter")
        await until(pilot, path.exists)
        frames = analysis_of(app).frames
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["idle_ns"]) for row in rows] == [frame.idle_ns for frame in frames]


@given(st.integers(0, 9), st.integers(0, 12), st.integers(1, 12), st.integers(0, 11))
def test_the_cursor_is_on_screen_and_no_line_is_left_free(height: int, top: int, rows: int, row: int) -> None:
    row = min(row, rows - 1)
    view: Any = SimpleNamespace(size=SimpleNamespace(height=height), top=top, row=row, cells=[()] * rows)
    moved, height = FlameView._scroll(view), max(height, 1)
    assert moved == (view.top != top)
    assert 0 <= view.top <= row < view.top + height
    assert view.top == 0 or view.top + height <= rows
