"""Snapshots of the allocator: read as plain data, and whatever else a pickle asks for is refused."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from tracetui.siblings.beside import Refusal
from tracetui.siblings.snapshot import is_pickle, read_snapshot


def dumped(directory: Path, document: Any) -> Path:
    path = directory / "snapshot.pkl"
    path.write_bytes(pickle.dumps(document))
    return path


class Hostile:
    """Would make a directory when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_code_is_refused_and_not_run(tmp_path: Path) -> None:
    path = dumped(tmp_path, {"device_traces": [[Hostile(tmp_path / "made")]], "segments": []})
    with pytest.raises(Refusal, match="asks for code to be run"):
        read_snapshot(path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\x80\x02]r\xff\xff\xff\x7f.", "more memory than its size accounts for"),  # a memo of 32 GB
        (b"\x80\x04\x8e" + b"\xff" * 5 + b"\0" * 3 + b"abc.", "more memory than its size accounts for"),
        (b"\x80\x02", "is damaged"),
        (b"\x80\x02Pid\n.", "objects from elsewhere"),
        (pickle.dumps([1]), "is no snapshot"),
        (pickle.dumps({"device_traces": 5}), "is no snapshot"),
    ],
)
def test_what_is_no_snapshot_is_one_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "snapshot.pkl"
    path.write_bytes(content)
    assert is_pickle(path)
    with pytest.raises(Refusal, match=sentence) as refusal:
        read_snapshot(path)
    assert str(refusal.value).isprintable()


def test_events_of_odd_types_are_counted_and_left_out(tmp_path: Path) -> None:
    frames = [{"filename": "a.py", "line": 3, "name": "f"}, {"filename": 5}, None]
    events = [
        {"action": "alloc", "addr": 8, "size": 512, "frames": frames},
        {"action": "segment_map", "addr": 8, "size": 512},
        {"action": "alloc", "addr": "8", "size": 512},
        {"action": "alloc", "addr": 8, "size": -1},
        {"action": ["alloc"]},
        None,
        {"action": "free_requested", "addr": 8, "size": 512, "frames": 7},
    ]
    read = read_snapshot(
        dumped(tmp_path, {"device_traces": [events, None], "segments": [5, {"device": "a"}]})
    )
    assert (read.bytes.tolist(), read.freed.tolist(), read.skipped) == ([512, 512], [0, 1], 4)
    assert read.stacks == [(("a.py", 3, "f"),), ()]


def test_segments_say_what_is_held_at_the_end(tmp_path: Path) -> None:
    blocks = [
        {"size": 8, "requested_size": 5, "state": "active_allocated"},
        {"size": 4, "state": "active_allocated"},
        {"size": 2, "requested_size": 2, "state": "active_pending_free"},
        {"size": 1, "requested_size": -1, "state": "active_allocated"},
    ]
    segments = [
        {"device": 0, "total_size": 20, "allocated_size": 13, "blocks": blocks},
        {"device": 0, "total_size": 4, "allocated_size": 0, "blocks": []},
        {"device": 1, "total_size": 8, "allocated_size": -1},
    ]
    read = read_snapshot(dumped(tmp_path, {"device_traces": [[]], "segments": segments}))
    assert (read.allocated_at_end, read.reserved_before) == ({0: 9}, {0: 24, 1: 8})


def test_events_of_segments_say_what_was_reserved_until_each_block(tmp_path: Path) -> None:
    events = [
        {"action": action, "addr": 8, "size": size}
        for action, size in (
            ("segment_alloc", 16),
            ("alloc", 1),
            ("segment_free", 4),
            ("segment_map", 32),
            ("free", 1),
            ("segment_unmap", 2),
            ("segment_alloc", 64),
        )
    ]
    segments: list[dict[str, Any]] = [
        {"device": device, "total_size": 200, "blocks": []} for device in (0, 1)
    ]
    read = read_snapshot(dumped(tmp_path, {"device_traces": [events], "segments": segments}))
    assert (read.reserved.tolist(), read.reserved_before) == ([16, 44], {0: 200 - 106, 1: 200})


def test_only_a_pickle_begins_like_one(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_bytes(b"[]")
    assert not is_pickle(path)
    assert not is_pickle(tmp_path)
    assert not is_pickle(tmp_path / "missing")
