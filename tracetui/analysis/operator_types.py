"""The type of a task or an operator: its name without what counts its instances.

Of a task of an NPU it is the `Type` of kernel_details.csv: "Mul" of `aclnnMuls_MulAiCore_Mul`, "TransData" of
`trans_TransData_0`. Of a GPU kernel it is the name of the function, without its namespace, template arguments
and tile sizes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Int32s
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Trace, TraceKind

_COUNTERS = re.compile(r"(?:#|_|-op)\d+$")
_GRAPH_NODE = re.compile(r"(?:.*/)?(?P<node>[^/]+)-op\d+(?:_.*)?", re.DOTALL)
#: A digit that belongs to a type, not to the counter after it.
_VERSIONED = re.compile(r".*(?:V\d|[23]D|Atan2|Expm1|Log2|Exp2|Log10)(?=\d*$)", re.DOTALL)
_BINARY = compile_any(KNOWN.tasks.binaries)
_CUTLASS = re.compile(
    r"(?:void )?cutlass::(?:Kernel\d?<|device_kernel<(?:(?:\w+::)*enable_sm\w+<)?(?:\w+::)*)(\w+)"
)
_TILE = re.compile(r"_[A-Za-z]*\d+x\d+.*", re.DOTALL)
_LENGTH = re.compile(r"\d{1,5}")


@dataclass(frozen=True, eq=False)
class OperatorTypes:
    """The types of all names of a trace, on a device and on the host."""

    strings: list[str]  #: the distinct types
    on_device: Int32s  #: int32[strings of the trace]: place of the type of a task of that name
    on_host: Int32s  #: the same of an operator

    def of(self, names: Int32s, on_host: Bools) -> Int32s:
        """Return the place of the type of each name (a string of the trace), as an operator or as a task."""
        return np.where(on_host, self.on_host[names], self.on_device[names])

    def place(self, name: str) -> int:
        """Return the place of a type; -1 of one that is none."""
        return self.strings.index(name) if name in self.strings else -1


def operator_types(trace: Trace, tasks: Int32s, operators: Int32s) -> OperatorTypes:
    """Return the types of names (strings of the trace) of tasks and of operators; of other names -1."""
    number: dict[str, int] = {}
    task_type = gpu_kernel_type if trace.kind == TraceKind.GPU else ascend_task_type

    def numbered(names: Int32s, types: Sequence[str]) -> Int32s:
        number_of_name = np.full(len(trace.strings), -1, np.int32)
        number_of_name[names] = [number.setdefault(name, len(number)) for name in types]
        return number_of_name

    tasks, operators = np.unique(tasks), np.unique(operators)
    on_device = numbered(tasks, [task_type(trace.strings[name]) for name in tasks.tolist()])
    on_host = numbered(operators, [host_operator_type(trace.strings[name]) for name in operators.tolist()])
    return OperatorTypes(list(number), on_device, on_host)


def ascend_task_type(name: str) -> str:
    """Return the type of a task of an NPU: "Conv2D" of "Conv2D1", "Mul" of "aclnnMuls_MulAiCore_Mul".

    It is the `Type` column of kernel_details.csv, as far as a name tells.
    """
    binary = _BINARY.fullmatch(name)
    if binary is not None:
        return binary[binary.lastindex or 0]
    text = _without_counters(_node(name))
    if text.startswith(KNOWN.tasks.type_last_beginnings) or text.endswith(KNOWN.tasks.type_last_endings):
        return text.rpartition("_")[2] or name
    for beginning in KNOWN.tasks.untyped_beginnings:
        text = text.removeprefix(beginning)
    return _without_number(text) or name


def task_name(name: str, kind: TraceKind) -> str:
    """Return the name of a task without the counters that tell instances apart: "Conv2D" of "Conv2D12".

    What it is made of stays: "aclnnMul_MulAiCore_Mul", "MatMulV2", the arguments of a template.
    """
    if kind == TraceKind.GPU:
        return _without_counters(name) or name
    return _without_number(_without_counters(_node(name))) or name


def gpu_kernel_type(name: str) -> str:
    """Return the function of a GPU kernel: "vectorized_elementwise_kernel" of that template of at::native.

    Of a template that stands for any kernel (`cutlass::Kernel<cutlass_80_tensorop_...>`, `device_kernel`),
    what it is made of.
    """
    if name.startswith(KNOWN.copies.beginnings):
        return name.partition(" (")[0]
    generated = _CUTLASS.match(name)
    text = generated[1] if generated else _demangle(name) if name.startswith("_Z") else _function(name)
    return _without_counters(_TILE.sub("", text)) or name


def host_operator_type(name: str) -> str:
    """Return the type of an operator of the host: "ProfilerStep" of "ProfilerStep#50"."""
    return _without_counters(_node(name)) or name


def _node(name: str) -> str:
    """Return the name of a graph's node without scope and number: "Mul" of "Default/network/Mul-op12"."""
    node = _GRAPH_NODE.fullmatch(name)
    return node["node"] if node else name


def _without_counters(text: str) -> str:
    while _COUNTERS.search(text):
        text = _COUNTERS.sub("", text)
    return text


def _without_number(text: str) -> str:
    """Cut the counter off the end of a type: "Conv2D" of "Conv2D12"."""
    versioned = _VERSIONED.match(text)
    return versioned[0] if versioned else text.rstrip("0123456789")


def _function(name: str) -> str:
    """Return the name of a C++ function without result, arguments, namespace and templates."""
    outside, depth = [], 0
    for character in name.replace("(anonymous namespace)::", ""):
        depth += (character == "<") - (character == ">")
        if not depth and character == "(":
            break
        if not depth and character != ">":
            outside.append(character)
    return "".join(outside).strip().rpartition(" ")[2].rpartition("::")[2]


def _demangle(name: str) -> str:
    """Return the innermost name of a mangled C++ function: "_ZN2at6nativeL3addIfEEv" is of "add"."""
    place, last_name = (3 if name.startswith("_ZN") else 2), ""
    while True:
        place += name.startswith(("K", "L"), place)  # of a const method, of one file
        length = _LENGTH.match(name, place)
        if length is None:
            return last_name or name
        begin = length.end()
        place = begin + int(length[0])
        part = name[begin:place]
        last_name = last_name if part.startswith("_GLOBAL__N") else part
