"""Fixtures shared by all tests: where the real traces and the samples are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile("any machine", deadline=None)  # how long an example takes says nothing here
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def _signals_as_in_a_terminal() -> None:
    """Let what tests start be interrupted: a shell has what it puts into the background ignore that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Never touch the cache of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_width() -> Iterator[None]:
    """Write text as wide as ever, whatever COLUMNS says where the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COLUMNS", raising=False)
        yield


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
