"""The values of an Ascend trace as its producers write them: times, durations, and numbers that change.

What differs from one repetition of a recording to the next (times, ids, step numbers) is a `NumberCell`, for
`simulator.writer` to fill in.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

NONE = 4294967295
CYCLES = 1e8  # of the host counter per second: msprof computes host durations from them in float64
Event = dict[str, Any]


class CountedUnit(Enum):
    """What a cell counts, and so how far it moves from one repetition to the next."""

    MICROSECONDS = "µs"
    NANOSECONDS = "ns"
    CONNECTION = "connection id"
    COLLECTIVE_FLOW = "flow id of a collective: its connection id << 32"
    BATCH = "batch of task ids"
    TASK_FLOW = "flow id of a task: batch << 32"
    CORRELATION = "correlation id"
    PYTHON = "Python id"
    SEQUENCE = "sequence number"
    STEP = "step number"
    COLLECTIVE = "number of a collective"


class NumberCell(NamedTuple):
    """A JSON value with one number in it: `text` holds one %d."""

    text: str
    value: int
    clock: CountedUnit


def timestamp(ns: int) -> NumberCell:
    """Format µs with 3 decimals."""
    return NumberCell(f'"%d.{ns % 1000:03d}"', ns // 1000, CountedUnit.MICROSECONDS)


def number(value: int, clock: CountedUnit) -> NumberCell:
    return NumberCell("%d", value, clock)


def host_dur(ns: int) -> float:
    """Format a duration of the framework, µs."""
    return round(ns / 1000, 3)


def api_dur(ns: int) -> float:
    """Format a duration of the CANN layer, with the noise of its arithmetic."""
    return (ns // 10) / CYCLES * 1e6


def device_dur(ns: int, fraction: int) -> float:
    """Format a duration of the device: µs with a part of `fraction` / 32 ns."""
    return float(ns * 32 + fraction) / 32 / 1000


def layer_pid(process: int, sort: int, device: int = 0) -> int:
    """Return the process id of a msprof layer: os pid, sort index and device in one number."""
    return process << 10 | sort << 5 | device
