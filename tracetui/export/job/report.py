"""Reports of a job as text and as Markdown: a headline, sentences, tables, and what else is to be known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tracetui.export import markdown
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.shown import TableSection
from tracetui.export.text import MARGIN, wrap_sentence
from tracetui.language import translate
from tracetui.trace.clean import printable


def table_section(title: str, table: Table[Any], rows: JobRows, top: int) -> TableSection:
    """Return a section with the first `top` rows, 0 for all, and how many there are besides."""
    shown = rows.first(top)
    return TableSection(title, table, shown, shown.more, shown.more)


@dataclass(frozen=True)
class Report:
    """What a command says of a job: a headline, sentences, tables, and what else is to be known."""

    headline: str
    sentences: Sequence[str]
    sections: Iterable[TableSection]
    notes: Sequence[str] = ()  #: sentences without their full stop
    #: Returns lines of a width in cells that text has before its tables.
    chart: Callable[[int], Sequence[str]] = lambda width: ()

    def text(self, width: int) -> str:
        """Return the report as text, `width` cells wide."""
        lines = [self.headline, ""]
        for sentence in self.sentences:
            lines += wrap_sentence(sentence, width, later=MARGIN)
        lines += [""] if self.sentences else []
        lines += self.chart(width)
        for section in self.sections:
            _, *below = section.text(width)
            lines += [*wrap_sentence(section.title, width, later=MARGIN), *below, ""]
        if self.notes:
            lines.append(translate("Notes"))
            for note in self.notes:
                lines += wrap_sentence(
                    translate("{sentence}.", sentence=printable(note)), width, MARGIN, 2 * MARGIN
                )
            lines.append("")
        return "\n".join(lines)

    def markdown(self) -> str:
        """Return the report as Markdown."""
        lines = [f"## {markdown.escaped(self.headline)}", ""]
        lines += [*map(markdown.escaped, self.sentences), ""]
        for section in self.sections:
            lines += [*section.markdown(3), ""]
        lines += [f"- {markdown.escaped(translate('{sentence}.', sentence=note))}" for note in self.notes]
        return "\n".join(lines).rstrip() + "\n"
