"""tracetui in scripts: from a path to an analysis to tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tracetui
from tests.export.training import training_events
from tracetui.analysis.advice import find_advice
from tracetui.reader.errors import UnreadableTrace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(training_events()))
    return path


def test_a_script_gets_all_tables(path: Path) -> None:
    done = []
    analysis = tracetui.load(path, lambda progress: done.append(progress.done_bytes))
    assert done[-1] == path.stat().st_size
    assert len(tracetui.events_frame(analysis)) == len(analysis.trace.slices)
    assert len(tracetui.gaps_frame(analysis)) == len(analysis.gaps)
    assert len(tracetui.steps_frame(analysis)) == 2
    assert tracetui.hotspots_frame(analysis)["idle_ns"].sum() == analysis.idle_ns
    assert len(tracetui.advice_frame(analysis)) == len(find_advice(analysis))
    operators = tracetui.operators_frame(analysis.device_operators)
    assert operators["total_ns"].sum() == analysis.device_operators.total_ns.sum()


def test_a_directory_is_the_trace_in_it(path: Path) -> None:
    assert tracetui.load(str(path.parent)).trace.path == tracetui.load(path).trace.path


def test_no_trace_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTrace, match="no such file"):
        tracetui.load(tmp_path / "missing.json")


def test_what_is_public_is_there() -> None:
    assert all(callable(getattr(tracetui, name)) for name in tracetui.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tracetui.nonsense
