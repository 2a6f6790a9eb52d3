"""tracetui: a terminal viewer for profiler traces of model training on Ascend NPUs.

In scripts and notebooks:

    import tracetui

    analysis = tracetui.load("trace_view.json")
    gaps = tracetui.gaps_frame(analysis)  # a pandas DataFrame
    lines = tracetui.hotspots_frame(analysis)  # also modules_, frames_, signatures_, steps_frame ...
    operators = tracetui.operators_frame(analysis.device_operators)
    memory = tracetui.memory_lines_frame(analysis.memory)  # where there is any; also of load_snapshot(path)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tracetui.version import __version__ as __version__

if TYPE_CHECKING:
    from tracetui.api import load, load_snapshot
    from tracetui.export.frames import (
        advice_frame,
        events_frame,
        frames_frame,
        gaps_frame,
        hotspots_frame,
        late_peers_frame,
        links_frame,
        modules_frame,
        operators_frame,
        signatures_frame,
        steps_frame,
        syncs_frame,
    )
    from tracetui.export.memory.frames import (
        memory_blocks_frame,
        memory_curve_frame,
        memory_lines_frame,
        memory_sizes_frame,
    )

__all__ = [
    "advice_frame",
    "events_frame",
    "frames_frame",
    "gaps_frame",
    "hotspots_frame",
    "late_peers_frame",
    "links_frame",
    "load",
    "load_snapshot",
    "memory_blocks_frame",
    "memory_curve_frame",
    "memory_lines_frame",
    "memory_sizes_frame",
    "modules_frame",
    "operators_frame",
    "signatures_frame",
    "steps_frame",
    "syncs_frame",
]

_HOMES = {"load": "tracetui.api", "load_snapshot": "tracetui.api"}


def __getattr__(name: str) -> object:
    """What scripts use, imported when it is used: the viewer and --help need none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "tracetui.export.memory.frames" if name.startswith("memory_") else "tracetui.export.frames"
    return getattr(importlib.import_module(_HOMES.get(name, home)), name)
