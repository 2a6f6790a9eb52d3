"""What the analysis makes of planted runs, all of it: what a change of the code changes in it can be seen.

That it is right is what the tests of each module are for. The times of most of the runs are rounded, so that
much begins where something else ends: there it shows which side of a bound counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests import pages
from tests.analysis.described import described
from tests.analysis.planted import planted
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.butterfly import below, callers
from tracetui.analysis.heat.cause_map import CauseMap
from tracetui.analysis.heat.fold import FoldMap
from tracetui.analysis.heat.lead_map import lead_of_lines, lead_of_steps
from tracetui.analysis.heat.lengths import LengthMap, half_of_idle
from tracetui.analysis.heat.step_map import StepMap
from tracetui.analysis.heat.work import WorkMap, main_slice
from tracetui.analysis.idle.cause_raster import most
from tracetui.analysis.raster import even_edges
from tracetui.trace.stack import Frame


def _idle(of: Analysis) -> Iterator[tuple[str, Any]]:
    for name in (
        "devices",
        "steps",
        "gaps",
        "idle",
        "causes",
        "preparing",
        "signatures",
        "syncs",
        "step_notes",
    ):
        yield name, getattr(of, name)


def _lines(of: Analysis) -> Iterator[tuple[str, Any]]:
    for name in ("lines", "modules", "frames", "frame_charges", "stacks", "annotated_phases"):
        yield name, getattr(of, name)
    yield "scopes", of.scopes
    for advice in of.advice:
        yield advice.id, advice
    for file, line, function, _ in [each.key for each in of.lines if each.file][:1]:
        frame = Frame(file or "", line, function)
        yield "below", below(of.stacks, frame)
        yield "callers", callers(of.stacks, frame)


def _links(of: Analysis) -> Iterator[tuple[str, Any]]:
    links = of.links
    for name in ("launch", "dequeue", "enqueue", "operator"):
        yield name, getattr(links, name)
    yield "callers", links.callers.of(links.operator[links.operator >= 0])
    yield "leads", of.leads
    yield "lost", of.lead_losses


def _critical(of: Analysis) -> Iterator[tuple[str, Any]]:
    yield "dependencies", of.dependencies
    yield "chains", of.critical
    yield "steps", [of.critical_in_step(index) for index in range(len(of.steps))]
    yield "savings", of.savings
    yield "faster", [of.what_ifs.faster(key, factor) for key in [*of.savings][:3] for factor in (0.0, 0.5)]


def _communication(of: Analysis) -> Iterator[tuple[str, Any]]:
    for name in (
        "operations", "tasks", "groups", "waits", "exposed", "exposed_sets", "splits", "lines", "late_peers",
        "transfers", "link_table", "master_times",
    ):  # fmt: skip
        yield name, getattr(of.communication, name)
    yield (
        "in window",
        of.communication.links_in_window(of.trace.start_ns, int(np.median(of.trace.slices.start))),
    )


def _operators(of: Analysis) -> Iterator[tuple[str, Any]]:
    edges = even_edges(of.trace.start_ns, of.trace.end_ns, 3)
    for host in (False, True):
        parts = {
            "all": of.operators(host),
            "step": of.operators_in_step(1, host),
            "window": of.operators_in_window(int(edges[1]), int(edges[2]), host),
            "one": of.operators_in_window(int(of.trace.slices.start[9]), int(of.trace.slices.end[9]), host),
        }
        for name, part in parts.items():
            for by in ("by_type", "by_name"):
                table = getattr(part, by)()
                yield (
                    f"{name} {by} {host}",
                    {key: value for key, value in vars(table).items() if isinstance(value, np.ndarray)},
                )


def _maps(of: Analysis) -> Iterator[tuple[str, Any]]:
    edges = even_edges(of.trace.start_ns, of.trace.end_ns, 23)
    steps, fold, work = StepMap.of(of), FoldMap.of(of), WorkMap.of(of)
    yield "steps", (steps.outside_ns, steps.low_ns, steps.high_ns, steps.column, steps.edges(7))
    yield "cells of steps", steps.cells(steps.edges(7))
    yield "whole steps", steps.whole_steps()
    yield "fold", (fold.phases, fold.lines(9), fold.line_ns(9), fold.cells(9, 5), fold.edges(9, 5))
    yield "lengths", (half_of_idle(of), LengthMap.of(of, 6).bounds, LengthMap.of(of, 6).cells(edges))
    yield (
        "causes",
        (CauseMap(of).causes, CauseMap(of).outside_ns, CauseMap(of).by_step(), CauseMap(of).by_time(edges)),
    )
    yield "lead", (lead_of_steps(steps, steps.edges(7)), lead_of_lines(fold, 9, 5))
    cells = work.cells(edges)
    yield "work", cells
    for place, thing in enumerate(work.things):
        times = [main_slice(of, thing, *edges[at : at + 2].tolist()) for at in range(0, 23, 3)]
        yield (
            f"thing {place}",
            (thing.doing, thing.device, thing.times, work.while_idle(thing), np.array(times)),
        )
    raster = [raster.ns(edges) for raster in of.cause_rasters]
    yield "causes of columns", [(ns, most(ns)) for ns in raster]
    yield "idle columns", [raster.columns(range(len(raster)), edges) for raster in of.idle_rasters]


RESULTS: dict[str, Callable[[Analysis], Iterator[tuple[str, Any]]]] = {
    "idle": _idle,
    "lines": _lines,
    "links": _links,
    "critical": _critical,
    "communication": _communication,
    "operators": _operators,
    "maps": _maps,
}


NAMES = ("mixed-rounded", "two-rounded", "pynative-rounded", "graph", "gpu")


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_made_of_a_planted_run(name: str, result: str, request: pytest.FixtureRequest) -> None:
    lines = (line for key, value in RESULTS[result](planted(name)) for line in described(key, value))
    pages.check("\n".join(lines), f"{name}-{result}", request)
