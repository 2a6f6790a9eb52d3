"""Fixtures shared by all tests: where the real traces and the samples are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def real_traces() -> Path:
    """The directory of real traces beside the checkout.

    Tests that need it are skipped where it is absent, and fail where TRACETUI_REQUIRE_TRACES is set.
    """
    traces = ROOT.parent / "shared" / "traces"
    if not traces.is_dir():
        if os.environ.get("TRACETUI_REQUIRE_TRACES"):
            pytest.fail(f"{traces} is missing")
        pytest.skip("no real traces beside this checkout")
    return traces


@pytest.fixture(scope="session")
def samples() -> Path:
    """The directory of the project's own generated samples."""
    return ROOT / "samples"
