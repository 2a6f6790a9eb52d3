"""The memory of a run as plain text and as Markdown: what `tracetui memory` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional

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
from tracetui.export.tables.memory import BLOCKS, COMPONENTS, GRAPHS, LINES, SIZES, BlockRows, MemoryRows
from tracetui.export.tables.shown import TableSection
from tracetui.export.text import MARGIN, wrap_sentence
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import Frame
from tracetui.units import format_count

TextRow = dict[str, Any]
#: Returns the text of the line of a frame, printable; None where its file is not on this host.
SourceLine = Callable[[Frame], Optional[str]]
TOP, TOP_COMPONENTS, TOP_HOST = 20, 6, 6  #: rows listed where nothing else is asked for
_WITH_TOP, WITH_JSON = "{count} more: --top 0", "{count} more with --json"


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
    for section in memory_sections(memory, part, by, top, origin_ns):
        lines += ["", *section.text(width)]
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
    for section in memory_sections(memory, part, by, top, origin_ns):
        lines += ["", *section.markdown(3), *section.more_lines()]
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
    return [translate("No operator holds more after every step.")] if can_grow else []


def memory_sections(
    memory: Memory, part: MemoryPart, by: str, top: int | None, origin_ns: int
) -> Iterator[TableSection]:
    """Yield what there is of components, graphs, blocks as `by` asks for them, and memory of the host."""
    recorded, count = memory.recorded, TOP if top is None else top
    curves = sorted(memory.curves, key=lambda curve: not len(curve.known_places))
    components = MemoryRows(recorded, curves, TOP_COMPONENTS)
    title = translate("Components" if part is memory.all else "Components, of the whole recording")
    yield from _section(title, COMPONENTS, components, WITH_JSON)
    graphs = MemoryRows(recorded, recorded.graphs, TOP_COMPONENTS)
    title = translate("Static memory of graphs, given before they run")
    yield from _section(title, GRAPHS, graphs, WITH_JSON)
    if by == "block":
        blocks = BlockRows(memory, part, count, origin_ns)
        yield from _section(translate("Blocks, the largest first"), BLOCKS, blocks)
    elif by == "size":
        title = translate("Blocks by size, most in all first")
        yield from _section(title, SIZES, MemoryRows(recorded, part.sizes, count))
    else:
        rows = MemoryRows(recorded, part.lines, count)
        title = "Operators and lines, those first that allocate most"
        if rows.knows_peak:
            title = "Operators and lines, those first that hold most at the peak"
        yield from _section(translate(title), LINES, rows)
    host = MemoryRows(recorded, () if part.host is None else part.host.lines, TOP_HOST)
    yield from _section(translate("Memory of the host, in no sum of a device"), LINES, host, WITH_JSON)


def _section(
    title: str, table: Table[Any], rows: MemoryRows | BlockRows, left: str = _WITH_TOP
) -> Iterator[TableSection]:
    """Yield a section of the rows if there are any; `left` says how many are left out."""
    if len(rows):
        hidden = translate(left, count=format_count(rows.hidden)) if rows.hidden else ""
        yield TableSection(title, table, rows, hidden)
