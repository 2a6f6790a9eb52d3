"""The events of a small machine, with times in whole ns: what the tests of the analysis build traces of."""

from __future__ import annotations

from typing import Any

from tests.synthetic import flow, piece, process, thread

PYTHON, CANN, HARDWARE, GROUPS = 100, 200, 300, 400
MAIN, QUEUE, AUTOGRAD = 100, 101, 102  #: OS threads

Events = list[dict[str, Any]]


def us(ns: int) -> str:
    """ns as the text of us that profilers write."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def npu() -> Events:
    """The metadata of one device and the process that drives it."""
    return [
        *process(PYTHON, "Python", "CPU", 0),
        *process(CANN, "CANN", "NPU", 7),
        *process(HARDWARE, "Ascend Hardware", "NPU", 13),
        *process(GROUPS, "HCCL", "NPU", 15),
        *thread(GROUPS, 0, "Group 0 Communication"),
    ]


def task(
    start: int,
    dur: int,
    kind: str = "AI_CORE",
    stream: int = 1,
    connection: int | None = None,
    name: str = "",
) -> dict[str, Any]:
    """A task of a stream; copies and waits by their task type."""
    names = {"PCIE_DMA_SQE": "MEMCPY_ASYNC", "EVENT_WAIT_SQE": "EVENT_WAIT"}
    args: dict[str, Any] = {"Task Type": kind}
    if connection is not None:
        args["connection_id"] = connection
    return piece(HARDWARE, stream, name or names.get(kind, "kernel"), us(start), us(dur), **args)


def collective(
    start: int, dur: int, name: str = "hcom_allReduce_", connection: int | None = None
) -> dict[str, Any]:
    """An operation of the communication group."""
    args: dict[str, Any] = {} if connection is None else {"connection_id": connection}
    return piece(GROUPS, 0, name, us(start), us(dur), **args)


def operator(start: int, dur: int, name: str = "aten::mm", tid: int = MAIN, **args: Any) -> dict[str, Any]:
    """A cpu_op; `stack` is its call stack, leaf first."""
    stack = args.pop("stack", None)
    if stack is not None:
        args["Call stack"] = ";\r\n".join(stack)
    return piece(args.pop("pid", PYTHON), tid, name, us(start), us(dur), "cpu_op", **args)


def step(number: int, start: int, dur: int, pid: int = PYTHON) -> dict[str, Any]:
    """A step of the host."""
    return operator(start, dur, f"ProfilerStep#{number}", pid=pid)


def enqueue(start: int, dur: int, correlation: int, tid: int = MAIN) -> dict[str, Any]:
    return piece(PYTHON, tid, "Enqueue", us(start), us(dur), "enqueue", correlation_id=correlation)


def dequeue(start: int, dur: int, correlation: int, tid: int = QUEUE) -> dict[str, Any]:
    return piece(PYTHON, tid, "Dequeue@aclnnMm", us(start), us(dur), "dequeue", correlation_id=correlation)


def call(
    start: int, dur: int, connection: int, name: str = "Node@launch", tid: int = QUEUE
) -> dict[str, Any]:
    """A call of the runtime."""
    return piece(CANN, tid, name, us(start), us(dur), connection_id=connection)


def frame(start: int, dur: int, name: str, tid: int = MAIN) -> dict[str, Any]:
    """A python_function slice."""
    return piece(PYTHON, tid, name, us(start), us(dur), "python_function")


def arrow(category: str, flow_id: int, source: tuple[int, int, int], target: tuple[int, int, int]) -> Events:
    """Both ends of a flow, each (pid, tid, ns)."""
    return [
        flow("s", category, flow_id, source[0], source[1], us(source[2])),
        flow("f", category, flow_id, target[0], target[1], us(target[2])),
    ]
