"""Text of a trace as cells of a table file: safe to open in a spreadsheet and to print."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame

#: What a spreadsheet takes for the start of a formula, ASCII and full-width, also after blanks.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")

Cell = object  #: int, str or None


def text_cell(text: str) -> str:
    """A text that no spreadsheet computes and no terminal obeys: an apostrophe first where it would.

    >>> text_cell("=HYPERLINK(A1)")
    "'=HYPERLINK(A1)"
    """
    clean = printable(text)
    return "'" + clean if _FORMULA.match(text) or _FORMULA.match(clean) else clean


def stack_cell(frames: Iterable[Frame]) -> str:
    """Frames, leaf first, on one line: "a.py(3): f < b.py(7): main"."""
    return text_cell(" < ".join(map(str, frames)))


class Cells(dict[int, str]):
    """The cell of each index, made once: a table repeats few texts many times. -1 is an empty cell."""

    def __init__(self, cell_of: Callable[[int], str]) -> None:
        super().__init__({-1: ""})
        self._cell_of = cell_of

    def __missing__(self, index: int) -> str:
        cell = self[index] = self._cell_of(index)
        return cell


def write_rows(stream: BinaryIO, header: Sequence[str], rows: Iterable[Iterable[Cell]]) -> int:
    """A csv table in UTF-8 with "\\n" line ends; None is an empty cell. Returns the number of rows.

    300 k rows of 12 columns: 1.3 s, against 1.7 s and 0.2 s of import for pandas.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="", write_through=False)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    count = 0
    try:
        for row in rows:
            writer.writerow(row)
            count += 1
        text.flush()
    finally:
        text.detach()
    return count
