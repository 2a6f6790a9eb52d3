"""The shapes that operators were called with, as producers write them into `args`: one spelling of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: From the ordinal of an event to its args.
ArgsOf = Callable[[int], Mapping[str, Any]]
_KEYS = ("Input Dims", "Input dims")
_LONGEST = 300  #: characters


def shapes_of(args: Mapping[str, Any]) -> str:
    """Return the shapes of the inputs, "32,3,224,224;64,3,11,11"; of scalars nothing, "" where none is told.

    torch_npu writes them as a text, kineto as nested lists.
    """
    value = next((args[key] for key in _KEYS if key in args), None)
    if isinstance(value, str):
        shapes = [shape.strip() for shape in value.split(";")]
    elif isinstance(value, list):
        shapes = [_shape(shape) for shape in value]
    else:
        return ""
    return ";".join(shapes).rstrip(";")[:_LONGEST]


def _shape(value: Any) -> str:
    """Return the shape of a tensor, "4,8", or of a list of tensors, "[4,8 4,8]"."""
    if not isinstance(value, list):
        return str(value)
    if value and all(isinstance(item, list) for item in value):
        return f"[{' '.join(map(_shape, value))}]"
    return ",".join(map(str, value))
