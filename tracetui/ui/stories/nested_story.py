"""The story of a module, a frame or a scope: where its time comes from, what called it, what it calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Union

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.butterfly import below, callers
from tracetui.analysis.idle.lines import StackNode
from tracetui.analysis.modules import ModuleIdle, module_of
from tracetui.analysis.nested_idle import FrameIdle
from tracetui.analysis.scopes import ScopeTime
from tracetui.export.words import NO_STACK, module_name, scope_name
from tracetui.language import clauses, counted, names, tell
from tracetui.trace.clean import printable
from tracetui.ui.drawing.pen import Line
from tracetui.ui.stories.line_story import LineStory
from tracetui.ui.tables.columns import clipped
from tracetui.ui.tables.nested_columns import frame_name
from tracetui.units import format_duration

Nested = Union[ModuleIdle, FrameIdle, ScopeTime]

MOST = 4  #: frames named of those above or below


class NestedStory(LineStory):
    """Writes of modules, of frames and of scopes."""

    def of_row(self, analysis: Analysis, row: Nested, width: int, height: int) -> list[Line]:
        """As many lines as there are, at most `height`."""
        dots = self._glyphs.ellipsis
        after = [(clipped(line, width, dots), self._dim) for line in self._around(analysis, row)]
        room = max(height - 1 - len(after), 1)
        name = _name(row)
        idle, gaps = format_duration(row.idle_ns), counted(row.gaps, "1 gap", "{count} gaps")
        told = tell(
            "idle {idle}, own {own}, in {gaps}", idle=idle, own=format_duration(row.own_ns), gaps=gaps
        )
        if isinstance(row, ScopeTime):
            told = tell(
                "computing {computing} in {tasks}, idle before them {idle} in {gaps}",
                computing=format_duration(row.computing_ns),
                tasks=counted(row.tasks, "1 task", "{count} tasks"),
                idle=idle,
                gaps=gaps,
            )
        if row.backward_ns:
            told = clauses([told, tell("backward {time}", time=format_duration(row.backward_ns))])
        title = self._ruled(f"{printable(name, 120)} {self._glyphs.dot} {told}", width)
        return [title, *self._parts(row, width, room), *([each] for each in after)][:height]

    def _around(self, analysis: Analysis, row: Nested) -> Iterator[str]:
        """What called it, and what it calls, most idle first; the scopes in a scope by their computing."""
        if isinstance(row, ScopeTime):
            inside = [each for each in analysis.scopes if row.scope and each.scope[:-1] == row.scope]
            if inside:
                yield tell(
                    "holds {names}", names=_listed([(each.scope[-1], each.computing_ns) for each in inside])
                )
        elif isinstance(row, ModuleIdle):
            held = [each for each in analysis.modules if each.path[-1:] == (row.module,)]
            if held:
                yield tell(
                    "holds {names}", names=_listed([(each.module or "", each.idle_ns) for each in held])
                )
        elif row.frame is not None:
            above, under = callers(analysis.stacks, row.frame), below(analysis.stacks, row.frame)
            for what, node in (("from {names}", above), ("calls {names}", under)):
                if node is not None and node.children:
                    yield tell(
                        what, names=_listed([(_short(child), child.idle_ns) for child in node.children])
                    )


def _name(row: Nested) -> str:
    if isinstance(row, ScopeTime):
        return scope_name(row.scope)
    return module_name(row.module, row.path) if isinstance(row, ModuleIdle) else frame_name(row)


def _listed(parts: Sequence[tuple[str, int]]) -> str:
    """ "forward 7.40 ms, linear 5.89 ms, 3 more" """
    told = [f"{printable(name, 40)} {format_duration(ns)}" for name, ns in parts[:MOST]]
    more = len(parts) - MOST
    return names([*told, *([counted(more, "1 more", "{count} more")] if more > 0 else [])])


def _short(node: StackNode) -> str:
    return NO_STACK if node.frame is None else module_of(node.frame.function) or node.frame.function
