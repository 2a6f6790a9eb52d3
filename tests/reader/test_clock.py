"""What `start_info` beside a raw export tells of the clock of its traces, and where it is looked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracetui.reader.clock import NO_CLOCK, BootClock, clock_of

LIMIT = 1 << 62
WHOLE, MORE = LIMIT // 1000, LIMIT // 999


def _told(path: Path, begin_us: Any, boot_ns: Any, behind: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    start_info = {"collectionTimeBegin": begin_us, "clockMonotonicRaw": boot_ns}
    path.write_text(json.dumps(start_info) + behind)
    return path


@pytest.mark.parametrize(
    ("begin_us", "boot_ns", "base_ns"),
    [
        *[("7", "10", 6990), (7, 10, 6990), ("1", "999", 1), ("1", "1000", 0), ("1", "1001", 0)],
        *[("0", "10", 0), ("7", "0", 0), (7, 0, 0), (1, 999, 1), (True, 10, 0), ("7.0", 10, 0), (-7, 10, 0)],
        *[("9" * 19, "1" + "0" * 18, 0), ("", 10, 0), ("\u0667", 10, 0), (None, 10, 0), (7, None, 0)],
        *[(WHOLE + 1, 1000 - LIMIT % 1000, 0), (WHOLE + 1, 1001 - LIMIT % 1000, LIMIT - 1)],
        *[("0" * 19 + "7", "10", 0), ("0" * 18 + "7", "10", 6990), ("1" + "0" * 18, "1" + "0" * 18, 0)],
        *[(LIMIT, 10, 0), (MORE, LIMIT - 1, MORE * 1000 - LIMIT + 1), (MORE, LIMIT, 0)],
    ],
)  # fmt: skip
def test_a_moment_on_both_clocks_tells_when_one_began(
    tmp_path: Path, begin_us: Any, boot_ns: Any, base_ns: int
) -> None:
    """As far as that is a time: after 1970, and of 63 bits."""
    file = _told(tmp_path / "PROF_1" / "start_info", begin_us, boot_ns)
    assert clock_of(tmp_path / "PROF_1" / "msprof_1.json") == BootClock(base_ns, (file,) if base_ns else ())


@pytest.mark.parametrize(
    ("place", "found"),
    [
        *[("PROF_1/device_0/timeline/start_info", True), ("PROF_1/device_0/start_info.0", True)],
        *[("PROF_1/host/start_info", True), ("PROF_1/device_1/start_info.1", True), ("start_info", False)],
        *[("PROF_1/start_info.done", False), ("PROF_1/other/start_info", False), ("PROF_1/info", False)],
    ],
)
def test_it_is_looked_for_up_to_the_directory_of_the_profile(tmp_path: Path, place: str, found: bool) -> None:
    file = _told(tmp_path / place, 7, 10)
    timeline = tmp_path / "PROF_1" / "device_0" / "timeline"
    expected = BootClock(6990, (file,)) if found else NO_CLOCK
    assert clock_of(timeline / "msprof_0_2_1.json") == expected
    assert clock_of(timeline / "trace_view.json") == NO_CLOCK


def test_it_is_looked_for_three_directories_up_at_most(tmp_path: Path) -> None:
    for name, found in (("a/b/msprof_1.json", True), ("a/b/c/msprof_1.json", False)):
        _told(tmp_path / "start_info", 7, 10)
        assert (clock_of(tmp_path / name) != NO_CLOCK) == found


def test_the_first_file_that_tells_one_counts_unless_it_is_too_large(tmp_path: Path) -> None:
    trace = tmp_path / "PROF_1" / "msprof_1.json"
    beside = trace.parent
    _told(beside / "host" / "start_info", 9, 10)
    first = _told(beside / "start_info.1", 8, 10)
    _told(beside / "start_info.2", 7, 10)
    (beside / "start_info.0").write_text("[]")
    assert clock_of(trace) == BootClock(7990, (first,))
    space = " " * ((1 << 16) - first.stat().st_size)
    for more, expected in ((space, 7990), (space + " ", 6990)):
        _told(first, 8, 10, behind=more)
        assert clock_of(trace).base_ns == expected
