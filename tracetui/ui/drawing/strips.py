"""Lines of styled text in exactly so many cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.export.text import keep_units_together, words_of

#: text and its style; the text holds no control character
StyledText = tuple[str, Style]


def fitted(pieces: Sequence[StyledText], width: int, ellipsis: str = "…") -> Strip:
    """Return the pieces in exactly `width` cells, what is cut marked with an ellipsis."""
    strip = Strip([Segment(text, style) for text, style in pieces if text])
    if strip.cell_length > width > 0:
        strip = Strip([*strip.crop(0, width - cell_len(ellipsis)), Segment(ellipsis)])
    return strip.adjust_cell_length(width)


def first_clauses(text: str, width: int, ellipsis: str = "…") -> str:
    """Return the first clauses of a sentence that fit in `width` cells; cut anywhere where that is few."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis) - 1
    ends = [
        at for at in range(len(text)) if text[at : at + 2] in ("; ", ", ") and cell_len(text[:at]) <= room
    ]
    if ends and 2 * cell_len(text[: ends[-1]]) >= width:
        return f"{text[: ends[-1]]} {ellipsis}"
    return text


def tail(text: str, width: int, ellipsis: str = "…") -> str:
    """Return the end of a text (of a path: what tells it from others) in at most `width` cells."""
    if cell_len(text) <= width:
        return text
    end = text[-max(width, 1) :]
    while cell_len(end) > width - cell_len(ellipsis) and end:
        end = end[1:]
    return ellipsis + end


def ruled(title: str, rule: str, width: int) -> str:
    """Return a title in a rule of `width` cells, as far as it leaves any: "── title ────"."""
    head = f"{rule * 2} {title} "
    return head + rule * (width - cell_len(head))


def wrapped(text: str, width: int) -> list[str]:
    """Return the text in lines of at most `width` cells, broken between words where there are any.

    A number and its unit stay together.
    """
    return [*_wrapped(text, width)]


@lru_cache(maxsize=512)  # a pane wraps the same text for each of its rows, and at each frame
def _wrapped(text: str, width: int) -> tuple[str, ...]:
    lines = [""]
    for blank, word in words_of(keep_units_together(text)):
        joined = f"{lines[-1]}{blank}{word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        while cell_len(word) > width > 1:
            lines[-1] = set_cell_size(word, width).rstrip()
            word = word[len(lines[-1]) :]
            lines.append("")
        lines[-1] = word
    return tuple(line.replace("\u00a0", " ") for line in lines)


def unbroken(text: str) -> str:
    """Return a text with spaces that do not break (U+00A0), for `flowing`."""
    return text.replace(" ", "\u00a0")


def flowing(pieces: Sequence[StyledText], width: int) -> list[list[StyledText]]:
    """Wrap styled text to lines of at most `width` cells, at blanks and between wide characters.

    U+00A0 is a blank that does not break.
    """
    lines: list[list[StyledText]] = [[]]
    left = width
    for blank, word in _words(pieces):
        cells = sum(cell_len(text) for text, _ in word)
        if lines[-1] and cells + blank > left:
            lines.append([])
            left = width
        if lines[-1] and blank:
            lines[-1].append((" ", word[0][1] if word[0][1] == lines[-1][-1][1] else Style.null()))
            left -= 1
        lines[-1] += [(text.replace("\u00a0", " "), style) for text, style in word]
        left -= cells
    return lines


def _words(pieces: Sequence[StyledText]) -> Iterator[tuple[bool, list[StyledText]]]:
    """Yield what no line is broken in, perhaps in several styles, and whether there is a blank before it."""
    bounds = [0]
    for text, _ in pieces:
        bounds.append(bounds[-1] + len(text))
    at, piece = 0, 0
    for blank, word in words_of("".join(text for text, _ in pieces)):
        at, end = at + len(blank), at + len(blank) + len(word)
        held: list[StyledText] = []
        while at < end:
            while bounds[piece + 1] <= at:
                piece += 1
            stop = min(end, bounds[piece + 1])
            text, style = pieces[piece]
            held.append((text[at - bounds[piece] : stop - bounds[piece]], style))
            at = stop
        yield bool(blank), held
