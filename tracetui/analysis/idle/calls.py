"""What the names of host slices say about why a device is kept waiting.

The rules: the spellings are in `dialects`. Names are of operators (cpu_op, user annotations), of calls of the
runtime, and of python_function frames. Nothing here reads a trace.
"""

from __future__ import annotations

import re
from typing import Callable, Optional

from tracetui.analysis.idle.cause import Cause
from tracetui.trace.dialects.dialect import Purpose
from tracetui.trace.dialects.known import KNOWN, any_of, by_purpose

NamePredicate = Callable[[str], Optional[bool]]

_CAUSES = {
    Purpose.SYNC: Cause.SYNC,
    Purpose.DATALOADER: Cause.DATALOADER,
    Purpose.COMMUNICATION: Cause.COMMUNICATION,
    Purpose.COMPILE: Cause.COMPILE,
    Purpose.PROFILER: Cause.PROFILER,
}

#: Steps are begun by the profiler, and wrap all that the step runs.
_WRAPPER = any_of([*map(re.escape, KNOWN.operators.step_beginnings), *KNOWN.operators.wrappers])
_OPERATORS = by_purpose(KNOWN.operators.purposes)
_CALLS = by_purpose(KNOWN.calls.purposes)
_FRAMES = by_purpose(KNOWN.frames.purposes)
_DEVICE_WAIT = any_of(KNOWN.calls.device_waits)
_STREAM_WAIT = any_of(KNOWN.calls.stream_waits)
_GRAPH_LAUNCH = any_of(KNOWN.calls.graph_launches)
_EARLY_LAUNCH = any_of(KNOWN.calls.early_launches)
_STREAM_HOLD = any_of(KNOWN.calls.stream_holds)
_KERNEL_LAUNCH = any_of(KNOWN.calls.kernel_launches)
_CAPTURE_BEGIN = any_of(KNOWN.calls.capture_begins)
_CAPTURE_END = any_of(KNOWN.calls.capture_ends)
_GRAPH_MAKE = any_of(KNOWN.calls.graph_makes)
_LAUNCH_COMPILE = any_of(KNOWN.calls.compiling_launches)
_MEMORY = any_of(KNOWN.calls.memory)
_HOST_WAIT = any_of(KNOWN.tasks.host_waits)
_LAYER = any_of(map(re.escape, KNOWN.calls.layer_beginnings))
_TO_DEVICE = any_of(KNOWN.copies.to_device)
_TO_HOST = any_of(KNOWN.copies.to_host)
_DIRECTION = any_of(KNOWN.copies.any_direction)


def copies_memory(operator: str) -> bool:
    """Return whether operators of this name copy; what they copied tells where to."""
    return operator in KNOWN.operators.copies


def is_wrapper(operator: str) -> bool:
    """Return whether operators of this name only wrap Python."""
    return _WRAPPER.match(operator) is not None


def cause_of_operator(name: str) -> Cause | None:
    """Return what an operator stands for by its name alone; None for any other."""
    return _first(_OPERATORS, name)


def cause_of_call(name: str) -> Cause | None:
    """Return what a runtime call stands for; None for any other."""
    return _first(_CALLS, _LAYER.sub("", name, count=1))


def cause_of_frame(name: str) -> Cause | None:
    """Return what a python_function frame stands for; None for any other."""
    return _first(_FRAMES, name)


def compiles_at_launch(call: str) -> bool:
    """Return whether a runtime call compiles the operator that it launches."""
    return _LAUNCH_COMPILE.match(_LAYER.sub("", call, count=1)) is not None


def waits_for_device(call: str) -> bool:
    """Return whether a runtime call returns when all tasks that were launched before it are done."""
    return _DEVICE_WAIT.match(_LAYER.sub("", call, count=1)) is not None


def waits_for_stream(call: str) -> bool:
    """Return whether a runtime call returns when all tasks that were launched on one stream are done."""
    return _STREAM_WAIT.match(_LAYER.sub("", call, count=1)) is not None


def launches_graph(call: str) -> bool:
    """Return whether a runtime call launches a graph: many tasks at once, in order on the device."""
    return _GRAPH_LAUNCH.match(_LAYER.sub("", call, count=1)) is not None


def launches_early(call: str) -> bool:
    """Return whether the kernel of a runtime call may begin before the one before it on its stream ends."""
    return _EARLY_LAUNCH.match(_LAYER.sub("", call, count=1)) is not None


def launches_kernel(call: str) -> bool:
    """Return whether a runtime call launches one kernel, which every complete recording holds."""
    return _KERNEL_LAUNCH.match(_LAYER.sub("", call, count=1)) is not None


def holds_stream(call: str) -> bool:
    """Return whether what a stream is given after a runtime call waits for the host."""
    return _STREAM_HOLD.match(_LAYER.sub("", call, count=1)) is not None


def turns_capture(call: str) -> bool | None:
    """Return whether a runtime call begins to keep launches for a graph, or ends that; None: neither."""
    plain = _LAYER.sub("", call, count=1)
    if _CAPTURE_BEGIN.match(plain):
        return True
    return False if _CAPTURE_END.match(plain) else None


def makes_graph(call: str) -> bool:
    """Return whether a runtime call makes a graph, which may be one of what was kept for it."""
    return _GRAPH_MAKE.match(_LAYER.sub("", call, count=1)) is not None


def allocates_memory(call: str) -> bool:
    """Return whether a runtime call takes memory of the device, or gives it back."""
    return _MEMORY.match(_LAYER.sub("", call, count=1)) is not None


def is_part(task: str) -> bool:
    """Return whether one call may launch several tasks of this name."""
    return task.startswith(KNOWN.tasks.parts)


def stream_waits(task: str) -> bool:
    """Return whether a waiting task of this name holds up its stream."""
    return _HOST_WAIT.match(task) is None


def copies_to_device(text: str) -> bool | None:
    """Return whether a direction, or the name of a copy's task or dequeue, is to the device; None: unsaid."""
    return _matches_direction(text, _TO_DEVICE)


def copies_to_host(text: str) -> bool | None:
    """Return whether a direction, or the name of a copy's task or dequeue, is to the host; None: unsaid."""
    return _matches_direction(text, _TO_HOST)


def _matches_direction(text: str, pattern: re.Pattern[str]) -> bool | None:
    words = text.lower().replace("_", " ")
    return pattern.search(words) is not None if _DIRECTION.search(words) else None


def _first(table: tuple[tuple[Purpose, re.Pattern[str]], ...], name: str) -> Cause | None:
    return next((_CAUSES[purpose] for purpose, pattern in table if pattern.match(name)), None)
