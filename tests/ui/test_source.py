"""The source pane shows the line of a frame, where the text came from, and what to do where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App, ComposeResult

from tests.ui.training import training
from tests.ui.viewing import case, settled, viewing
from tracetui.trace.source_files import SourceFiles
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.python_tokens import Token, python_spans
from tracetui.ui.widgets.source import WIDE, SourcePane


class SourceApp(App[None]):
    palette, glyphs = Palette("none"), ASCII

    def __init__(self, files: SourceFiles) -> None:
        super().__init__()
        self.files = files

    def compose(self) -> ComposeResult:
        pane = SourcePane()
        pane.files = self.files
        yield pane


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceFiles:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("".join(f"line_{n} = {n}\n" for n in range(1, 201)))
    (tmp_path / "evil.py").write_text("a\x1b]0;owned\x07b\n\tdef f():  # [red]x[/red]\n漢字漢字漢字漢字\n")
    trace = tmp_path / "trace_view.json"
    trace.write_text("[]")
    return SourceFiles(trace, profiled_ns=1 << 62)


async def text_of(
    files: SourceFiles, *frames: tuple[str, int, str], size: tuple[int, int] = (60, 12)
) -> list[str]:
    """What the pane shows after these frames."""
    app = SourceApp(files)
    async with app.run_test(size=size) as pilot:
        pane = app.query_one(SourcePane)
        for frame in frames:
            pane.show(*frame)
        await settled(app, pilot)
        strips = [pane.render_line(y) for y in range(size[1])]
        assert all(strip.cell_length == size[0] for strip in strips)
        return [strip.text for strip in strips]


async def test_the_line_is_marked_among_its_neighbours(files: SourceFiles) -> None:
    lines = await text_of(files, ("/host/train.py", 100, "step"))
    assert lines[0].startswith("-- /host/train.py(100) step ---")
    assert "source found beside the trace" in lines[1]
    assert [line.split() for line in lines if line.startswith(">")] == [[">", "100", "line_100", "=", "100"]]
    assert any(line.startswith("   99  line_99") for line in lines)


@pytest.mark.parametrize("width", [24, 40, 80])
async def test_a_long_line_is_read_to_its_end_and_the_lines_below_it_too(
    files: SourceFiles, tmp_path: Path, width: int
) -> None:
    long = "    result = scores.masked_fill(hidden, minus_infinity).softmax(dim=-1)"
    (tmp_path / "long.py").write_text(f"def f():\n{long}\n    return result\n" + "pass\n" * 30)
    lines = await text_of(files, ("/host/long.py", 2, "f"), size=(width, 20))
    (start,) = (place for place, line in enumerate(lines) if line.startswith(">"))
    end = next(place for place, line in enumerate(lines) if line.startswith("   3  "))
    text = "".join(line[6:].replace(" ", "") for line in lines[start:end])
    assert text == long.replace(" ", "") and (end - start > 1) == (width < 80)
    assert [int(line.split()[0]) for line in lines[end:]] == [*range(3, 3 + len(lines) - end)]


async def test_an_endless_line_leaves_room_and_the_last_line_can_be_reached(
    files: SourceFiles, tmp_path: Path
) -> None:
    (tmp_path / "long.py").write_text("one\ntwo\n" + "x" * 200_000 + "\n" + "pass\n" * 30)
    app = SourceApp(files)
    async with app.run_test(size=(40, 12)) as pilot:
        pane = app.query_one(SourcePane)
        pane.show("/host/long.py", 3)
        await settled(app, pilot)
        lines = [pane.render_line(y).text for y in range(12)]
        (start,) = (place for place, line in enumerate(lines) if line.startswith(">"))
        assert sum("xxx" in line for line in lines) == 5 and lines[start + 4].endswith("xxx~")
        assert lines[start + 5].split() == ["4", "pass"]
        pane.action_last()
        assert pane.render_line(11).text.split() == ["33", "pass"]


async def test_only_the_last_of_many_frames_is_shown(files: SourceFiles) -> None:
    lines = await text_of(
        files, ("/host/evil.py", 1, "f"), ("/nowhere.py", 3, "g"), ("/host/train.py", 7, "h")
    )
    assert any(line.startswith(">   7  line_7 ") for line in lines)


async def test_a_line_past_the_end_is_doubted(files: SourceFiles) -> None:
    lines = await text_of(files, ("/host/train.py", 500, "step"), size=(120, 12))
    assert "only 200 lines: not the version that ran" in lines[1]
    assert lines[-1].strip().startswith("200  line_200")


async def test_a_missing_file_says_where_it_looked_and_what_to_do(files: SourceFiles, tmp_path: Path) -> None:
    text = " ".join(await text_of(files, ("/host/gone.py", 5, "f"), size=(60, 30)))
    assert "not on this host" in text
    assert "--source DIR" in text
    assert tmp_path.name in text.replace(" ", "")


async def test_a_frame_without_a_file_says_so(files: SourceFiles) -> None:
    assert "No Python frame here." in "".join(await text_of(files))


async def test_text_of_a_file_is_neither_obeyed_nor_parsed(files: SourceFiles) -> None:
    lines = await text_of(files, ("/host/evil.py", 2, "[bold]\x1b[2J"), size=(24, 8))
    assert all(line.isprintable() for line in lines)
    wide = await text_of(files, ("/host/evil.py", 2, "[bold]\x1b[2J"))
    assert "[red]x[/red]" in "".join(wide)
    assert "[bold]" in wide[0]


async def test_a_file_that_is_looked_for_is_not_said_to_be_missing() -> None:
    pane = SourcePane()
    assert "no source file" in pane.edit()
    pane.file = "/host/train.py"
    assert "Still looking" in pane.edit()


async def test_the_keys_scroll_and_bring_back(files: SourceFiles) -> None:
    app = SourceApp(files)
    async with app.run_test(size=(60, 12)) as pilot:
        pane = app.query_one(SourcePane)
        pane.show("/host/train.py", 100)
        await settled(app, pilot)
        before = pane.render_line(5).text
        pane.action_last()
        assert pane.render_line(11).text.split()[0] == "200"
        pane.action_cursor(-1)
        assert pane.render_line(11).text.split()[0] == "199"
        pane.action_first()
        assert pane.render_line(2).text.split()[0] == "1"
        pane.action_activate()
        assert pane.render_line(5).text == before


def test_the_words_of_python_are_told_apart() -> None:
    lines = [
        "def f(x):  # why",
        '    return """a',
        "  # no comment",
        '"""',
        "class_name = 'it\\'s' + undefined",
    ]
    spans = python_spans(lines)
    words = [(line[start:end], token) for line, row in zip(lines, spans) for start, end, token in row]
    assert words == [
        ("def", Token.KEYWORD),
        ("f", Token.NAME),
        ("# why", Token.COMMENT),
        ("return", Token.KEYWORD),
        ('"""a', Token.STRING),
        ("  # no comment", Token.STRING),
        ('"""', Token.STRING),
        ("'it\\'s'", Token.STRING),
    ]


async def test_the_source_stands_beside_a_table_from_so_many_cells() -> None:
    for shown in ("gaps", "advice", "memory"):
        async with viewing(training(), shown, (WIDE - 1, 24)) as (app, pilot):
            source = app.screen.query_one(SourcePane)
            for width in (WIDE - 1, WIDE, WIDE - 1):
                await pilot.resize_terminal(width, 24)
                await pilot.pause()
                with case(shown, width):
                    assert source.display == (width == WIDE)
