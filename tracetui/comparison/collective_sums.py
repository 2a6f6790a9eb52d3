"""Collectives by what they do, among how many ranks, with what, called alike for HCCL and NCCL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.links import NEVER
from tracetui.arrays import Int64s
from tracetui.comparison.tally import Sum, tally, together
from tracetui.comparison.walls import StepWalls
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


@dataclass(frozen=True)
class CollectiveSums:
    """The collectives of a run."""

    whole: Mapping[Key, Sum]
    wait: Mapping[Key, Sum]  #: for a late rank, of those of which that is known
    transfer: Mapping[Key, Sum]  #: the rest of these

    def tells(self) -> tuple[bool, ...]:
        """Which parts of keys any of them tells."""
        return tuple(any(key[part] for key in self.whole) for part in range(len(Key._fields)))

    def called(self, parts: tuple[bool, ...]) -> Iterator[tuple[str, dict[str, Sum]]]:
        """Their time by some parts of the keys: the whole, wait and transfer, each with what names end in."""
        for sums, suffix in ((self.whole, ""), (self.wait, WAIT), (self.transfer, TRANSFER)):
            found: dict[str, list[Sum]] = {}
            for key, each in sums.items():
                name = ", ".join(part for part, kept in zip(key, parts) if kept and part)
                found.setdefault(name, []).append(each)
            yield suffix, {name: together(each) for name, each in found.items()}


def collectives(analysis: Analysis, walls: StepWalls) -> CollectiveSums:
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
    waits, steps = analysis.communication.waits, walls.host_steps
    names, found = [str(place) for place in range(len(number))], [*number]
    key, ns, row = (
        np.array(keys, np.int64),
        operations.end[held] - operations.start[held],
        operations.row[held],
    )
    known = np.where(waits.known[held], key, -1)

    def by_key(of: Int64s, time: Int64s) -> dict[Key, Sum]:
        sums = tally(names, of, step[held], time, steps, row)
        return {found[int(name)]: each for name, each in sums.items()}

    wait = waits.wait[held]
    return CollectiveSums(by_key(key, ns), by_key(known, wait), by_key(known, ns - wait))


def _key(name: str, ranks: int, dtype: str, size: int) -> Key:
    found = _HCCL.match(name) or _NCCL.match(name)
    kind = found[1].lower() if found else name.lower()
    if not dtype:
        typed = _TYPED.search(name)
        dtype = typed[1] if typed else ""
    called = _DTYPES.get(dtype.lower(), dtype.upper())
    return Key(kind, f"{ranks} ranks" if ranks else "", called, _bucket(size))


def _bucket(size: int) -> str:
    """The powers of two that a size is between: "1.05 to 2.10 MB", "524 kB to 1.05 MB"."""
    if size < 0:
        return ""
    if size < 2:
        return f"{size} B"
    low, high = (format_bytes(1 << bits) for bits in (size.bit_length() - 1, size.bit_length()))
    unit = high[high.index(" ") :]
    return f"{low.removesuffix(unit)} to {high}"
