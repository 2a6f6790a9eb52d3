"""The events of a small machine with a GPU, in whole ns: what traces of kineto are built of in tests."""

from __future__ import annotations

from typing import Any

from tests.analysis.machine import Events, us
from tests.synthetic import piece, process

HOST = 700  #: the pid and tid of the thread that launches


def gpu() -> Events:
    """The metadata of one device and the process that drives it."""
    return [*process(HOST, "python", "CPU", 0), *process(0, "python", "GPU 0", 5_000_000)]


def host(
    start: int, dur: int, name: str = "aten::mm", category: str = "cpu_op", **args: Any
) -> dict[str, Any]:
    """A slice of the host; `stack` is its call stack as written."""
    if "stack" in args:
        args["Call stack"] = args.pop("stack")
    return piece(HOST, HOST, name, us(start), us(dur), category, **args)


def step(number: int, start: int, dur: int) -> dict[str, Any]:
    return host(start, dur, f"ProfilerStep#{number}", "user_annotation")


def launch(start: int, dur: int, correlation: int, name: str = "cudaLaunchKernel") -> dict[str, Any]:
    """A call of the runtime."""
    return host(start, dur, name, "cuda_runtime", correlation=correlation)


def kernel(
    start: int, dur: int, correlation: int, name: str = "gemm", stream: int = 7, category: str = "kernel"
) -> dict[str, Any]:
    """A task of a stream."""
    args = {"correlation": correlation, "stream": stream, "device": 0}
    return piece(0, stream, name, us(start), us(dur), category, **args)
