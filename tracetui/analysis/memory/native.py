"""The stacks of an allocator: the frames of Python in them, and what those of C++ below were called for.

PyTorch records the frames of C++ too unless it is told not to: the innermost is that of the unwinder itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.stack import Frame

NativeStack = tuple[Frame, ...]  #: leaf first

_NATIVE_FILE = compile_any(KNOWN.native.files)
_OPERATORS = tuple(re.compile(pattern) for pattern in KNOWN.native.operators)
_OF_GPUS = compile_any(KNOWN.native.gpu_allocators)
_MODULE_CALL = compile_any(KNOWN.frames.module_calls)


def python_frames(stack: NativeStack) -> NativeStack:
    """Return the frames of Python of a stack."""
    return tuple(frame for frame in stack if not _is_native(frame))


def native_operator(stack: NativeStack) -> str:
    """Return what the C++ above the leaf was called for, as "mul_Tensor" or "PowBackward0"; "" if untold.

    Looked at are the frames below the innermost of Python: of those that fit the outermost counts.
    """
    functions = []
    for frame in stack:
        if not _is_native(frame):
            break
        functions.append(frame.function)
    for pattern in _OPERATORS:
        names = [match[1] for match in map(pattern.match, functions) if match]
        if names:
            return names[-1]
    return ""


def of_a_gpu(stacks: Iterable[NativeStack], settings: Iterable[str]) -> bool:
    """Return whether names of C++ functions, or of settings, belong to the allocator of a GPU."""
    functions = {frame.function for stack in stacks for frame in stack}
    return any(_OF_GPUS.match(name) for name in (*settings, *functions))


def within_a_module(stacks: Iterable[NativeStack]) -> bool:
    """Return whether stacks of Python frames are all of one part of a pass through the model.

    They are where all go through the same line of a `forward`, or the same call of a module in another one
    (the producer may leave either out), and where none has a frame: what the engine of the backward pass
    allocates has none.
    """
    outermost_first = sorted(stack[::-1] for stack in stacks)
    if not any(outermost_first):
        return True
    calls = 0
    for first, last in zip(outermost_first[0], outermost_first[-1]):
        if first != last:
            break
        if first.function == "forward":
            return True
        calls += _MODULE_CALL.match(f"{first.file}: {first.function}") is not None
    return calls > 1


def _is_native(frame: Frame) -> bool:
    return frame.line == 0 or _NATIVE_FILE.match(frame.file) is not None
