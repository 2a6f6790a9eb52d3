"""Whom each collective waited for, told by its own planes.

In a stage every plane begins with a handshake with one peer: `Notify_Record`, then `Notify_Wait`, which lasts
until the peer has come. So the end of a plane's first wait in an operation is the arrival of that peer, the
last one to arrive was late, and until then the operation waited. The rest of it is transfer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.communication.planes import PlaneOperations, PlaneTasks
from tracetui.analysis.search import group_by
from tracetui.arrays import EMPTY, Bools, Columns, Int32s, Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Trace
from tracetui.trace.order import starts_run

#: ns: a late peer is named from here on. Ranks that watch the same collective disagree about shorter waits.
SHORTEST = 50_000


@dataclass(frozen=True, eq=False)
class Handshakes(Columns):
    """The first wait for a peer of each plane in each operation, as columns, by operation, then plane."""

    operation: Int64s  #: index into the operations
    plane: Int32s  #: index of the plane's track
    peer: Int32s  #: rank in the group
    row: Int64s  #: slice row of the wait
    start: Int64s  #: ns
    arrival: Int64s  #: ns: the end of the wait


@dataclass(frozen=True, eq=False)
class OperationWaits:
    """How long each operation waited, and for whom; columns as long as the operations."""

    handshakes: Handshakes
    has_handshake: Bools  #: it shook hands with a peer: else nothing tells wait and transfer apart
    wait_ns: Int64s  #: ns from its start, within it; 0 where nobody was late, or nothing is known
    peer: Int32s  #: rank in the group of the late peer, -1 where nobody was late, or nothing is known
    row: Int64s  #: slice row of the wait for that peer, -1 likewise
    #: whether it shakes hands with neighbours only, as rings do: late was the peer, or a rank before it
    ring: Bools


def find_operation_waits(
    trace: Trace, collectives: PlaneOperations, tasks: PlaneTasks, sizes: Mapping[int, int]
) -> OperationWaits:
    """Return the waits of all operations.

    `sizes`: how many ranks the groups have, by the index of their tracks, of those where that is known.
    """
    handshakes = _handshakes(trace, collectives, tasks)
    wait, peer, row = _late_peers(collectives, handshakes)
    peers = _distinct_peers(handshakes, len(collectives))
    return OperationWaits(
        handshakes=handshakes,
        has_handshake=peers > 0,
        wait_ns=wait,
        peer=peer,
        row=row,
        ring=(peers > 0) & ~_reaches_all(trace, collectives, peers, sizes),
    )


def _handshakes(trace: Trace, collectives: PlaneOperations, tasks: PlaneTasks) -> Handshakes:
    """Return each operation's first wait for a peer, in [start, end), on each plane of its group."""
    waits = tasks.at(
        tasks.named(trace, KNOWN.collectives.notify_waits) & (tasks.dst >= 0) & (tasks.dst != tasks.src)
    )
    members = dict(group_by(collectives.group))
    operation, place = [EMPTY], [EMPTY]
    for _, on_plane in group_by(waits.plane):
        group = int(waits.group[on_plane[0]])
        if group < 0 or group not in members:
            continue
        start = waits.start[on_plane]  # sorted, as the tasks of a plane are
        first = np.searchsorted(start, collectives.start[members[group]], "left")
        inside = first < len(start)
        inside[inside] = start[first[inside]] < collectives.end[members[group][inside]]
        operation.append(members[group][inside])
        place.append(on_plane[first[inside]])
    operations, wait_places = np.concatenate(operation), np.concatenate(place)
    order = np.lexsort((waits.plane[wait_places], operations))
    operations, waits = operations[order], waits.at(wait_places[order])
    return Handshakes(operations, waits.plane, waits.dst, waits.row, waits.start, waits.end)


def _late_peers(collectives: PlaneOperations, handshakes: Handshakes) -> tuple[Int64s, Int32s, Int64s]:
    """Wait, late peer and the row of the wait for it, of each operation.

    The last to arrive is late; of several at once the one that was waited for longest, then the lowest.
    """
    wait, row = np.zeros(len(collectives), np.int64), np.full(len(collectives), -1, np.int64)
    peer = np.full(len(collectives), -1, np.int32)
    order = np.lexsort((handshakes.peer, handshakes.start, -handshakes.arrival, handshakes.operation))
    last = order[starts_run(handshakes.operation[order])]
    last = last[handshakes.arrival[last] - handshakes.start[last] >= SHORTEST]
    operations = handshakes.operation[last]
    wait[operations] = (
        np.minimum(handshakes.arrival[last], collectives.end[operations]) - collectives.start[operations]
    )
    peer[operations], row[operations] = handshakes.peer[last], handshakes.row[last]
    return wait, peer, row


def _distinct_peers(handshakes: Handshakes, count: int) -> Int64s:
    """Return how many peers each operation shook hands with."""
    order = np.lexsort((handshakes.peer, handshakes.operation))
    operation, peer = handshakes.operation[order], handshakes.peer[order]
    return np.bincount(operation[starts_run(operation, peer)], minlength=count)


def _reaches_all(
    trace: Trace, collectives: PlaneOperations, peers: Int64s, sizes: Mapping[int, int]
) -> Bools:
    """Return whether the operations shake hands with every rank that can be late.

    As a mesh does within its server, a send or receive with its only peer, and what met the whole group.
    """
    names = trace.slices.name[collectives.row]
    mesh = meanings(trace.strings, collectives.algorithm, lambda text: "MESH" in text.upper().split("-")[0])
    pair = meanings(trace.strings, names, lambda name: "send" in name.lower() or "receive" in name.lower())
    other_ranks = np.array([sizes.get(group, 0) - 1 for group in collectives.group.tolist()], np.int64)
    sees_all: Bools = (mesh == 1) | (pair == 1) | ((other_ranks > 0) & (peers >= other_ranks))
    return sees_all
