"""Idle time by nn.Module: every piece of an idle interval is charged to the innermost module around it.

A module is one of the `nn.Module: Conv2d_7` frames that the profiler records with with_stack or with_modules;
the number tells the instances of a class apart. What the forward operator ran in counts for its backward
operator. What was outside any module has a row of its own: the own times of all rows sum to the idle time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.idle.idle_lines import Charges
from tracetui.analysis.nested_idle import NestedIdle, nested_idle, places_under
from tracetui.analysis.search import pick, rows_of
from tracetui.arrays import EMPTY, Bools, Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Family, Trace
from tracetui.trace.order import numbered
from tracetui.trace.stack import Frame, parse_frame

_MODULE = re.compile(rf"(?:{'|'.join(map(re.escape, KNOWN.frames.module_beginnings))})(.*)", re.DOTALL)
_FORWARD = "forward"


def module_of(frame: str) -> str | None:
    """Return the module that a frame of this name is of: "Conv2d_7"; None where it is of none."""
    match = _MODULE.fullmatch(frame)
    return match[1] if match else None


@dataclass(frozen=True, eq=False)
class ModuleIdle(NestedIdle):
    """The idle time under one module, or outside all."""

    module: str | None  #: "Conv2d_7": never print it unescaped; None: outside any module
    path: tuple[str, ...]  #: the modules around it, outermost first
    forward: Frame | None  #: where its `forward` is defined; None where no frame tells
    call: Frame | None  #: the frame that its calls have in stacks; None outside any module

    @property
    def place(self) -> Frame | None:
        return self.forward


def idle_modules(trace: Trace, ancestors: Ancestors, charges: Charges) -> tuple[ModuleIdle, ...]:
    """Return the charges by module, most idle first; all outside where the trace has no frames of modules.

    `charges`: cut wherever a frame begins or ends.
    """
    return Modules(trace, ancestors).idle(charges)


class Modules:
    """The modules of a trace: which frames are their calls, what those are nested in."""

    def __init__(self, trace: Trace, ancestors: Ancestors) -> None:
        self._trace, self._ancestors = trace, ancestors
        self._modules = [module_of(text) for text in trace.strings]
        self._is_module = np.array([name is not None for name in self._modules], np.bool_)
        self._frames = rows_of(track for track in trace.tracks if track.family == Family.FRAMES)
        self.calls = self._frames[self._of_module(self._frames)]  #: rows of frames

    def idle(self, charges: Charges) -> tuple[ModuleIdle, ...]:
        """Return the charges by module, most idle first, what is outside any among them."""
        rows, place = numbered(charges.frame)
        innermost = self.around(rows)
        names = pick(self._trace.slices.name, innermost)[place]
        leaf = np.where(names < 0, -1, place)
        paths, forwards = self.paths(), self._forwards()
        result = [
            ModuleIdle(
                **vars(nested_idle(self._trace, charges, places, names == name)),
                module=None if name < 0 else self._modules[name],
                path=paths.get(name, ()),
                forward=forwards.get(name),
                call=None if name < 0 else parse_frame(self._trace.strings[name]),
            )
            for name, places in places_under(leaf, self._nested(innermost))
        ]
        return tuple(sorted(result, key=lambda row: (-row.idle_ns, len(row.path), row.module or "")))

    def around(self, rows: Int64s) -> Int64s:
        """Return the call of the innermost module at or around each frame, -1 where none; rows."""
        return self._ancestors.nearest(rows, self._of_module)

    def _of_module(self, rows: Int64s) -> Bools:
        return self._is_module[self._trace.slices.name[rows]]

    def _nested(self, innermost: Int64s) -> Int64s:
        """Pair places of calls with each module (a string) that they are in, or are; int64[m, 2]."""
        width, pairs, row = len(self._trace.strings), [EMPTY], innermost
        place = np.arange(len(row))
        while True:
            place, row = place[row >= 0], row[row >= 0]
            if not len(row):
                break
            pairs.append(place * width + self._trace.slices.name[row])
            row = self.around(self._ancestors.parents_of(row))
        codes = np.unique(np.concatenate(pairs))  # a module that calls itself holds what it does once
        return np.stack((codes // width, codes % width), axis=1)

    def paths(self) -> dict[int, tuple[str, ...]]:
        """Return the modules around each module (a string), at its deepest call, the first of equal ones.

        In the backward pass fewer modules are around what a checkpoint runs again.
        """
        names = self._trace.slices.name
        levels, row = [], self.around(self._ancestors.parents_of(self.calls))
        while (row >= 0).any():
            levels.append(pick(names, row))
            row = self.around(self._ancestors.parents_of(row))
        depth = sum(((level >= 0).astype(np.int64) for level in levels), np.zeros(len(self.calls), np.int64))
        order = np.lexsort((self._trace.slices.start[self.calls], -depth, names[self.calls]))
        distinct_names, first = np.unique(names[self.calls][order], return_index=True)
        return {
            name: tuple(self._modules[level[call]] or "" for level in reversed(levels) if level[call] >= 0)
            for name, call in zip(distinct_names.tolist(), order[first].tolist())
        }

    def _forwards(self) -> dict[int, Frame]:
        """Return where each module's (a string) `forward` is defined: the first frame of that name in it."""
        names, strings = self._trace.slices.name, self._trace.strings
        is_forward = np.array([text.endswith(f": {_FORWARD}") for text in strings], np.bool_)
        rows = self._frames[is_forward[names[self._frames]]]
        rows = rows[np.argsort(self._trace.slices.start[rows], kind="stable")]
        module = pick(names, self.around(rows))
        module_numbers, first = np.unique(module, return_index=True)
        forwards = zip(module_numbers.tolist(), names[rows[first]].tolist())
        return {name: parse_frame(strings[frame]) for name, frame in forwards if name >= 0}
