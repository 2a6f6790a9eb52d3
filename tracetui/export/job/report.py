"""Reports of a job as text and as Markdown: a headline, sentences, tables, and what else is to be known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tracetui.export import markdown
from tracetui.export.tables.column import Table
from tracetui.export.tables.job import JobRows
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN, wrap_sentence
from tracetui.language import counted, translate
from tracetui.trace.clean import printable


@dataclass(frozen=True)
class TableSection:
    """A table of a report."""

    title: str
    table: Table[Any]
    rows: Any  #: as the table takes them
    more: str = ""  #: what stands below


def table_section(title: str, table: Table[Any], rows: JobRows, top: int) -> TableSection:
    """Return a section with the first `top` rows, 0 for all, and how many there are besides."""
    shown = rows.first(top)
    hidden = len(rows.rows) - len(shown.rows)
    return TableSection(title, table, shown, counted(hidden, "1 more", "{count} more") if hidden else "")


def report_text(
    headline: str,
    sentences: Sequence[str],
    sections: Iterable[TableSection],
    width: int,
    notes: Sequence[str] = (),
) -> str:
    """Return a report as text, `width` cells wide; notes are sentences without their full stop."""
    lines = [headline, ""]
    for sentence in sentences:
        lines += wrap_sentence(sentence, width, later=MARGIN)
    lines += [""] if sentences else []
    for section in sections:
        lines += wrap_sentence(section.title, width, later=MARGIN)
        lines += text_table(section.table, section.rows, width)
        lines += [f"{MARGIN}{section.more}"] if section.more else []
        lines.append("")
    if notes:
        lines.append(translate("Notes"))
        for note in notes:
            lines += wrap_sentence(
                translate("{sentence}.", sentence=printable(note)), width, MARGIN, 2 * MARGIN
            )
        lines.append("")
    return "\n".join(lines)


def report_markdown(
    headline: str, sentences: Sequence[str], sections: Iterable[TableSection], notes: Sequence[str] = ()
) -> str:
    """Return a report as Markdown; notes are sentences without their full stop."""
    lines = [f"## {markdown.escaped(headline)}", ""]
    lines += [*map(markdown.escaped, sentences), ""]
    for section in sections:
        lines += [
            f"### {markdown.escaped(section.title)}",
            "",
            *markdown_table(section.table, section.rows),
            "",
        ]
        lines += [section.more, ""] if section.more else []
    lines += [f"- {markdown.escaped(translate('{sentence}.', sentence=note))}" for note in notes]
    return "\n".join(lines).rstrip() + "\n"
