"""Styles that all apps of a worker share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partialmethod

import pytest
from textual.pilot import Pilot

from tests.ui.rest import PATIENCE_S, at_rest, keys_taken


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
