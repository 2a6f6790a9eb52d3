"""Arrows between the rows of several tables, by the ids that they share.

The framework's rows have ids of their own, which CONNECTION_IDS takes to those of CANN, of the task queue and
of the backward pass. In a long run these have numbers in common; what one means shows in who has it.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.databases.tables import UNKNOWN
from tracetui.reader.database.assembly import Assembly
from tracetui.reader.database.device import DeviceRows
from tracetui.reader.database.host import OPERATOR, QUEUE, CallRows, HostRows
from tracetui.reader.database.table_reader import TableColumns, places_of


def add_launches(assembly: Assembly, calls: CallRows, tasks: DeviceRows) -> None:
    """Add the arrows from the calls of CANN to the tasks that they launch."""
    ends = (places_of(calls.connection, tasks.connection) >= 0) & (tasks.connection >= 0)
    used = places_of(tasks.connection[ends], calls.connection) >= 0
    assembly.add_flows(
        "HostToDevice",
        calls.connection[used],
        (calls.start[used], calls.thread[used]),
        (tasks.start[ends], tasks.thread[ends]),
        tasks.connection[ends],
    )


def add_framework_arrows(
    assembly: Assembly, host: HostRows, connections: TableColumns, tasks: DeviceRows
) -> None:
    """Add the arrows of the queue, of the backward pass, and from operators to tasks."""
    row, number = _members(host, connections)
    kind = host.kind[row]
    _add_queue(assembly, host, row[kind == QUEUE], number[kind == QUEUE])
    operators = kind == OPERATOR
    row, number = row[operators], number[operators]
    alone, pairs = _split_by_use(number, host.sequence[row])
    _add_pairs(assembly, host, row, number, pairs)
    source = places_of(np.where(alone, number, UNKNOWN), tasks.connection)
    ends = np.flatnonzero((source >= 0) & (tasks.connection >= 0))
    sources = row[source[ends]]
    assembly.add_flows(
        "async_npu",
        np.arange(len(ends)),
        (host.start[sources], host.thread[sources]),
        (tasks.start[ends], tasks.thread[ends]),
    )


def _members(host: HostRows, connections: TableColumns) -> tuple[Int64s, Int64s]:
    """Return the rows that have a number of CONNECTION_IDS, and that number: n to m."""
    ids, numbers = connections["id"], connections["connectionId"]
    is_valid = (numbers >= 0) & (ids != UNKNOWN)
    order = np.argsort(ids[is_valid], kind="stable")
    ids, numbers = ids[is_valid][order], numbers[is_valid][order]
    rows = np.flatnonzero(host.id != UNKNOWN)
    first, stop = (np.searchsorted(ids, host.id[rows], side) for side in ("left", "right"))
    count = stop - first
    place = np.repeat(first - np.append(0, np.cumsum(count)[:-1]), count) + np.arange(int(count.sum()))
    return np.repeat(rows, count), numbers[place]


def _add_queue(assembly: Assembly, host: HostRows, row: Int64s, number: Int64s) -> None:
    takes = host.dequeues[row]
    gives = ~takes
    assembly.add_flows(
        "async_task_queue",
        number[gives],
        _times_and_threads(host, row[gives]),
        _times_and_threads(host, row[takes]),
        number[takes],
    )


def _split_by_use(number: Int64s, sequence: Int64s) -> tuple[Bools, Bools]:
    """Return which operators launch by their number, and which are the pairs of the two passes.

    Two that share their sequence number too are a pair; where none is recorded, two that have a number. Of
    what is left, who alone has a number launches.
    """
    if (sequence < 0).all():
        sequence = np.zeros_like(sequence)
    _, number_place = np.unique(number, return_inverse=True)
    sequences, sequence_place = np.unique(sequence, return_inverse=True)
    equal_in_both = _count_equal(number_place * len(sequences) + sequence_place)
    pairs = (sequence >= 0) & (equal_in_both == 2)
    alone = ~pairs
    alone[alone] = _count_equal(number[alone]) == 1
    return alone, pairs


def _count_equal(numbers: Int64s) -> Int64s:
    """Return how often each number occurs."""
    _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    return count[place]


def _add_pairs(assembly: Assembly, host: HostRows, row: Int64s, number: Int64s, pairs: Bools) -> None:
    row, number = row[pairs], number[pairs]
    order = np.lexsort((host.start[row], number))
    forward, backward = row[order[::2]], row[order[1::2]]
    assembly.add_flows(
        "fwdbwd", number[order[::2]], _times_and_threads(host, forward), _times_and_threads(host, backward)
    )


def _times_and_threads(host: HostRows, rows: Int64s) -> tuple[Int64s, Int32s]:
    return host.start[rows], host.thread[rows]
