"""tracetui: a terminal viewer for profiler traces of model training on Ascend NPUs.

In scripts and notebooks:

    import tracetui

    analysis = tracetui.load("trace_view.json")
    gaps = tracetui.gaps_frame(analysis)  # a pandas DataFrame
    lines = tracetui.hotspots_frame(analysis)  # also modules_, frames_, signatures_, steps_frame ...
    operators = tracetui.operators_frame(analysis.device_operators)
    kernels = tracetui.kernels_frame(analysis)  # with shapes, blocks and counters of kernel_details.csv

    job = tracetui.load_job("run/")  # a directory of many ranks
    roots = tracetui.roots_frame(job)  # why they waited for each other; also ranks_, job_lines_frame ...
    comparison = tracetui.compare("before.json", "after.json")  # its tables: comparison.operators, .lines ...
    memory = tracetui.memory_lines_frame(analysis.memory)  # where there is any; also of load_snapshot(path)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tracetui.version import __version__ as __version__

if TYPE_CHECKING:
    from tracetui.api import compare, load, load_job, load_snapshot
    from tracetui.export.job.experts import experts_frame
    from tracetui.export.job.frames import job_lines_frame, job_links_frame, ranks_frame, roots_frame
    from tracetui.export.job.phases import phases_frame
    from tracetui.export.memory.frames import (
        memory_blocks_frame,
        memory_curve_frame,
        memory_lines_frame,
        memory_sizes_frame,
    )
    from tracetui.export.replay_frames import replay, slowdown
    from tracetui.export.trace.frames import (
        advice_frame,
        cores_frame,
        culprits_frame,
        events_frame,
        frames_frame,
        gaps_frame,
        hotspots_frame,
        kernels_frame,
        late_peers_frame,
        links_frame,
        modules_frame,
        operators_frame,
        scheduler_threads_frame,
        signatures_frame,
        steps_frame,
        syncs_frame,
    )

__all__ = [
    "advice_frame",
    "compare",
    "cores_frame",
    "culprits_frame",
    "events_frame",
    "experts_frame",
    "frames_frame",
    "gaps_frame",
    "hotspots_frame",
    "job_lines_frame",
    "job_links_frame",
    "kernels_frame",
    "late_peers_frame",
    "links_frame",
    "load",
    "load_job",
    "load_snapshot",
    "memory_blocks_frame",
    "memory_curve_frame",
    "memory_lines_frame",
    "memory_sizes_frame",
    "modules_frame",
    "operators_frame",
    "phases_frame",
    "ranks_frame",
    "replay",
    "roots_frame",
    "scheduler_threads_frame",
    "scopes_frame",
    "signatures_frame",
    "slowdown",
    "steps_frame",
    "syncs_frame",
]

_HOMES = {
    **dict.fromkeys(("compare", "load", "load_job", "load_snapshot"), "tracetui.api"),
    **dict.fromkeys(
        ("job_lines_frame", "job_links_frame", "ranks_frame", "roots_frame"), "tracetui.export.job.frames"
    ),
    **dict.fromkeys(
        ("memory_blocks_frame", "memory_curve_frame", "memory_lines_frame", "memory_sizes_frame"),
        "tracetui.export.memory.frames",
    ),
    "experts_frame": "tracetui.export.job.experts",
    "phases_frame": "tracetui.export.job.phases",
    **dict.fromkeys(("replay", "slowdown"), "tracetui.export.replay_frames"),
}


def __getattr__(name: str) -> object:
    """Import what scripts use when it is used: the viewer and --help need none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "tracetui.export.trace.frames")), name)
