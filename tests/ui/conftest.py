"""Styles that all apps of a worker share."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from tests.ui.rest import PATIENCE_S, at_rest, keys_taken
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.cache.traces import reopen
from tracetui.comparison.run import Run, run_of
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace


@pytest.fixture(scope="session", autouse=True)
def _styles_parsed_once() -> Iterator[None]:
    """Parse the styles of each widget, and sort those of the same widgets, once, not in each app."""
    parse_source, parse, sort = Stylesheet._parse_rules, Stylesheet.parse, vars(Stylesheet)["rules_map"]
    sources: dict[Any, list[RuleSet]] = {}
    sheets: dict[Any, list[RuleSet]] = {}
    by_name: dict[int, tuple[list[RuleSet], dict[str, list[RuleSet]]]] = {}

    def parse_source_once(sheet: Stylesheet, *arguments: Any, **named: Any) -> list[RuleSet]:
        key = (frozenset(sheet._variables.items()), arguments, *named.items())
        if key not in sources:
            sources[key] = parse_source(sheet, *arguments, **named)
        return sources[key]

    def parse_once(sheet: Stylesheet) -> None:
        key = (frozenset(sheet._variables.items()), *sheet.source.items())
        if key not in sheets:
            parse(sheet)
            sheets[key] = sheet._rules
        sheet._rules, sheet._rules_map, sheet._require_parse = sheets[key], None, False

    def sort_once(sheet: Stylesheet) -> dict[str, list[RuleSet]]:
        rules = sheet.rules
        if id(rules) not in by_name:
            by_name[id(rules)] = rules, sort.__get__(sheet)
        return by_name[id(rules)][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_source_once)
        patch.setattr(Stylesheet, "parse", parse_once)
        patch.setattr(Stylesheet, "rules_map", property(sort_once))
        yield


@pytest.fixture(scope="session", autouse=True)
def _traces_analysed_once() -> Iterator[None]:
    """Analyse a trace that several apps show one after the other once."""
    latest: deque[tuple[Trace, tuple[Any, ...], Analysis]] = deque(maxlen=6)

    def analyse_once(trace: Trace, *rules: Any) -> Analysis:
        for known, under, analysis in latest:
            if known is trace and under == rules:
                return analysis
        latest.append((trace, rules, analyse(trace, *rules)))
        return latest[-1][2]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tracetui.ui.loading.analyse", analyse_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _traces_reopened_once() -> Iterator[None]:
    """Take a file that several apps show one after the other from the cache once, and so analyse it once."""
    latest: deque[tuple[tuple[Path, int, int], Trace]] = deque(maxlen=6)

    def reopen_once(trace_file: TraceFile) -> Trace | None:
        status = trace_file.path.stat()
        key = (trace_file.path, status.st_mtime_ns, status.st_size)
        known = next((trace for of, trace in latest if of == key), None) or reopen(trace_file)
        if known is not None:
            latest.append((key, known))
        return known

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tracetui.ui.loading.reopen", reopen_once)
        yield


_runs: deque[tuple[Analysis, Run]] = deque(maxlen=6)


def _run_once(analysis: Analysis) -> Run:
    for known, run in _runs:
        if known is analysis:
            return run
    _runs.append((analysis, run_of(analysis)))
    return _runs[-1][1]


@pytest.fixture(autouse=True)
def _runs_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make once what is compared of a trace that several apps compare one after the other.

    For a test at a time: those of other packages, which follow in the same process, want it as it is.
    """
    monkeypatch.setattr("tracetui.comparison.run.run_of", _run_once)


@pytest.fixture(scope="session", autouse=True)
def _waits_for_what_is_to_do() -> Iterator[None]:
    """Wait in pilots until all is done, however slow the machine is, and for as long as timers say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual.app.wait_for_idle", keys_taken)
        patch.setattr("textual.pilot.wait_for_idle", at_rest)
        patch.setattr(Pilot, "_wait_for_screen", partialmethod(Pilot._wait_for_screen, timeout=PATIENCE_S))
        patch.setattr("tracetui.ui.screens.table_screen.SAID_S", 3600.0)
        patch.setattr("tracetui.ui.keys.LOST_S", 3600.0)
        patch.setattr("tracetui.ui.name_search.TIMEOUT_S", PATIENCE_S)
        yield
