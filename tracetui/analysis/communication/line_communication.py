"""Exposed communication by the line of Python that issued it, and by the late rank it waited for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.exposed import ExposedPieces
from tracetui.analysis.communication.groups import Group
from tracetui.analysis.communication.planes import PlaneOperations
from tracetui.analysis.communication.waits import OperationWaits
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import LineFields, line_keys
from tracetui.analysis.search import group_by
from tracetui.analysis.sums import most_first, ranked
from tracetui.trace.model import Trace


@dataclass(frozen=True, eq=False)
class LineCommunication(LineFields):
    """The exposed communication that one line issued."""

    communication_ns: int
    operations: int  #: that have exposed time
    longest_ns: int  #: the most of one operation
    causes: dict[CommunicationCause, int]  #: ns, most first
    names: dict[str, int]  #: ns by name of the operation, most first
    peers: dict[tuple[int, int], int]  #: ns of wait by (group, late rank in it), most first
    steps: dict[int, int]  #: ns by index of the step, in order; -1: of none
    devices: dict[int, int]  #: ns by index of the device, in order


@dataclass(frozen=True)
class LatePeer:
    """A rank of a group that came late."""

    group: int  #: index of the track of the group
    peer: int  #: rank in the group
    global_rank: int | None  #: rank in the job, None where not known
    ring: bool  #: of some of the operations: it, or a rank before it
    operations: int  #: that waited for it
    wait_ns: int  #: of those operations together, whatever else the device did
    exposed_ns: int  #: of it exposed: nothing was computed meanwhile
    longest_ns: int  #: the longest of the waits


def communication_lines(
    trace: Trace,
    collectives: PlaneOperations,
    waits: OperationWaits,
    exposed: ExposedPieces,
    rules: FrameRules,
) -> tuple[LineCommunication, ...]:
    """Return the lines with exposed communication, most first. Their sum is that of all pieces."""
    keys, key_of_piece = line_keys(trace, exposed.stack, exposed.frame, exposed.backward, rules)
    lines = []
    for place, places in group_by(key_of_piece):
        pieces = exposed.at(places)
        names = trace.slices.name[collectives.row[pieces.operation]]
        _, per_operation = most_first(pieces.operation, pieces.ns)
        lines.append(
            LineCommunication(
                *keys[place],
                communication_ns=int(pieces.ns.sum()),
                operations=len(per_operation),
                longest_ns=int(per_operation[0]),
                causes=pieces.by_cause(),
                names={trace.strings[name]: ns for name, ns in ranked(names, pieces.ns)},
                peers=_peers(collectives, waits, pieces),
                steps=dict(sorted(ranked(pieces.step, pieces.ns))),
                devices=dict(sorted(ranked(pieces.device, pieces.ns))),
            )
        )
    lines.sort(
        key=lambda line: (-line.communication_ns, line.file or "", line.line, line.function, line.backward)
    )
    return tuple(lines)


def late_peers(
    collectives: PlaneOperations, waits: OperationWaits, exposed: ExposedPieces, groups: Mapping[int, Group]
) -> tuple[LatePeer, ...]:
    """Return the late ranks, those first that were waited for longest."""
    is_wait = exposed.cause == CommunicationCause.WAIT
    open_ns = np.zeros(len(collectives), np.int64)
    np.add.at(open_ns, exposed.operation[is_wait], exposed.ns[is_wait])
    (late,) = np.nonzero(waits.peer >= 0)
    peers = []
    for group, group_places in group_by(collectives.group[late]):
        for peer, places in group_by(waits.peer[late[group_places]]):
            members = late[group_places[places]]
            peers.append(
                LatePeer(
                    group=group,
                    peer=peer,
                    global_rank=groups[group].global_rank(peer),
                    ring=bool(waits.ring[members].any()),
                    operations=len(members),
                    wait_ns=int(waits.wait_ns[members].sum()),
                    exposed_ns=int(open_ns[members].sum()),
                    longest_ns=int(waits.wait_ns[members].max()),
                )
            )
    return tuple(sorted(peers, key=lambda late: (-late.wait_ns, late.group, late.peer)))


def _peers(
    collectives: PlaneOperations, waits: OperationWaits, pieces: ExposedPieces
) -> dict[tuple[int, int], int]:
    """Sum the waits by (group, late rank), ns; most first."""
    waits_exposed = pieces.at(pieces.cause == CommunicationCause.WAIT)
    group, peer = collectives.group[waits_exposed.operation], waits.peer[waits_exposed.operation]
    total = {
        (number, rank): int(waits_exposed.ns[group_places[places]].sum())
        for number, group_places in group_by(group)
        for rank, places in group_by(peer[group_places])
    }
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
