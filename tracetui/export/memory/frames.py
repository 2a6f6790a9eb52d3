"""The memory of a run as pandas DataFrames: the columns of its JSON document. Imports pandas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.analysis.memory.model import NEVER
from tracetui.arrays import Int32s, Int64s
from tracetui.export.cells import encodable
from tracetui.export.memory.document import memory_document, size_rows, step_numbers

_TEXTS = frozenset(
    ("device", "component", "operator", "file", "function", "task", "before", "after", "verdict")
)


def memory_lines_frame(memory: Memory, part: MemoryPart | None = None, top: int = 0) -> pd.DataFrame:
    """One row per operator and line that allocates; most at the peak first, at most `top`."""
    return _of_rows(memory_document(memory, part or memory.all, top)["lines"], _LINE_KEYS)


def memory_sizes_frame(memory: Memory, part: MemoryPart | None = None, top: int = 0) -> pd.DataFrame:
    """One row per size of blocks; most in all first, at most `top`."""
    return _of_rows(size_rows(part or memory.all, top), _SIZE_KEYS)


def memory_growing_frame(memory: Memory) -> pd.DataFrame:
    """One row per group of blocks that grows, those first that grow most; of its steps the first and last."""
    rows = memory_document(memory, memory.all, 1)["growing"]
    return _of_rows(
        [{**row, "first_step": row["steps"][0], "last_step": row["steps"][-1]} for row in rows], _GROWING_KEYS
    )


def memory_blocks_frame(memory: Memory, part: MemoryPart | None = None, top: int = 0) -> pd.DataFrame:
    """One row per block, the largest first, at most `top`. `release_ns` is missing where it is still held."""
    recorded, chosen = memory.recorded, part or memory.all
    order = np.argsort(-chosen.blocks.bytes, kind="stable")
    blocks = chosen.blocks.at(order[:top] if top else order)
    frames = [*recorded.lines, None]
    times = [blocks.start, np.where(blocks.release == NEVER, -1, blocks.release)]
    if not recorded.timed:
        times = [np.full(len(blocks), -1, np.int64)] * 2
    return _frame(
        {
            "start_ns": _known(times[0]),
            "release_ns": _known(times[1]),
            "block_bytes": blocks.bytes,
            "device": _texts(blocks.device, recorded.devices.__getitem__),
            "component": _texts(blocks.component, recorded.components.__getitem__),
            "operator": _texts(blocks.operator, recorded.operators.__getitem__),
            "file": _texts(blocks.line, lambda place: recorded.lines[place].file),
            "line": _known(
                np.array([-1 if not frame or not frame.file else frame.line for frame in frames])[blocks.line]
            ),
            "function": _texts(blocks.line, lambda place: recorded.lines[place].function),
            "step": _known(step_numbers(recorded, blocks.step)),
            "at_peak": chosen.at_peak[order[:top] if top else order],
        }
    )


def memory_curve_frame(memory: Memory, device: str, component: str) -> pd.DataFrame:
    """One row per sample of a component of a device, by time; bytes that are not told are missing.

    Raises KeyError where there is no such curve.
    """
    for curve in memory.curves:
        if (curve.device, curve.component) == (device, component):
            return _frame(
                {
                    "time_ns": curve.time,
                    "allocated_bytes": _known(curve.allocated),
                    "reserved_bytes": _known(curve.reserved),
                    "active_bytes": _known(curve.active),
                }
            )
    raise KeyError(f"no curve of {component} on {device}")


_LINE_KEYS = (
    "file",
    "line",
    "function",
    "operator",
    "bytes_at_peak",
    "allocated_bytes",
    "allocations",
    "blocks_at_peak",
    "mean_life_ns",
    "alive_bytes",
)
_GROWING_KEYS = (
    "file",
    "line",
    "function",
    "operator",
    "device",
    "component",
    "bytes_per_step",
    "blocks_per_step",
    "block_bytes",
    "bytes",
    "blocks",
    "first_step",
    "last_step",
    "nth",
    "of",
    "leaving",
    "task",
    "before",
    "after",
    "verdict",
)
_SIZE_KEYS = ("block_bytes", "allocations", "blocks_at_peak", "alive_blocks")


def _of_rows(rows: Sequence[dict[str, Any]], keys: Sequence[str]) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for key in keys:
        values = [row[key] for row in rows]
        if key in _TEXTS:
            texts = list(dict.fromkeys(values))
            number = {text: place for place, text in enumerate(texts)}
            columns[key] = _texts(np.array([number[value] for value in values], np.int64), texts.__getitem__)
        else:
            columns[key] = _known(np.array([-1 if value is None else value for value in values], np.int64))
    return _frame(columns)


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    frame: pd.DataFrame = pd.DataFrame(columns)
    return frame


def _texts(codes: Int32s | Int64s, text_of: Callable[[int], str | None]) -> pd.Categorical:
    """The text of each code, -1 has none; numbered here, as pandas 2 takes texts for equal up to a NUL."""
    used, places = np.unique(codes, return_inverse=True)
    texts = [None if code < 0 else text_of(code) for code in used.tolist()]
    number: dict[str, int] = {}
    numbers = [-1 if text is None else number.setdefault(encodable(text), len(number)) for text in texts]
    column: pd.Categorical = pd.Categorical.from_codes(
        np.array(numbers or [-1], np.int64)[places.reshape(-1)], pd.Index([*number])
    )
    return column


def _known(numbers: Int64s) -> pd.arrays.IntegerArray:
    """Int64: the numbers, unknown where negative."""
    return pd.arrays.IntegerArray(numbers, numbers < 0)
