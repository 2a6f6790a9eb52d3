"""The collectives, groups and links of a trace as columns of a digest."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.groups import listed_ranks, name_in
from tracetui.analysis.communication.links import CARRIERS
from tracetui.analysis.communication.planes import collective_kinds
from tracetui.analysis.communication.waits import SHORTEST, OperationWaits
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.operator_types import gpu_kernel_type, host_operator_type
from tracetui.analysis.search import group_by, pick, track_of_rows
from tracetui.arrays import Int64s, first_equal
from tracetui.job.channels import BATCHES, IS_SENDER
from tracetui.job.digest import ArrivalColumns, CollectiveColumns, LinkColumns, RankGroup
from tracetui.job.texts import LinePlaces, TextPlaces
from tracetui.siblings.metadata import parallel_groups
from tracetui.trace.clean import shortened
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings

_TYPES = tuple(re.compile(pattern) for pattern in KNOWN.collectives.types)


def collective_tables(
    analysis: Analysis, device: int, rank: int, texts: TextPlaces, lines: LinePlaces
) -> tuple[tuple[RankGroup, ...], CollectiveColumns, ArrivalColumns]:
    """Return the groups of a device, its collectives by start, and when late peers came to them.

    `rank`: its number in the job, -1 where not known.
    """
    trace, communication = analysis.trace, analysis.communication
    operations, waits = communication.operations, communication.waits
    (places,) = np.nonzero(operations.device == device)
    places = places[np.argsort(operations.start[places], kind="stable")]
    rows, start = operations.row[places], operations.start[places]
    groups, group_places = _rank_groups(analysis, places, rank)
    kinds = [name_parts(name) for name in trace.strings]
    arg_kinds = collective_kinds(trace, operations.args[places])
    names = trace.slices.name[rows]
    task = analysis.launch_chains.index(rows)
    frames, frame_places = lines_of(
        trace, analysis.launch_chains.stack[task], analysis.launch_chains.frame[task], analysis.rules
    )
    steps = analysis.step_windows.step_of(analysis.devices[device].device, start)
    collectives = CollectiveColumns(
        group=group_places,
        type=texts.places(
            [kind or kinds[name][0] for kind, name in zip(arg_kinds, names.tolist())], np.arange(len(rows))
        ),
        index=np.array([kind[1] for kind in kinds], np.int64)[names],
        iteration=np.array([kind[2] for kind in kinds], np.int64)[names],
        dtype=texts.places(trace.strings, operations.dtype[places]),
        # c10d counts what a rank puts in: in an all-gather of uneven parts as many as it likes
        count=np.where([bool(kind) for kind in arg_kinds], -1, operations.count[places]).astype(np.int64),
        bytes=operations.size[places],
        step=analysis.step_numbers[steps],
        start=start,
        end=operations.end[places],
        line=lines.places(frames, frame_places, analysis.launch_chains.backward[task]),
        known=waits.has_handshake[places].astype(np.int64),
        wait=waits.wait_ns[places],
        peer=waits.peer[places].astype(np.int64),
        ring=waits.ring[places].astype(np.int64),
        other=_first_peers(analysis, places, waits, groups, group_places),
    )
    return groups, collectives, _arrival_columns(places, waits)


def name_parts(name: str) -> tuple[str, int, int]:
    """Return what a collective does by its name, its number in its group and its iteration; -1: not told.

    >>> name_parts("hcom_allReduce__271_0_1")
    ('allReduce', 0, 1)
    """
    for pattern in _TYPES:
        match = pattern.match(name)
        if match:
            parts = [*match.groups(), None, None][:3]
            return str(parts[0]), int(parts[1] or -1), int(parts[2] or -1)
    return gpu_kernel_type(name) if name.startswith("void ") else host_operator_type(name), -1, -1


def link_columns(analysis: Analysis, device: int, texts: TextPlaces) -> LinkColumns:
    """Return what the transfers of a device moved, by link and size of the message."""
    communication = analysis.communication
    transfers, operations = communication.transfers, communication.operations
    inside = transfers.operation >= 0
    inside[inside] = operations.device[transfers.operation[inside]] == device
    (places,) = np.nonzero(operations.device == device)
    tracks = _group_keys(analysis, places)
    device_transfers = transfers.at(inside)
    group = first_equal(
        np.array(list(dict.fromkeys(tracks.tolist())), np.int64), device_transfers.group.astype(np.int64)
    )
    columns = (
        group,
        device_transfers.src.astype(np.int64),
        device_transfers.dst.astype(np.int64),
        texts.places(CARRIERS, device_transfers.transport.astype(np.int64)),
        # Bits of the bytes of each; exact, as a float of 53 bits holds 2**40.
        np.frexp(device_transfers.size.astype(np.float64))[1].astype(np.int64),
    )
    distinct, row = np.unique(np.stack(columns), axis=1, return_inverse=True)
    row = row.reshape(-1)
    count, size, ns = (np.zeros(distinct.shape[1], np.int64) for _ in range(3))
    np.add.at(count, row, 1)
    np.add.at(size, row, device_transfers.size)
    np.add.at(ns, row, device_transfers.end - device_transfers.start)
    return LinkColumns(*(*distinct, count, size, ns))


def _group_keys(analysis: Analysis, places: Int64s) -> Int64s:
    """Return the track of the group of each operation; without a group what stands for its process group.

    That is below -1; where args name none either, the track of its stream.
    """
    operations, hccl = analysis.communication.operations, analysis.trace.hccl
    args, group = operations.args[places], operations.group[places]
    stream = track_of_rows(analysis.trace, operations.row[places])
    name, ranks = pick(hccl.process_group, args), pick(hccl.group_ranks, args)
    _, process_group = np.unique(np.stack((name, ranks)), axis=1, return_inverse=True)
    is_named = (name >= 0) | (ranks >= 0)
    keys: Int64s = np.select([group >= 0, is_named], [group, -2 - process_group.reshape(-1)], stream)
    return keys.astype(np.int64)


def _rank_groups(analysis: Analysis, places: Int64s, rank: int) -> tuple[tuple[RankGroup, ...], Int64s]:
    """Return the groups of operations by their first one, and the place of each operation's group."""
    keys = _group_keys(analysis, places)
    order, first = np.unique(keys, return_index=True)
    order, first = order[np.argsort(first)], np.sort(first)
    highest = _highest_group_ranks(analysis)
    groups = tuple(
        _process_group(analysis, int(analysis.communication.operations.args[place]), rank, len(order))
        if key < 0
        else _group(analysis, key, highest.get(key, -1))
        for key, place in zip(order.tolist(), places[first].tolist())
    )
    return groups, first_equal(order, keys)


def _process_group(analysis: Analysis, args: int, rank: int, groups: int) -> RankGroup:
    """Return the process group of c10d that some args name, one of so many `groups`."""
    trace, hccl = analysis.trace, analysis.trace.hccl
    name, listed = (
        trace.string(int(column[args])) or "" for column in (hccl.process_group, hccl.group_ranks)
    )
    size = int(hccl.group_size[args])
    ranks = listed_ranks(listed, size if groups <= _MOST_GROUPS else 0)
    return RankGroup(
        key=shortened(f"{name} {listed}".strip()),
        communicator="",
        name="",
        rank=ranks.index(rank) if rank in ranks else -1,
        global_ranks=ranks,
        size=len(ranks) or max(size, 0),
    )


def _group(analysis: Analysis, track: int, highest: int) -> RankGroup:
    trace, title = analysis.trace, analysis.trace.tracks[track].name
    group = analysis.communication.groups.get(track)
    if group is None:  # a stream
        return RankGroup(shortened(title.lower()), "", "", -1, (), 0)
    known = {
        named_group.global_ranks: named_group
        for named_group in parallel_groups(Path(trace.path))
        if named_group.name == group.name
    }
    named_group = known.get(group.global_ranks) if group.global_ranks else None
    group_name = name_in(title)
    whole_name = group_name if group_name != title and len(group_name) >= _WHOLE_NAME else ""
    return RankGroup(
        key=shortened(group.number or group_name),
        communicator=shortened(named_group.communicator if named_group else whole_name),
        name=shortened(group.name),
        rank=-1 if group.rank is None else group.rank,
        global_ranks=group.global_ranks,
        size=len(group.global_ranks) or highest + 1,
    )


_MOST_GROUPS = 100  # of a rank: of more, long lists of ranks that are cut are not completed
_WHOLE_NAME = 10  # characters: a thread that is called by less has the index of its group


def _highest_group_ranks(analysis: Analysis) -> dict[int, int]:
    """Return the highest number of a rank that each group's planes show, by the track of the group."""
    tasks = analysis.communication.tasks
    return {
        track: int(max(tasks.src[places].max(), tasks.dst[places].max()))
        for track, places in group_by(tasks.group)
    }


def _first_peers(
    analysis: Analysis,
    places: Int64s,
    waits: OperationWaits,
    groups: tuple[RankGroup, ...],
    group_places: Int64s,
) -> Int64s:
    """Return, for each collective, the first handshake peer of a send or receive; -1 for anything else.

    That of a batch of them is the only peer it has; without handshakes the rank that args name counts.
    """
    trace, operations, handshakes = analysis.trace, analysis.communication.operations, waits.handshakes
    names = trace.slices.name[operations.row[places]]
    is_transfer = meanings(trace.strings, names, is_send_or_receive) == 1
    several = np.zeros(len(operations), np.bool_)
    first_handshake = first_equal(handshakes.operation, handshakes.operation)
    several[handshakes.operation[handshakes.peer != handshakes.peer[first_handshake]]] = True
    first_peer = pick(handshakes.peer, first_equal(handshakes.operation, places))
    peers = np.where(is_transfer & ~several[places], first_peer, -1)
    args = operations.args[places]
    is_named = (operations.group[places] < 0) & (pick(trace.hccl.collective, args) >= 0)
    named_rank = np.where(is_named, np.maximum(pick(trace.hccl.src, args), pick(trace.hccl.dst, args)), -1)
    for place in np.flatnonzero(named_rank >= 0).tolist():
        ranks, peer = groups[group_places[place]].global_ranks, int(named_rank[place])
        peers[place] = ranks.index(peer) if peer in ranks else -1
    return peers


def is_send_or_receive(name: str) -> bool:
    """Return whether a collective is a send or a receive, or a batch of them."""
    kind = name_parts(name)[0].lower()
    return kind in IS_SENDER or kind in BATCHES


def _arrival_columns(places: Int64s, waits: OperationWaits) -> ArrivalColumns:
    """Return when peers arrived that operations waited for, where the wait is long enough to be sure."""
    handshakes = waits.handshakes
    collective = first_equal(places, handshakes.operation)
    is_sure = (collective >= 0) & (handshakes.arrival - handshakes.start >= SHORTEST)
    order = np.lexsort((handshakes.peer[is_sure], collective[is_sure]))
    columns = (collective[is_sure], handshakes.peer[is_sure].astype(np.int64), handshakes.arrival[is_sure])
    return ArrivalColumns(*(column[order] for column in columns))
