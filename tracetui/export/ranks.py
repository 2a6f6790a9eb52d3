"""What groups and ranks in them are called: as in the job where its metadata tells, else by their numbers.

All names are as written in the trace or beside it: never print them unescaped.
"""

from __future__ import annotations

from tracetui.analysis.communication.groups import Group, name_in
from tracetui.trace.model import Trace


def group_key(trace: Trace, group: Group) -> str | None:
    """The number that the operations of a group carry, else what its track is called by; None on streams."""
    if group.track < 0:
        return None
    return group.number or name_in(trace.tracks[group.track].name)


def group_words(trace: Trace, group: Group) -> str:
    """ "dp group", "default_group"; "group 271" where nothing names it."""
    if group.name:
        return group.name if group.name.lower().endswith("group") else f"{group.name} group"
    key = group_key(trace, group)
    return "no group" if key is None else f"group {key}"


def rank_words(trace: Trace, group: Group, rank: int, ring: bool = False) -> str:
    """ "rank 13 of dp group", "peer 5 of group 271" where no number in the job is known.

    `ring`: only neighbours are seen: "neighbour 5 of group 271, or a rank before it".
    """
    known = group.global_rank(rank)
    number = f"peer {rank}" if known is None else f"rank {known}"
    if ring and known is None:
        number = f"neighbour {rank}"
    return f"{number} of {group_words(trace, group)}{', or a rank before it' if ring else ''}"
