"""What people are told where work in a thread fails."""

from __future__ import annotations

from tracetui.ui.failures import failure


def test_a_sentence_that_is_safe_to_print_and_short() -> None:
    assert failure(ValueError("of it")) == "This failed: ValueError: of it"
    told = failure(MemoryError(), "The analysis", "the analysis")
    assert told == "There is not enough memory for the analysis."
    told = failure(KeyError("\x1b[2J" + "x" * 999), "The analysis")
    assert told.startswith("The analysis failed: KeyError") and told.isprintable() and len(told) < 250
