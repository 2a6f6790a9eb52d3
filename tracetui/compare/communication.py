"""Collectives by what they do, among how many ranks, with what, called alike for HCCL and NCCL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.links import NEVER
from tracetui.arrays import Bools, Int64s
from tracetui.compare.tally import Tally, tally
from tracetui.compare.walls import Walls
from tracetui.units import format_bytes

_HCCL = re.compile(r"hcom_([A-Za-z]+)_")
_NCCL = re.compile(r"nccl(?:Dev)?Kernel_([A-Za-z]+)")
_TYPED = re.compile(r"_(f16|bf16|f32|f64|i8|u8|i32|u32|i64|u64|half|float|double)(?:_|\b)")
_DTYPES = {
    "f16": "FP16",
    "half": "FP16",
    "bf16": "BF16",
    "bfp16": "BF16",
    "f32": "FP32",
    "float": "FP32",
    "f64": "FP64",
    "double": "FP64",
    **{f"{sign[0]}{bits}": f"{sign.upper()}{bits}" for sign in ("int", "uint") for bits in (8, 32, 64)},
}
WAIT, TRANSFER = " (wait)", " (transfer)"


class Key(NamedTuple):
    """What makes collectives comparable; what a run doesn't tell is empty."""

    kind: str  #: "allreduce"
    ranks: str  #: "8 ranks"
    dtype: str  #: "FP32"
    size: str  #: "16.8 to 33.6 MB", a bucket between powers of two


@dataclass(frozen=True, eq=False)
class Collectives:
    """The collectives of a run as columns of equal length."""

    keys: tuple[Key, ...]  #: distinct
    key: Int64s  #: place in `keys`
    step: Int64s
    ns: Int64s
    wait: Int64s  #: ns for a late rank, within `ns`
    known: Bools  #: wait and transfer are told apart
    row: Int64s  #: slice rows
    steps: int

    def tells(self) -> tuple[bool, ...]:
        """Which parts of keys any of them tells."""
        return tuple(any(key[part] for key in self.keys) for part in range(len(Key._fields)))

    def tally(self, parts: tuple[bool, ...]) -> Tally:
        """Their time by some parts of the keys; with rows for wait and transfer where these are known."""
        names = [", ".join(part for part, kept in zip(key, parts) if kept and part) for key in self.keys]
        several = len(names)
        known = np.where(self.known, self.key, -1)
        place = np.concatenate((self.key, known + several * self.known, known + 2 * several * self.known))
        ns = np.concatenate((self.ns, self.wait, self.ns - self.wait))
        called = [name + suffix for suffix in ("", WAIT, TRANSFER) for name in names]
        return tally(called, place, np.tile(self.step, 3), ns, self.steps, np.tile(self.row, 3))


def collectives(analysis: Analysis, walls: Walls) -> Collectives:
    """The collectives that the steps launched; those of which no launch is known by when they start."""
    trace, operations = analysis.trace, analysis.communication.operations
    enqueued = analysis.links.enqueued(operations.row)
    step = walls.step_at(np.where(enqueued == NEVER, operations.start, enqueued))
    (held,) = np.nonzero(step >= 0)
    ranks = {track: len(group.global_ranks) for track, group in analysis.communication.groups.items()}
    number: dict[Key, int] = {}
    columns = (trace.slices.name[operations.row], operations.group, operations.dtype, operations.size)
    keys = [
        number.setdefault(
            _key(trace.strings[name], ranks.get(group, 0), trace.string(dtype) or "", size), len(number)
        )
        for name, group, dtype, size in zip(*(column[held].tolist() for column in columns))
    ]
    waits = analysis.communication.waits
    return Collectives(
        keys=tuple(number),
        key=np.array(keys, np.int64),
        step=step[held],
        ns=operations.end[held] - operations.start[held],
        wait=waits.wait[held],
        known=waits.known[held],
        row=operations.row[held],
        steps=len(walls.start[walls.host]),
    )


def _key(name: str, ranks: int, dtype: str, size: int) -> Key:
    found = _HCCL.match(name) or _NCCL.match(name)
    kind = found[1].lower() if found else name.lower()
    if not dtype:
        typed = _TYPED.search(name)
        dtype = typed[1] if typed else ""
    called = _DTYPES.get(dtype.lower(), dtype.upper())
    return Key(kind, f"{ranks} ranks" if ranks else "", called, _bucket(size))


def _bucket(size: int) -> str:
    """The powers of two that a size is between: "1.05 to 2.10 MB"."""
    if size < 0:
        return ""
    if size < 2:
        return f"{size} B"
    low = 1 << (size.bit_length() - 1)
    return f"{format_bytes(low)} to {format_bytes(2 * low)}"
