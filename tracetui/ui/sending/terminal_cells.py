"""What the terminal shows, cell by cell, and what has to be sent to make it show something else.

Knows lines of styled text (strips) and escape sequences; not what is drawn, and not when it is sent. Textual
compares nothing: it sends each region that is drawn again whole, and resets the style after every piece.
Looks are the codes of ECMA-48 (SGR), the fewest from one to the next; links, which the viewer does not use,
are left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len
from rich.color import Color, ColorSystem
from rich.style import Style
from textual.strip import Strip

from tracetui.arrays import Bools, Int64s

#: A cell is the code of its character, and its look above these bits. Look 0 is plain.
_LOOK_BITS = 32
_CODES = (1 << _LOOK_BITS) - 1
_BLANK = ord(" ")
_UNKNOWN = -1
_BEHIND_WIDE = 0  #: the second cell of a character that has two
_ERASE = 1  #: the cells from here to the end of the line are blank
#: codes from here on are places in a list of texts: characters of two cells, or with combining ones
_TEXTS = 0x110000
_ERASED = 3  #: cells that cost as much as erasing the rest of a line

#: what lies in one of these ranges is one character in one cell, in every terminal
_NARROW = (
    (0x20, 0x7F),
    (0xA0, 0xAD),
    (0xAE, 0x300),
    (0x2010, 0x2028),
    (0x2030, 0x2060),
    (0x2190, 0x2300),
    (0x2500, 0x25FD),
)


class TerminalCells:
    """The cells of one screen: those wanted, and those that the terminal shows."""

    def __init__(self, width: int, height: int, system: ColorSystem = ColorSystem.TRUECOLOR) -> None:
        self.width, self.height = width, height
        self._system = system
        self._wanted: Int64s = np.full((height, width), _BLANK, np.int64)
        self._shown: Int64s = np.full((height, width), _UNKNOWN, np.int64)
        self._put: set[int] = set(range(height))  # lines that may differ
        self._looks = [PLAIN]
        self._place_of_look = {PLAIN: 0}
        self._place_of_style: dict[Style | None, int] = {None: 0}
        self._turns: dict[tuple[int, int], str] = {}
        self._texts: list[str] = []
        self._place_of_text: dict[str, int] = {}

    def suits(self, width: int, height: int, system: ColorSystem) -> bool:
        """Return whether this is for a screen of that size and so many colours."""
        return (self.width, self.height, self._system) == (width, height, system)

    def forget(self) -> None:
        """Forget what the terminal shows: everything is to be sent."""
        self._shown[:] = _UNKNOWN
        self._put.update(range(self.height))

    def put(self, strips: Iterable[tuple[int, int, Strip]]) -> None:
        """Lay strips on the screen: line, first cell, strip. What lies outside is left out."""
        texts: list[str] = []
        lengths: list[int] = []
        looks: list[int] = []
        spans: list[tuple[int, int, int, int]] = []
        end, known = 0, self._place_of_style
        for y, x, strip in strips:
            start = end
            for text, style, _ in strip:
                length = len(text)
                texts.append(text)
                lengths.append(length)
                looks.append(known[style] if style in known else self._look(style))
                end += length
            if 0 <= y < self.height and 0 <= x < self.width:
                spans.append((y, x, start, end))
        cells = _codes("".join(texts))
        narrow = _narrow(cells)
        cells |= np.repeat(np.array(looks, np.int64) << _LOOK_BITS, lengths)
        every = narrow.all()
        for y, x, start, end in spans:
            part = cells[start:end]
            if not (every or narrow[start:end].all()):
                part = self._of_any_width(part)
            self._wanted[y, x : x + len(part)] = part[: self.width - x]
            self._put.add(y)

    def changes(self) -> str:
        """Return what turns the terminal's cells into those wanted; they count as sent."""
        lines = sorted(self._put)
        self._put.clear()
        shows = np.array([look.shows_blanks for look in self._looks])
        wanted, shown = _plain_blanks(self._wanted[lines], shows), self._shown[lines]
        changed = wanted != shown
        if self._texts:  # terminals differ about the width of what is not narrow: such a line is sent whole
            odd = (((wanted & _CODES) >= _TEXTS) | ((shown & _CODES) >= _TEXTS)).any(axis=1)
            changed[odd & changed.any(axis=1)] = True
        self._shown[lines] = wanted
        changed[:, 1:-1] |= changed[:, :-2] & changed[:, 2:]  # a cell costs less than a move over it
        self._erase_ends(wanted, changed)
        at = np.flatnonzero(changed)
        if not len(at):
            return ""
        cells = wanted.reshape(-1)[at]
        codes, looks = cells & _CODES, _looks_of_blanks(cells, shows)
        y, x = np.divmod(at, self.width)
        breaks = (np.diff(at) != 1) | (np.diff(looks) != 0) | (x[1:] == 0)
        first = np.concatenate(([0], np.flatnonzero(breaks) + 1))
        runs = [
            values.tolist()
            for values in (
                first,
                np.append(first[1:], len(at)),
                np.array(lines)[y[first]],
                x[first],
                looks[first],
            )
        ]
        return self._sequences(self._text(codes), runs).replace(chr(_ERASE), "\x1b[K")

    def _sequences(self, text: list[str] | str, runs: list[list[int]]) -> str:
        """Return the sequences of runs of equal looks: places in `text`, lines, columns and looks."""
        sent: list[str] = []
        look, line, column = 0, -1, 0
        for start, stop, y, x, style in zip(*runs):
            if y != line:
                sent.append(f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H")
            elif x != column:
                sent.append(f"\x1b[{x - column}C" if x - column > 1 else "\x1b[C")
            if style != look:
                sent.append(self._turn(look, style))
                look = style
            sent.append("".join(text[start:stop]))
            line, column = y, x + stop - start
        sent.append(self._turn(look, 0))
        return "".join(sent)

    def _erase_ends(self, wanted: Int64s, changed: Bools) -> None:
        """Put one erasure for the blanks that change at the end of a line, where that is shorter."""
        ends = np.logical_and.accumulate((wanted == _BLANK)[:, ::-1], axis=1)[:, ::-1] & changed
        lines = np.flatnonzero(ends.sum(axis=1) > _ERASED)
        first = ends[lines].argmax(axis=1)
        changed[ends & np.isin(np.arange(len(wanted)), lines)[:, None]] = False
        changed[lines, first] = True
        wanted[lines, first] = _ERASE

    def _text(self, codes: Int64s) -> list[str] | str:
        """Return one entry per cell: a character, a text, or nothing after a wide one."""
        special = (codes == _BEHIND_WIDE) | (codes >= _TEXTS)
        if not special.any():
            return _decoded(codes)
        text = list(_decoded(np.where(special, _BLANK, codes)))
        for place in np.flatnonzero(special).tolist():
            text[place] = self._texts[codes[place] - _TEXTS] if codes[place] else ""
        return text

    def _of_any_width(self, cells: Int64s) -> Int64s:
        """Spread characters over cells: two for a wide one, none for one that combines."""
        wide: list[int] = []
        text, start = "", 0  # the last character with what combines with it, and its place
        for cell, character in zip(cells.tolist(), _decoded(cells & _CODES)):
            width = 0 if unicodedata.category(character) == "Cc" else cell_len(character)
            if width:
                text, start = character, len(wide)
                wide += [cell, *[_BEHIND_WIDE] * (width - 1)]
            elif wide and not unicodedata.category(character).startswith("C"):
                text += character
            if wide and (width > 1 or len(text) > 1):
                wide[start] = wide[start] >> _LOOK_BITS << _LOOK_BITS | self._code(text)
        return np.array(wide, np.int64)

    def _code(self, text: str) -> int:
        if text not in self._place_of_text:
            self._place_of_text[text] = len(self._texts)
            self._texts.append(text)
        return _TEXTS + self._place_of_text[text]

    def _look(self, style: Style | None) -> int:
        look = look_of(style, self._system) if style is not None else PLAIN
        if look not in self._place_of_look:
            self._place_of_look[look] = len(self._looks)
            self._looks.append(look)
        place = self._place_of_style[style] = self._place_of_look[look]
        return place

    def _turn(self, old: int, new: int) -> str:
        key = old, new
        if key not in self._turns:
            self._turns[key] = turn(self._looks[old], self._looks[new])
        return self._turns[key]


def _codes(text: str) -> Int64s:
    """Return the code points of a text: int64[characters]."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)


def _decoded(codes: Int64s) -> str:
    return codes.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")


def _plain_blanks(cells: Int64s, shows: Bools) -> Int64s:
    """Return the cells, blanks without a look where none can be seen; `shows`: whether each look can."""
    return np.where(((cells & _CODES) == _BLANK) & ~shows[cells >> _LOOK_BITS], _BLANK, cells)


def _looks_of_blanks(cells: Int64s, shows: Bools) -> Int64s:
    """Return the look of each cell; a plain blank takes the one before it where that cannot be seen."""
    looks = cells >> _LOOK_BITS
    blank = (cells == _BLANK) | (cells == _ERASE)
    if blank.any():
        last = np.maximum.accumulate(np.where(blank, -1, np.arange(len(cells))))
        before = np.where(last >= 0, looks[np.maximum(last, 0)], 0)
        looks = np.where(blank & ~shows[before], before, looks)
    return looks


def _narrow(codes: Int64s) -> Bools:
    """Return which characters are surely one cell wide."""
    narrow = np.zeros(len(codes), np.bool_)
    for first, stop in _NARROW:
        narrow |= (codes >= first) & (codes < stop)
    return narrow


#: attribute of a style, the code that turns it on, the code that turns it off
_ATTRIBUTES = (
    ("bold", "1", "22"),
    ("dim", "2", "22"),
    ("italic", "3", "23"),
    ("underline", "4", "24"),
    ("blink", "5", "25"),
    ("reverse", "7", "27"),
    ("strike", "9", "29"),
)
_OFF = {on: off for _, on, off in _ATTRIBUTES}
#: attributes that are seen on a blank
_SEEN = {"4", "7", "9"}


class CellLook(NamedTuple):
    """A style as codes; "" is the terminal's own colour."""

    attributes: tuple[str, ...] = ()
    foreground: str = ""
    background: str = ""

    @property
    def shows_blanks(self) -> bool:
        """Whether a blank in this look differs from an erased cell."""
        return bool(self.background or _SEEN.intersection(self.attributes))


PLAIN = CellLook()


def look_of(style: Style, system: ColorSystem) -> CellLook:
    """Return the look of a style where there are so many colours."""
    return CellLook(
        tuple(on for name, on, _ in _ATTRIBUTES if getattr(style, name)),
        _colour(style.color, system, foreground=True),
        _colour(style.bgcolor, system, foreground=False),
    )


def turn(old: CellLook, new: CellLook) -> str:
    """Return the shortest sequence that turns one look into another; "" where they are equal."""
    if old == new:
        return ""
    if new == PLAIN:
        return "\x1b[m"
    gone = [on for on in old.attributes if on not in new.attributes]
    off = dict.fromkeys(_OFF[on] for on in gone)
    kept = [on for on in old.attributes if on in new.attributes and _OFF[on] not in off]
    changed = [*off, *(on for on in new.attributes if on not in kept)]
    if old.foreground != new.foreground:
        changed.append(new.foreground or "39")
    if old.background != new.background:
        changed.append(new.background or "49")
    anew = ["", *new.attributes, *filter(None, (new.foreground, new.background))]
    return min((f"\x1b[{';'.join(codes)}m" for codes in (changed, anew)), key=len)


def _colour(colour: Color | None, system: ColorSystem, foreground: bool) -> str:
    if colour is None or colour.is_default:
        return ""
    return ";".join(colour.downgrade(system).get_ansi_codes(foreground))
