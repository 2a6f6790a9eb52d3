"""What people are told where work in a thread fails."""

from __future__ import annotations

from collections.abc import Iterator

from textual.widgets import Static

from tracetui.ui._textual import HookedApp
from tracetui.ui.failures import failure


def test_a_sentence_that_is_safe_to_print_and_short() -> None:
    assert failure(ValueError("of it")) == "This failed: ValueError: of it"
    told = failure(MemoryError(), "The analysis", "the analysis")
    assert told == "There is not enough memory for the analysis."
    told = failure(KeyError("\x1b[2J" + "x" * 999), "The analysis")
    assert told.startswith("The analysis failed: KeyError") and told.isprintable() and len(told) < 250


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
