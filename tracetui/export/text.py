"""Plain text for terminals and files: aligned tables that fit a width, bars, ASCII on demand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import wrap

MARGIN = "  "  #: between columns, and before the first one

_EIGHTHS = " ▏▎▍▌▋▊▉"
#: Blanks, and a word that no line is broken in: a wide character is one, with the punctuation around it.
_WIDE, _CLOSING = "\u2e80-\uffee", "，。；：、）」！？"
_WORDS = re.compile(rf"([^\S\xa0]*)([（「]*(?:(?:\xa0|[^\s{_WIDE}])+|[{_WIDE}])[{_CLOSING}]*)")
_BEFORE_UNITS = re.compile(r"(?<=[0-9]) (?=(?:[nµm]?s|[kMG]?B|%)(?:\W|$))")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII = str.maketrans("…µμ─█▏▎▍▌▋▊▉", "~uu-#   ####")


@dataclass(frozen=True)
class ColumnLayout:
    """How one column of a table is set."""

    title: str  #: lines joined by "\n"
    right: bool = True  #: numbers; False: text
    shrink_to: int = 0  #: cells the column may be cut down to where the table is too wide; 0: never cut
    keep_end: bool = False  #: cut the start off instead of the end, as of a path


def layout_table(
    columns: Sequence[ColumnLayout], rows: Sequence[Sequence[str]], width: int, notes: Sequence[str] = ()
) -> list[str]:
    """Return the lines of a table: titles, a rule, rows, each with its note below, beside the first column.

    Wider than `width` only where no column gives way; notes are cut.
    """
    titles = [column.title.split("\n") for column in columns]
    height = max(len(title) for title in titles)
    head = [[""] * (height - len(title)) + title for title in titles]
    widths = [
        max(cell_width(cell) for cell in (*title, *(row[i] for row in rows)))
        for i, title in enumerate(titles)
    ]
    _shrink(widths, columns, width - len(MARGIN) * len(columns))
    lines = [_row_line(columns, widths, [title[i] for title in head]) for i in range(height)]
    lines.append(MARGIN + "─" * (sum(widths) + len(MARGIN) * (len(widths) - 1)))
    indent = " " * (2 * len(MARGIN) + widths[0])
    for place, row in enumerate(rows):
        lines.append(_row_line(columns, widths, row))
        if place < len(notes) and notes[place]:
            lines.append(indent + cut(notes[place], width - len(indent)))
    return lines


def wrap_sentence(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    """Return the lines of a sentence, indented by `first` and `later`; a number and its unit stay together.

    Wide characters have no blanks: lines break between them, and none begins with their punctuation.
    """
    unbroken, width = keep_units_together(text), max(width, 20)
    if cell_width(unbroken) == len(unbroken):
        lines = wrap(unbroken, width, initial_indent=first, subsequent_indent=later)
    else:
        lines = [first]
        for place, (blank, word) in enumerate(words_of(unbroken)):
            joined = f"{lines[-1]}{blank if place else ''}{word}"
            if place and cell_width(joined) > width:
                lines.append(later + word)
            else:
                lines[-1] = joined
    return [line.replace("\xa0", " ") for line in lines]


def bar(part: int, whole: int, cells: int) -> str:
    """Return a share as a bar, in eighths of a cell: never empty for something, full for all alone."""
    if whole <= 0 or part <= 0:
        return ""
    eighths = min(max(8 * cells * part // whole, 1), 8 * cells)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def cut(text: str, width: int, keep_end: bool = False) -> str:
    """Return the text, cut to `width` cells: as much of its start (or end) as fits beside an ellipsis."""
    if cell_width(text) <= width:
        return text
    characters, room = [], width - 1
    for character in reversed(text) if keep_end else text:
        room -= cell_width(character)
        if room < 0:
            break
        characters.append(character)
    return "…" + "".join(reversed(characters)) if keep_end else "".join(characters) + "…"


def cell_width(text: str) -> int:
    """Return how many cells of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def padded(text: str, width: int) -> str:
    """Return the text with blanks up to so many cells."""
    return text + " " * (width - cell_width(text))


def aligned(text: str, width: int) -> str:
    """Return the text with blanks before it, so many cells in all."""
    return " " * (width - cell_width(text)) + text


def capitalise(text: str) -> str:
    """Return a text with its first character in upper case."""
    return text[:1].upper() + text[1:]


def keep_units_together(text: str) -> str:
    """Return the text with a blank that does not break (U+00A0) between a number and its unit."""
    return _BEFORE_UNITS.sub("\xa0", text)


def words_of(text: str) -> list[tuple[str, str]]:
    """Return what no line is broken in, each with the blanks before it; a wide character is a word."""
    return _WORDS.findall(text)


def to_ascii(text: str) -> str:
    """Return the text in ASCII, each character as wide as it was; "?" for those without a likeness."""
    return _NON_ASCII.sub(lambda found: "?" * _character_width(found[0]), text.translate(_ASCII))


@lru_cache(maxsize=1 << 12)
def _character_width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _row_line(columns: Sequence[ColumnLayout], widths: Sequence[int], cells: Sequence[str]) -> str:
    line = ""
    for column, width, cell in zip(columns, widths, cells):
        cell_text = cut(cell, width, column.keep_end)
        space = " " * (width - cell_width(cell_text))
        line += MARGIN + (space + cell_text if column.right else cell_text + space)
    return line.rstrip()


def _shrink(widths: list[int], columns: Sequence[ColumnLayout], room: int) -> None:
    """Take cells from the widest column that still gives way, until the table fits."""
    excess = sum(widths) - room
    while excess > 0:
        giving = [i for i, column in enumerate(columns) if column.shrink_to and widths[i] > column.shrink_to]
        if not giving:
            return
        widest = max(giving, key=widths.__getitem__)
        next_widest = max((widths[i] for i in giving if i != widest), default=0)
        floor = max(columns[widest].shrink_to, min(next_widest, widths[widest] - 1))
        cut = min(excess, widths[widest] - floor)
        widths[widest] -= cut
        excess -= cut
