"""What the names of host slices say about why a device is kept waiting: the tables, in one place.

Names of operators (cpu_op, user annotations), of runtime calls (CANN: `AscendCL@…`, `Runtime@…`; CUDA) and of
python_function frames. A new spelling is one more row. Nothing here reads a trace.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Callable, Optional

Answer = Callable[[str], Optional[bool]]


class Cause(IntEnum):
    """Why a device was idle for a stretch; where several hold of the host, the lower number wins."""

    GC = 0  #: the garbage collector of Python ran
    SYNC = 1  #: the host waited for the device
    DATALOADER = 2  #: the host waited for data
    COPY = 3  #: the host copied to the device
    COMMUNICATION = 4  #: the host prepared a collective
    COMPILE = 5  #: an operator or graph was compiled on the thread that enqueues
    OPERATOR = 6  #: the framework worked on an operator
    PYTHON = 7  #: Python ran between operators
    UNRECORDED = 8  #: the thread recorded nothing
    QUEUE_BUSY = 9  #: enqueued, while the thread that dequeues was at another task
    QUEUE_WAKEUP = 10  #: enqueued, not yet taken by an unoccupied thread
    LAUNCH_COMPILE = 11  #: dequeued, compiled
    LAUNCH_DISPATCH = 12  #: dequeued, being launched
    STREAM_WAIT = 13  #: launched, its stream waited for an event
    LATENCY = 14  #: launched, the usual time until a task runs
    UNKNOWN = 15  #: launched, not running, and nothing says why
    UNLINKED = 16  #: the trace does not tell what launched the task

    @property
    def label(self) -> str:
        """The dotted name: "host.sync"."""
        return LABELS[self]

    @property
    def family(self) -> str:
        """ "host", "queue", "launch", "device" or "unlinked"."""
        return LABELS[self].split(".")[0]


LABELS = {
    Cause.GC: "host.gc",
    Cause.SYNC: "host.sync",
    Cause.DATALOADER: "host.dataloader",
    Cause.COPY: "host.copy",
    Cause.COMMUNICATION: "host.communication",
    Cause.COMPILE: "host.compile",
    Cause.OPERATOR: "host.operator",
    Cause.PYTHON: "host.python",
    Cause.UNRECORDED: "host.unrecorded",
    Cause.QUEUE_BUSY: "queue.busy",
    Cause.QUEUE_WAKEUP: "queue.wakeup",
    Cause.LAUNCH_COMPILE: "launch.compile",
    Cause.LAUNCH_DISPATCH: "launch.dispatch",
    Cause.STREAM_WAIT: "device.stream_wait",
    Cause.LATENCY: "device.latency",
    Cause.UNKNOWN: "device.unknown",
    Cause.UNLINKED: "unlinked",
}

#: Causes that would keep the device waiting as long if the host had never synchronised before.
REASONS_OF_THEIR_OWN = (Cause.GC, Cause.DATALOADER, Cause.COPY, Cause.COMPILE, Cause.LAUNCH_COMPILE)

#: Operators that copy, to the device or elsewhere: what they copied tells which.
COPY_OPERATORS = frozenset({"aten::to", "aten::copy_", "aten::_to_copy"})

#: Operators that only wrap Python: they do not count as running.
_WRAPPER = re.compile(
    r"ProfilerStep#|Optimizer\..*#|(?:Distributed|FullySharded)DataParallel\.(?:forward|backward)"
)

#: What operators of these names stand for, all that is inside them included.
_OPERATORS = (
    (
        Cause.SYNC,
        re.compile(
            r"aten::(?:item|_local_scalar_dense|is_nonzero|nonzero)$|(?:\w+::)?(?:\w+_)?synchronize(?!r)"
        ),
    ),
    (Cause.DATALOADER, re.compile(r"enumerate\(Data(?:Loader|Pipe)\)#|Dataset::")),
    (Cause.COMMUNICATION, re.compile(r"c10d::|record_param_comms|nccl:|hccl:|Hccl[A-Z]|hcom_")),
    (Cause.COMPILE, re.compile(r"TorchDynamo|torch\._dynamo|npu::compile|inductor_compile", re.IGNORECASE)),
)

#: The same of runtime calls, after their `AscendCL@`. A blocking copy of the runtime waits for the device.
_CALLS = (
    (
        Cause.SYNC,
        re.compile(
            r"aclrtSynchronize|aclrtMemcpy(?:2d)?$|aclrtMemset$|(?:Stream|Device|Event|Context|Ctx)Sync"
            r"|Mem(?:Copy|cpy)Sync|(?:cuda|cu|hip)\w*Synchronize|(?:cuda|hip)Memcpy(?:2D|3D|ToSymbol|FromSymbol)?$"
            r"|cuMemcpy(?:DtoH|HtoD)(?:_v2)?$|hipMemcpyWithStream$"
        ),
    ),
    (Cause.COMMUNICATION, re.compile(r"(?:Hccl|Communication)@|hcom_|Hccl[A-Z]|nccl[A-Z]")),
    (
        Cause.COMPILE,
        re.compile(r"aclopCompile|opCompile|aclgrphBuild|cuModuleLoad|cuLinkComplete|nvrtcCompile"),
    ),
)

#: The same of python_function frames.
_FRAMES = (
    (
        Cause.SYNC,
        re.compile(
            r"(?:.*/)?torch(?:_npu)?/(?:npu|cuda)/.*: synchronize$|<built-in .*_(?:npu|cuda)_synchronize\b"
            r"|<built-in method synchronize of "
        ),
    ),
    (Cause.DATALOADER, re.compile(r"(?:.*/)?torch/utils/data/")),
    (
        Cause.COMPILE,
        re.compile(r"(?:.*/)?(?:torch/_dynamo/convert_frame|torch/_inductor/compile_fx|triton/compiler/)"),
    ),
)

#: Runtime calls that compile an operator as part of its launch.
_LAUNCH_COMPILE = re.compile(r"aclopCompileAndExecute")

#: Runtime calls that take memory of the device from the driver, or give it back.
_MEMORY = re.compile(
    r"aclrt(?:Malloc|Free)(?!Host)|aclMallocMemInner|rt(?:Malloc|Free)(?!Host)|Dev(?:Malloc|Free)"
    r"|(?:cuda|hip)(?:Malloc|Free)(?!Host)|cuMem(?:Alloc|Free)(?!Host)"
)

#: Tasks that producers show on a stream and that are waits of the host, not of the stream.
_HOST_WAIT = re.compile(r"(?:Context|Stream|Event) Sync")

_LAYER = re.compile(r"(?:AscendCL|Runtime|Node|Model)@")
_TO_DEVICE = re.compile(r"host to device|htod|h2d")
_TO_HOST = re.compile(r"device to host|dtoh|d2h")
_DIRECTION = re.compile(r"(?:host|device|peer) to |[hdp](?:to|2)[hdp]\b")


def is_wrapper(operator: str) -> bool:
    """Whether operators of this name only wrap Python."""
    return _WRAPPER.match(operator) is not None


def cause_of_operator(name: str) -> Cause | None:
    """What an operator stands for by its name alone; None for any other."""
    return _first(_OPERATORS, name)


def cause_of_call(name: str) -> Cause | None:
    """What a runtime call stands for; None for any other."""
    return _first(_CALLS, _LAYER.sub("", name, count=1))


def cause_of_frame(name: str) -> Cause | None:
    """What a python_function frame stands for; None for any other."""
    return _first(_FRAMES, name)


def compiles_at_launch(call: str) -> bool:
    """Whether a runtime call compiles the operator that it launches."""
    return _LAUNCH_COMPILE.match(_LAYER.sub("", call, count=1)) is not None


def allocates_memory(call: str) -> bool:
    """Whether a runtime call takes memory of the device, or gives it back."""
    return _MEMORY.match(_LAYER.sub("", call, count=1)) is not None


def stream_waits(task: str) -> bool:
    """Whether a waiting task of this name holds up its stream."""
    return _HOST_WAIT.match(task) is None


def copies_to_device(text: str) -> bool | None:
    """Whether the direction of a copy, or the name of its task or dequeue, is to the device; None: unsaid."""
    return _says(text, _TO_DEVICE)


def copies_to_host(text: str) -> bool | None:
    """Whether the direction of a copy, or the name of its task or dequeue, is to the host; None: unsaid."""
    return _says(text, _TO_HOST)


def _says(text: str, wanted: re.Pattern[str]) -> bool | None:
    plain = text.lower().replace("_", " ")
    return wanted.search(plain) is not None if _DIRECTION.search(plain) else None


def _first(table: tuple[tuple[Cause, re.Pattern[str]], ...], name: str) -> Cause | None:
    return next((cause for cause, pattern in table if pattern.match(name)), None)
