"""Which rank was late, as words: of an operation, and of a gap between operators."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.sums import most_first
from tracetui.export.sentences.ranks import group_key, group_words, rank_words
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.units import format_duration

NAME_CELLS = 60


def late_rank(analysis: Analysis, gap: int) -> str | None:
    """Return the rank that a gap waited for longest, "peer 5 of group 271"; None where nobody was late."""
    communication = analysis.communication
    places = communication.exposed.of_gap(gap)
    waits = communication.exposed.cause[places] == CommunicationCause.WAIT
    if not waits.any():
        return None
    gap_waits = communication.exposed.at(places.start + np.flatnonzero(waits))
    group, peer = (
        communication.operations.group[gap_waits.operation],
        communication.waits.peer[gap_waits.operation],
    )
    ranks = group.astype(np.int64) << 32 | peer.astype(np.int64)
    longest, _ = most_first(ranks, gap_waits.ns)
    return late_rank_of(analysis, int(gap_waits.operation[ranks == longest[0]][0]))


def capped_savings(analysis: Analysis) -> str:
    """Return why lines save less on a rank that waits for others; "" where it waited for none."""
    late = analysis.communication.late_peers
    if not late:
        return ""
    operations, waits = analysis.communication.operations, analysis.communication.waits
    waited_most = (operations.group == late[0].group) & (waits.peer == late[0].peer)
    longest = int(np.where(waited_most, waits.wait_ns, -1).argmax())
    return translate(
        "This rank waits {time} for late peers, longest for {rank}: what a line saves before such a wait "
        "becomes waiting first, and only what is beyond it counts, until those peers come sooner.",
        time=format_duration(sum(peer.wait_ns for peer in late)),
        rank=late_rank_of(analysis, longest),
    )


def late_rank_of(analysis: Analysis, operation: int) -> str:
    """Return the rank that an operation waited for, printable; there is one."""
    communication = analysis.communication
    group = communication.groups[int(communication.operations.group[operation])]
    peer, ring = int(communication.waits.peer[operation]), bool(communication.waits.ring[operation])
    group_name = group_words(group_key(analysis.trace, group), group.name)
    return printable(rank_words(group_name, peer, group.global_rank(peer), ring), NAME_CELLS)
