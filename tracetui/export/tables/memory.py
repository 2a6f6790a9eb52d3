"""The tables of memory: components, what grows, lines, sizes, single blocks, samples of a curve.

Sizes are in bytes; what a snapshot tells of, which has no times, has none here either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracetui.analysis.idle.idle_lines import PythonLine, python_line
from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.analysis.memory.growth import GrowingGroup
from tracetui.analysis.memory.model import NEVER, Curve, MemoryRecording
from tracetui.analysis.memory.neighbours import Neighbours
from tracetui.arrays import Int64s
from tracetui.export.sentences.memory import frame_line_name, ordinal
from tracetui.export.tables.column import (
    CodedTexts,
    Column,
    Form,
    Rows,
    Table,
    Values,
    count,
    duration,
    json_only,
    listed,
    texts_at,
)
from tracetui.export.tables.common import (
    line_columns,
    name_column,
    optional_numbers,
    texts_of,
    values_of,
)
from tracetui.units import format_bytes, format_count, format_time

DATA_AND_VIEWER = Form.DATA | Form.VIEWER


class MemoryRows:
    """What is listed of a recording, at most `top`, 0 for all."""

    def __init__(self, recorded: MemoryRecording, all_rows: Sequence[Any], top: int = 0) -> None:
        self.recorded, self.all_rows = recorded, all_rows
        self.rows: Sequence[Any] = all_rows[:top] if top else all_rows


class GrowingRows:
    """The groups of blocks that grow, and what the device does for them and beside them."""

    def __init__(self, memory: Memory) -> None:
        self.rows: Sequence[GrowingGroup] = memory.growing
        self.neighbours: Sequence[Neighbours] = memory.neighbours


class BlockRows:
    """The blocks of a part, the largest first, at most `top`, 0 for all; columns."""

    def __init__(self, memory: Memory, part: MemoryPart, top: int = 0, origin_ns: int = 0) -> None:
        order = np.argsort(-part.blocks.bytes, kind="stable")
        self.places: Int64s = order[:top] if top else order  #: in `part.blocks`
        self.total = len(part.blocks)
        self.recorded, self.origin_ns = memory.recorded, origin_ns
        self.blocks = part.blocks.at(self.places)
        self.at_peak = part.at_peak[self.places]

    def times(self, ns: Int64s) -> Int64s:
        """Return times, or lengths of time, unknown (-1) where events have numbers only."""
        return ns if self.recorded.timed else np.full(len(ns), -1, np.int64)

    @property
    def events(self) -> Int64s:
        """The number of the event that allocated each, unknown (-1) where events have times."""
        return np.full(len(self.blocks), -1, np.int64) if self.recorded.timed else self.blocks.start

    @property
    def release(self) -> Int64s:
        """When each was released, -1 where it is still held."""
        return np.where(self.blocks.release == NEVER, -1, self.blocks.release)

    @property
    def life(self) -> Int64s:
        """For how long each was held, -1 where it is still."""
        return np.where(self.release < 0, -1, self.release - self.blocks.start)

    @property
    def steps(self) -> Int64s:
        """The number of the step that each was allocated in, -1 of none."""
        numbers = np.array([*(step.number for step in self.recorded.steps), -1], np.int64)
        return numbers[self.blocks.step]


def _size(key: str, title: str, get: Callable[[Rows], Values], **more: Any) -> Column[Rows]:
    """Return a column of bytes."""
    return Column(key, title, get, lambda number, _: format_bytes(number), **more)


def _place(row: Any) -> PythonLine:
    return python_line(row.frame)


def _called(row: Any) -> str:
    return frame_line_name(row.frame)


def _python_line() -> Column[Any]:
    return name_column("Python line", _called).of(Form.SHOWN)


# -------------------------------------------------------------------- components


def _peak_sample(curve: Curve) -> Int64s:
    """Return int64[1 or 0]: the sample with the most allocated, else reserved."""
    place = curve.peak(-1, NEVER)
    return np.array([int(np.argmax(curve.reserved)) if place < 0 else place])


def _peak_time(rows: MemoryRows) -> Int64s:
    times = [int(curve.time[_peak_sample(curve)[0]]) if rows.recorded.timed else -1 for curve in rows.rows]
    return np.array(times, np.int64)


def _end(curve: Curve) -> int:
    if not len(curve.known_places):
        return -1
    return int(curve.allocated[curve.known_places[-1]])


def _of_curves(number: Callable[[Curve], int]) -> Callable[[MemoryRows], Int64s]:
    return lambda rows: np.array([*map(number, rows.rows)], np.int64)


COMPONENTS: Table[MemoryRows] = Table(
    columns=(
        Column("device", "device", texts_of("device")),
        Column("name", "component", texts_of("component")),
        _size(
            "peak_allocated_bytes",
            "allocated at most",
            _of_curves(lambda curve: int(curve.allocated.max(initial=-1))),
            optional=True,
            stacked="allocated\nat most",
        ),
        _size(
            "peak_reserved_bytes",
            "reserved at most",
            _of_curves(lambda curve: int(curve.reserved.max(initial=-1))),
            optional=True,
            stacked="reserved\nat most",
        ),
        Column("peak_at_ns", "", _peak_time, forms=Form.DATA, optional=True),
        _size("end_allocated_bytes", "at the end", _of_curves(_end), optional=True, stacked="at the\nend"),
    ),
    order=(..., "peak_reserved_bytes"),
    kind="component",
    identity=(
        "device",
        "name",
    ),
)

GRAPHS: Table[MemoryRows] = Table(
    columns=(
        Column("graph", "graph", texts_of("graph")),
        Column("model", "model", texts_of("model")),
        count("operators", "operators", values_of("operators")),
        _size("peak_bytes", "at most", values_of("peak_bytes")),
    ),
    kind="graph",
    identity=("graph",),
)

# ------------------------------------------------------------------------- lines


def _mean_life(rows: MemoryRows) -> Int64s:
    return np.array([line.mean_life if rows.recorded.timed else -1 for line in rows.rows], np.int64)


def _has_times(rows: MemoryRows | BlockRows, _: Form) -> bool:
    return rows.recorded.timed


LINES: Table[MemoryRows] = Table(
    columns=(
        *line_columns(_place),
        Column("operator", "operator", texts_of("operator")),
        _size("bytes_at_peak", "at the peak", values_of("bytes_at_peak"), stacked="at the\npeak"),
        _size("allocated_bytes", "allocated", values_of("allocated_bytes"), stacked="allo-\ncated"),
        count("allocations", "blocks", values_of("allocations")),
        count("blocks_at_peak", "", values_of("blocks_at_peak"), forms=Form.DATA),
        duration(
            "mean_life_ns", "mean life", _mean_life, optional=True, stacked="mean\nlife", when=_has_times
        ),
        _size("alive_bytes", "at the end", values_of("alive_bytes"), forms=DATA_AND_VIEWER),
        _python_line(),
    ),
    order=("bytes_at_peak", "allocated_bytes", "allocations", "mean_life_ns", ..., "operator", "name"),
    kind="memory-line",
    identity=(
        "file",
        "line",
        "function",
        "operator",
    ),
)

# ------------------------------------------------------------------------- sizes

SIZES: Table[MemoryRows] = Table(
    columns=(
        _size("block_bytes", "size", values_of("bytes")),
        count("allocations", "blocks", values_of("allocations")),
        _size(
            "allocated_bytes",
            "allocated",
            lambda rows: np.array([size.bytes * size.allocations for size in rows.rows], np.int64),
            forms=Form.VIEWER,
        ),
        count("blocks_at_peak", "at the peak", values_of("at_peak"), stacked="at the\npeak"),
        count("alive_blocks", "alive at the end", values_of("alive"), stacked="alive at\nthe end"),
    ),
    kind="size",
    identity=("block_bytes",),
)

# ------------------------------------------------------------------------ blocks


def _file(rows: BlockRows) -> CodedTexts:
    return CodedTexts(rows.blocks.line, lambda place: rows.recorded.lines[place].file)


def _function(rows: BlockRows) -> CodedTexts:
    return CodedTexts(rows.blocks.line, lambda place: rows.recorded.lines[place].function)


def _line(rows: BlockRows) -> Int64s:
    numbers = [frame.line if frame.file else -1 for frame in rows.recorded.lines]
    return np.array([*numbers, -1], np.int64)[rows.blocks.line]


def _line_name(rows: BlockRows) -> CodedTexts:
    return texts_at(rows.blocks.line + 1, [*map(frame_line_name, (None, *rows.recorded.lines))])


BLOCKS: Table[BlockRows] = Table(
    columns=(
        Column(
            "start_ns",
            "at",
            lambda rows: rows.times(rows.blocks.start),
            lambda ns, rows: format_time(ns - rows.origin_ns),
            optional=True,
            when=_has_times,
        ),
        Column("release_ns", "", lambda rows: rows.times(rows.release), forms=Form.DATA, optional=True),
        _size("block_bytes", "size", lambda rows: rows.blocks.bytes),
        duration(
            "life_ns",
            "life",
            lambda rows: rows.times(rows.life),
            forms=Form.SHOWN,
            optional=True,
            when=_has_times,
        ),
        Column(
            "device", "", lambda rows: texts_at(rows.blocks.device, rows.recorded.devices), forms=Form.DATA
        ),
        Column(
            "component",
            "",
            lambda rows: texts_at(rows.blocks.component, rows.recorded.components),
            forms=Form.DATA,
        ),
        Column("operator", "operator", lambda rows: texts_at(rows.blocks.operator, rows.recorded.operators)),
        Column("file", "", _file, forms=Form.DATA),
        Column("line", "", _line, forms=Form.DATA, optional=True),
        Column("function", "", _function, forms=Form.DATA),
        Column("step", "step", lambda rows: rows.steps, optional=True, unknown=""),
        Column("at_peak", "", lambda rows: rows.at_peak, forms=Form.DATA),
        Column("event", "", lambda rows: rows.events, forms=Form.DATA, optional=True),
        Column("name", "Python line", _line_name, forms=Form.SHOWN, path=True),
    ),
    order=("start_ns", "block_bytes", "life_ns", "step", ..., "operator", "name"),
    kind="block",
    identity=(
        "device",
        "component",
        "start_ns",
        "block_bytes",
    ),
    apart="event",
)

# ------------------------------------------------------------------ what grows


def calls_of(group: GrowingGroup) -> str:
    """Return which calls leave blocks behind: "28th of 28", "2 of 28"."""
    if group.nth is not None and group.leaving == 1:
        return f"{ordinal(group.nth)} of {format_count(group.calls)}"
    return f"{format_count(group.leaving)} of {format_count(group.calls)}"


def _from_to(group: GrowingGroup) -> str:
    first, last = group.steps[0], group.steps[-1]
    return str(first) if first == last else f"{first} .. {last}"


def _of_groups(text: Callable[[GrowingGroup], str | None]) -> Callable[[GrowingRows], CodedTexts]:
    return lambda rows: listed([text(group) for group in rows.rows])


def _ends(place: int) -> Callable[[GrowingRows], Int64s]:
    return lambda rows: np.array([group.steps[place] for group in rows.rows], np.int64)


def _beside(name: str) -> Column[GrowingRows]:
    def tasks(rows: GrowingRows) -> CodedTexts:
        return listed([getattr(neighbours, name) for neighbours in rows.neighbours])

    return Column(name, "", tasks, forms=Form.DATA)


_OF_GROUP: tuple[Column[GrowingRows], ...] = (
    Column("device", "", texts_of("device"), forms=Form.DATA),
    Column("component", "", texts_of("component"), forms=Form.DATA),
    Column("operator", "operator", texts_of("operator"), forms=DATA_AND_VIEWER),
)

GROWING: Table[GrowingRows] = Table(
    columns=(
        *(column.of(Form.JSON) for column in _OF_GROUP),
        *line_columns(_place),
        *(column.of(column.forms & ~Form.JSON) for column in (_OF_GROUP[2], *_OF_GROUP[:2])),
        _size("bytes_per_step", "a step", values_of("bytes_per_step"), forms=DATA_AND_VIEWER),
        count("blocks_per_step", "blocks", values_of("blocks_per_step"), forms=DATA_AND_VIEWER),
        _size("block_bytes", "", values_of("block_bytes"), forms=Form.DATA, optional=True),
        _size("bytes", "", values_of("bytes"), forms=Form.DATA),
        count("blocks", "", values_of("blocks"), forms=Form.DATA),
        json_only("steps", lambda rows: [[*group.steps] for group in rows.rows]),
        Column("steps", "in steps", _of_groups(_from_to), forms=Form.VIEWER, trusted=True),
        Column("first_step", "", _ends(0), forms=Form.FRAME),
        Column("last_step", "", _ends(-1), forms=Form.FRAME),
        Column(
            "nth",
            "",
            lambda rows: optional_numbers([group.nth for group in rows.rows]),
            forms=Form.DATA,
            optional=True,
        ),
        Column("call", "call", _of_groups(calls_of), forms=Form.VIEWER, trusted=True),
        count("of", "", values_of("calls"), forms=Form.DATA),
        count("leaving", "", values_of("leaving"), forms=Form.DATA),
        *map(_beside, ("task", "before", "after")),
        Column(
            "verdict",
            "so it",
            _of_groups(lambda group: group.verdict.value),
            forms=DATA_AND_VIEWER,
            trusted=True,
        ),
        _python_line().of(Form.VIEWER),
    ),
    kind="growing",
    identity=(
        "device",
        "component",
        "operator",
        "file",
        "line",
        "function",
        "block_bytes",
    ),
)

# ------------------------------------------------------------------------- curve

#: The samples of a curve, by time.
SAMPLES: Table[Curve] = Table(
    columns=(
        Column("time_ns", "", lambda curve: curve.time, forms=Form.DATA, optional=True),
        _size("allocated_bytes", "", lambda curve: curve.allocated, forms=Form.DATA, optional=True),
        _size("reserved_bytes", "", lambda curve: curve.reserved, forms=Form.DATA, optional=True),
        _size("active_bytes", "", lambda curve: curve.active, forms=Form.DATA, optional=True),
    )
)
