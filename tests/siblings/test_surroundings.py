"""Which files around a trace count for what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracetui.siblings.surroundings import surroundings


@pytest.mark.parametrize(("top", "counts"), [("PROF_000001", True), ("run", False)])
def test_files_beside_four_directories_count_where_the_fourth_is_a_profile(
    tmp_path: Path, top: str, counts: bool
) -> None:
    """A trace may lie in a directory of a profile, at any depth that producers write."""
    trace = tmp_path / top / "device_0" / "timeline" / "x" / "trace.json"
    trace.parent.mkdir(parents=True)
    trace.write_text("[]")
    beside = tmp_path / top / "info.json"
    beside.write_text("{}")
    around = surroundings(trace)
    assert around is not None
    assert (str(beside) in {state.path for state in around}) is counts
    assert str(trace) in {state.path for state in around}
