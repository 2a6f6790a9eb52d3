"""The command line: same bytes for same arguments, the committed sample, and files of any size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.generate import main
from tests.simulator.traces import events, start, truth, written


def test_committed_sample_is_what_the_generator_writes(samples: Path) -> None:
    assert (samples / "moba" / "trace_view.json").read_bytes() == written("moba")


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        assert main(["--scenario", "attached", "--seed", seed, "--out", str(tmp_path / name)]) == 0

    first, second, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == second != other


def test_truth_is_written_beside(tmp_path: Path) -> None:
    main(["--scenario", "attached", "--out", str(tmp_path / "trace"), "--truth", str(tmp_path / "truth")])

    assert json.loads((tmp_path / "truth").read_text(encoding="utf-8")) == truth("attached")


def test_truth_of_repetitions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--mb", "2", "--out", str(tmp_path / "trace"), "--truth", str(tmp_path / "truth")])


def test_file_has_the_size_that_was_asked_for(tmp_path: Path) -> None:
    main(["--scenario", "attached", "--mb", "3", "--out", str(tmp_path / "trace")])

    size = (tmp_path / "trace").stat().st_size
    assert abs(size - 3e6) < 5e5
    assert len(json.loads((tmp_path / "trace").read_bytes())) > 5_000


def test_steps_are_simulated_one_after_the_other(tmp_path: Path) -> None:
    main(["--scenario", "moba", "--steps", "2", "--out", str(tmp_path / "trace")])

    trace = json.loads((tmp_path / "trace").read_bytes())
    steps = [event for event in trace if event["name"].startswith("ProfilerStep#")]
    assert [step["name"] for step in steps] == ["ProfilerStep#50", "ProfilerStep#51"]
    assert start(steps[0]) + steps[0]["dur"] * 1000 <= start(steps[1])


def test_repetitions_go_on_where_the_last_one_ended() -> None:
    trace = events("mixed", times=3)
    steps = [event for event in trace if event["name"].startswith("ProfilerStep#")]
    free = [event for event in trace if event["name"] == "Free" and event["ph"] == "X"]
    once = [event for event in events("mixed") if event["name"] == "Free" and event["ph"] == "X"]
    ids = [event["args"]["Python id"] for event in trace if event.get("cat") == "python_function"]

    assert [step["name"] for step in steps] == [f"ProfilerStep#{number}" for number in range(50, 59)]
    assert [start(step) for step in steps] == sorted(start(step) for step in steps)
    assert len(free) == 3 * len(once) + 2
    assert len(set(ids)) == len(ids)
