"""The tables of the memory screen: what grows, lines, sizes, single blocks; their columns and exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.analysis.memory.model import HOST, Curve
from tracetui.arrays import Int64s
from tracetui.export.memory.document import memory_document
from tracetui.export.memory.text import SourceLine
from tracetui.export.tables.column import Table
from tracetui.export.tables.memory import BLOCKS as BLOCKS_TABLE
from tracetui.export.tables.memory import GROWING as GROWING_TABLE
from tracetui.export.tables.memory import LINES as LINES_TABLE
from tracetui.export.tables.memory import SIZES as SIZES_TABLE
from tracetui.export.tables.memory import BlockRows, GrowingRows, MemoryRows
from tracetui.trace.stack import Frame
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.state import Viewport
from tracetui.ui.tables.columns import ViewColumn, bar_column
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out

_TIME = 8  #: cells of "1.24 ms"
_NAME, _PLACE = 16, 24  #: cells that tell an operator, and a line of Python, from others


@dataclass(frozen=True, eq=False)
class ShownMemory:
    """The memory of a stretch of time, ready for its tables."""

    memory: Memory
    part: MemoryPart
    origin_ns: int  #: when the trace starts
    document: dict[str, Any]
    blocks: BlockRows
    sources: Mapping[Frame | None, str]  #: the text of lines that grow, where it is on this host


class MemoryView(NamedTuple):
    """One of the tables."""

    name: str
    export: str
    title: str  #: of the first word of the answer
    count: Callable[[ShownMemory], int]
    columns: Callable[[ShownMemory, Palette, Glyphs], list[ViewColumn]]
    sort: int  #: place of the column that the rows are sorted by, as they are given
    #: place in `part.blocks` of the block whose story is told of a row; -1: of none
    block: Callable[[ShownMemory, int], int]
    empty: str
    contents: Callable[[ShownMemory], tuple[Table[Any], Any]]  #: its table for exports, and the rows of that


def shown_memory(
    memory: Memory, window: tuple[int, int] | None, origin_ns: int, source: SourceLine = lambda _: None
) -> ShownMemory:
    """Return the memory of a window of time (ns), or of all; `source` may read files."""
    part = memory.all if window is None else memory.between(*window)
    blocks = BlockRows(memory, part, origin_ns=origin_ns)
    texts = {group.frame: source(group.frame) for group in memory.growing if group.frame is not None}
    source_texts: dict[Frame | None, str] = {frame: text for frame, text in texts.items() if text}
    return ShownMemory(memory, part, origin_ns, memory_document(memory, part), blocks, source_texts)


def span_of_curves(curves: Sequence[Curve], window: tuple[int, int] | None, bounds: Viewport) -> Viewport:
    """Return the window, or what all curves of devices tell of, as far as the trace (`bounds`) goes."""
    if window is not None:
        return Viewport(*window)
    drawn = [curve for curve in curves if curve.device != HOST and len(curve.time)]
    drawn = drawn or [curve for curve in curves if len(curve.time)]
    start = min(int(curve.time[0]) for curve in drawn)
    end = max(int(curve.time[-1]) for curve in drawn) + 1
    first, last = max(start, bounds.start_ns), min(end, bounds.end_ns)
    return Viewport(first, last) if first < last else Viewport(start, end)


def example_of_line(shown: ShownMemory, row: int) -> int:
    """Return the largest block of a line, of those at the peak if there are any."""
    recorded, blocks, line = shown.memory.recorded, shown.part.blocks, shown.part.lines[row]
    of_line = recorded.lines.index(line.frame) if line.frame is not None else -1
    of_operator = recorded.operators.index(line.operator) if line.operator in recorded.operators else -1
    candidates = np.flatnonzero((blocks.line == of_line) & (blocks.operator == of_operator))
    return _largest(shown, candidates)


def _example_of_size(shown: ShownMemory, row: int) -> int:
    return _largest(shown, np.flatnonzero(shown.part.blocks.bytes == shown.part.sizes[row].bytes))


def _largest(shown: ShownMemory, candidates: Int64s) -> int:
    at_peak = candidates[shown.part.at_peak[candidates]]
    candidates = at_peak if len(at_peak) else candidates
    return int(candidates[np.argmax(shown.part.blocks.bytes[candidates])]) if len(candidates) else -1


def _example_of_group(shown: ShownMemory, row: int) -> int:
    """Return the last block left behind; -1 where the part does not have it."""
    places, example = shown.part.places, shown.memory.growing[row].example
    place = int(np.searchsorted(places, example))
    return place if place < len(places) and places[place] == example else -1


def _growing_columns(shown: ShownMemory, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    places = [
        _size("bytes_per_step", 0, palette),
        ColumnLook("blocks_per_step", 3),
        ColumnLook("verdict", 2),
        ColumnLook("steps", 2),
        ColumnLook("call", 1),
        *_NAMES,
    ]
    return laid_out(GROWING_TABLE, GrowingRows(shown.memory), places)


def _line_columns(shown: ShownMemory, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    at_peak = [line.bytes_at_peak for line in shown.part.lines]
    places = [
        _size("bytes_at_peak", 0, palette),
        _bar(at_peak, palette, glyphs),
        _size("allocated_bytes", 1),
        ColumnLook("allocations", 2),
        ColumnLook("mean_life_ns", 3),
        _size("alive_bytes", 3),
        *_NAMES,
    ]
    return laid_out(LINES_TABLE, MemoryRows(shown.memory.recorded, shown.part.lines), places)


def _size_columns(shown: ShownMemory, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    sizes = shown.part.sizes
    places = [
        _size("block_bytes", 0),
        ColumnLook("allocations", 0),
        _size("allocated_bytes", 0, palette),
        _bar([size.bytes * size.allocations for size in sizes], palette, glyphs),
        ColumnLook("blocks_at_peak", 1),
        ColumnLook("alive_blocks", 1, title="at the end"),
        ...,
    ]
    return laid_out(SIZES_TABLE, MemoryRows(shown.memory.recorded, sizes), places)


def _block_columns(shown: ShownMemory, palette: Palette, glyphs: Glyphs) -> list[ViewColumn]:
    places = [
        _size("block_bytes", 0, palette),
        ColumnLook("start_ns", 1, title="allocated"),
        ColumnLook("life_ns", 3, _TIME),
        ColumnLook("step", 2),
        *_NAMES,
    ]
    return laid_out(BLOCKS_TABLE, shown.blocks, places)


def _size(key: str, rank: int, palette: Palette | None = None) -> ColumnLook:
    return ColumnLook(key, rank, style=None if palette is None else palette.style_of(Role.NUMBER))


#: An operator and the line that called it, in front of whatever else the table has.
_NAMES: tuple[ColumnPlace, ...] = (
    ColumnLook("operator", least=_NAME, rank=0),
    ColumnLook("name", least=_PLACE, rank=0),
    ...,
)


def _bar(values: Sequence[int], palette: Palette, glyphs: Glyphs) -> ViewColumn:
    largest, style = max(values, default=0), palette.style_of(Role.COUNTER)
    return bar_column(np.array(values, np.int64), largest, lambda _: style, glyphs, 16, 6, rank=4)


GROWING = MemoryView(
    "growing",
    "memory_growing",
    "Memory, what grows",
    lambda shown: len(shown.memory.growing),
    _growing_columns,
    0,
    _example_of_group,
    "Nothing grows: no line holds more after each of the last three steps, or after both of two.",
    lambda shown: (GROWING_TABLE, GrowingRows(shown.memory)),
)
LINES = MemoryView(
    "lines",
    "memory_lines",
    "Memory by operator and line",
    lambda shown: len(shown.part.lines),
    _line_columns,
    0,
    example_of_line,
    "No block was allocated there.",
    lambda shown: (LINES_TABLE, MemoryRows(shown.memory.recorded, shown.part.lines)),
)
SIZES = MemoryView(
    "sizes",
    "memory_sizes",
    "Memory by size",
    lambda shown: len(shown.part.sizes),
    _size_columns,
    2,
    _example_of_size,
    "No block was allocated there.",
    lambda shown: (SIZES_TABLE, MemoryRows(shown.memory.recorded, shown.part.sizes)),
)
BLOCKS = MemoryView(
    "blocks",
    "memory_blocks",
    "Memory, blocks",
    lambda shown: len(shown.part.blocks),
    _block_columns,
    0,
    lambda shown, row: int(shown.blocks.places[row]),
    "No block was allocated there.",
    lambda shown: (BLOCKS_TABLE, shown.blocks),
)
VIEWS = (GROWING, LINES, SIZES, BLOCKS)


def memory_view_after(view: MemoryView) -> MemoryView:
    """Return the table that follows."""
    return VIEWS[(VIEWS.index(view) + 1) % len(VIEWS)]
