"""Where a rank meets others: its collectives as points in the host's time, and what it waits there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.exposed import ExposedPieces
from tracetui.analysis.communication.planes import PlaneOperations
from tracetui.analysis.communication.waits import OperationWaits
from tracetui.analysis.launch_chains import LaunchChains, milestones
from tracetui.arrays import Int64s


class Meetings(NamedTuple):
    """The collectives of all devices, by device, then time; columns of equal length."""

    row: Int64s  #: slice row
    device: Int64s  #: index
    time: Int64s  #: ns: when the host enqueued it; where that is not known, when it began
    wait: Int64s  #: ns from its start until the late peer came; 0 where nobody was late
    exposed: Int64s  #: ns of the wait in which the device did not compute

    @property
    def late(self) -> Meetings:
        """Those that waited for a peer."""
        return Meetings(*(column[self.wait > 0] for column in self))


def meetings(
    chains: LaunchChains, collectives: PlaneOperations, waits: OperationWaits, exposed: ExposedPieces
) -> Meetings:
    """Return the collectives of a trace."""
    waiting = exposed.cause == CommunicationCause.WAIT
    alone = np.zeros(len(collectives), np.int64)
    np.add.at(alone, exposed.operation[waiting], exposed.ns[waiting])
    enqueued = milestones(chains, chains.index(collectives.row)).enqueued
    time = np.where(enqueued >= 0, enqueued, collectives.start)
    order = np.lexsort((time, collectives.device))
    columns = (collectives.row, collectives.device.astype(np.int64), time, waits.wait_ns, alone)
    return Meetings(*(column[order] for column in columns))
