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
from tracetui.export.sentences.memory import frame_line_name, growth_word, ordinal
from tracetui.export.tables.column import (
    CodedTexts,
    Column,
    Form,
    Table,
    Values,
    count,
    data,
    duration,
    json_only,
    listed,
    size,
    texts_at,
)
from tracetui.export.tables.common import (
    FirstRows,
    line_columns,
    name_column,
    named,
    numbers_by,
    texts_by,
    texts_of,
    values_of,
)
from tracetui.language import translate
from tracetui.units import format_count, format_time

DATA_AND_VIEWER = Form.DATA | Form.VIEWER


class MemoryRows(FirstRows):
    """What is listed of a recording, at most `top`, 0 for all."""

    def __init__(self, recorded: MemoryRecording, all_rows: Sequence[Any], top: int = 0) -> None:
        super().__init__(all_rows, top)
        self.recorded = recorded

    @property
    def knows_peak(self) -> bool:
        """Whether any curve tells how much is held."""
        return any(len(curve.known_places) for curve in self.recorded.curves)


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
        self.hidden = len(order) - len(self.places)
        self.recorded, self.origin_ns = memory.recorded, origin_ns
        self.blocks = part.blocks.at(self.places)
        self.at_peak = part.at_peak[self.places]

    def __len__(self) -> int:
        return len(self.places)

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


def _place(row: Any) -> PythonLine:
    return python_line(row.frame)


def _called(row: Any) -> str:
    return frame_line_name(row.frame)


def _at_peak(name: str) -> Callable[[MemoryRows], Values]:
    """Return a getter of int64[n]: an attribute of each row; -1 where no peak is known."""
    get = values_of(name)
    return lambda rows: get(rows) if rows.knows_peak else np.full(len(rows.rows), -1, np.int64)


def _python_line() -> Column[Any]:
    return name_column("Python line", _called).of(Form.SHOWN)


# -------------------------------------------------------------------- components


def _peak_sample(curve: Curve) -> int:
    """Return the place of the sample with the most allocated, else reserved; -1 where neither is known."""
    place = curve.peak(-1, NEVER)
    return int(np.argmax(curve.reserved)) if place < 0 <= curve.reserved.max(initial=-1) else place


def _peak_time(rows: MemoryRows) -> Int64s:
    places = [_peak_sample(curve) if rows.recorded.timed else -1 for curve in rows.rows]
    times = [int(curve.time[place]) if place >= 0 else -1 for curve, place in zip(rows.rows, places)]
    return np.array(times, np.int64)


def _end(curve: Curve) -> int:
    if not len(curve.known_places):
        return -1
    return int(curve.allocated[curve.known_places[-1]])


COMPONENTS: Table[MemoryRows] = Table(
    columns=(
        Column("device", "device", texts_of("device")),
        Column("name", "component", texts_of("component")),
        size(
            "peak_allocated_bytes",
            "allocated at most",
            numbers_by(lambda curve: int(curve.allocated.max(initial=-1))),
            optional=True,
            stacked="allocated\nat most",
        ),
        size(
            "peak_reserved_bytes",
            "reserved at most",
            numbers_by(lambda curve: int(curve.reserved.max(initial=-1))),
            optional=True,
            stacked="reserved\nat most",
        ),
        data("peak_at_ns", _peak_time, optional=True),
        size("end_allocated_bytes", "at the end", numbers_by(_end), optional=True, stacked="at the\nend"),
    ),
    order=(..., "peak_reserved_bytes"),
    kind="component",
    identity=("device", "name"),
)

GRAPHS: Table[MemoryRows] = Table(
    columns=(
        Column("graph", "graph", texts_of("graph")),
        Column("model", "model", texts_of("model")),
        count("operators", "operators", values_of("operators")),
        size("peak_bytes", "at most", values_of("peak_bytes")),
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
        size(
            "bytes_at_peak", "at the peak", _at_peak("bytes_at_peak"), optional=True, stacked="at the\npeak"
        ),
        size("allocated_bytes", "allocated", values_of("allocated_bytes"), stacked="allo-\ncated"),
        count("allocations", "blocks", values_of("allocations")),
        data("blocks_at_peak", _at_peak("blocks_at_peak"), optional=True),
        duration(
            "mean_life_ns", "mean life", _mean_life, optional=True, stacked="mean\nlife", when=_has_times
        ),
        size("alive_bytes", "at the end", values_of("alive_bytes"), forms=DATA_AND_VIEWER),
        _python_line(),
    ),
    order=("bytes_at_peak", "allocated_bytes", "allocations", "mean_life_ns", ..., "operator", "name"),
    kind="memory-line",
    identity=("file", "line", "function", "operator"),
)

# ------------------------------------------------------------------------- sizes

SIZES: Table[MemoryRows] = Table(
    columns=(
        size("block_bytes", "size", values_of("bytes")),
        count("allocations", "blocks", values_of("allocations")),
        size(
            "allocated_bytes",
            "allocated",
            lambda rows: np.array([size.bytes * size.allocations for size in rows.rows], np.int64),
            forms=Form.VIEWER,
        ),
        count("blocks_at_peak", "at the peak", _at_peak("at_peak"), optional=True, stacked="at the\npeak"),
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
        data("release_ns", lambda rows: rows.times(rows.release), optional=True),
        size("block_bytes", "size", lambda rows: rows.blocks.bytes),
        duration(
            "life_ns",
            "life",
            lambda rows: rows.times(rows.life),
            forms=Form.SHOWN,
            optional=True,
            when=_has_times,
        ),
        data("device", lambda rows: texts_at(rows.blocks.device, rows.recorded.devices)),
        data("component", lambda rows: texts_at(rows.blocks.component, rows.recorded.components)),
        Column("operator", "operator", lambda rows: texts_at(rows.blocks.operator, rows.recorded.operators)),
        data("file", _file),
        data("line", _line, optional=True),
        data("function", _function),
        Column("step", "step", lambda rows: rows.steps, optional=True, unknown=""),
        data("at_peak", lambda rows: rows.at_peak),
        data("event", lambda rows: rows.events, optional=True),
        Column("name", "Python line", _line_name, forms=Form.SHOWN, path=True),
    ),
    order=("start_ns", "block_bytes", "life_ns", "step", ..., "operator", "name"),
    kind="block",
    identity=("device", "component", "start_ns", "block_bytes"),
    apart="event",
)

# ------------------------------------------------------------------ what grows


def calls_of(group: GrowingGroup) -> str:
    """Return which calls leave blocks behind: "28th of 28", "2 of 28"."""
    calls = format_count(group.calls)
    if group.nth is not None and group.leaving == 1:
        return translate("{nth} of {count}", nth=ordinal(group.nth), count=calls)
    return translate("{some} of {count}", some=format_count(group.leaving), count=calls)


def _from_to(group: GrowingGroup) -> str:
    first, last = group.steps[0], group.steps[-1]
    return str(first) if first == last else f"{first} .. {last}"


def _beside(name: str) -> Column[GrowingRows]:
    def tasks(rows: GrowingRows) -> CodedTexts:
        return listed([getattr(neighbours, name) for neighbours in rows.neighbours])

    return Column(name, "", tasks, forms=Form.DATA)


_OF_GROUP: tuple[Column[GrowingRows], ...] = (
    data("device", texts_of("device")),
    data("component", texts_of("component")),
    Column("operator", "operator", texts_of("operator"), forms=DATA_AND_VIEWER),
)

GROWING: Table[GrowingRows] = Table(
    columns=(
        *(column.of(Form.JSON) for column in _OF_GROUP),
        *line_columns(_place),
        *(column.of(column.forms & ~Form.JSON) for column in (_OF_GROUP[2], *_OF_GROUP[:2])),
        size("bytes_per_step", "a step", values_of("bytes_per_step"), forms=DATA_AND_VIEWER),
        count("blocks_per_step", "blocks", values_of("blocks_per_step"), forms=DATA_AND_VIEWER),
        data("block_bytes", values_of("block_bytes"), optional=True),
        data("bytes", values_of("bytes")),
        data("blocks", values_of("blocks")),
        json_only("steps", lambda rows: [[*group.steps] for group in rows.rows]),
        named("steps", "in steps", _from_to, forms=Form.VIEWER, trusted=True),
        data("first_step", numbers_by(lambda group: group.steps[0]), forms=Form.FRAME),
        data("last_step", numbers_by(lambda group: group.steps[-1]), forms=Form.FRAME),
        data("nth", values_of("nth"), optional=True),
        named("call", "call", calls_of, forms=Form.VIEWER, trusted=True),
        data("of", values_of("calls")),
        data("leaving", values_of("leaving")),
        *map(_beside, ("task", "before", "after")),
        data("verdict", texts_by(lambda group: group.verdict.value)),
        named("verdict", "so it", lambda group: growth_word(group.verdict), forms=Form.VIEWER, trusted=True),
        _python_line().of(Form.VIEWER),
    ),
    kind="growing",
    identity=("device", "component", "operator", "file", "line", "function", "block_bytes"),
)

# ------------------------------------------------------------------------- curve

#: The samples of a curve, by time.
SAMPLES: Table[Curve] = Table(
    columns=(
        data("time_ns", lambda curve: curve.time, optional=True),
        data("allocated_bytes", lambda curve: curve.allocated, optional=True),
        data("reserved_bytes", lambda curve: curve.reserved, optional=True),
        data("active_bytes", lambda curve: curve.active, optional=True),
    )
)
