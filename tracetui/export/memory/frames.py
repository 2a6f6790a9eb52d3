"""The memory of a run as pandas DataFrames: the columns of its JSON document. Imports pandas."""

from __future__ import annotations

import pandas as pd

from tracetui.analysis.memory.analyse import Memory, MemoryPart
from tracetui.export.data_frame import frame_of
from tracetui.export.tables.memory import BLOCKS, LINES, SAMPLES, SIZES, BlockRows, MemoryRows


def memory_lines_frame(memory: Memory, part: MemoryPart | None = None, top: int = 0) -> pd.DataFrame:
    """Return a row per operator and line that allocates; most at the peak first, at most `top`."""
    return frame_of(LINES, MemoryRows(memory.recorded, (part or memory.all).lines, top))


def memory_sizes_frame(memory: Memory, part: MemoryPart | None = None, top: int = 0) -> pd.DataFrame:
    """Return a row per size of blocks; most in all first, at most `top`."""
    return frame_of(SIZES, MemoryRows(memory.recorded, (part or memory.all).sizes, top))


def memory_blocks_frame(memory: Memory, part: MemoryPart | None = None, top: int = 0) -> pd.DataFrame:
    """Return a row per block, largest first, at most `top`. `release_ns` is missing where it is held."""
    return frame_of(BLOCKS, BlockRows(memory, part or memory.all, top))


def memory_curve_frame(memory: Memory, device: str, component: str) -> pd.DataFrame:
    """Return a row per sample of a component of a device, by time; bytes that are not told are missing.

    Raises KeyError where there is no such curve.
    """
    for curve in memory.curves:
        if (curve.device, curve.component) == (device, component):
            return frame_of(SAMPLES, curve)
    raise KeyError(f"no curve of {component} on {device}")
