"""Which group of the job a communication group of the trace is: its name, and the global ranks in it.

Known from `profiler_metadata.json` beside the trace; without it a group has the number that its operations
carry (`hcom_<type>__<number>_<index>_<iteration>`), and its ranks are numbers in the group and no more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tracetui.analysis.communication.planes import PlaneOperations, PlaneTasks
from tracetui.analysis.search import distinct, group_by
from tracetui.siblings.metadata import ParallelGroup
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Trace

_OPERATIONS = compile_any(KNOWN.collectives.group_operations)
_GROUPS = compile_any(KNOWN.threads.groups)
_RANK_LIST = re.compile(r"\[\d{1,6}(?:, (?:\d{1,6}|\.\.\.))*\]", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_SHORTEST_KEY = 10  # digits: "Group 0 Communication" has an index


@dataclass(frozen=True)
class Group:
    """A communication group of the trace, or what runs without one (GPU)."""

    track: int  #: index of its track; -1: operations of streams
    number: str  #: the last digits of its key as its operations carry them, "" where they don't
    name: str  #: what it is for: "tp", "dp"; "" where not known
    rank: int | None  #: this rank's own number in the group
    global_ranks: tuple[int, ...]  #: of its ranks 0, 1, ...; empty where not known

    def global_rank(self, rank: int) -> int | None:
        """Return the rank in the job of one in the group; None where not known: never guessed."""
        return self.global_ranks[rank] if 0 <= rank < len(self.global_ranks) else None


def find_groups(
    trace: Trace, collectives: PlaneOperations, tasks: PlaneTasks, parallel: Sequence[ParallelGroup]
) -> dict[int, Group]:
    """Return the groups that have operations, by the index of their track, in the order of these."""
    places_by_track = dict(group_by(tasks.group))
    groups = {}
    for track, places in group_by(collectives.group):
        names = [
            trace.strings[name] for name in distinct(trace.slices.name[collectives.row[places]]).tolist()
        ]
        numbers = ({_first_group(_OPERATIONS, name) for name in names} - {""}) if track >= 0 else set()
        number = numbers.pop() if len(numbers) == 1 else ""
        ranks, highest = set[int](), -1
        if track in places_by_track:
            src, dst = tasks.src[places_by_track[track]], tasks.dst[places_by_track[track]]
            ranks = set(distinct(src[src >= 0]).tolist())
            highest = int(max(src.max(), dst.max()))
        own_rank = ranks.pop() if len(ranks) == 1 else None
        title = trace.tracks[track].name if track >= 0 else ""
        match = _matching_group(title, number, own_rank, highest, parallel)
        groups[track] = Group(
            track=track,
            number=number,
            name=match.name if match else "",
            rank=match.group_rank if match and own_rank is None else own_rank,
            global_ranks=match.global_ranks if match else (),
        )
    return groups


def listed_ranks(text: str, size: int) -> tuple[int, ...]:
    """Return the ranks that `Process Group Ranks` lists; () where they are not known.

    A long list is cut, and known where no other of its size begins and ends so:

    >>> listed_ranks("[0, 2]", 2), listed_ranks("[8, 9, ..., 11]", 4), listed_ranks("[0, 2, ..., 14]", 8)
    ((0, 2), (8, 9, 10, 11), ())
    """
    if not _RANK_LIST.fullmatch(text):
        return ()
    ranks = [int(number) for number in _NUMBER.findall(text)]
    if "..." in text:
        is_whole = ranks == sorted(ranks) and ranks[-1] - ranks[0] + 1 == size
        return tuple(range(ranks[0], ranks[-1] + 1)) if is_whole else ()
    return tuple(ranks) if len(set(ranks)) == len(ranks) else ()


def name_in(title: str) -> str:
    """Return what the title of a track calls its group: "0" of "Group 0 Communication"."""
    return _first_group(_GROUPS, title) or title


def _first_group(pattern: re.Pattern[str], text: str) -> str:
    """Return what the group of the alternative that fits the text holds; "" where none fits."""
    match = pattern.match(text)
    return match[match.lastindex] if match and match.lastindex else ""


def _matching_group(
    title: str, number: str, own_rank: int | None, highest: int, parallel: Sequence[ParallelGroup]
) -> ParallelGroup | None:
    """Return the one group of the metadata that it can be; None where none is, or where several are.

    A thread may carry the whole name or key of its group, an operation the last three digits of the key.
    """
    key = name_in(title)
    is_index = key.isdecimal() and len(key) < _SHORTEST_KEY
    exact = [group for group in parallel if key in (group.communicator, group.key) and not is_index]
    if len(exact) == 1:
        return exact[0]
    fits = [
        group
        for group in parallel
        if number
        and group.key.endswith(number.zfill(3))
        and (not group.global_ranks or highest < len(group.global_ranks))
        and (own_rank is None or group.group_rank is None or own_rank == group.group_rank)
    ]
    return fits[0] if len(fits) == 1 else None
