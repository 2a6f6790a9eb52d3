"""What a device does in the ranges that people mark, by their names: as the phases of a job, of one trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.marked_ranges import marked_ranges, range_name
from tracetui.arrays import Int64s
from tracetui.trace.model import Trace


@dataclass(frozen=True)
class RangeTimes:
    """All ranges of one name on a device, cut to its window; sums in ns."""

    name: str  #: as written in the trace: never print it unescaped
    count: int
    time_ns: int
    longest_ns: int
    computing_ns: int
    exposed_communication_ns: int
    idle_ns: int

    @property
    def mean_ns(self) -> int:
        """Of a range."""
        return self.time_ns // self.count


def range_times(
    trace: Trace, rows: Int64s, activity: DeviceActivity, links: LaunchChains
) -> tuple[RangeTimes, ...]:
    """Return what a device does in marked ranges, by name, most time first; () where `rows` has none."""
    if not len(rows):
        return ()
    ranges = marked_ranges(trace, rows, activity, links)
    start = np.clip(ranges.start, activity.start_ns, activity.end_ns)
    end = np.clip(ranges.end, activity.start_ns, activity.end_ns)
    parts = np.stack(
        [
            end - start,
            activity.compute.covered(start, end),
            activity.communication_not_overlapped.covered(start, end),
            activity.idle.covered(start, end),
        ]
    )
    places: dict[str, list[int]] = {}
    for place, named in enumerate(trace.slices.name[ranges.row].tolist()):
        places.setdefault(range_name(trace.strings[named]), []).append(place)
    found = []
    for name, of_name in places.items():
        time, computing, exposed, idle = parts[:, of_name].sum(axis=1).tolist()
        longest = int(parts[0, of_name].max())
        found.append(RangeTimes(name, len(of_name), time, longest, computing, exposed, idle))
    return tuple(sorted(found, key=lambda times: (-times.time_ns, times.name)))
