"""Device time by nn.Module: of each module what it launched itself, and with what is inside of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.modules import Modules, module_of
from tracetui.analysis.search import distinct, pick
from tracetui.arrays import Int32s, Int64s
from tracetui.compare.outermost import Launched
from tracetui.compare.tally import Sums, tally

INSIDE = " > "  #: between a module and one inside of it


@dataclass(frozen=True)
class ModuleTimes:
    """Device time by the path of modules: "BertModel_0 > BertEncoder_0"."""

    total: Sums
    own: Sums


def module_times(analysis: Analysis, launched: Launched, steps: int) -> ModuleTimes:
    """Return the device time under modules; empty where the trace has no frames of them."""
    trace, ancestors = analysis.trace, analysis.links.callers.ancestors
    modules = Modules(trace, ancestors)
    paths = {
        name: INSIDE.join((*path, module_of(trace.strings[name]) or ""))
        for name, path in modules.paths().items()
    }
    names = list(paths)
    number = np.full(len(trace.strings), -1, np.int64)
    number[names] = np.arange(len(names))
    frame = analysis.links.frame[analysis.links.index(launched.row)]
    frames, place = np.unique(frame, return_inverse=True)
    call, of = modules.around(frames), place.reshape(-1)
    own = _numbered(trace.slices.name, call, number)[of]
    levels = []
    while (call >= 0).any():
        levels.append(_numbered(trace.slices.name, call, number)[of])
        call = modules.around(ancestors.parents_of(call))
    task = np.tile(np.arange(len(of)), len(levels))
    inside = np.concatenate([np.empty(0, np.int64), *levels])
    # A module that calls itself holds what it launches once.
    pairs = distinct((task * max(len(names), 1) + inside)[inside >= 0])
    task, inside = np.divmod(pairs, max(len(names), 1))
    texts = list(paths.values())
    return ModuleTimes(
        total=tally(texts, inside, launched.step[task], launched.ns[task], steps, launched.row[task]),
        own=tally(texts, own, launched.step, launched.ns, steps, launched.row),
    )


def _numbered(names: Int32s, calls: Int64s, number: Int64s) -> Int64s:
    name = pick(names, calls)
    return np.where(name >= 0, number[name], -1)
