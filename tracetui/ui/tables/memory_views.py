"""The tables of the memory screen: what grows, lines, sizes, single blocks; their columns and exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.analysis.memory.model import HOST, Curve
from tracetui.arrays import Int64s
from tracetui.export.memory.document import memory_document
from tracetui.export.memory.text import SourceLine
from tracetui.export.tables.memory import BLOCKS as BLOCKS_TABLE
from tracetui.export.tables.memory import GROWING as GROWING_TABLE
from tracetui.export.tables.memory import LINES as LINES_TABLE
from tracetui.export.tables.memory import SIZES as SIZES_TABLE
from tracetui.export.tables.memory import BlockRows, GrowingRows, MemoryRows
from tracetui.trace.stack import Frame
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.state import Viewport
from tracetui.ui.tables.columns import Cell, Column
from tracetui.ui.tables.layout import Look, Place, laid_out

if TYPE_CHECKING:
    import pandas as pd

_TIME = 8  #: cells of "1.24 ms"
_NAME, _PLACE = 16, 24  #: cells that tell an operator, and a line of Python, from others


@dataclass(frozen=True, eq=False)
class Shown:
    """The memory of a stretch of time, ready for its tables."""

    memory: Memory
    part: MemoryPart
    origin_ns: int  #: when the trace starts
    document: dict[str, Any]
    blocks: BlockRows
    sources: Mapping[Frame | None, str]  #: the text of lines that grow, where it is on this host


class View(NamedTuple):
    """One of the tables."""

    name: str
    export: str
    title: str  #: of the first word of the answer
    count: Callable[[Shown], int]
    columns: Callable[[Shown, Palette, Glyphs], list[Column]]
    sort: int  #: place of the column that the rows are sorted by, as they are given
    block: Callable[[Shown, int], int]  #: place in `part.blocks` of what a row is told by
    frame: Callable[[Shown], pd.DataFrame]
    empty: str


def shown_memory(
    memory: Memory, window: tuple[int, int] | None, origin_ns: int, source: SourceLine = lambda _: None
) -> Shown:
    """Return the memory of a window of time (ns), or of all; `source` may read files."""
    part = memory.all if window is None else memory.between(*window)
    blocks = BlockRows(memory, part, origin_ns=origin_ns)
    texts = {group.frame: source(group.frame) for group in memory.growing if group.frame is not None}
    told: dict[Frame | None, str] = {frame: text for frame, text in texts.items() if text}
    return Shown(memory, part, origin_ns, memory_document(memory, part), blocks, told)


def span_of_curves(curves: Sequence[Curve], window: tuple[int, int] | None, bounds: Viewport) -> Viewport:
    """Return the window, or what all curves of devices tell of, as far as the trace (`bounds`) goes."""
    if window is not None:
        return Viewport(*window)
    told = [curve for curve in curves if curve.device != HOST and len(curve.time)]
    told = told or [curve for curve in curves if len(curve.time)]
    start = min(int(curve.time[0]) for curve in told)
    end = max(int(curve.time[-1]) for curve in told) + 1
    first, last = max(start, bounds.start_ns), min(end, bounds.end_ns)
    return Viewport(first, last) if first < last else Viewport(start, end)


def example_of_line(shown: Shown, row: int) -> int:
    """Return the largest block of a line, of those at the peak if there are any."""
    recorded, blocks, line = shown.memory.recorded, shown.part.blocks, shown.part.lines[row]
    of_line = recorded.lines.index(line.frame) if line.frame is not None else -1
    of_operator = recorded.operators.index(line.operator) if line.operator in recorded.operators else -1
    own = np.flatnonzero((blocks.line == of_line) & (blocks.operator == of_operator))
    return _largest(shown, own)


def _example_of_size(shown: Shown, row: int) -> int:
    return _largest(shown, np.flatnonzero(shown.part.blocks.bytes == shown.part.sizes[row].bytes))


def _largest(shown: Shown, own: Int64s) -> int:
    held = own[shown.part.at_peak[own]]
    own = held if len(held) else own
    return int(own[np.argmax(shown.part.blocks.bytes[own])]) if len(own) else -1


def _example_of_group(shown: Shown, row: int) -> int:
    """Return the last block left behind; -1 where the part does not have it."""
    places, example = shown.part.places, shown.memory.growing[row].example
    place = int(np.searchsorted(places, example))
    return place if place < len(places) and places[place] == example else -1


def _growing_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    places = [
        _size("bytes_per_step", 0, palette),
        Look("blocks_per_step", 3),
        Look("verdict", 2, 9, 9),
        Look("steps", 2, 12, 12),
        Look("call", 1, 12, 12),
        *_NAMES,
    ]
    return laid_out(GROWING_TABLE, GrowingRows(shown.memory), places)


def _line_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    at_peak = [line.bytes_at_peak for line in shown.part.lines]
    places = [
        _size("bytes_at_peak", 0, palette),
        _bar(at_peak, palette, glyphs),
        _size("allocated_bytes", 1),
        Look("allocations", 2),
        Look("mean_life_ns", 3),
        _size("alive_bytes", 3),
        *_NAMES,
    ]
    return laid_out(LINES_TABLE, MemoryRows(shown.memory.recorded, shown.part.lines), places)


def _size_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    sizes = shown.part.sizes
    places = [
        _size("block_bytes", 0),
        Look("allocations", 0),
        _size("allocated_bytes", 0, palette),
        _bar([size.bytes * size.allocations for size in sizes], palette, glyphs),
        Look("blocks_at_peak", 1),
        Look("alive_blocks", 1, title="at the end"),
        ...,
    ]
    return laid_out(SIZES_TABLE, MemoryRows(shown.memory.recorded, sizes), places)


def _block_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    places = [
        _size("block_bytes", 0, palette),
        Look("start_ns", 1, title="allocated"),
        Look("life_ns", 3, _TIME),
        Look("step", 2),
        *_NAMES,
    ]
    return laid_out(BLOCKS_TABLE, shown.blocks, places)


def _size(key: str, rank: int, palette: Palette | None = None) -> Look:
    return Look(key, rank, style=None if palette is None else palette.style_of(Role.NUMBER))


#: An operator and the line that called it, in front of whatever else the table has.
_NAMES: tuple[Place, ...] = (Look("operator", least=_NAME, rank=0), Look("name", least=_PLACE, rank=0), ...)


def _bar(values: Sequence[int], palette: Palette, glyphs: Glyphs) -> Column:
    largest, style = max(values, default=0), palette.style_of(Role.COUNTER)

    def draw(row: int, width: int) -> Cell:
        return [(share_bar(values[row], largest, width, glyphs), style)]

    return Column("", "", np.array(values, np.int64), draw, 16, 6, rank=4, right=False)


def _frames() -> Any:
    """Import pandas, which is needed where a table is written."""
    from tracetui.export.memory import frames

    return frames


GROWING = View(
    "growing",
    "memory_growing",
    "Memory, what grows",
    lambda shown: len(shown.memory.growing),
    _growing_columns,
    0,
    _example_of_group,
    lambda shown: _frames().memory_growing_frame(shown.memory),
    "Nothing grows: no line leaves blocks behind in each of the last three steps, or in both of two.",
)
LINES = View(
    "lines",
    "memory_lines",
    "Memory by line",
    lambda shown: len(shown.part.lines),
    _line_columns,
    0,
    example_of_line,
    lambda shown: _frames().memory_lines_frame(shown.memory, shown.part),
    "No block was allocated there.",
)
SIZES = View(
    "sizes",
    "memory_sizes",
    "Memory by size",
    lambda shown: len(shown.part.sizes),
    _size_columns,
    2,
    _example_of_size,
    lambda shown: _frames().memory_sizes_frame(shown.memory, shown.part),
    "No block was allocated there.",
)
BLOCKS = View(
    "blocks",
    "memory_blocks",
    "Memory, blocks",
    lambda shown: len(shown.part.blocks),
    _block_columns,
    0,
    lambda shown, row: int(shown.blocks.places[row]),
    lambda shown: _frames().memory_blocks_frame(shown.memory, shown.part),
    "No block was allocated there.",
)
VIEWS = (GROWING, LINES, SIZES, BLOCKS)


def view_after(view: View) -> View:
    """Return the table that follows."""
    return VIEWS[(VIEWS.index(view) + 1) % len(VIEWS)]
