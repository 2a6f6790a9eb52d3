"""Every trace is worth keeping here, however small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cache.files import training


@pytest.fixture(autouse=True)
def _small_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracetui.cache.traces.SMALLEST", 0)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The directory of the cached traces, which isn't there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TRACETUI_CACHE_MB", raising=False)
    return tmp_path / "cache" / "tracetui" / "traces"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small trace."""
    return training(tmp_path / "trace_view.json")
