"""The memory that the tables beside the trace of an NPU tell of, joined to its operators and lines.

A block of PyTorch's allocator (PTA) is named like the operator that allocated it, and that operator holds the
time. One of the graph engine (`cann::<node>`, GE) is allocated while its launch is dequeued: the Dequeue that
holds the time leads to the Enqueue, and that to the operator. Where two threads could be meant, none is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.host_steps import host_steps
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.launch_chains import LaunchChains, is_operator_track, operators_of_dequeues
from tracetui.analysis.memory.model import (
    ADAPTER,
    GRAPH_ENGINE,
    MINDSPORE,
    NEVER,
    Blocks,
    Curve,
    MemoryRecording,
    MemoryStep,
    no_blocks,
    steps_at,
)
from tracetui.analysis.memory.static import static_memory
from tracetui.analysis.search import group_by, of_category
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.siblings.formats import MEMORY_RECORD, MODULE_MEMORY, OPERATOR_MEMORY, STATIC_MEMORY
from tracetui.siblings.of_run import read_of_run
from tracetui.siblings.tables import SiblingTable
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Trace, Track
from tracetui.trace.nesting import enclosing

_GRAPH_NODE = "cann::"
_NO_DEVICE = "NPU"


class MemoryTables(NamedTuple):
    """The tables that tell of memory; None where the producer left none."""

    blocks: SiblingTable | None
    records: SiblingTable | None
    modules: SiblingTable | None
    graphs: SiblingTable | None = None


def recorded_in_tables(trace: Trace, chains: LaunchChains, rules: FrameRules) -> MemoryRecording | None:
    """Return what the tables beside a trace tell; None where there are none."""
    tables = read_tables(Path(trace.path))
    if all(table is None for table in tables):
        return None
    return replace(join_tables(trace, chains, rules, tables), graphs=static_memory(tables.graphs))


def read_tables(trace: Path) -> MemoryTables:
    """Read the tables beside the trace at a path."""
    return MemoryTables(
        *(
            read_of_run(trace, title)
            for title in (OPERATOR_MEMORY, MEMORY_RECORD, MODULE_MEMORY, STATIC_MEMORY)
        )
    )


def join_tables(
    trace: Trace, chains: LaunchChains, rules: FrameRules, tables: MemoryTables
) -> MemoryRecording:
    """Return what tables tell, joined to the operators and lines of their trace."""
    problems = tuple(problem for table in tables if table is not None for problem in table.problems)
    curves = curves_of(tables.records, tables.modules)
    _, steps = memory_steps(trace)
    if tables.blocks is None:
        return MemoryRecording(curves, no_blocks(), _devices(curves), (), (), (), steps, problems)
    return _blocks_of_table(trace, chains, rules, tables.blocks, curves, steps, problems)


def curves_of(records: SiblingTable | None, modules: SiblingTable | None) -> tuple[Curve, ...]:
    """Return the curves of the tables of records and of modules, of each device and component one."""
    curves = {(curve.device, curve.component): curve for curve in _curves(records)}
    for curve in _curves(modules):  # a module may be called like a component of the other table: APP, GE
        curves.setdefault((curve.device, curve.component), curve)
    return tuple(curves.values())


def memory_steps(trace: Trace) -> tuple[str, tuple[MemoryStep, ...]]:
    """Return the process that has most steps, and its steps by start."""
    steps = host_steps(trace)
    pids = [step.pid for step in steps]
    pid = max(dict.fromkeys(pids), key=pids.count, default="")
    return pid, tuple(MemoryStep(step.number, step.start, step.end) for step in steps if step.pid == pid)


def table_device_label(text: str | None) -> str:
    """Return the label of a device as tables write it: "NPU 0" of "NPU:0" and of "0"."""
    label = _NO_DEVICE if text is None else text.replace(":", " ", 1)
    return f"{_NO_DEVICE} {label}" if label.isdigit() else label


def _curves(table: SiblingTable | None) -> list[Curve]:
    """Return the curves of a table; components that hold nothing at any time are left out."""
    if table is None:
        return []
    device, component = (table.texts[key] for key in ("device", "component"))
    unknown = np.full(table.rows, -1, np.int64)
    columns = [table.numbers.get(key, unknown) for key in ("allocated", "reserved", "active")]
    if MINDSPORE in component.texts:  # which writes 1,000 KiB as one MB
        columns = [np.where(column < 0, -1, (column * 1000 + 512) // 1024) for column in columns]
    curves = []
    codes = component.place.astype(np.int64) * (len(device.texts) + 1) + device.place + 1
    for code, places in group_by(codes):
        times = table.numbers["time"][places]
        ordered = places[np.argsort(times, kind="stable")] if (times[1:] < times[:-1]).any() else places
        if not any((column[ordered] > 0).any() for column in columns):
            continue
        name, device_code = divmod(code, len(device.texts) + 1)
        label = table_device_label(device.texts[device_code - 1] if device_code else None)
        allocated, reserved, active = (column[ordered] for column in columns)
        time = table.numbers["time"][ordered]
        curves.append(Curve(label, component.texts[name], time, allocated, reserved, active))
    return curves


def _blocks_of_table(
    trace: Trace,
    chains: LaunchChains,
    rules: FrameRules,
    table: SiblingTable,
    curves: tuple[Curve, ...],
    steps: tuple[MemoryStep, ...],
    problems: tuple[str, ...],
) -> MemoryRecording:
    start = table.numbers["start"]
    names, name = [*table.texts["name"].texts, ""], table.texts["name"].place
    name = np.where(name < 0, len(names) - 1, name).astype(np.int32)  # no name, as in a damaged database
    is_node = np.array([text.startswith(_GRAPH_NODE) for text in names], np.bool_)[name]
    row = np.empty(table.rows, np.int64)
    row[~is_node] = _operators_of_name(
        trace, chains.callers.ancestors, names, name[~is_node], start[~is_node]
    )
    row[is_node] = _dequeued_operators(trace, start[is_node])
    sites = chains.callers.call_sites(row)
    lines, line = lines_of(trace, sites.stack, sites.frame, rules)
    labels = [table_device_label(text) for text in (None, *table.texts["device"].texts)]
    devices = _devices(curves, labels[1:] if (table.texts["device"].place >= 0).all() else labels)
    number_of_label = np.array(
        [devices.index(label) if label in devices else -1 for label in labels], np.int32
    )
    blocks = Blocks(
        start=start,
        release=_releases(table),
        bytes=table.numbers["bytes"],
        device=number_of_label[table.texts["device"].place + 1],
        component=is_node.astype(np.int32),
        operator=name,
        row=row,
        line=line,
        step=steps_at(steps, start),
    )
    if (start[1:] < start[:-1]).any():
        blocks = blocks.at(np.argsort(start, kind="stable"))
    components = (ADAPTER, GRAPH_ENGINE)
    return MemoryRecording(curves, blocks, devices, components, tuple(names), tuple(lines), steps, problems)


def _devices(curves: Sequence[Curve], labels: Sequence[str] = ()) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(curve.device for curve in curves), *labels]))


def _releases(table: SiblingTable) -> Int64s:
    """Return when each block was released; MindSpore's tables have the time for which it was held instead."""
    start, release, duration = (table.numbers[key] for key in ("start", "release", "duration"))
    release = np.where((release < 0) & (duration >= 0), start + duration, release)
    return np.where(release < 0, NEVER, np.maximum(release, start))


def _operators_of_name(
    trace: Trace, ancestors: Ancestors, names: list[str], name: Int32s, times: Int64s
) -> Int64s:
    """Return the innermost operator of that name around each time; -1: of none, or of several threads."""
    number = {text: place for place, text in enumerate(trace.strings)}
    expected = np.array([number.get(text, -2) for text in names], np.int64)[name]

    def is_wanted(rows: Int64s, places: Int64s) -> Bools:
        named: Bools = trace.slices.name[rows] == expected[places]
        return named

    def innermost(track: Track) -> Int64s:
        row = enclosing(trace, track.lanes, times, closed_end=True)
        (pending,) = np.nonzero(row >= 0)
        while len(pending):
            pending = pending[~is_wanted(row[pending], pending)]
            row[pending] = ancestors.parents_of(row[pending])
            pending = pending[row[pending] >= 0]
        return row

    return _rows_of_one_thread(trace, innermost, len(times))


def _dequeued_operators(trace: Trace, times: Int64s) -> Int64s:
    """Return the operator that enqueued what was being dequeued at each time, -1 where that is unknown."""
    dequeues = of_category(trace, trace.slices.category, KNOWN.categories.dequeues)

    def around(track: Track) -> Int64s:
        return enclosing(trace, track.lanes, times, dequeues, closed_end=True)

    return operators_of_dequeues(trace, _rows_of_one_thread(trace, around, len(times)))


def _rows_of_one_thread(trace: Trace, rows_of: Callable[[Track], Int64s], count: int) -> Int64s:
    """Return the rows, `count` of each thread with operators; -1 where none has one, or several have."""
    only = np.full(count, -1, np.int64)
    twice = np.zeros(count, np.bool_)
    for track in filter(is_operator_track, trace.tracks):
        rows = rows_of(track)
        twice |= np.minimum(only, rows) >= 0
        only = np.maximum(only, rows)
    return np.where(twice, -1, only)
