"""What groups and ranks in them are called: as in the job where its metadata tells, else by their numbers.

All names are as written in the trace or beside it: never print them unescaped.
"""

from __future__ import annotations

from tracetui.analysis.communication.groups import Group, name_in
from tracetui.language import translate
from tracetui.trace.model import Trace


def group_key(trace: Trace, group: Group) -> str | None:
    """Return the number that the operations of a group carry, else the name of its track; None on streams."""
    if group.track < 0:
        return None
    return group.number or name_in(trace.tracks[group.track].name)


def group_words(key: str | None, name: str | None) -> str:
    """Return "dp group", "default_group"; by its key where nothing names it: "group 271"."""
    if name:
        return name if name.lower().endswith("group") else translate("{name} group", name=name)
    return translate("no group") if key is None else translate("group {key}", key=key)


def rank_words(group: str, group_rank: int, rank: int | None, ring: bool = False) -> str:
    """Return "rank 13 of dp group", "peer 5 of group 271" where its rank in the job is not known.

    `ring`: only neighbours are seen: "peer 5 of group 271, or a rank before it".
    """
    if rank is None:
        template = "peer {number} of {group}, or a rank before it" if ring else "peer {number} of {group}"
    else:
        template = "rank {number} of {group}, or a rank before it" if ring else "rank {number} of {group}"
    return translate(template, number=group_rank if rank is None else rank, group=group)
