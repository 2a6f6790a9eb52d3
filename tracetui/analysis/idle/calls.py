"""What the names of host slices say about why a device is kept waiting.

The rules: the spellings are in `dialects`. Names are of operators (cpu_op, user annotations), of calls of the
runtime, and of python_function frames. Nothing here reads a trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Callable, Optional

from tracetui.analysis.idle.cause import Cause
from tracetui.trace.dialects.dialect import Purpose
from tracetui.trace.dialects.known import KNOWN, by_purpose, compile_any

NamePredicate = Callable[[str], Optional[bool]]

_CAUSES = {
    Purpose.SYNC: Cause.SYNC,
    Purpose.DATALOADER: Cause.DATALOADER,
    Purpose.COMMUNICATION: Cause.COMMUNICATION,
    Purpose.COMPILE: Cause.COMPILE,
    Purpose.PROFILER: Cause.PROFILER,
}

#: Steps are begun by the profiler, and wrap all that the step runs.
_WRAPPER = compile_any([*map(re.escape, KNOWN.operators.step_beginnings), *KNOWN.operators.wrappers])
_OPERATORS = by_purpose(KNOWN.operators.purposes)
_CALLS = by_purpose(KNOWN.calls.purposes)
_FRAMES = by_purpose(KNOWN.frames.purposes)
_HOST_WAIT = compile_any(KNOWN.tasks.host_waits)
_LAYER = compile_any(map(re.escape, KNOWN.calls.layer_beginnings))
_TO_DEVICE = compile_any(KNOWN.copies.to_device)
_TO_HOST = compile_any(KNOWN.copies.to_host)
_DIRECTION = compile_any(KNOWN.copies.any_direction)


def _of_call(spellings: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that tells whether a call of the runtime, without its layer, begins as one says."""
    pattern = compile_any(spellings)
    return lambda call: pattern.match(_LAYER.sub("", call, count=1)) is not None


#: Whether a runtime call compiles the operator that it launches.
compiles_at_launch = _of_call(KNOWN.calls.compiling_launches)
#: Whether it returns when all tasks that were launched before it are done.
waits_for_device = _of_call(KNOWN.calls.device_waits)
#: Whether it returns when all tasks that were launched on one stream are done.
waits_for_stream = _of_call(KNOWN.calls.stream_waits)
#: Whether it launches a graph: many tasks at once, in order on the device.
launches_graph = _of_call(KNOWN.calls.graph_launches)
#: Whether its kernel may begin before the one before it on its stream ends.
launches_early = _of_call(KNOWN.calls.early_launches)
#: Whether it launches one kernel, which every complete recording holds.
launches_kernel = _of_call(KNOWN.calls.kernel_launches)
#: Whether what a stream is given after it waits for the host.
holds_stream = _of_call(KNOWN.calls.stream_holds)
#: Whether it makes a graph, which may be one of what was kept for it.
makes_graph = _of_call(KNOWN.calls.graph_makes)
#: Whether it takes memory of the device, or gives it back.
allocates_memory = _of_call(KNOWN.calls.memory)
_begins_capture = _of_call(KNOWN.calls.capture_begins)
_ends_capture = _of_call(KNOWN.calls.capture_ends)


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


def turns_capture(call: str) -> bool | None:
    """Return whether a runtime call begins to keep launches for a graph, or ends that; None: neither."""
    if _begins_capture(call):
        return True
    return False if _ends_capture(call) else None


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
