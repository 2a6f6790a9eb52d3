"""The memory of a run as plain text and as Markdown: what `tracetui memory` prints."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import Any, NamedTuple

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.export import markdown
from tracetui.export.memory.document import block_rows, memory_document, size_rows
from tracetui.export.memory.words import (
    NOTHING,
    alive_sentence,
    growing_sentence,
    growth_sentence,
    peak_parts,
    peak_sentence,
    place_words,
)
from tracetui.export.text import MARGIN, Column, table
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count, format_duration, format_time

Row = dict[str, Any]
TOP, TOP_COMPONENTS = 20, 6  #: rows listed where nothing else is asked for


class _Cell(NamedTuple):
    """A column and how its cells are written; texts are names of the trace."""

    column: Column
    write: Callable[[Row], str]


class _Listing(NamedTuple):
    title: str
    rows: list[Row]
    total: int
    cells: list[_Cell]
    all_with: str = ": --top 0"  #: how to see all


def memory_text(
    memory: Memory | None, part: MemoryPart | None, by: str, top: int | None, origin_ns: int, width: int
) -> str:
    """Return the memory as text; `top` rows, 0 for all, None for 20. `by`: "line", "size" or "block"."""
    if memory is None or part is None:
        return NOTHING + "\n"
    document = memory_document(memory, part)
    lines: list[str] = []
    for number, sentence in enumerate(_head(document, origin_ns, memory)):
        indent = MARGIN if number else ""
        lines += wrap(
            printable(sentence),
            max(width, 20),
            initial_indent=indent,
            subsequent_indent=indent + MARGIN if number else MARGIN,
        )
    for sentence in _growing(document, memory):
        lines += ["", *wrap(printable(sentence), max(width, 20), subsequent_indent=MARGIN)]
    for listing in (_components(document), _listed(memory, part, document, by, top, origin_ns)):
        if listing.rows:
            rows = [[printable(cell.write(row)) for cell in listing.cells] for row in listing.rows]
            columns = [cell.column for cell in listing.cells]
            lines += ["", listing.title, *table(columns, rows, width), *_more(listing)]
    lines += ["", *wrap(alive_sentence(document), max(width, 20), subsequent_indent=MARGIN)]
    return "\n".join(lines) + "\n"


def memory_markdown(
    memory: Memory | None, part: MemoryPart | None, by: str, top: int | None, origin_ns: int
) -> str:
    """Return the same as Markdown."""
    if memory is None or part is None:
        return NOTHING + "\n"
    document = memory_document(memory, part)
    head, *rest = _head(document, origin_ns, memory)
    lines = [f"## {markdown.plain(head)}", "", *(f"- {markdown.plain(sentence)}" for sentence in rest)]
    for sentence in _growing(document, memory):
        lines += ["", markdown.plain(sentence)]
    for listing in (_components(document), _listed(memory, part, document, by, top, origin_ns)):
        if listing.rows:
            lines += ["", f"### {listing.title}", "", *_markdown_table(listing), *_more(listing)]
    lines += ["", markdown.plain(alive_sentence(document))]
    return "\n".join(lines) + "\n"


def _markdown_table(listing: _Listing) -> list[str]:
    titles = [cell.column.title.replace("\n", " ") for cell in listing.cells]
    texts = [title for title, cell in zip(titles, listing.cells) if not cell.column.right]
    rows = [
        [cell.write(row) if cell.column.right else markdown.code(cell.write(row)) for cell in listing.cells]
        for row in listing.rows
    ]
    return markdown.table(titles, rows, texts)


def _head(document: Row, origin_ns: int, memory: Memory) -> list[str]:
    parts = [] if document["peak"] is None else peak_parts(document["peak"])
    return [
        peak_sentence(document, origin_ns),
        *parts,
        growth_sentence(document, len(memory.recorded.steps)),
    ]


def _growing(document: Row, memory: Memory) -> list[str]:
    """A sentence for each group that grows, or that none does; of one step nothing is said."""
    if document["growing"]:
        return [growing_sentence(group) for group in document["growing"]]
    told = len(memory.recorded.steps) > 1 and len(memory.recorded.blocks) > 0
    return ["No operator leaves a block behind in every step."] if told else []


def _components(document: Row) -> _Listing:
    every = document["components"]
    cells = [
        _Cell(Column("device", right=False), lambda row: str(row["device"])),
        _Cell(Column("component", right=False, shrink_to=8), lambda row: str(row["name"])),
        _Cell(Column("allocated\nat most"), lambda row: _bytes(row["peak_allocated_bytes"])),
        _Cell(Column("at the\nend"), lambda row: _bytes(row["end_allocated_bytes"])),
        _Cell(Column("reserved\nat most"), lambda row: _bytes(row["peak_reserved_bytes"])),
    ]
    most = sorted(every, key=lambda row: row["peak_allocated_bytes"] is None)
    return _Listing("Components", most[:TOP_COMPONENTS], len(every), cells, " with --json")


def _listed(
    memory: Memory, part: MemoryPart, document: Row, by: str, top: int | None, origin_ns: int
) -> _Listing:
    count = TOP if top is None else top
    if by == "size":
        return _Listing("Blocks by size, most in all first", size_rows(part, count), len(part.sizes), _SIZES)
    if by == "block":
        when = _Cell(Column("at"), lambda row: _moment(row["start_ns"], origin_ns))
        rows = block_rows(memory, part, count)
        return _Listing("Blocks, the largest first", rows, len(part.blocks), [when, *_BLOCKS])
    lines = document["lines"]
    shown = lines[:count] if count else lines
    return _Listing("Lines, those first that hold most at the peak", shown, len(lines), _LINES)


def _more(listing: _Listing) -> list[str]:
    left = listing.total - len(listing.rows)
    return [f"{MARGIN}{format_count(left)} more{listing.all_with}"] if left > 0 else []


def _bytes(count: int | None) -> str:
    return "-" if count is None else format_bytes(count)


def _life(ns: int | None) -> str:
    return "-" if ns is None else format_duration(ns)


def _moment(ns: int | None, origin_ns: int) -> str:
    return "-" if ns is None else format_time(ns - origin_ns)


_OPERATOR = Column("operator", right=False, shrink_to=16)
_LINE = Column("Python line", right=False, shrink_to=16, keep_end=True)
_LINES: list[_Cell] = [
    _Cell(Column("at the\npeak"), lambda row: _bytes(row["bytes_at_peak"])),
    _Cell(Column("allo-\ncated"), lambda row: _bytes(row["allocated_bytes"])),
    _Cell(Column("blocks"), lambda row: format_count(row["allocations"])),
    _Cell(Column("mean\nlife"), lambda row: _life(row["mean_life_ns"])),
    _Cell(_OPERATOR, lambda row: str(row["operator"])),
    _Cell(_LINE, place_words),
]
_SIZES: list[_Cell] = [
    _Cell(Column("size"), lambda row: _bytes(row["block_bytes"])),
    _Cell(Column("blocks"), lambda row: format_count(row["allocations"])),
    _Cell(Column("at the\npeak"), lambda row: format_count(row["blocks_at_peak"])),
    _Cell(Column("alive at\nthe end"), lambda row: format_count(row["alive_blocks"])),
]
_BLOCKS: list[_Cell] = [
    _Cell(Column("size"), lambda row: _bytes(row["block_bytes"])),
    _Cell(
        Column("life"),
        lambda row: _life(None if row["release_ns"] is None else row["release_ns"] - row["start_ns"]),
    ),
    _Cell(Column("step"), lambda row: "" if row["step"] is None else str(row["step"])),
    _Cell(_OPERATOR, lambda row: str(row["operator"])),
    _Cell(_LINE, place_words),
]
