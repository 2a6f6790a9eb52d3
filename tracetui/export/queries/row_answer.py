"""One row as text, Markdown and JSON: its story, what its table says of it, and the place that opens it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tracetui.export import markdown
from tracetui.export.json_document import SCHEMA
from tracetui.export.queries.named_rows import NamedRow
from tracetui.export.tables.column import Form, records
from tracetui.export.tables.job import RankRows, printed_ranks
from tracetui.language import heading, translate
from tracetui.trace.clean import printable


class RowAnswer(NamedTuple):
    """What there is to say of a row."""

    identity: str
    row: NamedRow
    story: tuple[str, ...]  #: lines, as the viewer has them
    place: str  #: that shows it in the viewer; "" where no screen does
    paths: str = "PATH"  #: what stands before the place in the command that opens it


def row_document(answer: RowAnswer) -> dict[str, Any]:
    """Return the row as one JSON object; `row` has the fields of its table."""
    kind, table, rows, place = answer.row
    return {
        "schema": SCHEMA,
        "id": answer.identity,
        "kind": kind,
        "row": records(table, rows)[place],
        "story": [printable(line) for line in answer.story],
        "place": answer.place or None,
    }


def row_text(answer: RowAnswer) -> str:
    """Return the row as text: its story, then what its table says of it."""
    facts = [*_facts(answer)]
    width = max((len(title) for title, _ in facts), default=0)
    lines = [printable(answer.identity), "", *answer.story, *([""] if answer.story else [])]
    lines += [f"  {title:<{width}}  {value}" for title, value in facts]
    if answer.place:
        lines += ["", translate("In the viewer: {command}", command=_command(answer))]
    return "\n".join(lines) + "\n"


def row_markdown(answer: RowAnswer) -> str:
    """Return the row as Markdown, to be pasted into a ticket."""
    lines = [f"## {markdown.code(answer.identity)}", "", *markdown.block(answer.story)]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {markdown.escaped(title)} | {markdown.escaped(value)} |" for title, value in _facts(answer)]
    if answer.place:
        lines += ["", markdown.code(_command(answer))]
    return "\n".join(lines) + "\n"


def _command(answer: RowAnswer) -> str:
    return f"tracetui {answer.paths} --at '{answer.place}'"


def _facts(answer: RowAnswer) -> Iterator[tuple[str, str]]:
    """Yield the title and the value of each column that people are shown."""
    _, table, rows, place = answer.row
    shown = printed_ranks(rows) if isinstance(rows, RankRows) else table
    for column in shown.shown(Form.MARKDOWN, rows):
        value = column.cells(rows, printable).texts[place]
        if column.title and value:
            # Times without a unit are ms, which elsewhere stands above the table.
            unit = " ms" if column.key.endswith("_ns") and value[-1].isdigit() else ""
            side, title = column.key.partition("_")[0], heading(column.title)
            is_of_side = side in ("base", "other") and column.title != side
            yield f"{heading(side)} {title}" if is_of_side else title, f"{value}{unit}"
