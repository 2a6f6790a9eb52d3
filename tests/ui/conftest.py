"""How pilots wait: until the viewer has nothing left to do, not by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partialmethod

import pytest
from textual.pilot import Pilot

from tests.ui.rest import PATIENCE_S, at_rest, keys_taken


@pytest.fixture(scope="session", autouse=True)
def _wait_until_at_rest() -> Iterator[None]:
    """Let pilots wait until the viewer is at rest, however slow the machine is.

    What gives up after some seconds (a sentence, a lost key, a search) would do so in the middle of a test on
    a busy machine: it is given as long as it takes. Styles, layout, frames and timers are Textual's own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual.app.wait_for_idle", keys_taken)
        patch.setattr("textual.pilot.wait_for_idle", at_rest)
        patch.setattr(Pilot, "_wait_for_screen", partialmethod(Pilot._wait_for_screen, timeout=PATIENCE_S))
        patch.setattr("tracetui.ui.screens.table_screen.SAID_S", 3600.0)
        patch.setattr("tracetui.ui.keys.LOST_S", 3600.0)
        patch.setattr("tracetui.ui.name_search.TIMEOUT_S", PATIENCE_S)
        yield
