"""The story of a module, a frame or a scope: where its time comes from, what called it, what it calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Union

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.butterfly import callees, callers
from tracetui.analysis.idle.idle_lines import StackNode
from tracetui.analysis.modules import ModuleIdle, module_of
from tracetui.analysis.nested_idle import FrameIdle
from tracetui.analysis.scopes import ScopeTime
from tracetui.export.sentences.causes import NO_STACK, module_name, scope_name
from tracetui.language import clauses, counted, names, translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.pen import Line
from tracetui.ui.stories.line_story import LineStory
from tracetui.ui.tables.columns import clipped
from tracetui.ui.tables.nested_columns import frame_name
from tracetui.units import format_duration

Nested = Union[ModuleIdle, FrameIdle, ScopeTime]

MAX_NAMED = 4  #: frames named of those above or below


class NestedStory(LineStory):
    """The story of a module, a frame or a scope."""

    def of_row(self, analysis: Analysis, row: Nested, width: int, height: int) -> list[Line]:
        """Return at most `height` lines on a row of the nested tables."""
        ellipsis = self._glyphs.ellipsis
        neighbours = [(clipped(line, width, ellipsis), self._dim) for line in self._neighbours(analysis, row)]
        room = max(height - 1 - len(neighbours), 1)
        idle, gaps = format_duration(row.idle_ns), counted(row.gaps, "1 gap", "{count} gaps")
        if isinstance(row, ScopeTime):
            computing, tasks = (
                format_duration(row.computing_ns),
                counted(row.tasks, "1 task", "{count} tasks"),
            )
            numbers = [
                translate("computing {computing} in {tasks}", computing=computing, tasks=tasks),
                translate("idle before them {idle} in {gaps}", idle=idle, gaps=gaps),
            ]
        else:
            own = translate("own {time}", time=format_duration(row.own_ns))
            numbers = [translate("idle {time}", time=idle), own, translate("in {gaps}", gaps=gaps)]
        if row.backward_ns:
            numbers.append(translate("backward {time}", time=format_duration(row.backward_ns)))
        choices = [clauses(numbers[:count]) for count in range(len(numbers), 0, -1)]
        title = self._ruled_name(_row_name(analysis, row), choices, width)
        return [title, *self._cause_lines(row, width, room), *([piece] for piece in neighbours)][:height]

    def _neighbours(self, analysis: Analysis, row: Nested) -> Iterator[str]:
        """Yield what called it and what it calls, most idle first; for a scope what it holds."""
        if isinstance(row, ScopeTime):
            inner_scopes = [inner for inner in analysis.scopes if row.scope and inner.scope[:-1] == row.scope]
            if inner_scopes:
                yield translate(
                    "holds {names}",
                    names=_named_parts([(inner.scope[-1], inner.computing_ns) for inner in inner_scopes]),
                )
        elif isinstance(row, ModuleIdle):
            inner_modules = [inner for inner in analysis.modules if inner.path[-1:] == (row.module,)]
            if inner_modules:
                yield translate(
                    "holds {names}",
                    names=_named_parts([(inner.module or "", inner.idle_ns) for inner in inner_modules]),
                )
        elif row.frame is not None:
            caller_tree, callee_tree = (
                callers(analysis.stacks, row.frame),
                callees(analysis.stacks, row.frame),
            )
            for template, tree in (("from {names}", caller_tree), ("calls {names}", callee_tree)):
                if tree is not None and tree.children:
                    yield translate(
                        template,
                        names=_named_parts([(_short_name(child), child.idle_ns) for child in tree.children]),
                    )


def _row_name(analysis: Analysis, row: Nested) -> str:
    """Return the name of a row as its table has it."""
    if isinstance(row, ScopeTime):
        return scope_name(row.scope)
    return module_name(row.module, row.path) if isinstance(row, ModuleIdle) else frame_name(analysis, row)


def _named_parts(parts: Sequence[tuple[str, int]]) -> str:
    """Return "forward 7.40 ms, linear 5.89 ms, 3 more". `parts`: names and ns."""
    words = [f"{printable(name, 40)} {format_duration(ns)}" for name, ns in parts[:MAX_NAMED]]
    more = len(parts) - MAX_NAMED
    return names([*words, *([counted(more, "1 more", "{count} more")] if more > 0 else [])])


def _short_name(node: StackNode) -> str:
    """Return the module or function of a frame without its file."""
    return (
        translate(NO_STACK) if node.frame is None else module_of(node.frame.function) or node.frame.function
    )
