"""tracetui: a terminal viewer for profiler traces of model training on Ascend NPUs."""

from __future__ import annotations

__version__ = "0.1.0"
