"""The memory of a run as one JSON object: sizes in bytes, times as integer ns, null for what is unknown."""

from __future__ import annotations

from typing import Any

from tracetui.analysis.memory.analyse import HostMemory, Memory, MemoryPart
from tracetui.analysis.memory.model import MemoryRecording
from tracetui.analysis.memory.peak import Peak
from tracetui.export.cells import encodable
from tracetui.export.json_document import SCHEMA
from tracetui.export.tables.column import records
from tracetui.export.tables.memory import COMPONENTS, GRAPHS, GROWING, LINES, GrowingRows, MemoryRows


def memory_document(memory: Memory | None, part: MemoryPart | None, top: int = 0) -> dict[str, Any]:
    """Return what is known of the memory; the peak and the lines are those of `part`, at most `top` lines.

    Components and growth are those of the whole recording. All is empty where nothing was recorded.
    """
    if memory is None or part is None:
        return {
            "schema": SCHEMA,
            "components": [],
            "growth": [],
            "peak": None,
            "lines": [],
            "growing": [],
            "alive_at_end": {"bytes": None, "blocks": None},
            "host": None,
            "graphs": [],
            "warnings": [],
        }
    recorded = memory.recorded
    alive_bytes, alive_blocks = part.alive_at_end if len(recorded.blocks) else (None, None)
    return {
        "schema": SCHEMA,
        "components": records(COMPONENTS, MemoryRows(recorded, memory.curves)),
        "growth": [
            {"device": encodable(growth.device), "step": growth.step, "bytes": growth.bytes}
            for growth in memory.growth
        ],
        "peak": None if part.peak is None else _peak(recorded, part.peak),
        "lines": records(LINES, MemoryRows(recorded, part.lines, top)),
        "growing": records(GROWING, GrowingRows(memory)),
        "alive_at_end": {"bytes": alive_bytes, "blocks": alive_blocks},
        "host": None if part.host is None else _host(recorded, part.host, top),
        "graphs": records(GRAPHS, MemoryRows(recorded, recorded.graphs)),
        "warnings": [encodable(problem) for problem in recorded.problems],
    }


def _host(recorded: MemoryRecording, host: HostMemory, top: int) -> dict[str, Any]:
    """Return what is known of the memory of the host; ids of lines are those of the memory of devices."""
    return {
        "lines": [{**line, "id": None} for line in records(LINES, MemoryRows(recorded, host.lines, top))],
        "alive_at_end": {"bytes": host.alive_bytes, "blocks": host.alive_blocks},
    }


def _peak(recorded: MemoryRecording, peak: Peak) -> dict[str, Any]:
    return {
        "device": encodable(peak.device),
        "component": encodable(peak.component),
        "at_ns": _time(recorded, peak.at),
        "step": _step(recorded, peak.step),
        "bytes": peak.bytes,
        "before_bytes": peak.before_bytes if len(recorded.blocks) else None,
        "cached_bytes": _known(peak.cached_bytes),
        "outside_bytes": _known(peak.outside_bytes),
    }


def _step(recorded: MemoryRecording, place: int) -> int | None:
    return None if place < 0 else recorded.steps[place].number


def _time(recorded: MemoryRecording, time: int) -> int | None:
    """Return a time or a length of time; unknown below 0, and where events have numbers only."""
    return time if time >= 0 and recorded.timed else None


def _known(count: int) -> int | None:
    return None if count < 0 else count
