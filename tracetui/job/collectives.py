"""The collectives, groups and links of a trace as columns of a digest."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.groups import Group, name_in
from tracetui.analysis.communication.links import CARRIERS, Transfers
from tracetui.analysis.communication.waits import SHORTEST, Waits
from tracetui.analysis.idle.lines import lines_of
from tracetui.analysis.operator_types import host_operator_type
from tracetui.analysis.search import first_equal, pick, runs, track_of_rows
from tracetui.analysis.steps import StepWindows
from tracetui.arrays import Int32s, Int64s
from tracetui.job.digest import ArrivalColumns, CollectiveColumns, LinkColumns, RankGroup
from tracetui.job.texts import LinePlaces, TextPlaces
from tracetui.siblings.metadata import parallel_groups
from tracetui.trace.clean import kept
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings

_TYPES = tuple(re.compile(pattern) for pattern in KNOWN.collectives.types)


def collective_tables(
    analysis: Analysis, device: int, texts: TextPlaces, lines: LinePlaces
) -> tuple[tuple[RankGroup, ...], CollectiveColumns, ArrivalColumns]:
    """Return the groups of a device, its collectives by start, and when late peers came to them."""
    trace, communication = analysis.trace, analysis.communication
    operations, waits = communication.operations, communication.waits
    (own,) = np.nonzero(operations.device == device)
    own = own[np.argsort(operations.start[own], kind="stable")]
    rows, start = operations.row[own], operations.start[own]
    groups, of_operation = _groups(analysis, own)
    kinds = [name_parts(name) for name in trace.strings]
    names = trace.slices.name[rows]
    task = analysis.links.index(rows)
    frames, of_frame = lines_of(trace, analysis.links.stack[task], analysis.links.frame[task], analysis.rules)
    steps = StepWindows(analysis.steps).step_of(analysis.devices[device].device, start)
    collectives = CollectiveColumns(
        group=of_operation,
        type=texts.places([kind[0] for kind in kinds], names),
        index=np.array([kind[1] for kind in kinds], np.int64)[names],
        iteration=np.array([kind[2] for kind in kinds], np.int64)[names],
        dtype=texts.places(trace.strings, operations.dtype[own]),
        count=operations.count[own],
        bytes=operations.size[own],
        step=analysis.step_numbers[steps],
        start=start,
        end=operations.end[own],
        line=lines.places(frames, of_frame, analysis.links.backward[task]),
        known=waits.known[own].astype(np.int64),
        wait=waits.wait[own],
        peer=waits.peer[own].astype(np.int64),
        ring=waits.ring[own].astype(np.int64),
        other=_other_ends(analysis, own, waits),
    )
    return groups, collectives, _arrivals(own, waits)


def name_parts(name: str) -> tuple[str, int, int]:
    """Return what a collective does by its name, its number in its group and its iteration; -1: not told.

    >>> name_parts("hcom_allReduce__271_0_1")
    ('allReduce', 0, 1)
    """
    for pattern in _TYPES:
        match = pattern.match(name)
        if match:
            told = [*match.groups(), None, None][:3]
            return str(told[0]), int(told[1] or -1), int(told[2] or -1)
    return host_operator_type(name), -1, -1


def link_columns(analysis: Analysis, device: int, texts: TextPlaces) -> LinkColumns:
    """Return what the transfers of a device moved, by link and size of the message."""
    communication = analysis.communication
    transfers, operations = communication.transfers, communication.operations
    inside = transfers.operation >= 0
    inside[inside] = operations.device[transfers.operation[inside]] == device
    (own,) = np.nonzero(operations.device == device)
    tracks = _tracks(analysis, own)
    moved = transfers.at(inside)
    group = first_equal(
        np.array(list(dict.fromkeys(tracks.tolist())), np.int64), moved.group.astype(np.int64)
    )
    columns = (
        group,
        moved.src.astype(np.int64),
        moved.dst.astype(np.int64),
        texts.places(CARRIERS, moved.transport.astype(np.int64)),
        _size_class(moved),
    )
    distinct, of_transfer = np.unique(np.stack(columns), axis=1, return_inverse=True)
    of_transfer = of_transfer.reshape(-1)
    count, size, ns = (np.zeros(distinct.shape[1], np.int64) for _ in range(3))
    np.add.at(count, of_transfer, 1)
    np.add.at(size, of_transfer, moved.size)
    np.add.at(ns, of_transfer, moved.end - moved.start)
    return LinkColumns(*(*distinct, count, size, ns))


def _size_class(moved: Transfers) -> Int64s:
    """The bits of the bytes of each transfer; exact, as a float of 53 bits holds 2**40."""
    return np.frexp(moved.size.astype(np.float64))[1].astype(np.int64)


def _tracks(analysis: Analysis, own: Int64s) -> Int32s:
    """The track of the group of operations; of those without one, that of their stream."""
    operations = analysis.communication.operations
    stream = track_of_rows(analysis.trace, operations.row[own])
    return np.where(operations.group[own] >= 0, operations.group[own], stream)


def _groups(analysis: Analysis, own: Int64s) -> tuple[tuple[RankGroup, ...], Int64s]:
    """The groups of operations by their first one, and the place of the group of each."""
    tracks = _tracks(analysis, own)
    order = list(dict.fromkeys(tracks.tolist()))
    highest = _highest_ranks(analysis)
    groups = tuple(_group(analysis, track, highest.get(track, -1)) for track in order)
    return groups, first_equal(np.array(order, np.int64), tracks.astype(np.int64))


def _group(analysis: Analysis, track: int, highest: int) -> RankGroup:
    trace, title = analysis.trace, analysis.trace.tracks[track].name
    found = analysis.communication.groups.get(track)
    if found is None:  # a stream
        return RankGroup(kept(title.lower()), "", "", -1, (), 0)
    group: Group = found
    known = {told.global_ranks: told for told in parallel_groups(Path(trace.path)) if told.name == group.name}
    told = known.get(group.global_ranks) if group.global_ranks else None
    called = name_in(title)
    whole = called if called != title and len(called) >= _WHOLE_NAME else ""
    return RankGroup(
        key=kept(group.number or called),
        communicator=kept(told.communicator if told else whole),
        name=kept(group.name),
        rank=-1 if group.rank is None else group.rank,
        global_ranks=group.global_ranks,
        size=len(group.global_ranks) or highest + 1,
    )


_WHOLE_NAME = 10  # characters: a thread that is called by less has the index of its group


def _highest_ranks(analysis: Analysis) -> dict[int, int]:
    """The highest number of a rank that each group's planes show, by the track of the group."""
    tasks = analysis.communication.tasks
    return {
        track: int(max(tasks.src[places].max(), tasks.dst[places].max()))
        for track, places in runs(tasks.group)
    }


def _other_ends(analysis: Analysis, own: Int64s, waits: Waits) -> Int64s:
    """Of sends and receives the peer that they shake hands with first; -1 where none, and of all others."""
    trace, operations = analysis.trace, analysis.communication.operations
    names = trace.slices.name[operations.row[own]]
    pair = meanings(trace.strings, names, is_pair)
    first = first_equal(waits.handshakes.operation, own)
    return np.where(pair == 1, pick(waits.handshakes.peer, first), -1)


def is_pair(name: str) -> bool:
    """Return whether a collective is a send or a receive between two ranks; batches of them are not."""
    kind = name_parts(name)[0].lower()
    return kind in ("send", "receive", "recv")


def _arrivals(own: Int64s, waits: Waits) -> ArrivalColumns:
    """When the peers came that operations waited for, those that waits are long enough to be sure of."""
    shaken = waits.handshakes
    collective = first_equal(own, shaken.operation)
    sure = (collective >= 0) & (shaken.arrival - shaken.start >= SHORTEST)
    order = np.lexsort((shaken.peer[sure], collective[sure]))
    columns = (collective[sure], shaken.peer[sure].astype(np.int64), shaken.arrival[sure])
    return ArrivalColumns(*(column[order] for column in columns))
