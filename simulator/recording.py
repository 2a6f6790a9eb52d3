"""What happened in a simulated run: plain records, in the order in which a profiler would have noted them.

Knows no file format. Times are epoch nanoseconds; host times are multiples of 10.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

COMPUTE_STREAM = 2
COLLECTIVE_STREAM = 4
AICORE = ("AI_CORE", "MIX_AIV")  #: task types that run on the AI cores
AICPU = ("AI_CPU", "DSA_SQE")  #: compute tasks that run elsewhere
COPY = "MEMCPY_ASYNC"


class Communicator(NamedTuple):
    """A communication group as one of its ranks knows it."""

    name: str  #: HCCL's own name of it; "" where nothing tells
    role: str  #: "tp", "dp", ...
    rank: int  #: its own number in the group
    ranks: tuple[int, ...]  #: the numbers in the job of 0, 1, ... in the group
    digits: str  #: with which its operations are named
    stream: int


WORLD = Communicator("", "default_group", 0, (0, 1, 2, 3), "271", COLLECTIVE_STREAM)


class PythonFrame(NamedTuple):
    """A line that a Python thread is executing."""

    path: str
    line: int
    function: str


PythonStack = tuple[PythonFrame, ...]  #: leaf first


class OperatorRole(Enum):
    """What an operator means for the one who waits for it."""

    OPERATOR = "host.operator"
    WRAPPER = "host.python"  #: only wraps Python: ProfilerStep#, Optimizer.step#
    SYNC = "host.sync"
    LOADER = "host.dataloader"
    COPY = "host.copy"
    COLLECTIVE = "host.communication"


@dataclass
class Operator:
    """A cpu_op; listed when it ends."""

    name: str
    tid: int
    start: int
    end: int = -1
    sequence: int = -1
    forward_thread: int = 0
    dims: str | None = None
    types: str | None = None
    stack: PythonStack | None = None
    forward_stack: PythonStack | None = None  #: of the forward operator, for a backward one
    role: OperatorRole = OperatorRole.OPERATOR
    step: int | None = None  #: of ProfilerStep#


@dataclass
class Call:
    """A python_function; listed when it returns."""

    name: str
    tid: int
    start: int
    id: int
    parent: int
    end: int = -1
    module: int | None = None


@dataclass
class Enqueue:
    correlation: int
    tid: int
    start: int
    end: int


@dataclass
class Dequeue:
    correlation: int
    name: str
    tid: int
    start: int
    end: int


@dataclass
class Api:
    """A call of the CANN layer."""

    name: str
    tid: int
    start: int
    end: int
    mode: str
    level: str
    connection: int
    id: str = "0"
    item: str = "0"
    sync: bool = False


@dataclass
class FlowStart:
    """A HostToDevice flow start."""

    tid: int
    at: int
    kind: str  #: "copy", "collective" or "kernel"
    value: int


@dataclass
class Launch:
    """How a task came to the device: the milestones of its chain and the operator that enqueued it."""

    operator: Operator
    thread: int
    enqueue: int
    dequeue: int
    end: int
    slot: Dequeue | None = None
    late: bool = False  #: the device took long to run it, and nothing it records says why
    recorded: bool = True  #: the profiler saw the host when it launched the task


@dataclass
class Task:
    """A task of a hardware stream."""

    name: str
    type: str
    stream: int
    number: int
    start: int
    end: int
    connection: int
    fraction: int = 0  #: 1/32 ns on top of the duration, below 1/2 ns
    subtask: int | None = None
    size: int = 0
    direction: str | None = None
    link: FlowStart | None = None
    launch: Launch | None = None


@dataclass
class Transfer:
    """A task of a plane of a collective: the same work as its hardware task."""

    task: Task
    plane: int
    type: str
    peer: int | None  #: None: nobody
    transport: str
    wire: str
    size: int
    dtype: str
    notify: int
    group: Communicator = WORLD


@dataclass
class Collective:
    """An operation of a communication group."""

    index: int
    start: int
    end: int
    connection: int
    count: int
    link: FlowStart
    launch: Launch
    skew: int  #: ns: so late came the last peer
    kind: str = "allReduce"
    group: Communicator = WORLD

    @property
    def fraction(self) -> int:
        return clock_fraction(self.end - self.start)


@dataclass
class GradientFlow:
    """A fwdbwd flow."""

    sequence: int
    forward_tid: int
    forward_at: int
    backward_tid: int
    backward_at: int


@dataclass
class Collection:
    """A run of the garbage collector."""

    tid: int
    start: int
    end: int


@dataclass
class Burst:
    """The autograd thread from its waking by another thread to the end of its work."""

    tid: int
    waker: int
    start: int
    end: int


@dataclass
class Recording:
    """Everything that happened, each list in the profiler's order."""

    main_tid: int
    dequeue_tid: int
    autograd_tid: int
    start: int
    end: int = -1
    groups: list[Communicator] = field(default_factory=lambda: [WORLD])
    operators: list[Operator] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    roots: list[Call] = field(default_factory=list)  #: frames open from the start to the end, outermost first
    enqueues: list[Enqueue] = field(default_factory=list)
    dequeues: list[Dequeue] = field(default_factory=list)
    apis: list[Api] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    links: list[FlowStart] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    collectives: list[Collective] = field(default_factory=list)
    pairs: list[GradientFlow] = field(default_factory=list)
    collections: list[Collection] = field(default_factory=list)
    bursts: list[Burst] = field(default_factory=list)
    steps: list[Operator] = field(default_factory=list)
    connections: int = 0
    correlations: int = 0
    python_ids: int = 0
    sequences: int = 0

    def row(self, group: Communicator) -> int:
        """Return the thread of a group's operations; those of its planes follow."""
        earlier = self.groups[: self.groups.index(group)]
        return sum(len(group_before.ranks) + 1 for group_before in earlier)

    def forget_host(self) -> None:
        """Lose what the host did so far, but not what it launched: tasks without a chain.

        Only between operators, with the queue empty, and before the first collective.
        """
        host: tuple[list[Any], ...] = (
            *(self.operators, self.calls, self.enqueues, self.dequeues, self.apis, self.links),
            *(self.pairs, self.collections, self.bursts, self.steps),
        )
        for events in host:
            events.clear()
        for task in self.tasks:
            task.link = None
            if task.launch is not None:
                task.launch.recorded = False


def clock_fraction(duration: int) -> int:
    """Return the part below a nanosecond that the device's clock adds to a duration: n/32 ns, less than
    half.
    """
    return duration // 1600 % 16
