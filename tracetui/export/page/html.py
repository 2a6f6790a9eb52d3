"""The parts of a page of HTML: text, tables, sections and the page around them.

All text goes through `as_markup`, so no name of a trace becomes markup. The page forbids itself, by its
content security policy, to run scripts and to load anything: its style stands in it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from tracetui.export.notes import note_words
from tracetui.export.page.style import STYLE
from tracetui.export.sentences.health import marks_legend, recordings_verdict, trust_parts
from tracetui.export.tables.column import Form, Table
from tracetui.export.tables.shown import TableSection
from tracetui.language import heading, translate
from tracetui.notebook.note import Note
from tracetui.trace.clean import printable

LONGEST_NAME = 200  #: characters of a name of the trace

Rows = TypeVar("Rows")

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Section(NamedTuple):
    """A part of a page under its title."""

    title: str
    blocks: Sequence[str]  #: markup


def as_markup(text: str, longest: int = LONGEST_NAME) -> str:
    """Return text as markup that shows it: printable, cut to `longest` characters, escaped."""
    return html.escape(printable(text, longest))


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of the program's own words, of a class of the style."""
    return f"<p{_of_class(kind)}>{as_markup(text, 4000)}</p>"


def subtitle(text: str) -> str:
    """Return a title inside of a section."""
    return f"<h3>{as_markup(text)}</h3>"


def believed(trust: Mapping[str, str]) -> list[str]:
    """Return paragraphs on whether recordings can be believed, by the verdict of each of their numbers."""
    if trust_parts(trust):
        return [paragraph(recordings_verdict(trust), "lead doubt"), paragraph(marks_legend(), "dim")]
    return [paragraph(recordings_verdict(trust), "dim")]


def bullets(texts: Sequence[str]) -> str:
    """Return markup of a list of sentences."""
    return f"<ul>{''.join(f'<li>{as_markup(text, 4000)}</li>' for text in texts)}</ul>"


def html_table(shown: Table[Rows], rows: Rows, notes: Sequence[str] = ()) -> str:
    """Return markup of a table with the columns of Markdown.

    With `notes`, one below each row, it has the columns of text.
    """
    columns = shown.shown(Form.TEXT if notes else Form.MARKDOWN, rows)
    cells = [column.cells(rows, str) for column in columns]
    kinds = ["" if cell.numeric else "text" for cell in cells]
    head = "".join(
        f"<th{_of_class(kind)}>{as_markup(heading(column.title))}</th>"
        for column, kind in zip(columns, kinds)
    )
    body = []
    for place, row in enumerate(zip(*(cell.texts for cell in cells))):
        line = "".join(f"<td{_of_class(kind)}>{as_markup(text)}</td>" for text, kind in zip(row, kinds))
        body.append(f"<tr>{line}</tr>")
        if notes:
            body.append(
                f'<tr class="note"><td class="text" colspan="{len(columns)}">'
                f"<div>{as_markup(notes[place], 1000)}</div></td></tr>"
            )
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )


def table_part(section: TableSection) -> Section:
    """Return a table as a part of the page: what text has below rows, and Markdown below the table."""
    hidden = [paragraph(section.hidden, "dim")] if section.hidden else []
    return Section(
        section.title, [html_table(section.table, section.rows, section.notes(section.rows)), *hidden]
    )


def page(title: str, language: str, sections: Sequence[Section], footer: str) -> str:
    """Return a whole HTML document in a language ("en"); the first section is its head."""
    first, *following = sections
    parts = [f"<header><h1>{as_markup(first.title)}</h1>{''.join(first.blocks)}</header>"]
    parts += [
        f"<section><h2>{as_markup(part.title)}</h2>{''.join(part.blocks)}</section>" for part in following
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="{html.escape(language)}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{as_markup(title)}</title><style>{STYLE}</style></head>\n<body>"
        + "\n".join(parts)
        + f"\n<footer><p>{as_markup(footer)}</p></footer></body></html>\n"
    )


def _of_class(kind: str) -> str:
    """Return the attribute of an element of a class of the style; "" for none."""
    return f' class="{kind}"' if kind else ""


def notes_section(notes: Sequence[Note]) -> Section:
    """Return the notes as a part of the page."""
    return Section(translate("Notes"), [bullets([f"{note_words(note)}: {note.place}" for note in notes])])
