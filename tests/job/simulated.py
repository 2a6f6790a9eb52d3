"""A job in miniature: ranks that work for times of their own and meet in collectives, as digests.

Everything is whole: who waits for whom and why follows from the definition of a collective, which ends on all
of its ranks when the last one has come and the data has moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tracetui.job.channels import Rank
from tracetui.job.digest import (
    ArrivalColumns,
    CollectiveColumns,
    Digest,
    DigestLine,
    Identity,
    LinkColumns,
    OperatorColumns,
    RangeColumns,
    RankGroup,
    StepColumns,
    TimeCells,
    TimeClass,
    TimeKeys,
    TokenColumns,
)
from tracetui.job.job import Job, job_of

EPOCH = 1_700_000_000_000_000_000
SURE = 50_000  # ns: shorter waits name nobody


@dataclass
class Work:
    """What a rank does before it comes to the next collective."""

    kind: TimeClass
    ns: int
    reason: str = ""
    line: DigestLine | None = None


@dataclass
class Meeting:
    """A collective of some ranks, each with its work before it."""

    group: str
    ranks: tuple[int, ...]
    before: dict[int, list[Work]]
    transfer_ns: int = 1000
    type: str = "allReduce"
    leaving: tuple[int, ...] = ()  #: ranks that do not wait for the others, as the root of a broadcast


@dataclass
class Recorded:
    """One rank while the job runs."""

    now: int
    boundaries: list[int] = field(default_factory=list)
    cells: list[tuple[int, int, tuple[TimeClass, str, DigestLine | None]]] = field(default_factory=list)
    collectives: list[dict[str, int]] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    arrivals: list[tuple[int, int, int]] = field(default_factory=list)


def simulate(
    meetings: Sequence[Meeting],
    ranks: int,
    offsets: Sequence[int] = (),
    planes: bool = True,
    here: Sequence[int] | None = None,
    steps: bool = True,
) -> Job:
    """Return the job of some meetings, one after the other; of the ranks `here`, by default of all."""
    recorded = [Recorded(EPOCH) for _ in range(ranks)]
    for rank in recorded:
        rank.boundaries.append(EPOCH)
    groups = {meeting.group: meeting.ranks for meeting in meetings}
    for meeting in meetings:
        for number in meeting.ranks:
            rank = recorded[number]
            for work in meeting.before.get(number, ()):
                rank.cells.append((rank.now, work.ns, (work.kind, work.reason, work.line)))
                rank.now += work.ns
        arrival = {number: recorded[number].now for number in meeting.ranks}
        last = max(arrival.values())
        late = min(number for number, time in arrival.items() if time == last)
        for number in meeting.ranks:
            rank, wait = recorded[number], 0 if number in meeting.leaving else last - arrival[number]
            end = arrival[number] + wait + meeting.transfer_ns
            named = planes and wait >= SURE
            place = len(rank.collectives)
            rank.collectives.append(
                {
                    "group": list(groups).index(meeting.group),
                    "start": arrival[number],
                    "end": end,
                    "known": int(planes),
                    "wait": wait if named else 0,
                    "peer": meeting.ranks.index(late) if named else -1,
                    "count": len(meeting.group),
                }
            )
            rank.types.append(meeting.type)
            if planes:
                for peer, time in enumerate(arrival[other] for other in meeting.ranks):
                    if time - arrival[number] >= SURE:
                        rank.arrivals.append((place, peer, time))
            waiting = TimeClass.WAIT if planes else TimeClass.UNSPLIT
            moving = TimeClass.TRANSFER if planes else TimeClass.UNSPLIT
            waited = wait if named or not planes else 0
            rank.cells.append((arrival[number], waited, (waiting, "", None)))
            rank.cells.append((arrival[number], wait - waited + meeting.transfer_ns, (moving, "", None)))
            rank.now = end
            rank.boundaries += [arrival[number], rank.now]
    rank_list = [
        _rank(number, rank, groups, (list(offsets) or [0] * ranks)[number], ranks, steps)
        for number, rank in enumerate(recorded)
    ]
    return job_of([rank_list[number] for number in (range(ranks) if here is None else here)])


def _rank(
    number: int, rank: Recorded, groups: dict[str, tuple[int, ...]], offset: int, world: int, steps: bool
) -> Rank:
    boundaries = np.unique(np.array(rank.boundaries, np.int64))
    texts: dict[str, int] = {}
    lines: dict[DigestLine, int] = {}
    keys: dict[tuple[int, int, int], int] = {}
    cells: dict[tuple[int, int], int] = {}
    for start, ns, (kind, reason, line) in rank.cells:
        key = (
            int(kind),
            texts.setdefault(reason, len(texts)),
            -1 if line is None else lines.setdefault(line, len(lines)),
        )
        segment = int(np.searchsorted(boundaries, start, "right")) - 1
        at = (segment, keys.setdefault(key, len(keys)))
        cells[at] = cells.get(at, 0) + ns
    cell_rows = sorted((segment, key, ns) for (segment, key), ns in cells.items() if ns)
    end = int(boundaries[-1])

    def columns(rows: Sequence[Sequence[int]], width: int) -> list[np.ndarray]:
        return list(np.array(rows, np.int64).reshape(-1, width).T)

    missing = {"index": -1, "iteration": -1, "dtype": -1, "bytes": -1, "line": -1, "ring": 0, "other": -1}
    collectives = [
        {**missing, **cell_rows, "step": 1 if steps else -1, "type": texts.setdefault(kind, len(texts))}
        for cell_rows, kind in zip(rank.collectives, rank.types)
    ]
    for collective in collectives:
        collective["start"] += offset
        collective["end"] += offset
    named = list(CollectiveColumns.__dataclass_fields__)
    order = sorted(range(len(collectives)), key=lambda place: collectives[place]["start"])
    assert order == list(range(len(collectives)))
    step = dict.fromkeys(StepColumns.__dataclass_fields__, 0)
    step.update(number=1, host_start=EPOCH + offset, host_end=end + offset, start=EPOCH + offset)
    step.update(end=end + offset, stage=end - EPOCH)
    digest = Digest(
        identity=Identity(f"rank{number}", number, "profiler_info", "", "", world, {}, {}, {}),
        kind="ascend",
        device="NPU",
        trace_bytes=1,
        events=1,
        start=EPOCH + offset,
        end=end + offset,
        warnings=(),
        groups=tuple(
            RankGroup(key, "", "", ranks.index(number) if number in ranks else -1, ranks, len(ranks))
            for key, ranks in groups.items()
        ),
        texts=tuple(texts),
        lines=tuple(lines),
        steps=StepColumns(*columns([list(step.values())] if steps else [], len(step))),
        collectives=CollectiveColumns(
            *columns([[row[name] for name in named] for row in collectives], len(named))
        ),
        arrivals=ArrivalColumns(
            *columns([(place, peer, time + offset) for place, peer, time in rank.arrivals], 3)
        ),
        operators=OperatorColumns.empty(),
        links=LinkColumns.empty(),
        keys=TimeKeys(*columns(list(keys), 3)),
        boundaries=boundaries + offset,
        cells=TimeCells(*columns(cell_rows, 3)),
        ranges=RangeColumns.empty(),
        tokens=TokenColumns.empty(),
    )
    return Rank(number, digest, f"rank{number}")
