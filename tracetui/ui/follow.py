"""Along the flow between host and device: from a slice to the one that it led to, or that led to it.

Pure: knows chains and flows, no screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracetui.trace.model import Trace

if TYPE_CHECKING:
    from tracetui.analysis.launch_chains import LaunchChain, LaunchChains


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
