"""What MindSpore calls things. No real trace of version 2.4 and later was at hand: all of it is [C]."""

from __future__ import annotations

from tracetui.trace.dialects.dialect import Dialect, Place, Purpose
from tracetui.trace.model import Family, Layer

MINDSPORE = Dialect(
    processes={
        "MindSpore": Place(Layer.PYTHON, Family.OPERATORS),
        "CPU OP": Place(Layer.PYTHON, Family.OPERATORS),
        "Scope Layer": Place(Layer.PYTHON, Family.OTHER),  # networks, cut from names of operators: no calls
    },
    ascend_processes=frozenset({"MindSpore"}),
    ascend_categories=frozenset({"async_npu", "async_mindspore"}),
    name_beginning_hints=(
        ("PynativeFramework::", "MindSpore"),
        ("RuntimeFramework::", "MindSpore"),
    ),
    categories={"python_function": Place(Layer.PYTHON, Family.FRAMES)},
    flow_families={
        "async_npu": (Family.OPERATORS, Family.TASKS, Family.GROUP),  # mindspore_to_npu
        "async_mindspore": (Family.OPERATORS,),  # mindspore_to_self
    },
    operator_flows=frozenset({"async_npu"}),
    dispatch_flows=frozenset({"async_mindspore"}),
    step_beginnings=("ProfilerStep#",),
    operators=((Purpose.DATALOADER, r"Dataset::"),),
    framework_packages=frozenset({"mindspore"}),
)
