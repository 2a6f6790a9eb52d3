"""Limits on memory, for a build that fails when one is passed: "60GB", "1MB" a step."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.model import HOST
from tracetui.analysis.memory.peak import whole_curve
from tracetui.language import state

MEMORY, GROWTH = "memory", "growth"
_LAST = 3  #: steps from the last that have to grow, as many as there are
_SIZE = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,12}))?\s*(B|[kKMGT]i?B)", re.ASCII)
_SCALES: dict[str, int] = {
    "b": 1,
    **{f"{prefix}b": 10 ** (3 * power) for power, prefix in enumerate("kmgt", 1)},
    **{f"{prefix}ib": 1 << 10 * power for power, prefix in enumerate("kmgt", 1)},
}


@dataclass(frozen=True)
class MemoryLimit:
    """The most that a device may hold, or may hold more from step to step."""

    measure: str  #: MEMORY or GROWTH
    bytes: int


@dataclass(frozen=True)
class MemoryBreach:
    """A limit that a device exceeds."""

    limit: MemoryLimit
    device: str
    bytes: int  #: held at most; the least growth of the last steps
    steps: tuple[int, ...]  #: numbers of those steps; () for what is held


def parse_size(text: str) -> int:
    """Return the bytes of "60GB", "1.5 MB", "512MiB" or "100B". Raises ValueError with a sentence."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(state("a size is a number with a unit, like 60GB, 1.5MB or 512MiB"))
    whole, fraction, unit = match[1], match[2] or "", match[3]
    scale = _SCALES[unit.lower()]
    return int(whole) * scale + int(int(fraction or "0") * scale // 10 ** len(fraction))


def find_memory_breaches(memory: Memory, limits: tuple[MemoryLimit, ...]) -> tuple[MemoryBreach, ...]:
    """Return the limits that devices pass, in their order.

    Memory grows by more than a limit where it does in each of the last three steps, or in each of
    those of them whose growth is known: what an optimizer allocates in its first step is no growth.
    """
    breaches = []
    for limit in limits:
        for device in _devices(memory):
            steps = _last_growth(memory, device) if limit.measure == GROWTH else {}
            amount = (
                min(steps.values(), default=0) if limit.measure == GROWTH else _peak_bytes(memory, device)
            )
            if amount > limit.bytes:
                breaches.append(MemoryBreach(limit, device, amount, tuple(steps)))
    return tuple(breaches)


def unrecorded_measures(memory: Memory | None, limits: tuple[MemoryLimit, ...]) -> tuple[str, ...]:
    """Return the measures of limits that nothing recorded says anything about."""
    measures = dict.fromkeys(limit.measure for limit in limits)
    if memory is None:
        return tuple(measures)
    devices = _devices(memory)
    is_known = {MEMORY: bool(devices), GROWTH: any(_last_growth(memory, device) for device in devices)}
    return tuple(measure for measure in measures if not is_known[measure])


def _devices(memory: Memory) -> list[str]:
    """Return the devices with a curve; the host where there is no other."""
    recorded = memory.recorded
    with_curve = [device for device in recorded.devices if whole_curve(recorded.curves, device) is not None]
    return [device for device in with_curve if device != HOST] or with_curve


def _peak_bytes(memory: Memory, device: str) -> int:
    curve = whole_curve(memory.recorded.curves, device)
    return 0 if curve is None else int(curve.allocated[curve.known_places].max())


def _last_growth(memory: Memory, device: str) -> dict[int, int]:
    """Return the growth of those of the last three steps in which it is known, by their numbers."""
    of_device = [growth for growth in memory.growth if growth.device == device]
    return {growth.step: growth.bytes for growth in of_device[-_LAST:] if growth.bytes is not None}
