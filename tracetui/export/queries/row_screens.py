"""On which screen of the viewer a row is shown, by the kind that its id begins with."""

from __future__ import annotations

from collections.abc import Mapping

from tracetui.places import SharedPlace, row_of_kind

_COMPARE = "compare"
_Shown = tuple[str, str]  # the screen, and its view: "" for that which it shows first

#: Of one trace.
_OF_TRACE: Mapping[str, _Shown] = {
    "gap": ("gaps", ""),
    "slice": ("timeline", ""),
    "step": ("steps", ""),
    "operator": ("operators", ""),
    "advice": ("advice", ""),
    "finding": ("health", ""),
    "line": ("hotspots", "lines"),
    "sync": ("hotspots", "syncs"),
    "signature": ("hotspots", "signatures"),
    "module": ("hotspots", "modules"),
    "frame": ("hotspots", "frames"),
    "scope": ("hotspots", "scopes"),
    "thread": ("scheduler", "threads"),
    "culprit": ("scheduler", "who had the cores"),
    "core": ("scheduler", "cores"),
    "memory-line": ("memory", "lines"),
    "size": ("memory", "sizes"),
    "block": ("memory", "blocks"),
    "growing": ("memory", "growing"),
    "component": ("memory", ""),
    "graph": ("memory", ""),
}
#: Of a job; a view of the screen of ranks is its map, of which any does, and its table.
_OF_JOB: Mapping[str, _Shown] = {
    "wait": ("ranks", " why"),
    "line": ("ranks", " lines"),
    "rank": ("ranks", " ranks"),
    "link": ("ranks", " links"),
    "stage": ("ranks", " stages"),
    "late": ("ranks", ""),
    "step": ("ranks", ""),
    "phase": ("phases", ""),
    "layer": ("experts", ""),
    "pipeline-stage": ("pipeline", ""),
    "fix": ("whatif", ""),
}


def place_in_trace(kind: str, identity: str, trace: str = "") -> SharedPlace | None:
    """Return the place of a row of a trace of a fingerprint; None where no screen shows it."""
    return _place(_OF_TRACE.get(kind), kind, identity, trace)


def place_in_job(kind: str, identity: str, trace: str = "") -> SharedPlace | None:
    """Return the place of a row of a job; None where no screen shows it."""
    return _place(_OF_JOB.get(kind), kind, identity, trace)


def place_in_comparison(kind: str, identity: str, trace: str = "") -> SharedPlace:
    """Return the place of a row of a comparison, whose kind is called as its table."""
    return SharedPlace(_COMPARE, rows=(row_of_kind(kind, identity),), view=kind, trace=trace)


def _place(shown: _Shown | None, kind: str, identity: str, trace: str) -> SharedPlace | None:
    if shown is None:
        return None
    screen, view = shown
    return SharedPlace(screen, rows=(row_of_kind(kind, identity),), view=view, trace=trace)
