"""Patience with worker processes: on a busy machine they take long to start, to answer and to be gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tracetui.reader import pool, processes


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    """Give up no worker that a test does not mean to be given up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "_SILENCE", 300.0)
        patch.setattr(processes, "GOODBYE", 300.0)
        yield
