"""Patience with worker processes: on a busy machine they take long to start, to answer and to be gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tracetui.reader import processes, source


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    """Give up no worker that a test does not mean to be given up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "SILENCE", 300.0)
        patch.setattr(processes, "GOODBYE", 300.0)
        yield


@pytest.fixture(scope="module")
def workers() -> Iterator[None]:
    """Read large files by worker processes, as where nothing is compiled, and not by threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "COMPILED", False)
        yield
