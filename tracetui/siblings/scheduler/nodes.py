"""The NUMA nodes of a host: what lscpu printed of them lies beside the recording, or beside the trace.

Of lscpu of util-linux: the lines `NUMA node0 CPU(s): 0-23,48-71`, in any language and as JSON, and the tables
of `lscpu -e` and `lscpu -p` where they have the columns CPU and Node.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tracetui.siblings.beside import Refusal, refuse_large
from tracetui.siblings.scheduler.events import MOST_CORES

_NAMES = "lscpu*"
_LARGEST = 1 << 22  # bytes: a line of a table for each core has some hundred
_JSON = re.compile(r'"\s*,\s*"data"\s*:\s*"')
_NODE = re.compile(r"NUMA[^\d:：\n]*(\d{1,4})[^\d:：\n]*[:：] *([\d,-]+)", re.ASCII)
_CORES = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?", re.ASCII)


def core_nodes(*beside: Path) -> dict[int, int]:
    """Return the NUMA node of each core, by the file of lscpu beside one of some files. Never fails.

    Empty where no file tells, or a directory has several.
    """
    path = lscpu_file(*beside)
    try:
        if path is None:
            return {}
        refuse_large(path, _LARGEST)
        return parse_nodes(path.read_text("utf-8", "replace"))
    except (Refusal, OSError):
        return {}


def lscpu_file(*beside: Path) -> Path | None:
    """Return what lscpu printed, beside one of some files or in the directory above; None without."""
    for directory in (directory for file in beside for directory in list(file.absolute().parents)[:2]):
        with contextlib.suppress(OSError):
            paths = [path for path in directory.glob(_NAMES) if path.is_file()]
            if paths:
                return paths[0] if len(paths) == 1 else None
    return None


def parse_nodes(text: str) -> dict[int, int]:
    """Return the node of each core in what lscpu printed; cores without a node are left out."""
    node_of = np.full(MOST_CORES, -1)
    for node, cores in _NODE.findall(_JSON.sub(" ", text)):
        for part in cores.split(","):
            match = _CORES.fullmatch(part)
            if match is not None:
                node_of[int(match[1]) : int(match[2] or match[1]) + 1] = int(node)
    known = np.flatnonzero(node_of >= 0)
    return dict(zip(known.tolist(), node_of[known].tolist())) or dict(_table_nodes(text.splitlines()))


def _table_nodes(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield core and node of each row of a table, whose columns its header names."""
    separator: str | None = None
    core_place = node_place = -1
    for line in lines:
        title = line.lstrip("# ").upper()
        separator_here = "," if "," in title else None
        columns = [column.strip() for column in title.split(separator_here)]
        if "CPU" in columns and "NODE" in columns:
            separator = separator_here
            core_place, node_place = columns.index("CPU"), columns.index("NODE")
        elif core_place >= 0 and not line.startswith("#"):
            cells = line.split(separator)
            if len(cells) > max(core_place, node_place):
                core, node = cells[core_place].strip(), cells[node_place].strip()
                if _CORES.fullmatch(core) and _CORES.fullmatch(node) and int(core) < MOST_CORES:
                    yield int(core), int(node)
