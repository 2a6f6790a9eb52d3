"""A trace file and a way to run tracetui on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.export.training import training_events


@pytest.fixture(scope="session")
def trace_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A whole trace of two steps, with hostile names."""
    path: Path = tmp_path_factory.mktemp("trace") / "trace_view.json"
    path.write_text(json.dumps(training_events()))
    return str(path)
