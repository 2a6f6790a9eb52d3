"""One row as text, Markdown and JSON: its story, what its table says of it, and the place that opens it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tracetui.export import markdown
from tracetui.export.json_document import SCHEMA
from tracetui.export.queries.named_rows import NamedRow
from tracetui.export.tables.column import Form, records
from tracetui.language import heading, translate
from tracetui.places import SharedPlace
from tracetui.trace.clean import printable

_HOTSPOTS = {"line": "lines", "sync": "syncs", "signature": "signatures", "module": "modules"}
_VIEWS = {**_HOTSPOTS, "frame": "frames", "scope": "scopes"}
_SCREENS = {
    "gap": "gaps",
    "slice": "timeline",
    "step": "steps",
    "operator": "operators",
    "advice": "advice",
    "finding": "health",
    **dict.fromkeys(_VIEWS, "hotspots"),
    **dict.fromkeys(("thread", "culprit", "core"), "scheduler"),
    **dict.fromkeys(("component", "graph", "memory-line", "size", "block", "growing"), "memory"),
}


class RowAnswer(NamedTuple):
    """What there is to say of a row."""

    identity: str
    row: NamedRow
    story: tuple[str, ...]  #: lines, as the viewer has them
    trace: str  #: the fingerprint of the trace; "" of a job

    @property
    def place(self) -> str:
        """The place that shows the row in the viewer; "" where no screen does."""
        screen = _SCREENS.get(self.row.kind, "")
        if not self.trace or not screen:
            return ""
        is_id = "=" in self.identity
        rows = (self.identity,) if is_id else ()
        return str(SharedPlace(screen, rows=rows, view=_VIEWS.get(self.row.kind, ""), trace=self.trace))


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
        lines += ["", translate("In the viewer: tracetui PATH --at {place}", place=f"'{answer.place}'")]
    return "\n".join(lines) + "\n"


def row_markdown(answer: RowAnswer) -> str:
    """Return the row as Markdown, to be pasted into a ticket."""
    lines = [f"## {markdown.code(answer.identity)}", ""]
    lines += [f"- {markdown.plain(line)}" for line in answer.story if line]
    lines += ["", "| | |", "|---|---|"]
    lines += [f"| {markdown.plain(title)} | {markdown.plain(value)} |" for title, value in _facts(answer)]
    if answer.place:
        lines += ["", markdown.code(f"tracetui PATH --at '{answer.place}'")]
    return "\n".join(lines) + "\n"


def _facts(answer: RowAnswer) -> Iterator[tuple[str, str]]:
    """Yield the title and the value of each column that people are shown."""
    _, table, rows, place = answer.row
    for column in table.shown(Form.MARKDOWN, rows):
        value = column.cells(rows, printable).texts[place]
        if column.title and value:
            yield heading(column.title), value
