"""What people are told where work in a thread fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen
from textual.widgets import Static

from tests.ui.viewing import open_viewer
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace
from tracetui.ui._textual import HookedApp
from tracetui.ui.app import TraceApp
from tracetui.ui.failures import failure
from tracetui.ui.messages import LoadFailed
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screen_specs import ScreenScope, ScreenSpec, screens_of_scope
from tracetui.ui.session import Session


def test_a_sentence_that_is_safe_to_print_and_short() -> None:
    assert failure(ValueError("of it")) == "This failed: ValueError: of it"
    sentence = failure(MemoryError(), "The analysis", "the analysis")
    assert sentence == "There is not enough memory for the analysis."
    sentence = failure(KeyError("\x1b[2J" + "x" * 999), "The analysis")
    assert (
        sentence.startswith("The analysis failed: KeyError")
        and sentence.isprintable()
        and len(sentence) < 250
    )


class _Left(HookedApp[int]):
    """Is told to leave while it makes its first widgets, as by a signal that comes then."""

    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.fails = fails
        self.faults: list[Exception] = []

    def compose(self) -> Iterator[Static]:
        self.exit(129)
        if self.fails:
            raise ValueError("of the viewer")
        yield Static()

    def fault(self, error: Exception) -> None:
        self.faults.append(error)


def test_who_leaves_before_all_is_mounted_is_told_of_no_fault_but_a_real_one() -> None:
    for fails in (False, True):
        app = _Left(fails)
        assert app.run(headless=True) == 129
        assert [type(fault) for fault in app.faults] == [ValueError] * fails


@pytest.fixture(scope="module")
def moba(samples: Path) -> Trace:
    with TraceFile(samples / "moba" / "trace_view.json") as trace_file:
        return build_trace(trace_file.read())


@pytest.mark.parametrize("spec", screens_of_scope(ScreenScope.TRACE), ids=lambda spec: spec.name)
async def test_one_leaves_in_order_while_a_screen_is_made(
    moba: Trace, monkeypatch: pytest.MonkeyPatch, spec: ScreenSpec
) -> None:
    """Nothing is mounted any more then, and what the screen looks for on itself is not there."""
    make = ScreenSpec.make

    def made(made_of: ScreenSpec, session: Session) -> Screen[Any]:
        new = make(made_of, session)
        if made_of is spec:
            compose = new.compose

            def leaving() -> Iterable[Any]:
                yield from compose()
                app.leave(129)

            monkeypatch.setattr(new, "compose", leaving)
        return new

    monkeypatch.setattr(ScreenSpec, "make", made)
    app: TraceApp = open_viewer(Path("trace_view.json"), ViewerOptions(palette="none"), trace=moba)
    faults: list[Exception] = []
    monkeypatch.setattr(app, "fault", faults.append)
    app.call_later(app.action_go, spec.name)
    assert await app.run_async(headless=True) == 129
    assert not faults


async def test_a_reading_that_leaving_has_ended_is_no_failure(moba: Trace) -> None:
    app = open_viewer(Path("trace_view.json"), ViewerOptions(palette="none"), trace=moba)

    def leave() -> None:
        app.leave(143)
        app.on_load_failed(LoadFailed(app.session, OSError("stopped")))

    app.call_later(leave)
    assert await app.run_async(headless=True) == 143
    assert app.failure is None
