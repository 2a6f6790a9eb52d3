"""Collectives by what they do, among how many ranks, with what, called alike for HCCL and NCCL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.planes import collective_kinds
from tracetui.analysis.launch_chains import NEVER
from tracetui.analysis.search import pick
from tracetui.arrays import Int64s
from tracetui.comparison.tally import Sum, sum_together, tally
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
    "bfloat16": "BF16",
    "f32": "FP32",
    "float": "FP32",
    "f64": "FP64",
    "double": "FP64",
    "byte": "UINT8",
    "char": "INT8",
    "short": "INT16",
    "int": "INT32",
    "long": "INT64",
    **{f"{sign[0]}{bits}": f"{sign.upper()}{bits}" for sign in ("int", "uint") for bits in (8, 32, 64)},
}
WAIT, TRANSFER = " (wait)", " (transfer)"


class CollectiveKey(NamedTuple):
    """What makes collectives comparable; what a run doesn't tell is empty."""

    kind: str  #: "allreduce"
    ranks: str  #: "8 ranks"
    dtype: str  #: "FP32"
    size: str  #: "16.8 to 33.6 MB", a bucket between powers of two


@dataclass(frozen=True)
class CollectiveSums:
    """The collectives of a run."""

    whole: Mapping[CollectiveKey, Sum]
    wait: Mapping[CollectiveKey, Sum]  #: for a late rank, of those of which that is known
    transfer: Mapping[CollectiveKey, Sum]  #: the rest of these

    @property
    def is_split(self) -> bool:
        """Whether any of them tells waiting from moving."""
        return bool(self.wait)

    def known_parts(self) -> tuple[bool, ...]:
        """Return which parts of keys any of them tells."""
        return tuple(any(key[part] for key in self.whole) for part in range(len(CollectiveKey._fields)))

    def by_name(self, parts: tuple[bool, ...]) -> Iterator[tuple[str, dict[str, Sum]]]:
        """Yield their time by some parts of the keys: whole, wait and transfer, each with its suffix."""
        for sums, suffix in ((self.whole, ""), (self.wait, WAIT), (self.transfer, TRANSFER)):
            sums_by_name: dict[str, list[Sum]] = {}
            for key, total in sums.items():
                name = ", ".join(part for part, is_kept in zip(key, parts) if is_kept and part)
                sums_by_name.setdefault(name, []).append(total)
            yield suffix, {name: sum_together(total) for name, total in sums_by_name.items()}


def collective_sums(analysis: Analysis, walls: StepWalls) -> CollectiveSums:
    """Return the collectives that the steps launched; those without a known launch by when they start."""
    trace, operations = analysis.trace, analysis.communication.operations
    enqueued = analysis.launch_chains.enqueued(operations.row)
    step = walls.step_at(np.where(enqueued == NEVER, operations.start, enqueued))
    (in_steps,) = np.nonzero(step >= 0)
    sizes = {track: len(group.global_ranks) for track, group in analysis.communication.groups.items()}
    told_sizes = pick(trace.hccl.group_size, operations.args)
    ranks = np.where(told_sizes > 0, told_sizes, [sizes.get(track, 0) for track in operations.group.tolist()])
    kinds = collective_kinds(trace, operations.args[in_steps])
    place_of_key: dict[CollectiveKey, int] = {}
    columns = (trace.slices.name[operations.row], ranks, operations.dtype, operations.size)
    keys = [
        place_of_key.setdefault(
            _key(kind, trace.strings[name], size_of_group, trace.string(dtype) or "", size), len(place_of_key)
        )
        for kind, name, size_of_group, dtype, size in zip(
            kinds, *(column[in_steps].tolist() for column in columns)
        )
    ]
    waits, steps = analysis.communication.waits, walls.host_steps
    names, keys_found = [str(place) for place in range(len(place_of_key))], [*place_of_key]
    key, row = np.array(keys, np.int64), operations.row[in_steps]
    ns = operations.end[in_steps] - operations.start[in_steps]
    known = np.where(waits.has_handshake[in_steps], key, -1)

    def by_key(key_places: Int64s, time: Int64s) -> dict[CollectiveKey, Sum]:
        sums = tally(names, key_places, step[in_steps], time, steps, row)
        return {keys_found[int(name)]: total for name, total in sums.items()}

    wait = waits.wait_ns[in_steps]
    return CollectiveSums(by_key(key, ns), by_key(known, wait), by_key(known, ns - wait))


def _key(kind: str, name: str, ranks: int, dtype: str, size: int) -> CollectiveKey:
    match = _HCCL.match(name) or _NCCL.match(name)
    kind = kind or (match[1] if match else name).lower()
    if not dtype:
        type_match = _TYPED.search(name)
        dtype = type_match[1] if type_match else ""
    dtype_name = _DTYPES.get(dtype.lower(), dtype.upper())
    return CollectiveKey(
        kind, ("1 rank" if ranks == 1 else f"{ranks} ranks") if ranks else "", dtype_name, _bucket(size)
    )


def _bucket(size: int) -> str:
    """Return the powers of two that a size is between: "1.05 to 2.10 MB", "524 kB to 1.05 MB"."""
    if size < 0:
        return ""
    if size < 2:
        return f"{size} B"
    low, high = (format_bytes(1 << bits) for bits in (size.bit_length() - 1, size.bit_length()))
    unit = high[high.index(" ") :]
    return f"{low.removesuffix(unit)} to {high}"
