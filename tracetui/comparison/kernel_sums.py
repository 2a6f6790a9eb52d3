"""Kernels by name without counters, or by type and shapes where the producer tells them beside the trace."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.operator_types import task_name
from tracetui.analysis.search import among
from tracetui.comparison.launched_work import LaunchedWork
from tracetui.comparison.operator_sequences import COMPUTE
from tracetui.comparison.tally import Sums, tally
from tracetui.trace.order import numbered

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class KernelSums:
    """The kernels of a run, by both of what they may be called."""

    by_name: Sums
    by_shape: Sums | None  #: "TransData [32,3,224,224]"; None where shapes are not told


def kernel_sums(analysis: Analysis, launched: LaunchedWork, steps: int) -> KernelSums:
    """Return the device time of what computes."""
    trace = analysis.trace
    is_compute = among(trace.slices.activity[launched.row], COMPUTE)
    row, ns, step = launched.row[is_compute], launched.ns[is_compute], launched.step[is_compute]
    distinct, name = numbered(trace.slices.name[row])
    names = [trace.strings[place] for place in distinct.tolist()]
    kernel_names = [task_name(text, trace.kind) for text in names]
    by_name = tally(kernel_names, name, step, ns, steps, row)
    details = analysis.kernels
    if details is None or not details.table.texts["input_shapes"].texts:
        return KernelSums(by_name, None)
    table = details.table

    def shaped_name(detail_row: int, name: int) -> str:
        if detail_row < 0:
            return kernel_names[name]
        shapes = table.text("input_shapes", detail_row) or ""
        return f"{table.text('type', detail_row)} [{_BLANKS.sub('', shapes)}]"

    places = zip(details.typed(row).tolist(), name.tolist())
    texts = [shaped_name(detail_row, place) for detail_row, place in places]
    place_of_text = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    shaped = np.array([place_of_text[text] for text in texts], np.int64)
    return KernelSums(by_name, tally([*place_of_text], shaped, step, ns, steps, row))
