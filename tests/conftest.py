"""Fixtures shared by all tests: where the real traces and the samples are."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import forks, once
from tracetui.export.language import ENGLISH, choose_language

ROOT = Path(__file__).resolve().parents[1]

# Keep compiled modules, as Python does unless told otherwise: some hundred processes import the same ones.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes says nothing here, nor how long it takes to make one.
for _profile, _examples in (("thorough", 100), ("any machine", 20)):
    settings.register_profile(
        _profile, max_examples=_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Leave what is shown in English to the next test, whichever language a test chose."""
    yield
    choose_language(ENGLISH)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-snapshots",
        action="store_true",
        help="write anew what screens look like (tests/ui/snapshots) and what pages say (pages/ beside their"
        " tests), then look at the difference",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage less often, and never among modules and tests: a sixth of the time went there."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, of the whole suite, what is marked `thorough`, unless all is to be tried.

    And keep the modules of a package together, in any order: a worker makes once what they share.
    """
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not _tries_all(config):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    places: dict[Path, int] = {}
    for item in items:
        places.setdefault(item.path.parent, len(places))
    items.sort(key=lambda item: places[item.path.parent])


@pytest.fixture(scope="session", autouse=True)
def _signals_as_in_a_terminal() -> None:
    """Let what tests start be interrupted: a shell has what it puts into the background ignore that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _servers_end() -> Iterator[None]:
    """End what forks for the tests of this process."""
    yield
    forks.close()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Never touch the cache and the history of whoever runs the tests, nor heed their settings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _shared_by_workers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let one worker read what another has made: their directories lie side by side."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        once.share(tmp_path_factory.getbasetemp().parent / "made")


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


def _tries_all(config: pytest.Config) -> bool:
    return bool(config.getoption("--hypothesis-profile") == "thorough")


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Whether all is tried, however long it takes: `.ci/run` asks for that on most of its Pythons."""
    return _tries_all(pytestconfig)


@pytest.fixture(scope="session")
def samples() -> Path:
    """The directory of the project's own generated samples."""
    return ROOT / "samples"
