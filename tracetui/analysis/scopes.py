"""The time of a device by scope: what MindSpore calls an operator says where in the network it is.

`Default/network-WithLossCell/_backbone-AlexNet/Cast-op239` is in the scope `Default/network-WithLossCell/…`:
where no Python is recorded, as in graph mode, the tree of scopes tells what stacks would. A scope has the
computing of its tasks, and the idle time right before them. Own times, without what is in scopes inside, add
up to those of the device; what has no scope is outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.analysis.nested_idle import NestedIdle, nested_idle, places_under
from tracetui.analysis.search import among, distinct, pick
from tracetui.arrays import EMPTY, Bools, Int64s
from tracetui.trace.model import Activity, Trace
from tracetui.trace.stack import Frame

SEPARATOR = "/"
DEEPEST = 64  #: scopes inside of each other
_COMPUTES = (Activity.COMPUTE, Activity.AICPU)

Scope = tuple[str, ...]  # from the outermost to the innermost; () is outside of all


@dataclass(frozen=True, eq=False)
class ScopeTime(NestedIdle):
    """What a device computes in one scope, and the idle time right before; names as written in the trace."""

    scope: Scope  #: () for what is outside of all
    tasks: int  #: of its computing, with those of the scopes inside
    computing_ns: int  #: their durations, with those inside
    own_computing_ns: int  #: without

    @property
    def total_ns(self) -> int:
        """Computing and the idle time before it."""
        return self.computing_ns + self.idle_ns


def scope_of(name: str) -> Scope:
    """Return the scope that a task of this name is in, () for none: `("Default", "network-WithLossCell")`."""
    return tuple(name.split(SEPARATOR)[:-1][:DEEPEST])


def has_scopes(trace: Trace, work: Int64s) -> bool:
    """Return whether most tasks that compute, among `work`, are named after their scope."""
    computes = work[among(trace.slices.activity[work], _COMPUTES)]
    names = trace.slices.name[computes]
    scoped = np.array([name for name in distinct(names).tolist() if scope_of(trace.strings[name])], np.int32)
    return 2 * int(np.isin(names, scoped).sum()) > len(names)


def scope_times(trace: Trace, work: Int64s, causes: Causes, in_gaps: Bools | None = None) -> list[ScopeTime]:
    """Return the scopes of some work, those with the most time first.

    Args:
        work: rows of tasks.
        causes: why the devices were idle.
        in_gaps: of each AICore gap whether its idle time counts; None: of all.
    """
    computes = work[among(trace.slices.activity[work], _COMPUTES)]
    places = np.arange(len(causes)) if in_gaps is None else np.flatnonzero(in_gaps[causes.charges.gap])
    task = causes.intervals.task[causes.interval[places]]
    charges = replace(causes.charges.at(places), operator=task)  # what ran on the host is not known
    ending = pick(trace.slices.name, task)
    tree = _ScopeTree(trace, np.concatenate((trace.slices.name[computes], ending)))
    leaf, scope_after = tree.scope[: len(computes)], tree.scope[len(computes) :]
    counts = np.bincount(leaf, minlength=len(tree.scopes))
    self_ns = np.zeros(len(tree.scopes), np.int64)
    np.add.at(self_ns, leaf, trace.slices.dur[computes])
    idle = {
        scope: nested_idle(trace, charges, group, scope_after == scope)
        for scope, group in places_under(scope_after, tree.pairs)
    }
    rows = []
    for scope, path in enumerate(tree.scopes):
        inside = tree.pairs[tree.pairs[:, 1] == scope, 0]
        if counts[inside].any() or scope in idle:
            rows.append(
                ScopeTime(
                    **vars(idle.get(scope, _NO_IDLE)),
                    scope=path,
                    tasks=int(counts[inside].sum()),
                    computing_ns=int(self_ns[inside].sum()),
                    own_computing_ns=int(self_ns[scope]),
                )
            )
    return sorted(rows, key=lambda row: (-row.total_ns, len(row.scope), row.scope))


def scope_tree(scopes: Sequence[ScopeTime]) -> StackNode:
    """Return the idle time before the tasks of each scope as a tree; what is outside of all has no frame.

    scopes : of a trace; with a scope all that it is inside of, as `scope_times` returns them.
    """
    children: dict[Scope, list[ScopeTime]] = {}
    for row in scopes:
        if row.scope and row.idle_ns:
            children.setdefault(row.scope[:-1], []).append(row)

    def node(frame: Frame | None, scope: Scope, self_ns: int, gaps: int) -> StackNode:
        child_nodes = [
            node(Frame("", 0, row.scope[-1]), row.scope, row.own_ns, row.gaps)
            for row in children.get(scope, ())
        ]
        if not scope:
            child_nodes += [
                StackNode(None, row.idle_ns, row.idle_ns, row.gaps, ())
                for row in scopes
                if not row.scope and row.idle_ns
            ]
        child_nodes.sort(key=lambda child: (-child.idle_ns, child.frame or ()))
        return StackNode(
            frame, self_ns + sum(child.idle_ns for child in child_nodes), self_ns, gaps, tuple(child_nodes)
        )

    gaps = np.unique(np.concatenate([_NO_IDLE.gap_indices, *(row.gap_indices for row in scopes)]))
    return node(None, (), 0, len(gaps))


class _ScopeTree:
    """The scopes in the names of tasks, with the scopes around them."""

    def __init__(self, trace: Trace, names: Int64s) -> None:
        self.scopes: list[Scope] = [()]
        numbers: dict[Scope, int] = {(): 0}
        pairs = {(0, 0)}
        scope = np.zeros(len(trace.strings) + 1, np.int64)
        for name in distinct(names[names >= 0]).tolist():
            path = scope_of(trace.strings[name])
            enclosing = []
            for depth in range(1, len(path) + 1):
                number = numbers.setdefault(path[:depth], len(numbers))
                if number == len(self.scopes):
                    self.scopes.append(path[:depth])
                enclosing.append(number)
            scope[name] = enclosing[-1] if enclosing else 0
            pairs.update(
                (leaf, holder) for place, leaf in enumerate(enclosing) for holder in enclosing[: place + 1]
            )
        self.scope = scope[names]  #: int64[n]: the number of each name's scope
        self.pairs = np.array(sorted(pairs), np.int64)  #: int64[m, 2]: scopes, and each that these are in


_NO_IDLE = NestedIdle(0, 0, 0, 0, 0, {}, {}, EMPTY)
