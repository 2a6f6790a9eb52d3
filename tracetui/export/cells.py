"""Text of a trace as cells of a table file: safe to open in a spreadsheet and to print."""

from __future__ import annotations

import re

from tracetui.trace.clean import printable

#: What a spreadsheet takes for the start of a formula, ASCII and full-width, also after blanks.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def text_cell(text: str) -> str:
    """Return a text that no spreadsheet computes and no terminal obeys: an apostrophe first where it would.

    >>> text_cell("=HYPERLINK(A1)")
    "'=HYPERLINK(A1)"
    """
    clean = printable(text)
    return "'" + clean if _FORMULA.match(text) or _FORMULA.match(clean) else clean


def encodable(text: str) -> str:
    """Return text that strict readers of JSON and UTF-8 accept, else as written: never print it unescaped."""
    return _LONE_SURROGATES.sub("\ufffd", text)
