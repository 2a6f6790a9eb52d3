"""Device time by class of operator, so that an NPU and a GPU compare: by the names of operators, not kernels.

The classes, and their order, are those of msprof-analyze compare. A task is of the first class that fits an
operator around its launch, else that its kernel fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operator_types import ascend_task_type
from tracetui.arrays import Bools, Int64s
from tracetui.comparison.launched_work import LaunchedWork
from tracetui.comparison.tally import Sums, tally
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Trace, TraceKind
from tracetui.trace.order import numbered

FLASH, PAGED, CONV, MATMUL, MC2 = "Flash Attention", "Paged Attention", "Conv", "Matmul", "MC2"
CUBE, VECTOR, MOVE = "Cube", "Vector", "SDMA (Tensor Move)"
COMMUNICATION, COPY, OTHER = "Communication", "Copy", "Other"
#: As tables list them.
CLASSES = (FLASH, PAGED, CONV, MATMUL, MC2, CUBE, VECTOR, MOVE, COMMUNICATION, COPY, OTHER)

_FLASH = "flash_?attention|fusion_attention|flashattn|xformers_flash|efficient_attention|flash2attn"
_PAGED = "paged_?attention|pagedattn"
_MC2 = "allgather_?matmul|matmul_?reduce_?scatter|matmul_?all_?reduce"
_CONV_KERNEL = r"conv(?!ert)|(?<![a-z0-9])[wd]grad|fprop|winograd|scudnn"
_MATMUL_KERNEL = "matmul|(?<!fb)gemm|gemv|cutlass|cijk_"
#: By the name of an operator, in this order; in lower case.
_OPERATORS = (
    (FLASH, re.compile(_FLASH)),
    (PAGED, re.compile(_PAGED)),
    (CONV, re.compile(r"^(?:aten|npu)::(?:\w+_)?conv(?!ert)")),
    (MATMUL, re.compile(r"^aten::_?(?:addmm|baddbmm|bmm|mm|matmul|linear)\b")),
    (MC2, re.compile(_MC2)),
)
#: By the name of a kernel, or its type; in lower case.
_KERNELS = (
    (FLASH, re.compile(f"{_FLASH}|flash_?(?:fwd|bwd)|fmha")),
    (PAGED, re.compile(_PAGED)),
    (CONV, re.compile(_CONV_KERNEL)),
    (MC2, re.compile(_MC2)),
    (MATMUL, re.compile(_MATMUL_KERNEL)),
)
#: A kernel that only moves data is of its own class, whichever operator it serves.
_MOVE_NAMES = re.compile(r"tensormove")
_TRANSPOSE_NAMES = re.compile(r"(?<!broad)cast|transdata|transpose")
_CUBE_NAMES = re.compile(f"{_CONV_KERNEL}|{_MATMUL_KERNEL}|flash|fmha|attn_|attention")
#: Classes of which forward and backward are told apart, and those with a share of the cube.
_WITH_DIRECTION, _WITH_CUBE = (FLASH, CONV), (FLASH, PAGED, CONV, MATMUL, MC2)


def classes(analysis: Analysis, launched: LaunchedWork, steps: int) -> Sums:
    """Return device time by class, and by what is inside of it: "Conv (Forward)", "Conv (Forward) (Cube)".

    A row with more brackets is part of the one with fewer; the others sum to the device time.
    """
    class_place = class_of(analysis, launched)
    cube, transposed = _is_cube(analysis, launched), _is_transposed(analysis.trace, launched)
    codes, place = numbered((class_place * 2 + _is_backward(analysis, launched)) * 4 + cube * 2 + transposed)
    place_of_name: dict[str, int] = {}
    rows = np.full((2, len(codes)), -1, np.int64)  # of each code the row of the table, and one inside of it
    for code_place, code in enumerate(codes.tolist()):
        name, backward = CLASSES[code // 8], bool(code // 4 % 2)
        if name in _WITH_DIRECTION:
            name = f"{name} ({'Backward' if backward else 'Forward'})"
        rows[0, code_place] = place_of_name.setdefault(name, len(place_of_name))
        part = ""
        if CLASSES[code // 8] in _WITH_CUBE:
            part = f"{name} ({'Cube' if code // 2 % 2 else 'Vector'})"
        elif CLASSES[code // 8] == VECTOR:
            part = f"{name} ({'Trans' if code % 2 else 'No Trans'})"
        if part:
            rows[1, code_place] = place_of_name.setdefault(part, len(place_of_name))
    step, ns, row = (np.tile(column, 2) for column in (launched.step, launched.ns, launched.row))
    return tally(list(place_of_name), rows[:, place].reshape(-1), step, ns, steps, row)


def rank_of(name: str) -> tuple[int, str]:
    """Return what the names of classes are sorted by: the order of the classes, what is inside after it."""
    base = next((place for place, known in enumerate(CLASSES) if name.startswith(known)), len(CLASSES))
    return base, name.replace("(Forward)", "(0)").replace("(Backward)", "(1)")


#: The ends of the names of what is inside of a class by the units that it ran on.
IN_CUBE = (" (Cube)", " (Vector)")


def is_part_of_row(name: str) -> bool:
    """Return whether a row is part of another of the table."""
    return name.endswith((*IN_CUBE, " (Trans)", " (No Trans)"))


def class_of(analysis: Analysis, launched: LaunchedWork) -> Int64s:
    """Return int64[n]: the place in `CLASSES` of the class of each task."""
    trace, activity = analysis.trace, analysis.trace.slices.activity[launched.row]
    class_place = np.full(len(launched.row), -1, np.int64)
    class_place[activity == Activity.COMMUNICATION] = CLASSES.index(COMMUNICATION)
    class_place[activity == Activity.COPY] = CLASSES.index(COPY)
    class_place[activity == Activity.AICPU] = CLASSES.index(OTHER)
    (unclassified,) = np.nonzero(class_place < 0)
    names = trace.slices.name[launched.row]
    by_name = np.full(len(trace.strings), CLASSES.index(VECTOR), np.int64)
    for name in np.unique(names[unclassified]).tolist():
        text = trace.strings[name].lower()
        kernel = next((kind for kind, pattern in _KERNELS if pattern.search(text)), VECTOR)
        by_name[name] = CLASSES.index(MOVE if _MOVE_NAMES.search(text) else kernel)
    class_place[unclassified] = by_name[names[unclassified]]
    unclassified = unclassified[class_place[unclassified] != CLASSES.index(MOVE)]
    rows, place = numbered(launched.operator[unclassified])
    by_operator = _class_by_operator(analysis, rows, launched.is_operator)[place]
    class_place[unclassified] = np.where(by_operator >= 0, by_operator, class_place[unclassified])
    return class_place


def _class_by_operator(analysis: Analysis, rows: Int64s, is_operator: Callable[[Int64s], Bools]) -> Int64s:
    """Return the first class that fits each operator (a row, -1 for none) or one around it; else -1."""
    trace, nearest = analysis.trace, analysis.launch_chains.callers.ancestors.nearest
    names = trace.slices.name
    texts = [text.lower() for text in trace.strings]
    first_class = np.full(len(rows), -1, np.int64)
    for kind, pattern in _OPERATORS:
        fits = np.array([bool(pattern.search(text)) for text in texts], np.bool_)
        if fits.any():
            nearest_fit = nearest(rows, lambda around, fits=fits: fits[names[around]] & is_operator(around))  # type: ignore[misc]
            first_class[(first_class < 0) & (nearest_fit >= 0)] = CLASSES.index(kind)
    return first_class


def _is_backward(analysis: Analysis, launched: LaunchedWork) -> Bools:
    """Return whether each task is of the backward pass: by arrows, or by an operator around it."""
    trace, nearest = analysis.trace, analysis.launch_chains.callers.ancestors.nearest
    names, is_operator = trace.slices.name, launched.is_operator
    has_name = np.array(["backward" in text.lower() for text in trace.strings], np.bool_)
    rows, place = numbered(launched.operator)
    nearest_backward = nearest(rows, lambda around: has_name[names[around]] & is_operator(around))
    return launched.backward | (nearest_backward >= 0)[place]


def _is_cube(analysis: Analysis, launched: LaunchedWork) -> Bools:
    """Return whether each kernel runs on the cube units, by the table beside the trace, its type or name."""
    trace, kernels = analysis.trace, analysis.kernels
    slices, rows = trace.slices, launched.row
    by_name = np.zeros(len(trace.strings), np.bool_)
    for name in np.unique(slices.name[rows]).tolist():
        by_name[name] = bool(_CUBE_NAMES.search(trace.strings[name].lower()))
    cube = by_name[slices.name[rows]]
    if trace.kind == TraceKind.ASCEND:
        types = [trace.strings[kind] if kind >= 0 else "" for kind in range(len(trace.strings))]
        vector = np.array([text.startswith(KNOWN.tasks.vector_types) for text in types] + [False], np.bool_)
        cube &= ~vector[slices.task_type[rows]]
    if kernels is not None and kernels.table.rows:
        detail_rows = kernels.typed(rows)
        cube = np.where(detail_rows >= 0, kernels.on_cube[detail_rows], cube)
    return cube


def _is_transposed(trace: Trace, launched: LaunchedWork) -> Bools:
    """Return whether each kernel only changes the layout or the type of data."""
    by_name = np.zeros(len(trace.strings), np.bool_)
    for name in np.unique(trace.slices.name[launched.row]).tolist():
        text = trace.strings[name]
        kind = ascend_task_type(text) if trace.kind == TraceKind.ASCEND else text
        by_name[name] = bool(_TRANSPOSE_NAMES.search(kind.lower()))
    return by_name[trace.slices.name[launched.row]]
