"""What moved between ranks, by which link and how fast: communication_matrix.json, by tasks of `planes`.

A transfer by SDMA is one task that moves bytes. One by RDMA is many: from the first of consecutive payloads
until the handshake after them has ended. A group's ranks are numbered within it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tracetui.analysis.communication.planes import PlaneOperations, PlaneTasks
from tracetui.analysis.search import grouped
from tracetui.arrays import Bools, Columns, Int8s, Int32s, Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Trace
from tracetui.trace.order import starts_run

TOO_LARGE = 1 << 40  #: bytes that no task moves; the sum of those of 8 M tasks is still an int64
LOCAL = "LOCAL"
#: What carries transfers; those by SDMA over a link that no table knows, "SDMA".
CARRIERS = ("SDMA", LOCAL, "HCCS", "PCIE", "SIO", "RDMA")
#: Tasks that end a transfer by RDMA, its last payload and the handshake: in a send or receive, in others.
CLOSING = (3, 5)


@dataclass(frozen=True, eq=False)
class Transfers(Columns):
    """What moved bytes, as columns of equal length, by group, then plane, then start."""

    row: Int64s  #: slice row of the task, of the first payload
    operation: Int64s  #: index into the operations, -1 outside of all
    group: Int32s  #: index of the track of the group, -1 where not known
    plane: Int32s  #: index of the track of the plane
    start: Int64s  #: ns
    end: Int64s  #: ns
    src: Int32s  #: rank in the group
    dst: Int32s  #: rank in the group; equal to src on the chip
    size: Int64s  #: bytes, 0 where not told
    transport: Int8s  #: index into CARRIERS
    link: Int32s  #: string of the link type, -1 where not told

    def window(self, start_ns: int, end_ns: int) -> Transfers:
        """Return those that start in [start_ns, end_ns), whole: bytes cannot be cut."""
        return self.at((self.start >= start_ns) & (self.start < end_ns))


@dataclass(frozen=True)
class Link:
    """What moved from one rank of a group to another, by one transport and link type."""

    group: int  #: index of the track of the group, -1 where not known
    src: int  #: rank in the group
    dst: int  #: rank in the group
    transport: str  #: of CARRIERS
    link_type: str  #: as written; "" where not told
    bytes: int
    ns: int  #: sum over its transfers
    sizes: dict[int, tuple[int, int]]  #: transfers and their ns, by the bytes of each

    @property
    def gb_per_s(self) -> float | None:
        """Bytes / ns; None where it took no time."""
        return self.bytes / self.ns if self.ns else None


@dataclass(frozen=True, eq=False)
class MasterTimes:
    """The producer's own times of each operation, of its master plane; -1 without planes.

    The columns are as long as the operations.
    """

    transit: Int64s  #: ns of transfers to other ranks
    wait: Int64s  #: ns of all waits, also those that other ranks do not cause
    synchronization: Int64s  #: ns of the waits before the first transfer to another rank


def find_transfers(trace: Trace, collectives: PlaneOperations, tasks: PlaneTasks) -> Transfers:
    """Return the transfers whose source rank is known."""
    transport = meanings(trace.strings, tasks.transport, {"SDMA": 0, "RDMA": 1}.get)
    by_sdma = (transport == 0) & tasks.named(trace, KNOWN.collectives.sdma_moves)
    carriers = {link: CARRIERS.index(carrier) for link, carrier in KNOWN.links.carriers.items()}
    carrier = meanings(trace.strings, tasks.link, carriers.get)
    carrier[carrier < 0] = CARRIERS.index("SDMA")
    (sdma,) = np.nonzero(by_sdma)
    first, last, size = _rdma_transfers(trace, collectives, tasks, transport == 1)
    place, end = np.concatenate((sdma, first)), np.concatenate((tasks.end[sdma], tasks.end[last]))
    size = np.concatenate((_usable(tasks.size[sdma]), size))
    has_source = tasks.src[place] >= 0
    order = np.argsort(place[has_source], kind="stable")
    rdma = np.full(len(first), CARRIERS.index("RDMA"), np.int8)
    carried = np.concatenate((carrier[sdma], rdma))[has_source][order]
    place, end, size = place[has_source][order], end[has_source][order], size[has_source][order]
    return Transfers(
        row=tasks.row[place],
        operation=tasks.operation[place],
        group=tasks.group[place],
        plane=tasks.plane[place],
        start=tasks.start[place],
        end=end,
        src=tasks.src[place],
        dst=np.where(tasks.dst[place] < 0, tasks.src[place], tasks.dst[place]),
        size=size,
        transport=carried,
        link=tasks.link[place],
    )


def link_table(trace: Trace, transfers: Transfers) -> tuple[Link, ...]:
    """Return the links of some transfers, by group, source and destination, then most bytes."""
    columns = (transfers.link, transfers.transport, transfers.dst, transfers.src, transfers.group)
    order = np.lexsort(columns)
    first = np.flatnonzero(starts_run(*(column[order] for column in columns)))
    links = [_link(trace, transfers, places) for places in np.split(order, first[1:]) if len(places)]
    return tuple(sorted(links, key=lambda link: (link.group, link.src, link.dst, -link.bytes)))


def master_times(
    trace: Trace, collectives: PlaneOperations, tasks: PlaneTasks, transfers: Transfers
) -> MasterTimes:
    """Return the producer's times of all operations.

    The master plane is the one of that name, or the first of an operation that has no task on such a one.
    """
    master = _master_planes(trace, len(collectives), tasks)
    times = MasterTimes(*(np.zeros(len(collectives), np.int64) for _ in fields(MasterTimes)))
    remote = (transfers.transport != CARRIERS.index(LOCAL)) & (transfers.operation >= 0)
    remote &= transfers.plane == master[transfers.operation]
    payloads = transfers.at(remote)
    np.add.at(times.transit, payloads.operation, payloads.end - payloads.start)
    first = np.full(len(collectives), np.iinfo(np.int64).max)
    np.minimum.at(first, payloads.operation, payloads.start)
    waiting = (tasks.operation >= 0) & (tasks.plane == master[tasks.operation])
    waits = tasks.at(waiting & tasks.named(trace, KNOWN.collectives.notify_waits))
    np.add.at(times.wait, waits.operation, waits.end - waits.start)
    early = waits.at(waits.start < first[waits.operation])
    np.add.at(times.synchronization, early.operation, early.end - early.start)
    for column in vars(times).values():
        column[master[:-1] < 0] = -1
    return times


def _rdma_transfers(
    trace: Trace, collectives: PlaneOperations, tasks: PlaneTasks, by_rdma: Bools
) -> tuple[Int64s, Int64s, Int64s]:
    """Return, for each transfer by RDMA, the places of its first and last task, and its bytes.

    It is a run of payloads, with the handshake after them. A payload is a send that another send follows; a
    notification is a send that a wait follows.
    """
    sends = by_rdma & tasks.named(trace, KNOWN.collectives.rdma_sends) & (tasks.operation >= 0)
    goes_on = np.zeros(len(tasks), np.bool_)  # the next task is of the same plane in the same operation
    goes_on[:-1] = (tasks.plane[1:] == tasks.plane[:-1]) & (tasks.operation[1:] == tasks.operation[:-1])
    is_payload = sends & goes_on
    is_payload[:-1] &= sends[1:]
    opens, closes = is_payload.copy(), is_payload.copy()
    opens[1:] &= ~is_payload[:-1]  # the task after a payload is of its plane and operation
    closes[:-1] &= ~is_payload[1:]
    (first,), (last,) = np.nonzero(opens), np.nonzero(closes)
    names = trace.slices.name[collectives.row]
    pair = meanings(trace.strings, names, lambda name: "send" in name.lower() or "receive" in name.lower())
    end = last + np.where(pair == 1, *CLOSING)[tasks.operation[first]] - 1
    is_whole = end < len(tasks)
    is_whole[is_whole] = (tasks.plane[end[is_whole]] == tasks.plane[first[is_whole]]) & (
        tasks.operation[end[is_whole]] == tasks.operation[first[is_whole]]
    )
    sizes = np.concatenate((np.zeros(1, np.int64), np.cumsum(_usable(tasks.size))))
    return first[is_whole], end[is_whole], (sizes[last + 1] - sizes[first])[is_whole]


def _usable(size: Int64s) -> Int64s:
    """Return the bytes of tasks, 0 where they are unknown or impossible."""
    return np.where((size >= 0) & (size < TOO_LARGE), size, 0)


def _link(trace: Trace, transfers: Transfers, places: Int64s) -> Link:
    moves = transfers.at(places)
    ns = moves.end - moves.start
    order, first = grouped(moves.size)
    counts = np.diff(first, append=len(order)).tolist()
    rows = zip(moves.size[order[first]].tolist(), counts, np.add.reduceat(ns[order], first).tolist())
    return Link(
        group=int(moves.group[0]),
        src=int(moves.src[0]),
        dst=int(moves.dst[0]),
        transport=CARRIERS[int(moves.transport[0])],
        link_type=trace.string(int(moves.link[0])) or "",
        bytes=int(moves.size.sum()),
        ns=int(ns.sum()),
        sizes={size: (count, total) for size, count, total in rows},
    )


def _master_planes(trace: Trace, count: int, tasks: PlaneTasks) -> Int64s:
    """Return the track of each operation's master plane, -1 without planes; int64[count + 1], last -1."""
    named = np.array([track.name in KNOWN.threads.master_planes for track in trace.tracks], np.bool_)
    master = np.full(count + 1, len(trace.tracks), np.int64)
    (members,) = np.nonzero(tasks.operation >= 0)
    np.minimum.at(master, tasks.operation[members], tasks.plane[members])
    members = members[named[tasks.plane[members]]]
    master[tasks.operation[members]] = tasks.plane[members]
    master[master == len(trace.tracks)] = -1
    return master
