"""The memory of a run as plain text and as Markdown: what `tracetui memory` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Optional

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.export import markdown
from tracetui.export.memory.document import memory_document
from tracetui.export.sentences.memory import (
    NO_TIMES,
    NOTHING,
    alive_sentence,
    growing_sentence,
    growth_sentence,
    peak_parts,
    peak_sentence,
)
from tracetui.export.tables.column import Table
from tracetui.export.tables.memory import (
    BLOCKS,
    COMPONENTS,
    GRAPHS,
    LINES,
    SIZES,
    BlockRows,
    MemoryRows,
)
from tracetui.export.tables.shown import markdown_table, text_table
from tracetui.export.text import MARGIN, wrap_sentence
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame
from tracetui.units import format_count

TextRow = dict[str, Any]
#: Returns the text of the line of a frame, printable; None where its file is not on this host.
SourceLine = Callable[[Frame], Optional[str]]
TOP, TOP_COMPONENTS, TOP_HOST = 20, 6, 6  #: rows listed where nothing else is asked for


class Listing(NamedTuple):
    title: str
    table: Table[Any]
    rows: Any
    shown: int
    total: int
    left: str = "{count} more: --top 0"  #: how many there are beside, and how to see them


def memory_text(
    memory: Memory | None,
    part: MemoryPart | None,
    by: str,
    top: int | None,
    origin_ns: int,
    width: int,
    source: SourceLine | None,
) -> str:
    """Return the memory as text; `top` rows, 0 for all, None for 20. `by`: "line", "size" or "block"."""
    if memory is None or part is None:
        return "\n".join(wrap_sentence(translate(NOTHING), width)) + "\n"
    document = memory_document(memory, part)
    lines: list[str] = []
    for number, sentence in enumerate(memory_facts(document, origin_ns, memory)):
        indent = MARGIN if number else ""
        lines += wrap_sentence(printable(sentence), width, indent, indent + MARGIN if number else MARGIN)
    for sentence in growth_sentences(document, memory, source):
        lines += ["", *wrap_sentence(printable(sentence), width, later=MARGIN)]
    for listing in memory_listings(memory, part, by, top, origin_ns):
        if listing.shown:
            listed = text_table(listing.table, listing.rows, width)
            lines += ["", listing.title, *listed, *_more(listing)]
    lines += ["", *wrap_sentence(alive_sentence(document), width, later=MARGIN)]
    return "\n".join(lines) + "\n"


def memory_markdown(
    memory: Memory | None,
    part: MemoryPart | None,
    by: str,
    top: int | None,
    origin_ns: int,
    source: SourceLine | None,
) -> str:
    """Return the same as Markdown."""
    if memory is None or part is None:
        return translate(NOTHING) + "\n"
    document = memory_document(memory, part)
    head, *rest = memory_facts(document, origin_ns, memory)
    lines = [f"## {markdown.escaped(head)}", "", *(f"- {markdown.escaped(sentence)}" for sentence in rest)]
    for sentence in growth_sentences(document, memory, source):
        lines += ["", markdown.escaped(sentence)]
    for listing in memory_listings(memory, part, by, top, origin_ns):
        if listing.shown:
            listed = markdown_table(listing.table, listing.rows)
            lines += ["", f"### {listing.title}", "", *listed, *_more(listing)]
    lines += ["", markdown.escaped(alive_sentence(document))]
    return "\n".join(lines) + "\n"


def memory_facts(document: TextRow, origin_ns: int, memory: Memory) -> list[str]:
    parts = [] if document["peak"] is None else peak_parts(document["peak"])
    return [
        peak_sentence(document, origin_ns),
        *parts,
        growth_sentence(document, len(memory.recorded.steps)),
        *([] if memory.recorded.timed else [translate(NO_TIMES)]),
    ]


def growth_sentences(document: TextRow, memory: Memory, source: SourceLine | None) -> list[str]:
    """Return a sentence for each group that grows, or that none does; of one step nothing is said."""
    if document["growing"]:
        groups = zip(document["growing"], memory.growing)
        return [
            growing_sentence(row, source(group.frame) if source and group.frame else None)
            for row, group in groups
        ]
    can_grow = len(memory.recorded.steps) > 1 and len(memory.recorded.blocks) > 0
    return [translate("No operator leaves a block behind in every step.")] if can_grow else []


def memory_listings(
    memory: Memory, part: MemoryPart, by: str, top: int | None, origin_ns: int
) -> tuple[Listing, ...]:
    listed = _listed(memory, part, by, top, origin_ns)
    return (_components(memory), _graphs(memory), listed, _host(memory, part))


def _host(memory: Memory, part: MemoryPart) -> Listing:
    every = () if part.host is None else part.host.lines
    rows = MemoryRows(memory.recorded, every, TOP_HOST)
    title = translate("Memory of the host, in no sum of a device")
    return Listing(title, LINES, rows, len(rows.rows), len(every), "{count} more with --json")


def _components(memory: Memory) -> Listing:
    curves = sorted(memory.curves, key=lambda curve: not len(curve.known_places))
    rows = MemoryRows(memory.recorded, curves, TOP_COMPONENTS)
    return Listing(
        translate("Components"), COMPONENTS, rows, len(rows.rows), len(curves), "{count} more with --json"
    )


def _graphs(memory: Memory) -> Listing:
    graphs = memory.recorded.graphs
    rows = MemoryRows(memory.recorded, graphs, TOP_COMPONENTS)
    title = translate("Static memory of graphs, given before they run")
    return Listing(title, GRAPHS, rows, len(rows.rows), len(graphs), "{count} more with --json")


def _listed(memory: Memory, part: MemoryPart, by: str, top: int | None, origin_ns: int) -> Listing:
    count = TOP if top is None else top
    if by == "block":
        blocks = BlockRows(memory, part, count, origin_ns)
        return Listing(
            translate("Blocks, the largest first"), BLOCKS, blocks, len(blocks.blocks), blocks.total
        )
    title, table, every = {
        "size": (translate("Blocks by size, most in all first"), SIZES, part.sizes),
        "line": (translate("Lines, those first that hold most at the peak"), LINES, part.lines),
    }[by]
    rows = MemoryRows(memory.recorded, every, count)
    return Listing(title, table, rows, len(rows.rows), len(every))


def _more(listing: Listing) -> list[str]:
    hidden = listing.total - listing.shown
    return [MARGIN + translate(listing.left, count=format_count(hidden))] if hidden > 0 else []
