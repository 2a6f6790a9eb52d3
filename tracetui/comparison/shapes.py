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
    told = next((args[key] for key in _KEYS if key in args), None)
    if isinstance(told, str):
        shapes = [shape.strip() for shape in told.split(";")]
    elif isinstance(told, list):
        shapes = [_shape(shape) for shape in told]
    else:
        return ""
    return ";".join(shapes).rstrip(";")[:_LONGEST]


def _shape(told: Any) -> str:
    """Of a tensor "4,8", of a list of tensors "[4,8 4,8]"."""
    if not isinstance(told, list):
        return str(told)
    if told and all(isinstance(each, list) for each in told):
        return f"[{' '.join(map(_shape, told))}]"
    return ",".join(map(str, told))
