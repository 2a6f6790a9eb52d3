"""The phases of a job: the time of its ranks in ranges that people mark, and the phase that each waits for.

Time of a rank in a range is split as its digest splits it. A rank that waits in a phase waits for the phase
in which the late rank was halfway through its wait, where that is another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import TimeClass
from tracetui.job.job import Job

_COMMUNICATION = (TimeClass.WAIT, TimeClass.TRANSFER, TimeClass.UNSPLIT)
_NONE = -1


@dataclass
class Phase:
    """What ranks do in all ranges of one name; sums over all ranges and ranks in ns."""

    name: str  #: as written in the trace: never print it unescaped
    ranks: list[int] = field(default_factory=list)  #: numbers of those that have it
    lengths: list[int] = field(default_factory=list)  #: ns of each range, by rank, then start
    longest: dict[int, int] = field(default_factory=dict)  #: ns of the longest range of each rank
    computing_ns: int = 0
    exposed_ns: int = 0  #: communication that is not overlapped
    copy_ns: int = 0
    idle_ns: int = 0
    causes: dict[str, int] = field(default_factory=dict)  #: of the idle time, most first
    waits_ns: int = 0  #: until late ranks came, in collectives that began in it
    waits_by: Counter[str] = field(default_factory=Counter)  #: ns by the phase of the late rank, "" in none

    @property
    def count(self) -> int:
        """How many ranges there are."""
        return len(self.lengths)

    @property
    def time_ns(self) -> int:
        """Of all ranges; what lies in two of one name counts twice."""
        return sum(self.lengths)

    @property
    def mean_ns(self) -> int:
        """Of a range."""
        return self.time_ns // max(self.count, 1)

    @property
    def longest_ns(self) -> int:
        """Of the longest range."""
        return max(self.lengths, default=0)

    @property
    def waits_for(self) -> str | None:
        """The other phase that is waited for longest; None where none is."""
        ns_by_name = {name: ns for name, ns in self.waits_by.items() if name not in ("", self.name)}
        return max(ns_by_name, key=lambda name: (ns_by_name[name], name)) if ns_by_name else None

    @property
    def spread(self) -> float:
        """By how much the longest range is longer than the shortest, as a share of the mean."""
        mean = self.time_ns / max(self.count, 1)
        return (max(self.lengths) - min(self.lengths)) / mean if mean else 0.0


def job_phases(job: Job) -> tuple[Phase, ...]:
    """Return the phases of a job, those with most time first; () where nothing is marked."""
    phases: dict[str, Phase] = {}
    for rank in job.ranks:
        _add_rank(phases, rank)
    if phases:
        _add_waits(phases, job)
    return tuple(sorted(phases.values(), key=lambda phase: (-phase.time_ns, phase.name)))


def longest_range(job: Job, phase: Phase) -> tuple[int, int, int]:
    """Return the place of the rank on which a range of a phase is longest, and from when to when it is."""
    longest = max(phase.longest, key=lambda number: (phase.longest[number], -number))
    place = next(place for place, rank in enumerate(job.ranks) if rank.number == longest)
    digest, ranges = job.ranks[place].digest, job.ranks[place].digest.ranges
    assert ranges is not None
    low, high = digest.boundaries[0], digest.boundaries[-1]
    spans = [
        (int(min(end, high) - max(start, low)), int(start), int(end))
        for name, start, end in zip(ranges.name.tolist(), ranges.start, ranges.end)
        if digest.text(name) == phase.name
    ]
    _, start, end = max(spans, key=lambda span: span[0])
    return place, start, end


def phase_names(job: Job) -> list[str]:
    """Return the names of the ranges that are marked, those with most time on all ranks first."""
    total: Counter[str] = Counter()
    for rank in job.ranks:
        ranges = rank.digest.ranges
        if ranges is not None:
            for name in np.unique(ranges.name).tolist():
                of_name = ranges.name == name
                total[rank.digest.text(name)] += int((ranges.end - ranges.start)[of_name].sum())
    return sorted(total, key=lambda name: (-total[name], name))


def without_ranges(job: Job) -> tuple[int, ...]:
    """Return the numbers of the ranks whose digests are older than ranges: it is not known what is marked."""
    return tuple(rank.number for rank in job.ranks if rank.digest.ranges is None)


def _add_rank(phases: dict[str, Phase], rank: Rank) -> None:
    digest, ranges = rank.digest, rank.digest.ranges
    if ranges is None or not len(ranges) or len(digest.boundaries) < 2:
        return
    cells, keys = digest.cells, digest.keys
    table = np.zeros((len(keys), len(digest.boundaries)), np.int64)
    np.add.at(table, (cells.key, cells.segment + 1), cells.ns)
    until = table.cumsum(axis=1)  # of each key the ns up to each boundary
    low, high = digest.boundaries[0], digest.boundaries[-1]
    start, end = np.clip(ranges.start, low, high), np.clip(ranges.end, low, high)
    first, stop = (np.searchsorted(digest.boundaries, edge) for edge in (start, end))
    for name in np.unique(ranges.name).tolist():
        rows = np.flatnonzero((ranges.name == name) & (ranges.start <= high) & (ranges.end >= low))
        if not len(rows):
            continue
        text = digest.text(name)
        phase = phases.setdefault(text, Phase(text))
        phase.ranks.append(rank.number)
        lengths = (end - start)[rows].tolist()
        phase.lengths += lengths
        phase.longest[rank.number] = max(lengths)
        spent = (until[:, stop[rows]] - until[:, first[rows]]).sum(axis=1)
        for time_class, reason, ns in zip(keys.time_class.tolist(), keys.reason.tolist(), spent.tolist()):
            _add_time(phase, TimeClass(time_class), digest.text(reason), ns)


def _add_time(phase: Phase, time_class: TimeClass, reason: str, ns: int) -> None:
    if time_class is TimeClass.COMPUTING:
        phase.computing_ns += ns
    elif time_class is TimeClass.COPY:
        phase.copy_ns += ns
    elif time_class in _COMMUNICATION:
        phase.exposed_ns += ns
    elif ns:
        phase.idle_ns += ns
        phase.causes[reason] = phase.causes.get(reason, 0) + ns


def _add_waits(phases: dict[str, Phase], job: Job) -> None:
    """Add what ranks waited in each phase, and in which phase the late rank was then."""
    names = sorted(phases)
    waits = job.waits.at(job.waits.wait_ns > 0)
    ranges = [list(_ranges_by_name(rank, names)) for rank in job.ranks]
    offset = job.clocks.offset
    halfway = waits.arrival + waits.wait_ns // 2
    late = np.full(len(waits), _NONE, np.int64)
    for place in range(len(job.ranks)):
        chosen = np.flatnonzero(waits.late_place == place)
        late[chosen] = _innermost(ranges[place], halfway[chosen] + offset[place])
    for place in range(len(job.ranks)):
        chosen = np.flatnonzero(waits.rank_place == place)
        times = waits.arrival[chosen] + offset[place]
        for name, starts, ends in ranges[place]:
            at = np.searchsorted(starts, times, "right") - 1
            inside = (at >= 0) & (times < ends[at])
            phase, ns = phases[names[name]], waits.wait_ns[chosen[inside]]
            phase.waits_ns += int(ns.sum())
            for other in np.unique(late[chosen[inside]]).tolist():
                of_other = ns[late[chosen[inside]] == other]
                phase.waits_by["" if other == _NONE else names[other]] += int(of_other.sum())
    for phase in phases.values():
        phase.causes = dict(sorted(phase.causes.items(), key=lambda cause: (-cause[1], cause[0])))


def _ranges_by_name(rank: Rank, names: list[str]) -> Iterator[tuple[int, Int64s, Int64s]]:
    """Yield place among the names, starts of the ranges of each name, and the latest end until each."""
    ranges = rank.digest.ranges
    if ranges is None:
        return
    for text in np.unique(ranges.name).tolist():
        rows = np.flatnonzero(ranges.name == text)
        if rank.digest.text(text) in names:
            latest_ends = np.maximum.accumulate(ranges.end[rows])  # ranges of one name may lie in each other
            yield names.index(rank.digest.text(text)), ranges.start[rows], latest_ends


def _innermost(ranges: list[tuple[int, Int64s, Int64s]], times: Int64s) -> Int64s:
    """Return the name of the range around each time that began last, int64[times]; -1 where none is."""
    found = np.full(len(times), _NONE, np.int64)
    began = np.full(len(times), np.iinfo(np.int64).min)
    for name, starts, ends in ranges:
        at = np.searchsorted(starts, times, "right") - 1
        inside = (at >= 0) & (times < ends[at]) & (starts[at] > began)
        found[inside], began[inside] = name, starts[at[inside]]
    return found
