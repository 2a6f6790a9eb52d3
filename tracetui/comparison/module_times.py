"""Device time by nn.Module: of each module what it launched itself, and with what is inside of it."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.modules import Modules, module_of
from tracetui.analysis.search import pick
from tracetui.arrays import Int32s, Int64s
from tracetui.comparison.launched_work import LaunchedWork
from tracetui.comparison.tally import NestedSums, tally
from tracetui.trace.order import numbered

INSIDE = " > "  #: between a module and one inside of it


def module_times(analysis: Analysis, launched: LaunchedWork, steps: int) -> NestedSums:
    """Return the device time by the path of modules, "BertModel_0 > BertEncoder_0"; empty without frames."""
    trace, ancestors = analysis.trace, analysis.launch_chains.callers.ancestors
    modules = Modules(trace, ancestors)
    paths = {
        name: INSIDE.join((*path, module_of(trace.strings[name]) or ""))
        for name, path in modules.paths().items()
    }
    names = list(paths)
    number = np.full(len(trace.strings), -1, np.int64)
    number[names] = np.arange(len(names))
    frame = analysis.launch_chains.frame[analysis.launch_chains.index(launched.row)]
    frames, frame_place = numbered(frame)
    call, levels = modules.around(frames), [np.full(len(frames), -1)]
    innermost = _number_of_calls(trace.slices.name, call, number)[frame_place]
    while (call >= 0).any():
        level = _number_of_calls(trace.slices.name, call, number)
        # A module that calls itself holds what it launches once.
        is_recursive = np.any([level == inner for inner in levels], axis=0)
        levels.append(np.where(is_recursive, -1, level))
        call = modules.around(ancestors.parents_of(call))
    inside = np.stack(levels, axis=1)[frame_place]
    task, level = np.nonzero(inside >= 0)
    texts = list(paths.values())
    return NestedSums(
        total=tally(
            texts, inside[task, level], launched.step[task], launched.ns[task], steps, launched.row[task]
        ),
        self_sums=tally(texts, innermost, launched.step, launched.ns, steps, launched.row),
    )


def _number_of_calls(names: Int32s, calls: Int64s, number: Int64s) -> Int64s:
    name = pick(names, calls)
    return np.where(name >= 0, number[name], -1)
