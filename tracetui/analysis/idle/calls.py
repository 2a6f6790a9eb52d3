"""What the names of host slices say about why a device is kept waiting: the tables, in one place.

Names of operators (cpu_op, user annotations), of runtime calls (CANN: `AscendCL@…`, `Runtime@…`; CUDA) and of
python_function frames. A new spelling is one more row. Nothing here reads a trace.
"""

from __future__ import annotations

import re
from typing import Callable, Optional

from tracetui.analysis.idle.cause import Cause

Answer = Callable[[str], Optional[bool]]


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
    (
        Cause.PROFILER,
        re.compile(r"(?:.*/)?(?:torch_npu/profiler/|torch/profiler/|torch/autograd/profiler\.py\()"),
    ),
)

#: Runtime calls that launch a whole graph of tasks.
_GRAPH_LAUNCH = re.compile(r"(?:cuda|cu|hip)GraphLaunch|aclmdl(?:RI)?Execute|ModelExecute")

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


def launches_graph(call: str) -> bool:
    """Whether a runtime call launches a graph: many tasks at once, which follow each other on the device."""
    return _GRAPH_LAUNCH.match(_LAYER.sub("", call, count=1)) is not None


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
