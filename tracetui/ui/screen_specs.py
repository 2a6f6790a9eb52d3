"""The table of screens: one row for each says all that the rest of the viewer knows of it.

Registration, bindings, palette, help, footers and docs/keys.md are made of these rows.
Knows no screen's code.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from enum import Enum
from typing import Any

from textual.screen import Screen

from tracetui.ui.session import Session


class ScreenScope(Enum):
    """What a screen shows."""

    TRACE = "one of the open traces"  # each has its own
    PAIR = "two open traces, compared"
    JOB = "the ranks of a job"


@dataclass(frozen=True)
class ScreenSpec:
    """One screen. Its keys are rows of `ACTIONS` that name it."""

    name: str  #: also of its mode
    class_name: str
    key: str  #: Textual's name of the key that goes there
    title: str  #: of that key: "go: gaps"
    help: str  #: what one sees there, in one line
    scope: ScreenScope = ScreenScope.TRACE
    has_rows: bool = False  #: it is a table: cursor, sort, export
    has_filter: bool = False  #: a line to type a filter in
    has_views: bool = False  #: tab shows the next of several tables or maps
    is_map: bool = False  #: cells with a cursor
    module: str = ""  #: in `ui/screens`, where that is not its name
    stands_for: str = ""  #: the screen of a trace whose key goes here from the others of this scope

    @property
    def screen_class(self) -> type[Any]:
        """The class of the screen, whose module is imported now."""
        return _screen_class(self.module or self.name, self.class_name)

    def make(self, session: Session, *shared: object) -> Screen[Any]:
        """Return the screen of a session; `shared`: what one that is of no trace alone is given as well."""
        screen: Screen[Any] = self.screen_class(session, *shared)
        return screen


def make_panel(session: Session, module: str, class_name: str) -> Screen[Any]:
    """Return a panel of a session, whose module in `ui/screens` is imported now."""
    panel: Screen[Any] = _screen_class(module, class_name)(session)
    return panel


def _screen_class(module: str, class_name: str) -> type[Any]:
    screen_class: type[Any] = getattr(importlib.import_module(f"tracetui.ui.screens.{module}"), class_name)
    return screen_class


def _table(
    name: str, class_name: str, key: str, title: str, text: str, has_views: bool = False
) -> ScreenSpec:
    """Return the row of a screen of a trace that is a table with a filter."""
    return ScreenSpec(name, class_name, key, title, text, has_rows=True, has_filter=True, has_views=has_views)


def _of_job(name: str, class_name: str, key: str, title: str, text: str) -> ScreenSpec:
    """Return the row of a screen of a job that is a table with a filter."""
    return ScreenSpec(name, class_name, key, title, text, ScreenScope.JOB, has_rows=True, has_filter=True)


def _of_queries(name: str, class_name: str, scope: ScreenScope) -> ScreenSpec:
    """Return the row of a screen of queries over what is of no trace alone."""
    return ScreenSpec(
        name,
        class_name,
        "Q",
        "go: queries",
        "SQL over the tables of what is shown",
        scope,
        has_rows=True,
        has_filter=True,
        module="sql",
        stands_for="sql",
    )


#: by name, in the order of their keys in the footer
SCREENS = {
    spec.name: spec
    for spec in (
        ScreenSpec("timeline", "TimelineScreen", "T", "go: timeline", "Tracks over time"),
        _table("gaps", "GapsScreen", "G", "go: gaps", "All gaps, the worst first"),
        _table("hotspots", "HotspotsScreen", "H", "go: hotspots", "Python lines by the idle time they cause"),
        ScreenSpec("flame", "FlameScreen", "F", "go: flame view", "Stacks by the idle time under each frame"),
        ScreenSpec(
            "heatmap",
            "HeatmapScreen",
            "M",
            "go: heat maps",
            "Where and when devices starve",
            has_views=True,
            is_map=True,
        ),
        _table(
            "operators",
            "OperatorsScreen",
            "O",
            "go: operators",
            "Kernels and operators by time",
            has_views=True,
        ),
        _table("steps", "StepsScreen", "I", "go: steps", "What each step spent its time on"),
        _table(
            "memory",
            "MemoryScreen",
            "Y",
            "go: memory",
            "Who holds it, and what every step leaves behind",
            has_views=True,
        ),
        _table(
            "scheduler",
            "SchedulerScreen",
            "Z",
            "go: scheduler",
            "Which threads had no core, and who had it",
            has_views=True,
        ),
        _table("health", "HealthScreen", "B", "go: health", "Whether the recording can be believed"),
        _table("advice", "AdviceScreen", "V", "go: advice", "What to do about lost time"),
        _table("sql", "SqlScreen", "Q", "go: queries", "SQL over the tables of what is shown"),
        _of_queries("job_sql", "JobSqlScreen", ScreenScope.JOB),
        _of_queries("pair_sql", "PairSqlScreen", ScreenScope.PAIR),
        ScreenSpec(
            "ranks",
            "RanksScreen",
            "R",
            "go: ranks",
            "Who makes the others wait, in a job of many",
            ScreenScope.JOB,
            has_views=True,
            is_map=True,
        ),
        _of_job(
            "whatif", "WhatifScreen", "S", "go: what if", "What a step gains by fixes, and its lanes then"
        ),
        _of_job(
            "pipeline", "PipelineScreen", "P", "go: pipeline", "Stages over time, and what bubbles are of"
        ),
        _of_job("experts", "ExpertsScreen", "E", "go: experts", "Layers of experts by how uneven they are"),
        _of_job(
            "phases", "PhasesScreen", "N", "go: phases", "Named ranges of all ranks, and what they wait for"
        ),
        ScreenSpec(
            "compare",
            "CompareScreen",
            "C",
            "go: comparison",
            "What changed between two open traces",
            ScreenScope.PAIR,
            has_rows=True,
            has_filter=True,
            has_views=True,
        ),
        ScreenSpec(
            "stacked",
            "StackedScreen",
            "vertical_line",
            "go: both stacked",
            "Two open traces, steps aligned",
            ScreenScope.PAIR,
            has_views=True,
        ),
    )
}


def screens_of_scope(scope: ScreenScope) -> tuple[ScreenSpec, ...]:
    """Return the screens of a scope, in the order of their keys in the footer."""
    return tuple(spec for spec in SCREENS.values() if spec.scope is scope)


def is_of_scope(screen: str, scope: ScreenScope) -> bool:
    """Return whether there is a screen of this name that is of a scope."""
    return screen in SCREENS and SCREENS[screen].scope is scope


def is_paired(screen: str) -> bool:
    """Return whether a screen shows two traces."""
    return is_of_scope(screen, ScreenScope.PAIR)


def is_joint(screen: str) -> bool:
    """Return whether a screen is of no trace alone."""
    return is_of_scope(screen, ScreenScope.PAIR) or is_of_scope(screen, ScreenScope.JOB)


def shown_name(screen: str) -> str:
    """Return what people are shown as the name of a screen."""
    spec = SCREENS.get(screen)
    return spec.stands_for or screen if spec is not None else screen


def screen_of_scope(screen: str, shown: str) -> str:
    """Return the screen that the key of `screen` goes to from the one that is shown."""
    scope = SCREENS[shown].scope if shown in SCREENS else ScreenScope.TRACE
    others = (spec.name for spec in screens_of_scope(scope) if spec.stands_for == screen)
    return next(others, screen)


def joint_mode(screen: str) -> str:
    """Return the mode of a screen that is of no trace alone."""
    return f"{screen}@0"
