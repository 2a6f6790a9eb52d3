"""The tables of the memory screen: what grows, lines, sizes, single blocks; their columns and exports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.analysis.memory.growth import Growing
from tracetui.analysis.memory.model import NEVER
from tracetui.arrays import Int64s
from tracetui.export.memory.document import memory_document, step_numbers
from tracetui.export.memory.words import ordinal
from tracetui.export.words import line_name
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.tables.columns import UNKNOWN, Cell, Column, name_column, number_column
from tracetui.units import format_bytes, format_count, format_duration, format_time

if TYPE_CHECKING:
    import pandas as pd

_SIZE, _TIME = 8, 8  #: cells of "1.24 GB" and of "1.24 ms"
_NAME, _PLACE = 16, 24  #: cells that tell an operator, and a line of Python, from others


@dataclass(frozen=True, eq=False)
class Shown:
    """The memory of a stretch of time, ready for its tables."""

    memory: Memory
    part: MemoryPart
    origin_ns: int  #: when the trace starts
    document: dict[str, Any]
    largest: Int64s  #: places in `part.blocks`, the largest block first


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


def shown_memory(memory: Memory, window: tuple[int, int] | None, origin_ns: int) -> Shown:
    """Return the memory of a window of time (ns), or of all."""
    part = memory.all if window is None else memory.between(*window)
    largest = np.argsort(-part.blocks.bytes, kind="stable")
    return Shown(memory, part, origin_ns, memory_document(memory, part), largest)


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
    """The last block left behind; -1 where the part does not have it."""
    places, example = shown.part.places, shown.memory.growing[row].example
    place = int(np.searchsorted(places, example))
    return place if place < len(places) and places[place] == example else -1


def _growing_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    groups = shown.memory.growing
    steps = [_from_to([str(step) for step in group.steps]) for group in groups]
    return [
        _bytes("bytes_per_step", "a step", [group.bytes_per_step for group in groups], 0, palette),
        _counts("blocks_per_step", "blocks", [group.blocks_per_step for group in groups], 3),
        _words("verdict", "so it", [group.verdict.value for group in groups], 9, 2),
        _words("steps", "in steps", steps, 12, 2),
        _words("call", "call", [_call(group) for group in groups], 12, 1),
        _operators([group.operator for group in groups]),
        _lines([group.frame for group in groups]),
    ]


def _line_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    lines = shown.part.lines
    at_peak = [line.bytes_at_peak for line in lines]
    return [
        _bytes("bytes_at_peak", "at the peak", at_peak, 0, palette),
        _bar(at_peak, palette, glyphs),
        _bytes("allocated_bytes", "allocated", [line.allocated_bytes for line in lines], 1),
        _counts("allocations", "blocks", [line.allocations for line in lines], 2),
        _lives(np.array([line.mean_life for line in lines], np.int64), "mean_life_ns", "mean life"),
        _bytes("alive_bytes", "at the end", [line.alive_bytes for line in lines], 3),
        _operators([line.operator for line in lines]),
        _lines([line.frame for line in lines]),
    ]


def _size_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    sizes = shown.part.sizes
    in_all = [size.bytes * size.allocations for size in sizes]
    return [
        _bytes("block_bytes", "size", [size.bytes for size in sizes], 0),
        _counts("allocations", "blocks", [size.allocations for size in sizes], 0),
        _bytes("allocated_bytes", "allocated", in_all, 0, palette),
        _bar(in_all, palette, glyphs),
        _counts("blocks_at_peak", "at the peak", [size.at_peak for size in sizes], 1),
        _counts("alive_blocks", "at the end", [size.alive for size in sizes], 1),
    ]


def _block_columns(shown: Shown, palette: Palette, glyphs: Glyphs) -> list[Column]:
    recorded, blocks = shown.memory.recorded, shown.part.blocks.at(shown.largest)
    life = np.where(blocks.release == NEVER, -1, blocks.release - blocks.start)
    step = step_numbers(recorded, blocks.step)
    return [
        _bytes("block_bytes", "size", blocks.bytes, 0, palette),
        number_column(
            "start_ns", "allocated", blocks.start, lambda ns: format_time(int(ns) - shown.origin_ns), rank=1
        ),
        _lives(life, "life_ns", "life"),
        _optional("step", "step", step, lambda number: str(int(number)), 2),
        name_column("operator", "operator", blocks.operator, recorded.operators, least=_NAME),
        _of_lines(blocks.line, recorded.lines),
    ]


def _from_to(steps: Sequence[str]) -> str:
    return steps[0] if len(steps) == 1 else f"{steps[0]} .. {steps[-1]}"


def _call(group: Growing) -> str:
    if group.nth is not None and group.leaving == 1:
        return f"{ordinal(group.nth)} of {format_count(group.calls)}"
    return f"{format_count(group.leaving)} of {format_count(group.calls)}"


def _bytes(
    key: str, title: str, values: Sequence[int] | Int64s, rank: int, palette: Palette | None = None
) -> Column:
    style = None if palette is None else palette.style_of(Role.NUMBER)
    width = max(_SIZE, len(title) + 2)
    numbers = np.asarray(values, np.int64)
    return number_column(
        key, title, numbers, lambda count: format_bytes(int(count)), width=width, rank=rank, style=style
    )


def _counts(key: str, title: str, values: Sequence[int], rank: int) -> Column:
    return number_column(
        key, title, np.array(values, np.int64), lambda count: format_count(int(count)), rank=rank
    )


def _optional(key: str, title: str, values: Int64s, write: Callable[[int], str], rank: int) -> Column:
    """A column of numbers that are unknown below 0."""
    width = max(_TIME, len(title) + 2)
    return Column(
        key,
        title,
        np.where(values < 0, np.nan, values),
        lambda row, _: UNKNOWN if values[row] < 0 else write(int(values[row])),
        width,
        rank=rank,
        plain=lambda row: None if values[row] < 0 else int(values[row]),
    )


def _lives(values: Int64s, key: str, title: str) -> Column:
    return _optional(key, title, values, format_duration, 3)


def _words(key: str, title: str, values: Sequence[str], width: int, rank: int) -> Column:
    texts = list(dict.fromkeys(values))
    codes = np.array([texts.index(value) for value in values], np.int32)
    return name_column(key, title, codes, texts, width=width, least=width, rank=rank)


def _operators(names: Sequence[str]) -> Column:
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    codes = np.array([number[name] for name in names], np.int32)
    return name_column("operator", "operator", codes, [*number], least=_NAME)


def _lines(frames: Sequence[Frame | None]) -> Column:
    number = {frame: place for place, frame in enumerate(dict.fromkeys(filter(None, frames)))}
    codes = np.array([-1 if frame is None else number[frame] for frame in frames], np.int64)
    return _of_lines(codes, [*number])


def _of_lines(codes: Int64s, frames: Sequence[Frame]) -> Column:
    names = [place_name(frame) for frame in frames]
    return name_column("line", "Python line", codes.astype(np.int32), names, least=_PLACE)


def place_name(frame: Frame | None) -> str:
    """Return "train.py(88) forward" with the last part of the path; never print it unescaped."""
    return line_name(None, 0, "") if frame is None else line_name(path_end(frame.file), *frame[1:])


def _bar(values: Sequence[int], palette: Palette, glyphs: Glyphs) -> Column:
    largest, style = max(values, default=0), palette.style_of(Role.COUNTER)

    def draw(row: int, width: int) -> Cell:
        return [(share_bar(values[row], largest, width, glyphs), style)]

    return Column("", "", np.array(values, np.int64), draw, 16, 6, rank=4, right=False)


def _frames() -> Any:
    """Pandas is imported where a table is written."""
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
    lambda shown, row: int(shown.largest[row]),
    lambda shown: _frames().memory_blocks_frame(shown.memory, shown.part),
    "No block was allocated there.",
)
VIEWS = (GROWING, LINES, SIZES, BLOCKS)


def view_after(view: View) -> View:
    """Return the table that follows."""
    return VIEWS[(VIEWS.index(view) + 1) % len(VIEWS)]
