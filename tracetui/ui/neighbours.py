"""The slice or gap beside another, along the flow too, and the edge of a slice near a time. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracetui.trace.model import Trace
from tracetui.ui.drawing.picture import Picture

if TYPE_CHECKING:
    from tracetui.analysis.launch_chains import LaunchChain, LaunchChains


def slice_beside(trace: Trace, lane: int, row: int, time_ns: int, by: int) -> int:
    """Return the next (`by` 1) or previous (-1) slice of a lane; -1 where there is none.

    It is the one beside `row` where that is on the lane, else the one beside a time.
    """
    rows = trace.lane_slice_rows(lane)
    if rows.start <= row < rows.stop:
        found = row + by
    else:
        starts = trace.slices.start[rows]
        if by > 0:
            found = rows.start + int(np.searchsorted(starts, time_ns, "right"))
        else:
            found = rows.start + int(np.searchsorted(starts, time_ns, "left")) - 1
    return found if rows.start <= found < rows.stop else -1


def gap_beside(picture: Picture, device: int, gap: int, time_ns: int, by: int) -> int:
    """Return the next or previous gap of a device in time; -1 where there is none."""
    if picture.analysis is None:
        return -1
    gaps = picture.analysis.gaps
    first, stop = np.searchsorted(gaps.device, np.array([device, device + 1], np.int32)).tolist()
    if first <= gap < stop:
        found = gap + by
    elif by > 0:
        found = first + int(np.searchsorted(gaps.start[first:stop], time_ns, "left"))
    else:
        found = first + int(np.searchsorted(gaps.start[first:stop], time_ns, "left")) - 1
    return found if first <= found < stop else -1


def nearest_edge(trace: Trace, lane: int, time_ns: int, reach_ns: int) -> int:
    """Return the nearest edge of a slice of a lane, if it is within reach of a time; else the time itself."""
    rows = trace.lane_slice_rows(lane)
    best, distance = time_ns, reach_ns + 1
    for edges in (trace.slices.start[rows], trace.slices.end[rows]):
        at = int(np.searchsorted(edges, time_ns))
        for edge in edges[max(at - 1, 0) : at + 1].tolist():
            if abs(edge - time_ns) < distance:
                best, distance = edge, abs(edge - time_ns)
    return best


def follow(
    trace: Trace, chains: LaunchChains | None, row: int, direction: int, chain: LaunchChain | None = None
) -> int:
    """Return the next slice towards the device (direction 1) or the host (-1); -1 where there is none.

    A chain that one has followed so far decides where a launch or operator led to several tasks.
    """
    if chains is not None:
        chain = chain_through(chains, row, chain)
        if chain is not None:
            rows = [hop.row for hop in chain.hops]
            place = rows.index(row) + direction
            if 0 <= place < len(rows):
                return rows[place]
            if direction < 0 and chain.forward >= 0:
                return chain.forward
    return _along_flows(trace, row, direction)


def chain_through(chains: LaunchChains, row: int, chain: LaunchChain | None = None) -> LaunchChain | None:
    """Return a chain that holds a slice: the one given if it does, else of the first task launched by it."""
    if chain is not None and any(hop.row == row for hop in chain.hops):
        return chain
    direct = chains.chain(row)
    if direct is not None or not chains.leads[row]:  # most slices lead nowhere: to find that out took 2.5 ms
        return direct
    for hop in (chains.launch, chains.dequeue, chains.enqueue, chains.operator):
        places = np.flatnonzero(hop == row)
        if len(places):
            tasks = chains.tasks[places]
            first = int(tasks[np.argmin(chains.trace.slices.start[tasks])])
            return chains.chain(first)
    return None


def _along_flows(trace: Trace, row: int, direction: int) -> int:
    here, there = trace.flows.source, trace.flows.target
    if direction < 0:
        here, there = there, here
    found = there[(here == row) & (there >= 0)]
    return int(found[0]) if len(found) else -1
