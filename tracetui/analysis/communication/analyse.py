"""Everything about the communication of a trace, each part made when it is first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.exposed import ExposedPieces, find_exposed
from tracetui.analysis.communication.groups import Group, find_groups
from tracetui.analysis.communication.line_communication import (
    LatePeer,
    LineCommunication,
    communication_lines,
    late_peers,
)
from tracetui.analysis.communication.links import (
    Link,
    MasterTimes,
    Transfers,
    find_transfers,
    link_table,
    master_times,
)
from tracetui.analysis.communication.planes import PlaneOperations, PlaneTasks, operations, plane_tasks
from tracetui.analysis.communication.waits import OperationWaits, find_operation_waits
from tracetui.analysis.gaps import Gaps
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.steps import StepWindows
from tracetui.siblings.metadata import parallel_groups
from tracetui.trace.model import Trace


@dataclass(frozen=True)
class WindowSplit:
    """What the window W of a device went into. The parts sum to |W|."""

    device: str
    computing_ns: int  #: |C|
    wait_ns: int  #: of M \\ C: a rank was late
    transfer_ns: int  #: of M \\ C: data moved
    unsplit_ns: int  #: of M \\ C: not told apart
    copy_ns: int  #: |X \\ (C ∪ M)|, inside W
    idle_ns: int

    @property
    def window_ns(self) -> int:
        """|W|"""
        return self.computing_ns + self.communication_ns + self.copy_ns + self.idle_ns

    @property
    def communication_ns(self) -> int:
        """|M \\ C|"""
        return self.wait_ns + self.transfer_ns + self.unsplit_ns


@dataclass(frozen=True, eq=False)
class Communication:
    """The communication of all devices of a trace."""

    trace: Trace
    devices: tuple[DeviceActivity, ...]
    gaps: Gaps
    windows: StepWindows
    launch_chains: LaunchChains  #: the chains of the tasks to what issued them
    rules: FrameRules

    @cached_property
    def operations(self) -> PlaneOperations:
        """The operations of all groups."""
        return operations(self.trace, self.devices, self.launch_chains)

    @cached_property
    def tasks(self) -> PlaneTasks:
        """The tasks of all planes."""
        return plane_tasks(self.trace, self.operations)

    @cached_property
    def groups(self) -> dict[int, Group]:
        """The groups with operations, by the index of their track (-1: operations of streams)."""
        parallel = parallel_groups(Path(self.trace.path))
        return find_groups(self.trace, self.operations, self.tasks, parallel)

    @cached_property
    def waits(self) -> OperationWaits:
        """How long each operation waited, and for whom."""
        sizes = {track: len(group.global_ranks) for track, group in self.groups.items()}
        return find_operation_waits(self.trace, self.operations, self.tasks, sizes)

    @cached_property
    def exposed(self) -> ExposedPieces:
        """When devices communicated and did not compute, in pieces with a cause and a line."""
        return find_exposed(
            self.devices, self.operations, self.waits, self.gaps, self.windows, self.launch_chains
        )

    @cached_property
    def exposed_sets(self) -> tuple[tuple[Intervals, ...], ...]:
        """For each device, when it was exposed to each cause, in the order of the causes."""
        return tuple(self._sets(self.exposed.of_device(index)) for index in range(len(self.devices)))

    def _sets(self, places: slice) -> tuple[Intervals, ...]:
        pieces = self.exposed.at(places)
        by_cause = (pieces.at(pieces.cause == cause) for cause in CommunicationCause)
        return tuple(union(part.start, part.end) for part in by_cause)

    @cached_property
    def splits(self) -> tuple[WindowSplit, ...]:
        """What the window of each device went into."""
        return tuple(self._split(index, activity) for index, activity in enumerate(self.devices))

    @cached_property
    def lines(self) -> tuple[LineCommunication, ...]:
        """Exposed communication by the line that issued it, most first."""
        return communication_lines(self.trace, self.operations, self.waits, self.exposed, self.rules)

    @cached_property
    def late_peers(self) -> tuple[LatePeer, ...]:
        """The ranks that were late, those first that were waited for longest."""
        return late_peers(self.operations, self.waits, self.exposed, self.groups)

    @cached_property
    def transfers(self) -> Transfers:
        """What moved bytes between ranks."""
        return find_transfers(self.trace, self.operations, self.tasks)

    @cached_property
    def link_table(self) -> tuple[Link, ...]:
        """Bytes and time of each link, of the whole trace."""
        return link_table(self.trace, self.transfers)

    def links_in_window(self, start_ns: int, end_ns: int) -> tuple[Link, ...]:
        """Sum the bytes and time of each link, for the transfers that start in [start_ns, end_ns)."""
        return link_table(self.trace, self.transfers.window(start_ns, end_ns))

    @cached_property
    def master_times(self) -> MasterTimes:
        """The producer's own transit and wait of each operation."""
        return master_times(self.trace, self.operations, self.tasks, self.transfers)

    def _split(self, index: int, activity: DeviceActivity) -> WindowSplit:
        causes = self.exposed.by_cause(self.exposed.of_device(index))
        return WindowSplit(
            device=activity.device,
            computing_ns=activity.computing_ns,
            wait_ns=causes.get(CommunicationCause.WAIT, 0),
            transfer_ns=causes.get(CommunicationCause.TRANSFER, 0),
            unsplit_ns=causes.get(CommunicationCause.UNSPLIT, 0),
            copy_ns=activity.free_ns - activity.idle_ns,
            idle_ns=activity.idle_ns,
        )
