"""All that is shown as a curve: counters of the trace, memory of its devices, the lead of the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.series import Series, counter_series
from tracetui.arrays import Int64s
from tracetui.siblings.formats import MEMORY_RECORD, MODULE_MEMORY
from tracetui.trace.model import Trace, Track
from tracetui.trace.quantity import BYTES, TIME, quantity_of

if TYPE_CHECKING:
    from tracetui.analysis.lead import HostLead

LEAD, MEMORY = "Host lead", "Memory"  #: the groups of what is no counter of the trace
LEAD_TIME, LEAD_TASKS = "host lead", "tasks ahead"  #: the names of the two curves of the lead
_HOST_MEMORY = "CPU"


@dataclass(frozen=True, eq=False)
class CounterTrack:
    """A quantity over time; texts are as written by the producer: never print them unescaped."""

    group: str  #: the process that counts it, `LEAD` or `MEMORY`
    name: str
    unit: str
    device: str | None  #: None: of the host
    make: Callable[[], Series]  #: its samples, on the clock of the trace

    @cached_property
    def series(self) -> Series:
        """Its samples."""
        return self.make()

    @cached_property
    def zeros(self) -> Series:
        """1 where it is 0, else 0: its mean is the share of a stretch of time without anything."""
        return Series(self.series.time, (self.series.value == 0).astype(np.float64))

    @property
    def shows_nothing(self) -> bool:
        """Whether what matters is where there is nothing: a host without a lead starves its device."""
        return self.group == LEAD


def of_counter(trace: Trace, track: Track) -> CounterTrack:
    """Return what a counter of a trace shows."""
    quantity = quantity_of(track)
    return CounterTrack(
        track.process, quantity.name, quantity.unit, track.device, lambda: counter_series(trace, track)
    )


def of_leads(leads: Sequence[HostLead]) -> tuple[CounterTrack, ...]:
    """Return the lead of the host on each device: as the time of the tasks that wait, and as their number."""
    return tuple(
        CounterTrack(LEAD, name, unit, lead.device, _whole(lead.time, column))
        for lead in leads
        if len(lead.time)
        for name, unit, column in ((LEAD_TIME, TIME, lead.work), (LEAD_TASKS, "tasks", lead.count))
    )


def has_memory(trace: Trace) -> bool:
    """Return whether something tells of the memory of a trace's run: in it, or beside it."""
    from tracetui.siblings.of_run import has_of_run

    path = Path(trace.path)
    return bool(len(trace.memory.event)) or any(
        has_of_run(path, table) for table in (MEMORY_RECORD, MODULE_MEMORY)
    )


def of_memory(trace: Trace) -> tuple[tuple[CounterTrack, ...], tuple[str, ...]]:
    """Return the memory of each device and component, and what is wrong with what tells of it.

    Reads the tables beside the trace, not those of single allocations: 0.4 s for 100 k samples.
    """
    from tracetui.analysis.memory.instants import curves_in_instants
    from tracetui.analysis.memory.tables import curves_of
    from tracetui.siblings.of_run import read_of_run

    records, modules = (read_of_run(Path(trace.path), title) for title in (MEMORY_RECORD, MODULE_MEMORY))
    curves = curves_of(records, modules) or curves_in_instants(trace)
    problems = tuple(problem for table in (records, modules) if table for problem in table.problems)
    tracks: dict[tuple[str | None, str], CounterTrack] = {}
    for curve in curves:
        device = _device_of(curve.device, trace.devices)
        for amount in ("allocated", "reserved", "active"):
            values: Int64s = getattr(curve, amount)
            measured = values >= 0
            if (values > 0).any():
                name, series = f"{curve.component} {amount}", _whole(curve.time[measured], values[measured])
                tracks.setdefault((device, name), CounterTrack(MEMORY, name, BYTES, device, series))
    return tuple(tracks.values()), problems


def _whole(time: Int64s, values: Int64s) -> Callable[[], Series]:
    return lambda: Series(time, values.astype(np.float64))


def _device_of(label: str, devices: Iterable[str]) -> str | None:
    """Return the device of the trace that a table means; the only one, where the trace does not number it."""
    names = tuple(devices)
    if label in names:
        return label
    if label == _HOST_MEMORY:
        return None
    return names[0] if len(names) == 1 and not any(char.isdigit() for char in names[0]) else label
