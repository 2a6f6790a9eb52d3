"""What is sent for changed cells: a terminal that gets it shows what was wanted, and gets little."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.ui.sending.terminal_cells import _NARROW, PLAIN, CellLook, TerminalCells, look_of, turn

WIDTH, HEIGHT = 14, 3
STYLES = (
    None,
    Style(),
    Style(bold=True, color="red"),
    Style(dim=True),
    Style(bold=True, reverse=True),
    Style(underline=True, color="bright_blue"),
    Style(bgcolor="#203040", color="#ffffff"),
    Style(bgcolor="#203040"),
)
BLANK = (" ", PLAIN)


class Terminal:
    """As much of a terminal as frames need: characters and looks of cells, moves, erasing."""

    def __init__(self) -> None:
        self.cells = [[("?", PLAIN)] * WIDTH for _ in range(HEIGHT)]
        self.x = self.y = 0
        self.attributes: set[str] = set()
        self.colours = {"3": "", "4": ""}

    def show(self, sent: str) -> None:
        for control, final, text in re.findall(r"\x1b\[([\d;]*)([A-Za-z])|([^\x1b])", sent):
            if final == "m":
                self._style(control.split(";"))
            elif final == "H":
                self.y, self.x = (int(part) - 1 for part in (control + ";1").split(";")[:2])
            elif final == "C":
                self.x += int(control or 1)
            elif final == "K":
                assert not self.colours["4"] and not self.attributes & {"4", "7", "9"}
                self.cells[self.y][self.x :] = [BLANK] * (WIDTH - self.x)
            else:
                assert text and not final
                self._put(text)

    def _put(self, character: str) -> None:
        look = CellLook(tuple(sorted(self.attributes)), self.colours["3"], self.colours["4"])
        line, width = self.cells[self.y], cell_len(character)
        if not width:
            before = self.x - 1 if line[self.x - 1][0] else self.x - 2
            line[before] = (line[before][0] + character, line[before][1])
        elif self.x + width <= WIDTH:
            line[self.x : self.x + width] = [(character, look), *[("", look)] * (width - 1)]
            self.x += width

    def _style(self, codes: list[str]) -> None:
        while codes:
            code = codes.pop(0)
            off = {"22": {"1", "2"}, "23": {"3"}, "24": {"4"}, "25": {"5"}, "27": {"7"}, "29": {"9"}}
            if code in ("", "0"):
                self.attributes, self.colours = set(), {"3": "", "4": ""}
            elif len(code) == 1:
                self.attributes.add(code)
            elif code in off:
                self.attributes -= off[code]
            elif code in ("38", "48"):
                rest = 4 if codes[0] == "2" else 2
                self.colours[code[0]] = ";".join([code, *codes[:rest]])
                del codes[:rest]
            else:
                ground = {"9": "3", "10": "4"}.get(code[:-1], code[0])
                self.colours[ground] = "" if code in ("39", "49") else code

    def looks(self) -> list[list[tuple[str, CellLook]]]:
        return [[_as_seen(*cell) for cell in line] for line in self.cells]


def _as_seen(text: str, look: CellLook) -> tuple[str, CellLook]:
    if text == " " and not look.shows_blanks:
        return BLANK
    if not text:
        return (text, PLAIN)
    return (text, CellLook(tuple(sorted(look.attributes)), look.foreground, look.background))


def wanted_of(strips: list[Strip]) -> list[list[tuple[str, CellLook]]]:
    """What a terminal that got the strips whole would show."""
    lines = []
    for strip in strips:
        line: list[tuple[str, CellLook]] = []
        for text, style, _ in strip:
            look = look_of(style or Style(), ColorSystem.TRUECOLOR)
            for character in text:
                width = cell_len(character)
                if width:
                    line += [(character, look), *[("", PLAIN)] * (width - 1)]
                elif line:
                    before = -1 if line[-1][0] else -2
                    line[before] = (line[before][0] + character, line[before][1])
        lines.append([_as_seen(*cell) for cell in line])
    return lines


texts = st.text(st.sampled_from("ab  █▁漢\u0301"), max_size=6).filter(
    lambda text: not text.startswith("\u0301")
)
strips = st.lists(st.tuples(texts, st.sampled_from(STYLES)), max_size=5).map(
    lambda runs: Strip([Segment(text, style) for text, style in runs]).adjust_cell_length(WIDTH)
)
frames = st.lists(st.lists(strips, min_size=HEIGHT, max_size=HEIGHT), min_size=1, max_size=4)


@given(frames)
def test_a_terminal_shows_what_was_put(frames: list[list[Strip]]) -> None:
    cells, terminal = TerminalCells(WIDTH, HEIGHT), Terminal()
    for frame in frames:
        cells.put((y, 0, strip) for y, strip in enumerate(frame))
        terminal.show(cells.changes())
        assert terminal.looks() == wanted_of(frame)
        assert cells.changes() == ""


def test_nobody_knows_what_is_shown_before_the_first_frame_and_after_forgetting() -> None:
    cells, terminal = TerminalCells(WIDTH, HEIGHT), Terminal()
    terminal.show(cells.changes())
    assert terminal.looks() == [[BLANK] * WIDTH] * HEIGHT
    cells.forget()
    assert cells.changes()


def test_a_part_of_a_line_leaves_the_rest_alone_and_is_cut_at_the_edge() -> None:
    cells, terminal = TerminalCells(WIDTH, HEIGHT), Terminal()
    cells.put([(0, 0, Strip([Segment("x" * WIDTH)]))])
    terminal.show(cells.changes())
    cells.put([(0, WIDTH - 2, Strip([Segment("yyyy")])), (HEIGHT, 0, Strip([Segment("z")]))])
    assert cells.changes() == f"\x1b[1;{WIDTH - 1}Hyy"


def test_control_characters_are_never_sent() -> None:
    cells = TerminalCells(WIDTH, HEIGHT)
    cells.changes()
    cells.put([(1, 0, Strip([Segment("a\x1b]0;b\x07\x9b1m\u202ec", None)]))])
    assert re.sub(r"\x1b\[[\d;]*[HmKC]", "", cells.changes()) == "a]0;b1mc"


def test_few_bytes_are_sent() -> None:
    def line(*runs: tuple[str, str]) -> Strip:
        return Strip([Segment(text, Style.parse(style)) for text, style in runs]).adjust_cell_length(WIDTH)

    cells = TerminalCells(WIDTH, HEIGHT, ColorSystem.STANDARD)
    cells.changes()
    cells.put([(0, 0, line(("ab", "blue"), (" ", "dim"), ("cd", "blue")))])
    assert cells.changes() == "\x1b[1H\x1b[34mab cd\x1b[m", "a blank takes any colour"
    cells.put([(0, 0, line(("ab", "blue"), (" ", "dim"), ("cx", "blue")))])
    assert cells.changes() == "\x1b[1;5H\x1b[34mx\x1b[m"
    cells.put([(0, 0, line(("a", "blue")))])
    assert cells.changes() == "\x1b[1;2H\x1b[K", "the rest of the line is blank"


@pytest.mark.parametrize("old", STYLES[1:])
@pytest.mark.parametrize("new", STYLES[1:])
def test_a_turn_is_never_longer_than_starting_anew(old: Style, new: Style) -> None:
    before, after = (look_of(style, ColorSystem.TRUECOLOR) for style in (old, new))
    codes = ["0", *after.attributes, *filter(None, (after.foreground, after.background))]
    assert len(turn(before, after)) <= len(f"\x1b[{';'.join(codes)}m")


def test_what_counts_as_narrow_is_one_cell_wide() -> None:
    assert {cell_len(chr(code)) for first, stop in _NARROW for code in range(first, stop)} == {1}
