"""Markdown in which names of a trace stay names: no markup, link or mention comes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracetui.trace.clean import printable

LONGEST_NAME = 200  #: characters
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]<>#|~&!$@^])")


def code(name: str) -> str:
    """Return a name as a code span, the one place where no markup, mention or link is looked for."""
    shown = printable(name, LONGEST_NAME).strip()
    if not shown:
        return "-"
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(lines: Sequence[str]) -> list[str]:
    """Return the lines of a block that keeps what stands below each other so; none of no lines."""
    shown = [*map(printable, lines)]
    fence = "`" * max(3, 1 + max(len(run) for run in re.findall("`*", "\n".join(shown))))
    return [f"{fence}text", *shown, fence, ""] if shown else []


def escaped(text: str) -> str:
    """Escape a text of the program so that Markdown shows it as it is."""
    return _PUNCTUATION.sub(r"\\\1", printable(text))


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[str]) -> list[str]:
    """Return the lines of a table; cells are Markdown. Columns are set right, all but the `texts`."""
    rule = ["---" if title in texts else "--:" for title in titles]
    return [_row(titles), _row(rule), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
