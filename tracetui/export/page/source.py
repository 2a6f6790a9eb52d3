"""The source of the lines of Python that a page is about."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from tracetui.export.page.html import as_markup
from tracetui.export.sentences.causes import line_name
from tracetui.trace.source_files import SourceFile, SourceFiles
from tracetui.trace.stack import HasLine

QUOTED_LINES = 5  #: lines of Python whose source is shown
_AROUND = 3  #: lines of source above and below the one that is quoted


def source_excerpts(source: SourceFiles, lines: Iterable[HasLine]) -> list[str]:
    """Return the source around the first lines; nothing of those whose file is not found."""
    excerpts = (_excerpt(line, source) for line in islice(lines, QUOTED_LINES))
    return [excerpt for excerpt in excerpts if excerpt]


def _excerpt(line: HasLine, source: SourceFiles) -> str:
    found = source.find(line.file) if line.file else None
    if not isinstance(found, SourceFile) or not 0 < line.line <= len(found.lines):
        return ""
    first = max(line.line - _AROUND, 1)
    written = []
    for number, text in enumerate(found.lines[first - 1 : line.line + _AROUND], first):
        numbered = f"{number:>5}  {as_markup(text)}"
        written.append(f"<mark>{numbered}</mark>" if number == line.line else numbered)
    title = as_markup(line_name(line.file, line.line, line.function))
    return f"<h3><code>{title}</code></h3><pre>{chr(10).join(written)}</pre>"
