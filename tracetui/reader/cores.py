"""How many threads or processes may read at once. Knows the machine, not the trace."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

SMALLEST = 32_000_000  #: bytes of text that one process has read before others have started
_MOST_PROCESSES = 16
_MOST_BEHIND_STREAM = 3  # they decode 200 MB/s each, and inflating gives 300
_PER_JOB = 200_000_000  # bytes of text for each process beyond two: each takes some 50 MB of memory
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def default_jobs(text_bytes: int, stream: bool) -> int:
    """Return how many threads or processes a text is worth, 1: none; `stream`: it has to be inflated."""
    if text_bytes < SMALLEST:
        return 1
    return min(usable_cores(), _MOST_BEHIND_STREAM if stream else _MOST_PROCESSES, 2 + text_bytes // _PER_JOB)


def usable_cores() -> int:
    """Return the processors this process may use, by its affinity and the quota of its control groups."""
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # macOS
        cores = os.cpu_count() or 1
    return max(1, min(cores, _quota()))


def _quota() -> int:
    """Return the processors that the control groups grant, very many where they don't say."""
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return sys.maxsize
    group_path = next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")
    directory = _CGROUPS / group_path
    # In a container the path may be that of the host, and only the root be there.
    return min(
        _cores_of_group(group) for group in (directory, *directory.parents) if group.is_relative_to(_CGROUPS)
    )


def _cores_of_group(group: Path) -> int:
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            words = [word for name in names for word in (group / name).read_text(encoding="ascii").split()]
            quota, period = map(int, words)
        except (OSError, ValueError):  # not there, or "max"
            continue
        if quota > 0 and period > 0:
            return math.ceil(quota / period)
    return sys.maxsize
